#include "datasets/formats/matrix_market.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "datasets/tests/scratch.hpp"

using namespace plumb;
using namespace plumb::test;

namespace {

using Ints = std::vector<std::int32_t>;
using Reals = std::vector<double>;
using C = std::complex<double>;

MatrixMarket read(const std::string& text) { return read_matrix_market(*memory_source("m.mtx", text)); }
MatrixMarket read(const std::string& banner, const std::string& rest) {
  return read("%%MatrixMarket " + banner + "\n" + rest);
}
std::string error(const std::string& banner, const std::string& rest) {
  return error_of([&] { return read(banner, rest); });
}

}  // namespace

TEST_CASE("a coordinate matrix becomes CSR with ascending columns") {
  const Csr<double> a =
      to_csr<double>(read("matrix coordinate real general", "% comment\n2 3 3\n2 3 4\n1 1 -1.5e0\n2 1 3.\n"));
  CHECK(a.rows == 2);
  CHECK(a.cols == 3);
  CHECK(a.row_ptr == Ints{0, 1, 3});
  CHECK(a.col == Ints{0, 0, 2});
  CHECK(a.val == Reals{-1.5, 3, 4});
}

TEST_CASE("banner words in any case, indentation, blank and comment lines anywhere, and CR LF are read") {
  const MatrixMarket m = read(
      "  %%matrixmarket MATRIX  Coordinate Integer GENERAL\r\n\r\n % c\r\n  1 \t 2  1\r\n\r\n% c\r\n 1 2 +7 "
      "\r\n\r\n");
  CHECK(m.rows == 1);
  CHECK(m.real == Reals{7});
  CHECK(read("%MatrixMarket matrix array real general\n1 1\n5").real == Reals{5});
}

TEST_CASE("a symmetric matrix is mirrored, a skew-symmetric one with the other sign, the diagonal once") {
  const Csr<double> s = to_csr<double>(read("matrix coordinate real symmetric", "2 2 2\n1 1 5\n2 1 3\n"));
  CHECK(s.col == Ints{0, 1, 0});
  CHECK(s.val == Reals{5, 3, 3});
  const Csr<double> k =
      to_csr<double>(read("matrix coordinate integer skew-symmetric", "2 2 2\n2 1 3\n1 1 0\n"));
  CHECK(k.col == Ints{0, 1, 0});
  CHECK(k.val == Reals{0, -3, 3});
  CHECK(to_csr<float>(read("matrix coordinate pattern symmetric", "2 2 1\n2 1\n")).val ==
        std::vector<float>{1, 1});
  CHECK(to_dense<double>(read("matrix coordinate real hermitian", "2 2 1\n2 1 4\n")).data ==
        Reals{0, 4, 4, 0});
}

TEST_CASE("arrays run down the columns, and symmetric ones from the diagonal") {
  CHECK(to_dense<double>(read("matrix array real general", "2 2\n1\n2\n3\n4\n")).data == Reals{1, 3, 2, 4});
  CHECK(to_dense<double>(read("matrix array real symmetric", "2 2\n1\n2\n4\n")).data == Reals{1, 2, 2, 4});
  CHECK(to_dense<double>(read("matrix array real skew-symmetric", "2 2\n2\n")).data == Reals{0, -2, 2, 0});
  const Csr<double> a = to_csr<double>(read("matrix array real general", "2 2\n0\n-0.0\n3\nnan\n"));
  CHECK(a.row_ptr == Ints{0, 1, 2});  // zeros of either sign are left out, NaN is not zero
  CHECK(std::isnan(a.val[1]));
}

TEST_CASE("complex values are kept, conjugated where hermitian, and refused by real matrices") {
  const MatrixMarket h = read("matrix coordinate complex hermitian", "2 2 2\n1 1 1 0\n2 1 3 4\n");
  CHECK(h.imag == Reals{0, 4});
  CHECK(to_dense<C>(h).data == std::vector<C>{{1, 0}, {3, -4}, {3, 4}, {0, 0}});
  CHECK(to_dense<C>(read("matrix coordinate complex skew-symmetric", "2 2 1\n2 1 3 4\n")).data[1] ==
        C{-3, -4});
  CHECK(to_dense<C>(read("matrix coordinate complex symmetric", "2 2 1\n2 1 3 4\n")).data[1] == C{3, 4});
  CHECK(error_of([&] { return to_csr<double>(h); }) ==
        "m.mtx: complex values cannot become a real matrix: take real and imaginary parts apart");
}

TEST_CASE("vectors are matrices of one column") {
  const Csr<double> v = to_csr<double>(read("vector coordinate real general", "4 2\n4 404\n1 101\n"));
  CHECK(v.rows == 4);
  CHECK(v.cols == 1);
  CHECK(v.row_ptr == Ints{0, 1, 1, 1, 2});
  CHECK(to_dense<double>(read("vector array integer general", "2\n5\n6\n")).data == Reals{5, 6});
}

TEST_CASE("repeated entries stay in the order of the file, and add up in dense form") {
  const MatrixMarket m = read("matrix coordinate real general", "1 2 3\n1 2 5\n1 1 1\n1 2 7\n");
  CHECK(to_csr<double>(m).col == Ints{0, 1, 1});
  CHECK(to_csr<double>(m).val == Reals{1, 5, 7});
  CHECK(to_dense<double>(m).data == Reals{1, 12});
}

TEST_CASE("numbers are exact: fp64 is rounded correctly, integers are kept or refused") {
  const MatrixMarket m =
      read("matrix coordinate real general",
           "1 9 9\n1 1 0.1\n1 2 123456789012345678901234567890\n1 3 5e-324\n1 4 1e-400\n1 5 -1e-400\n"
           "1 6 inf\n1 7 -inf\n1 8 nan\n1 9 9007199254740993\n");
  CHECK(m.real[0] == 0.1);
  CHECK(m.real[1] == 123456789012345678901234567890.0);
  CHECK(m.real[2] == 5e-324);
  CHECK(m.real[3] == 0);
  CHECK(std::signbit(m.real[4]));
  CHECK(std::isinf(m.real[5]));
  CHECK(m.real[6] == -m.real[5]);
  CHECK(std::isnan(m.real[7]));
  CHECK(m.real[8] == 9007199254740992.0);  // a real: ties to even
  CHECK(read("vector array integer general", "3\n8589934592\n-9223372036854775808\n9007199254740992").real ==
        Reals{8589934592.0, -9223372036854775808.0, 9007199254740992.0});
  CHECK(read("vector array unsigned-integer general", "1\n9223372036854775808\n").real ==
        Reals{9223372036854775808.0});
  CHECK(error("vector array integer general", "1\n9007199254740993\n") ==
        "m.mtx:3: integer that fp64 cannot hold exactly: 9007199254740993");
  CHECK(error("vector array integer general", "1\n9223372036854775808\n") ==
        "m.mtx:3: value overflows a 64-bit integer: 9223372036854775808");
  CHECK(error("vector array unsigned-integer general", "1\n-1\n") ==
        "m.mtx:3: value is negative in an unsigned matrix: -1");
  CHECK(error("vector array integer general", "1\n1.5\n") == "m.mtx:3: value is not an integer: 1.5");
}

TEST_CASE("a finite value that fp32 cannot hold is an error, an infinity is not") {
  const MatrixMarket m = read("vector array real general", "2\ninf\n1\n");
  CHECK(std::isinf(to_csr<float>(m).val[0]));
  const MatrixMarket large = read("vector array real general", "1\n1e39\n");
  CHECK(error_of([&] { return to_csr<float>(large); }).find("m.mtx: value overflows fp32") == 0);
}

TEST_CASE("sizes are checked before anything is allocated by them") {
  CHECK(error("matrix coordinate real general", "2147483648 1 0\n") ==
        "m.mtx:2: number of rows is outside 0..2147483647: 2147483648");
  CHECK(error("matrix coordinate real general", "2 2\n") == "m.mtx:2: number of entries is missing");
  CHECK(error("matrix array real general", "2 2 4\n") == "m.mtx:2: text after the sizes: 4");
  CHECK(error("matrix array real general", "2147483647 2147483647\n1\n") ==
        "m.mtx:4: file ends early: entries found, entries announced: 1, 4611686014132420609");
  CHECK(error("matrix coordinate real symmetric", "2 3 0\n") ==
        "m.mtx:2: a symmetric matrix must be square: 2 x 3");
  CHECK(to_csr<double>(read("matrix coordinate real general", "0 0 0\n")).row_ptr == Ints{0});
}

TEST_CASE("an entry that contradicts the symmetry is an error on its line") {
  CHECK(error("matrix coordinate real skew-symmetric", "2 2 1\n2 2 1\n") ==
        "m.mtx:3: diagonal entry of a skew-symmetric matrix is not 0: 2");
  CHECK(error("matrix coordinate complex hermitian", "2 2 1\n2 2 1 1\n") ==
        "m.mtx:3: diagonal entry of a hermitian matrix is not real: 2");
  CHECK(error("matrix coordinate real symmetric", "3 3 3\n2 1 1\n% c\n3 1 1\n1 2 1\n") ==
        "m.mtx:6: both (i, j) and (j, i) are stored in a symmetric matrix: 1 2");
  CHECK(to_csr<double>(read("matrix coordinate real symmetric", "3 3 2\n1 2 5\n3 1 7\n")).col ==
        Ints{1, 2, 0, 0});
  CHECK(error("matrix coordinate pattern skew-symmetric", "1 1 0\n") ==
        "m.mtx:1: a pattern is general or symmetric: skew-symmetric");
  CHECK(error("matrix array pattern general", "1 1\n1\n") == "m.mtx:1: an array cannot be a pattern: array");
}

TEST_CASE("entries and lines are counted to the last") {
  CHECK(error("matrix coordinate pattern general", "2 2 1\n1 1 1\n") == "m.mtx:3: text after the value: 1");
  CHECK(error("matrix coordinate real general", "2 2 1\n1 1 1\n\n2 2 2\n") ==
        "m.mtx:5: more entries than the size line (line 2) announces: 1");
  CHECK(error("matrix coordinate real general", "2 2 2\n1 1 1\n") ==
        "m.mtx:4: file ends early: entries found, entries announced: 1, 2");
  CHECK(error_of([] { return read(""); }) == "m.mtx: file is empty, expected Matrix Market");
}

TEST_CASE("GraphBLAS type lines are kept") {
  CHECK(read("matrix coordinate real general", "%%GraphBLAS type double complex\n1 1 0\n").graphblas_type ==
        "double complex");
}

TEST_CASE("a matrix of several pieces is read in order, and comes back from its own file") {
  std::string text = "1000 1000 250000\n";
  for (int k = 0; k < 250'000; ++k) {
    text +=
        std::to_string(k % 1000 + 1) + " " + std::to_string(k / 1000 + 1) + " " + std::to_string(k) + ".25\n";
  }
  const Csr<double> a = to_csr<double>(read("matrix coordinate real general", text));
  REQUIRE(a.nnz() == 250'000);
  CHECK(a.row_ptr[1] == 250);
  CHECK(a.val[251] == 1001.25);  // row 1, column 1: line k = 1001
  const Scratch dir;
  write_matrix_market(dir.file("a.mtx"), a);
  const Csr<double> b = to_csr<double>(read_matrix_market(dir.file("a.mtx")));
  CHECK(a.row_ptr == b.row_ptr);
  CHECK(a.col == b.col);
  CHECK(a.val == b.val);
}

TEST_CASE("a broken %%GraphBLAS comment is an error with line and value") {
  const auto error = [](const std::string& comment) {
    const std::string text =
        "%%MatrixMarket matrix coordinate real general\n% free text\n" + comment + "\n1 1 0\n";
    return error_of([&] { return read_matrix_market(*memory_source("m", text)); });
  };
  CHECK(error("%%GraphBLAS type doubl").find("m:3: unknown type in a %%GraphBLAS comment") == 0);
  CHECK(error("%%GraphBLAS type doubl").find(": doubl") != std::string::npos);
  CHECK(error("%%GraphBLAS typ double") ==
        "m:3: broken %%GraphBLAS comment: expected %%GraphBLAS type T: %%GraphBLAS typ double");
  CHECK(error("%%GraphBLAS").find("broken %%GraphBLAS comment") != std::string::npos);
  CHECK(error("%%GraphBLAS type").find("unknown type") != std::string::npos);
  CHECK(error("%%GraphBLAS type int32_t\n%%GraphBLAS type bool").find("m:4: second %%GraphBLAS comment") ==
        0);
  CHECK(error("%%GraphBLAS type double complex").empty());
}

TEST_CASE("CR line ends are named") {
  CHECK(error_of([] {
          return read_matrix_market(
              *memory_source("m", "%%MatrixMarket matrix coordinate real general\r3 3 0\r"));
        }).find("m:1: CR line ends") == 0);
  const std::string longer =
      "%%MatrixMarket matrix coordinate real general\r\n1 1 1\r\n1 1 2\r\n";  // CR LF is fine
  CHECK(read_matrix_market(*memory_source("m", longer)).stored() == 1);
}

TEST_CASE("blank and comment lines between entries are counted, not kept") {
  std::string text = "%%MatrixMarket matrix coordinate real general\n2 2 2\n\n\n% x\n1 1 1\n\n1 9 1\n";
  CHECK(error_of([&] { return read_matrix_market(*memory_source("m", text)); }) ==
        "m:8: column index is outside 1..2: 9");
  text = "%%MatrixMarket matrix coordinate real general\n2 2 1\n\n\n1 1 1\n\n\n\n2 2 1\n";
  CHECK(error_of([&] { return read_matrix_market(*memory_source("m", text)); }) ==
        "m:9: more entries than the size line (line 2) announces: 1");
}
