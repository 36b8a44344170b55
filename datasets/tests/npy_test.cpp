#include "datasets/formats/npz_matrix.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "datasets/tests/scratch.hpp"

using namespace plumb;
using namespace plumb::test;

namespace {

using Ints = std::vector<std::int32_t>;
using Reals = std::vector<double>;

// A .npy of version 1 with any header text.
std::string npy(const std::string& header, std::string_view data) {
  const std::string start = "\x93NUMPY";
  std::string out = start + std::string("\1\0", 2);
  out += static_cast<char>(header.size() & 0xff);
  out += static_cast<char>(header.size() >> 8);
  return out + header + std::string(data);
}
std::string header(const std::string& type, const std::string& shape, const std::string& fortran = "False") {
  return "{'descr': '" + type + "', 'fortran_order': " + fortran + ", 'shape': " + shape + ", }\n";
}
template <class T>
std::string raw(const std::vector<T>& values) {
  std::string out(values.size() * sizeof(T), '\0');
  if (!values.empty()) std::memcpy(out.data(), values.data(), out.size());
  return out;
}
NpyArray read(const std::string& bytes) { return read_npy(*memory_source("a.npy", bytes)); }
std::string error(const std::string& bytes) {
  return error_of([&] { return read(bytes); });
}

// [[0, 7, 0], [5, 0, 9]] as scipy.sparse.save_npz writes it.
std::string scipy_csr(const std::string& format, const std::vector<std::int32_t>& indices, bool deflated) {
  return zip({{"indices.npy", npy(header("<i4", "(3,)"), raw(indices))},
              {"indptr.npy", npy(header("<i4", "(3,)"), raw<std::int32_t>({0, 1, 3}))},
              {"format.npy", npy(header("|S3", "()"), format)},
              {"shape.npy", npy(header("<i8", "(2,)"), raw<std::int64_t>({2, 3}))},
              {"data.npy", npy(header("<f8", "(3,)"), raw<double>({7, 5, 9}))}},
             deflated);
}
std::string npz_error(const std::string& bytes) {
  return error_of([&] { return read_npz_matrix<double>(*memory_source("a.npz", bytes)); });
}

}  // namespace

TEST_CASE("C and Fortran order give the same row-major values") {
  const Reals row_major{1, 2, 3, 4, 5, 6}, column_major{1, 4, 2, 5, 3, 6};
  CHECK(npy_dense<double>(read(npy(header("<f8", "(2, 3)"), raw(row_major)))).data == row_major);
  CHECK(npy_dense<double>(read(npy(header("<f8", "(2, 3)", "True"), raw(column_major)))).data == row_major);
}

TEST_CASE("every number type is read, also in scalars and empty arrays") {
  CHECK(npy_values<double>(read(npy(header("<f4", "(1,)"), raw<float>({0.5F})))) == Reals{0.5});
  CHECK(npy_values<double>(read(npy(header("|b1", "(3,)"), std::string_view("\0\1\2", 3)))) ==
        Reals{0, 1, 1});
  CHECK(npy_values<double>(read(npy(header("|i1", "(1,)"), "\xff"))) == Reals{-1});
  CHECK(npy_values<double>(read(npy(header("|u1", "(1,)"), "\xff"))) == Reals{255});
  CHECK(npy_values<std::int32_t>(read(npy(header("<i8", "()"), raw<std::int64_t>({-7})))) == Ints{-7});
  CHECK(npy_values<std::int32_t>(read(npy(header("<u2", "(0, 5)"), ""))).empty());
}

TEST_CASE("half precision is read exactly: numbers, subnormals, zeros of both signs, infinities and NaN") {
  const auto halves = [](const std::vector<std::uint16_t>& bits) {
    return npy_values<float>(read(npy(header("<f2", "(" + std::to_string(bits.size()) + ",)"), raw(bits))));
  };
  CHECK(halves({0x3c00, 0xc000, 0x3555, 0x7bff, 0x0400, 0x0001, 0x83ff}) ==
        std::vector<float>{1, -2, 0.333251953125F, 65504, 0x1p-14F, 0x1p-24F, -0x1.ff8p-15F});
  const std::vector<float> special = halves({0x8000, 0x7c00, 0xfc00, 0x7e00, 0xfd00});
  CHECK((special[0] == 0 && std::signbit(special[0])));
  CHECK(special[1] == std::numeric_limits<float>::infinity());
  CHECK(special[2] == -std::numeric_limits<float>::infinity());
  CHECK((std::isnan(special[3]) && std::isnan(special[4])));
  const NpyArray one = read(npy(header("<f2", "(1,)"), raw<std::uint16_t>({0x3c00})));
  CHECK(npy_values<double>(one) == Reals{1});
  CHECK(error_of([&] { return npy_values<std::int32_t>(one); }).find("expected integers") !=
        std::string::npos);
}

TEST_CASE("conversions are exact or refused, but for fp64 to fp32, which rounds") {
  const NpyArray wide = read(npy(header("<i8", "(1,)"), raw<std::int64_t>({std::int64_t{1} << 31})));
  CHECK(error_of([&] { return npy_values<std::int32_t>(wide); }) ==
        "a.npy: integer is out of range: 2147483648");
  CHECK(npy_values<float>(wide)[0] == 2147483648.0F);
  const NpyArray odd = read(npy(header("<i8", "(1,)"), raw<std::int64_t>({(std::int64_t{1} << 53) + 1})));
  CHECK(error_of([&] { return npy_values<double>(odd); }).find("cannot hold exactly") != std::string::npos);
  const NpyArray most = read(npy(header("<u8", "(1,)"), raw<std::uint64_t>({~std::uint64_t{0}})));
  CHECK(error_of([&] { return npy_values<double>(most); }).find("cannot hold exactly") != std::string::npos);
  const NpyArray third = read(npy(header("<f8", "(1,)"), raw<double>({1.0 / 3})));
  CHECK(npy_values<float>(third)[0] == 1.0F / 3);
  CHECK(error_of([&] { return npy_values<std::int32_t>(third); }) ==
        "a.npy: expected integers, the array holds: f8");
  const NpyArray huge = read(npy(header("<f8", "(1,)"), raw<double>({1e300})));
  CHECK(error_of([&] { return npy_values<float>(huge); }).find("overflows fp32") != std::string::npos);
}

TEST_CASE("an array that holds no plain numbers is refused with the reason") {
  CHECK(error(npy(header("|O", "(1,)"), "")) == "a.npy: arrays of Python objects are not read: |O");
  CHECK(error(npy(header(">f8", "(1,)"), "")) == "a.npy: big-endian arrays are not read: >f8");
  CHECK(error(npy(header("<c16", "(1,)"), "")) == "a.npy: complex arrays are not read: <c16");
  CHECK(error(npy(header("<f16", "(1,)"), "")).find("element type is not read") != std::string::npos);
  CHECK(
      error(npy("{'descr': [('x', '<f4')], 'fortran_order': False, 'shape': (1,)}", "")).find("structured") !=
      std::string::npos);
  const NpyArray text = read(npy(header("<U2", "(1,)"), std::string(8, 'x')));
  CHECK(error_of([&] { return npy_values<double>(text); }) == "a.npy: expected numbers, the array holds: U8");
}

TEST_CASE("a file cut anywhere, or too long, is refused") {
  const std::string whole = npy(header("<f8", "(2,)"), raw<double>({1, 2}));
  for (std::size_t n = 0; n < whole.size(); ++n) {
    CAPTURE(n);
    CHECK_FALSE(error(whole.substr(0, n)).empty());
  }
  CHECK(error(whole + "x") == "a.npy: bytes after the .npy data");
  CHECK(error(whole.substr(0, whole.size() - 1)) ==
        "a.npy: .npy data is cut short: bytes found, bytes expected: 15, 16");
}

TEST_CASE("a header that is not such a dictionary, or an impossible shape, is refused") {
  CHECK(error("hello world") == "a.npy: not a .npy file: wrong magic: hello ");
  CHECK_FALSE(error(npy("{}", "")).empty());
  CHECK_FALSE(error(npy("{'descr': '<f4', 'fortran_order': Maybe, 'shape': (1,)}", "")).empty());
  CHECK_FALSE(
      error(npy("{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (1,)}", "")).empty());
  CHECK_FALSE(error(npy(header("<f4", "(-1,)"), "")).empty());
  CHECK(error(npy(header("<f4", "(99999999999999999999,)"), "")).find("malformed shape") !=
        std::string::npos);
  CHECK(error(npy(header("<f8", "(4000000000, 4000000000)"), "")) ==
        "a.npy: shape is too large: (4000000000, 4000000000)");
  CHECK(error(npy(header("<f8", "(1000000000,)"), "x"))
            .find("cut short: bytes found, bytes expected: 1, 8000000000") != std::string::npos);
  CHECK(read(npy(header("<f8", "(4000000000, 4000000000, 0)"), "")).count() == 0);
}

TEST_CASE("a file that is written is read back, and its data begin at a multiple of 64 bytes") {
  const Scratch dir;
  const Dense<double> d{2, 3, {1, 2, 3, 4, 5, 6}};
  write_npy(dir.file("d.npy"), d);
  CHECK(npy_dense<double>(read_npy(dir.file("d.npy"))).data == d.data);
  CHECK((slurp(dir.file("d.npy")).size() - 48) % 64 == 0);
  write_npy<std::int32_t>(dir.file("v.npy"), {3}, {1, -2, 3});
  CHECK(npy_values<std::int32_t>(read_npy(dir.file("v.npy"))) == Ints{1, -2, 3});
}

TEST_CASE("scipy's csr comes out of stored and deflated zips") {
  for (const bool deflated : {false, true}) {
    CAPTURE(deflated);
    const std::string bytes = scipy_csr("csr", {1, 2, 0}, deflated);  // columns of row 1 are not ascending
    const Csr<double> a = read_npz_matrix<double>(*memory_source("a.npz", bytes));
    CHECK(a.rows == 2);
    CHECK(a.cols == 3);
    CHECK(a.row_ptr == Ints{0, 1, 3});
    CHECK(a.col == Ints{1, 0, 2});
    CHECK(a.val == Reals{7, 9, 5});
  }
}

TEST_CASE("csc and coo are turned into rows") {
  const auto shape = npy(header("<i8", "(2,)"), raw<std::int64_t>({2, 3}));
  const auto data = npy(header("<f4", "(2,)"), raw<float>({7, 5}));
  const std::string csc =
      zip({{"format.npy", npy(header("<U3", "()"), std::string("c\0\0\0s\0\0\0c\0\0\0", 12))},
           {"shape.npy", shape},
           {"data.npy", data},
           {"indices.npy", npy(header("<i8", "(2,)"), raw<std::int64_t>({1, 0}))},
           {"indptr.npy", npy(header("<i4", "(4,)"), raw<std::int32_t>({0, 0, 1, 2}))}});
  const Csr<double> a = read_npz_matrix<double>(*memory_source("a.npz", csc));
  CHECK(a.row_ptr == Ints{0, 1, 2});
  CHECK(a.col == Ints{2, 1});
  CHECK(a.val == Reals{5, 7});
  const std::string coo = zip({{"format.npy", npy(header("|S3", "()"), "coo")},
                               {"shape.npy", shape},
                               {"data.npy", data},
                               {"row.npy", npy(header("<i4", "(2,)"), raw<std::int32_t>({1, 0}))},
                               {"col.npy", npy(header("<i4", "(2,)"), raw<std::int32_t>({0, 2}))}});
  CHECK(read_npz_matrix<float>(*memory_source("a.npz", coo)).col == Ints{2, 0});
}

TEST_CASE("scipy's blocks are read with their zeros, and its diagonals without, as scipy makes csr of them") {
  const auto shape = [](std::int64_t rows, std::int64_t cols) {
    return npy(header("<i8", "(2,)"), raw<std::int64_t>({rows, cols}));
  };
  const auto blocks = [&](std::int64_t rows, const std::vector<std::int32_t>& indices,
                          const std::vector<std::int32_t>& indptr, const std::string& extents) {
    return zip(
        {{"format.npy", npy(header("|S3", "()"), "bsr")},
         {"shape.npy", shape(rows, 6)},
         {"data.npy", npy(header("<f8", extents), raw<double>({1, 2, 0, 4, 5, 6, 7, 8, 9, 10, 11, 12}))},
         {"indices.npy", npy(header("<i4", "(" + std::to_string(indices.size()) + ",)"), raw(indices))},
         {"indptr.npy", npy(header("<i4", "(" + std::to_string(indptr.size()) + ",)"), raw(indptr))}});
  };
  // two blocks of 2 x 3: at rows 0 and 1, columns 3 to 5; at rows 2 and 3, columns 0 to 2
  const Csr<double> a =
      read_npz_matrix<double>(*memory_source("a.npz", blocks(4, {1, 0}, {0, 1, 2}, "(2, 2, 3)")));
  CHECK(a.row_ptr == Ints{0, 3, 6, 9, 12});
  CHECK(a.col == Ints{3, 4, 5, 3, 4, 5, 0, 1, 2, 0, 1, 2});
  CHECK(a.val == Reals{1, 2, 0, 4, 5, 6, 7, 8, 9, 10, 11, 12});
  CHECK(npz_error(blocks(5, {1, 0}, {0, 1, 2}, "(2, 2, 3)")).find("blocks do not divide the matrix") !=
        std::string::npos);
  CHECK(npz_error(blocks(4, {1, 2}, {0, 1, 2}, "(2, 2, 3)")).find("index is outside 0..1: 2") !=
        std::string::npos);
  CHECK(npz_error(blocks(4, {1}, {0, 1, 2}, "(2, 2, 3)")).find("differ in number: 1, 2") !=
        std::string::npos);
  CHECK(npz_error(blocks(4, {1, 0}, {0, 1, 2}, "(12,)")).find("expected 3 extents") != std::string::npos);

  const auto diagonals = [&](const std::vector<std::int32_t>& offsets) {
    return zip(
        {{"format.npy", npy(header("|S3", "()"), "dia")},
         {"shape.npy", shape(2, 4)},
         {"data.npy", npy(header("<f4", "(3, 4)"), raw<float>({1, 2, 3, 4, 5, 0, 7, 8, 9, 10, 11, 12}))},
         {"offsets.npy", npy(header("<i4", "(" + std::to_string(offsets.size()) + ",)"), raw(offsets))}});
  };
  const Csr<double> d = read_npz_matrix<double>(*memory_source("d.npz", diagonals({0, 1, -1})));
  CHECK(d.row_ptr == Ints{0, 1, 4});  // (0, 1) is 0
  CHECK(d.col == Ints{0, 0, 1, 2});
  CHECK(d.val == Reals{1, 9, 2, 7});
  const Csr<double> far = read_npz_matrix<double>(*memory_source("d.npz", diagonals({3, -2, 4})));
  CHECK(far.row_ptr == Ints{0, 1, 1});
  CHECK(far.col == Ints{3});
  CHECK(far.val == Reals{4});
  CHECK(npz_error(diagonals({0, 1})).find("offsets and diagonals differ in number: 2, 3") !=
        std::string::npos);
}

TEST_CASE("an .npz that is no sound sparse matrix is refused with its reason") {
  CHECK(npz_error(scipy_csr("lil", {1, 0, 2}, false))
            .find("format is not read (csr, csc, coo, bsr, dia are)") != std::string::npos);
  CHECK(npz_error(scipy_csr("csr", {1, 0, 3}, false)) == "a.npz:indices.npy: index is outside 0..2: 3");
  CHECK(npz_error(zip({})).find("no sparse matrix in the .npz; found: no array") != std::string::npos);
  CHECK(npz_error("PK\x03\x04").find("not a zip: too short") != std::string::npos);
  CHECK(npz_error(std::string(100, 'x')).find("its end record is missing") != std::string::npos);
}

TEST_CASE("damage in a zip is found wherever it is") {
  for (const bool deflated : {false, true}) {
    const std::string whole = scipy_csr("csr", {1, 0, 2}, deflated);
    for (std::size_t n = 0; n < whole.size(); n += 3) {
      CAPTURE(n);
      CHECK_FALSE(npz_error(whole.substr(0, n)).empty());
    }
  }
  std::string bytes = scipy_csr("csr", {1, 0, 2}, false);
  bytes[bytes.find("\x93NUMPY") + 130] ^= 1;
  CHECK_FALSE(npz_error(bytes).empty());
}

TEST_CASE("the matrix in an .npz of other tools is read") {
  const auto ints = [](const std::vector<std::int32_t>& v) {
    return npy(header("<i4", "(" + std::to_string(v.size()) + ",)"), raw(v));
  };
  const auto wide = [](const std::vector<std::int64_t>& v) {
    return npy(header("<i8", "(" + std::to_string(v.size()) + ",)"), raw(v));
  };
  const std::string data = npy(header("<f8", "(3,)"), raw<double>({7, 5, 9})), shape = wide({2, 3}),
                    scalar = "()", zero = npy(header("<f8", scalar), raw<double>({0}));
  const std::string objects = npy(header("|O", "(1,)"), "pickle");
  using Members = std::vector<std::pair<std::string, std::string>>;
  const Members csr{{"data.npy", data},
                    {"indices.npy", ints({1, 0, 2})},
                    {"indptr.npy", ints({0, 1, 3})},
                    {"shape.npy", shape}};
  Members gcxs = csr, bench;
  gcxs.insert(gcxs.end(), {{"compressed_axes.npy", wide({0})}, {"fill_value.npy", zero}});
  for (const char* prefix : {"adj_", "attr_"}) {
    for (const auto& [name, bytes] : csr) bench.emplace_back(prefix + name, bytes);
  }
  bench.emplace_back("node_names.npy", objects);  // is not asked for
  const auto coords = [](const std::string& type, const auto& places) {
    return npy(header(type, "(2, 3)"), raw(places));
  };
  const Members coo{{"coords.npy", coords("|u1", std::vector<std::uint8_t>{0, 1, 1, 1, 0, 2})},
                    {"data.npy", data},
                    {"shape.npy", shape},
                    {"fill_value.npy", zero}};
  for (const Members& members : {csr, gcxs, bench, coo}) {
    const Csr<double> a = read_npz_matrix<double>(*memory_source("a.npz", zip(members)));
    CHECK(a.rows == 2);
    CHECK(a.cols == 3);
    CHECK(a.row_ptr == Ints{0, 1, 3});
    CHECK(a.col == Ints{1, 0, 2});
    CHECK(a.val == Reals{7, 5, 9});
  }
  Members by_columns{{"data.npy", data},
                     {"indices.npy", ints({1, 0, 1})},
                     {"indptr.npy", ints({0, 1, 2, 3})},
                     {"shape.npy", shape},
                     {"compressed_axes.npy", wide({1})}};
  CHECK(read_npz_matrix<double>(*memory_source("a.npz", zip(by_columns))).val == Reals{5, 7, 9});
  Members filled = coo;
  filled.back().second = npy(header("<f8", scalar), raw<double>({1}));
  CHECK(npz_error(zip(filled)).find("a.npz: places without an entry are not 0") == 0);
  Members named{{"coords.npy", objects}, {"data.npy", data}, {"shape.npy", shape}};
  CHECK(npz_error(zip(named)).find("arrays of Python objects are not read") != std::string::npos);
  CHECK(npz_error(zip({{"W1.npy", data}, {"b.npy", shape}}))
            .find("a.npz: no sparse matrix in the .npz; found: W1 f8 (3,), b i8 (2,); wanted: ") == 0);
}

TEST_CASE("edge_index of PyTorch Geometric is a square matrix, with its weights and number of nodes") {
  const std::string edges = npy(header("<i8", "(2, 3)"), raw<std::int64_t>({0, 1, 3, 1, 0, 2}));
  const std::string file = zip({{"edge_index.npy", edges}});
  const auto source = memory_source("e.npz", file);
  const Csr<double> a = read_npz_matrix<double>(*source);
  CHECK(a.rows == 4);
  CHECK(a.cols == 4);
  CHECK(a.row_ptr == Ints{0, 1, 2, 2, 3});
  CHECK(a.col == Ints{1, 0, 2});
  CHECK_FALSE(source->findings().sized);
  const auto nodes = [](std::int64_t n) { return npy(header("<i8", "()"), raw<std::int64_t>({n})); };
  const std::string weights = npy(header("<f4", "(3, 1)"), raw<float>({2, 3, 4}));
  const Csr<double> sized = read_npz_matrix<double>(*memory_source(
      "e.npz", zip({{"edge_index.npy", edges}, {"num_nodes.npy", nodes(6)}, {"edge_attr.npy", weights}})));
  CHECK(sized.rows == 6);
  CHECK(sized.val == Reals{2, 3, 4});
  CHECK(npz_error(zip({{"edge_index.npy", edges}, {"num_nodes.npy", nodes(3)}})) ==
        "a.npz: source vertex is outside 0..2: 3");
  const std::string pairs = npy(header("<i8", "(3, 2)"), raw<std::int64_t>({0, 1, 1, 0, 3, 2}));
  CHECK(read_npz_matrix<double>(*memory_source("e.npz", zip({{"edges.npy", pairs}}))).col == a.col);
}
