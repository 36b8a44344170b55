#include "reference/cases/sparse_cases.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "reference/cases/special_values.hpp"
#include "reference/ops/gemm.hpp"

namespace {

plumb::Csr<double> made(const std::string& parameters, int seed = 1) {
  const plumb::Case c =
      plumb::parse_case("spmv.f64(" + parameters + ",fill=exact,seed=" + std::to_string(seed) + ")");
  return plumb::make_sparse<double>(c, 1000);
}

std::vector<int> columns(const plumb::Csr<double>& a, int row) {
  return {a.col.begin() + a.row_ptr[row], a.col.begin() + a.row_ptr[row + 1]};
}

// FNV-1a over bytes.
std::uint64_t folded(std::uint64_t hash, const void* data, std::size_t bytes) {
  const auto* from = static_cast<const unsigned char*>(data);
  for (std::size_t k = 0; k < bytes; ++k) hash = (hash ^ from[k]) * 1099511628211U;
  return hash;
}

}  // namespace

TEST_CASE("the bits of every pattern stay what stored case ids mean by them") {
  struct Known {
    const char *pattern, *size;
    std::uint64_t hash;
  };
  const Known kKnown[] = {
      {"uniform", "rows=97,cols=61,density=0.13", 0x79de5fb737ed7931U},
      {"uniform", "rows=300,cols=1000,density=0.004", 0x51252925ac8f52b9U},
      {"uniform", "rows=64,cols=64,density=0.5", 0xc0de44470e734b84U},
      {"banded", "rows=97,cols=61,density=0.13", 0xe87d0f86d07378d9U},
      {"banded", "rows=300,cols=1000,density=0.004", 0x285416ec13f8f256U},
      {"banded", "rows=64,cols=64,density=0.5", 0xfa2ca6dc1281dc29U},
      {"powerlaw", "rows=97,cols=61,density=0.13", 0xaeaf5ece1f467a1eU},
      {"powerlaw", "rows=300,cols=1000,density=0.004", 0xed9d48b00d52b52aU},
      {"powerlaw", "rows=64,cols=64,density=0.5", 0x27d90cfe74117ef1U},
      {"giant", "rows=97,cols=61,density=0.13", 0x1958fe39fa8680c9U},
      {"giant", "rows=300,cols=1000,density=0.004", 0xc0484fbc3e3ba419U},
      {"giant", "rows=64,cols=64,density=0.5", 0xf3de33f6d7a26a17U},
      {"empty", "rows=97,cols=61,density=0.13", 0x85c383d17926f26aU},
      {"empty", "rows=300,cols=1000,density=0.004", 0x7edb05aa8a7f52c9U},
      {"empty", "rows=64,cols=64,density=0.5", 0x9d8907f7eb05c862U},
      {"unsorted", "rows=97,cols=61,density=0.13", 0x913ddbe4983eb74aU},
      {"unsorted", "rows=300,cols=1000,density=0.004", 0x9d8dddc5f67ad7dfU},
      {"unsorted", "rows=64,cols=64,density=0.5", 0x8465b043b29ad333U},
      {"diagonal", "rows=97,cols=61,density=0.13", 0x3a1b4ba8478f0748U},
      {"diagonal", "rows=300,cols=1000,density=0.004", 0xfd138151aec1c10bU},
      {"diagonal", "rows=64,cols=64,density=0.5", 0x39709e3472dfddc1U},
      {"stencil", "rows=97,cols=61,density=0.13", 0xcff3830657a34ea4U},
      {"stencil", "rows=300,cols=1000,density=0.004", 0x56b73d15d594ce01U},
      {"stencil", "rows=64,cols=64,density=0.5", 0x31fea61aa4373363U},
      {"arrow", "rows=97,cols=61,density=0.13", 0xf5f21e1ea5bb5625U},
      {"arrow", "rows=300,cols=1000,density=0.004", 0x6ae3b476f21f4e8cU},
      {"arrow", "rows=64,cols=64,density=0.5", 0xdf64b4f28069198dU},
      {"rmat", "rows=97,cols=61,density=0.13", 0xfb4764926bd23648U},
      {"rmat", "rows=300,cols=1000,density=0.004", 0xd3aac65e068074e1U},
      {"rmat", "rows=64,cols=64,density=0.5", 0x7b514c8ce169df8fU},
      {"last", "rows=97,cols=61,density=0.13", 0xbc22d82ae5ea75c0U},
      {"last", "rows=300,cols=1000,density=0.004", 0x92777a4168aa9208U},
      {"last", "rows=64,cols=64,density=0.5", 0x89e7fc732c89aab6U},
      {"ends", "rows=97,cols=61,density=0.13", 0x308068698c8030c4U},
      {"ends", "rows=300,cols=1000,density=0.004", 0x56b7359f444b8c29U},
      {"ends", "rows=64,cols=64,density=0.5", 0x913c262c4061f077U},
  };
  for (const Known& k : kKnown) {
    CAPTURE(k.pattern);
    CAPTURE(k.size);
    const auto a = made(std::string(k.size) + ",pattern=" + k.pattern, 7);
    std::uint64_t hash = folded(14695981039346656037U, a.row_ptr.data(), a.row_ptr.size() * 4);
    hash = folded(hash, a.col.data(), a.col.size() * 4);
    CHECK(folded(hash, a.val.data(), a.val.size() * 8) == k.hash);
  }
}

TEST_CASE("one column is repeated once, at the beginning, in the middle or at the end of one row") {
  const auto repeats = [](const auto& a) {
    std::vector<std::pair<std::int64_t, std::int64_t>>
        found;  // entry of its row, from the front and from the end
    for (std::int64_t i = 0; i < a.rows; ++i) {
      for (std::int32_t k = a.row_ptr[i] + 1; k < a.row_ptr[i + 1]; ++k) {
        if (a.col[k] == a.col[k - 1]) found.emplace_back(k - a.row_ptr[i], a.row_ptr[i + 1] - 1 - k);
      }
    }
    return found;
  };
  const std::string size = "rows=300,cols=300,density=0.02,pattern=";
  const auto first = repeats(made(size + "repeat_first")), middle = repeats(made(size + "repeat_middle")),
             last = repeats(made(size + "repeat_last"));
  REQUIRE(first.size() == 1);
  REQUIRE(middle.size() == 1);
  REQUIRE(last.size() == 1);
  CHECK(first[0].first == 1);
  CHECK((middle[0].first > 1 && middle[0].second > 0));
  CHECK(last[0].second == 0);
  CHECK(repeats(made("rows=9,cols=3,density=1,pattern=repeat_first")).empty());  // no row of four
}

TEST_CASE("pairs puts every column but the first on both sides of an even place") {
  const auto a = made("rows=5,cols=400,density=0.3,pattern=pairs");
  for (std::int64_t i = 0; i < a.rows; ++i) {
    REQUIRE(a.row_ptr[i + 1] - a.row_ptr[i] > 50);
    for (std::int32_t k = a.row_ptr[i] + 1; k < a.row_ptr[i + 1]; ++k)
      CHECK((a.col[k] == a.col[k - 1]) == ((k - a.row_ptr[i]) % 2 == 0));
  }
}

TEST_CASE("an uneven pattern has the entries of rows of one length, and rows of other lengths") {
  const auto lengths = [](const auto& a) {
    std::vector<int> found;
    for (std::int64_t i = 0; i < a.rows; ++i) found.push_back(a.row_ptr[i + 1] - a.row_ptr[i]);
    return found;
  };
  const auto a = made("rows=7,cols=50,density=0.1,pattern=uneven");
  CHECK(lengths(a) == std::vector<int>{5, 6, 4, 5, 6, 4, 5});
  CHECK(a.nnz() == 35);
  CHECK(lengths(made("rows=6,cols=50,density=0.1,pattern=uneven")) == std::vector<int>{5, 6, 4, 5, 5, 5});
  const auto full = made("rows=4,cols=3,density=1,pattern=uneven");
  CHECK(full.nnz() == 12);
  CHECK(columns(full, 1) == std::vector<int>{0, 1, 2, 2});
  CHECK(lengths(made("rows=4,cols=4,density=0.25,pattern=uneven")) == std::vector<int>{1, 2, 0, 1});
  CHECK(made("rows=4,cols=0,density=1,pattern=uneven").nnz() == 0);
}

TEST_CASE(
    "a stencil's point is joined to its neighbours above, left, right and below, and to none across a line's "
    "end") {
  const auto a = made("rows=9,cols=9,density=0,pattern=stencil");  // 3 x 3
  CHECK(columns(a, 4) == std::vector<int>{1, 3, 4, 5, 7});
  CHECK(columns(a, 0) == std::vector<int>{0, 1, 3});
  CHECK(columns(a, 2) == std::vector<int>{1, 2, 5});
  CHECK(columns(a, 3) == std::vector<int>{0, 3, 4, 6});
  const auto cut =
      made("rows=5,cols=4,density=0,pattern=stencil");  // lines of two, the last line cut, a column missing
  CHECK(columns(cut, 4) == std::vector<int>{2});
  CHECK(made("rows=0,cols=4,density=0,pattern=stencil").nnz() == 0);
}

TEST_CASE("an arrow has one full row, one full column and the diagonal") {
  const auto a = made("rows=4,cols=3,density=0,pattern=arrow");
  CHECK(columns(a, 0) == std::vector<int>{0, 1, 2});
  CHECK(columns(a, 1) == std::vector<int>{0, 1});
  CHECK(columns(a, 3) == std::vector<int>{0});
  CHECK(made("rows=4,cols=0,density=0,pattern=arrow").nnz() == 0);
}

TEST_CASE(
    "R-MAT's rows are ascending, within the sizes, and the upper left quarter holds about 0.57 of them") {
  const auto a = made("rows=1000,cols=600,density=0.01,pattern=rmat");
  std::int64_t quarter = 0;
  for (int i = 0; i < 1000; ++i) {
    const auto row = columns(a, i);
    CHECK(std::is_sorted(row.begin(), row.end()));
    CHECK(std::adjacent_find(row.begin(), row.end()) == row.end());
    for (const int j : row) {
      REQUIRE(j >= 0);
      REQUIRE(j < 600);
      if (i < 512 && j < 512) ++quarter;
    }
  }
  CHECK(a.nnz() > 4000);  // 6000 draws, many of them the same
  CHECK(a.nnz() <= 6000);
  CHECK(static_cast<double>(quarter) > 0.5 * static_cast<double>(a.nnz()));
  CHECK(made("rows=1000,cols=600,density=0.01,pattern=rmat").col == a.col);
}

TEST_CASE("a sized matrix that small integers are listed for has no row whose sum leaves fp32's 24 bits") {
  int long_rows = 0;
  for (const plumb::SizedMatrix& m : plumb::kSizedMatrices) {
    const plumb::Case c = plumb::parse_case("spmv.f32(" + std::string(m.parameters) + ",fill=exact,seed=1)");
    const std::string pattern = c.text_or("pattern", "uniform");
    if (pattern != "arrow" && pattern != "giant") continue;  // the others' rows hold some thousands at most
    CAPTURE(m.parameters);
    ++long_rows;
    // integers in [-8, 8] have magnitude 72 / 17 on average
    CHECK(m.exact == (static_cast<double>(c.integer("cols")) * (72.0 / 17) * (72.0 / 17) < 0x1p24));
  }
  CHECK(long_rows == 2);
}

TEST_CASE(
    "long rows draw smaller integers, so that their sums stay within fp32's 24 bits; short rows do not") {
  const auto magnitude_of_row = [](const plumb::Csr<float>& a, int row) {
    double sum = 0;
    for (int k = a.row_ptr[row]; k < a.row_ptr[row + 1]; ++k) sum += std::fabs(static_cast<double>(a.val[k]));
    return sum;
  };
  const auto made_as = [](const std::string& parameters) {
    return plumb::make_sparse<float>(plumb::parse_case("spmv.f32(" + parameters + ",seed=1)"), 1000);
  };
  const auto wide = made_as("rows=3,cols=20000,density=1,fill=wide");
  for (int i = 0; i < 3; ++i) CHECK(magnitude_of_row(wide, i) < 0x1p24);
  for (const float v : wide.val) CHECK(static_cast<int>(v) % 2 != 0);
  const auto exact = made_as("rows=2,cols=1500000,density=0,pattern=arrow,fill=exact");
  CHECK(magnitude_of_row(exact, 0) * 8 < 0x1p24);
  CHECK(magnitude_of_row(exact, 0) > 0);
  const auto brief = made_as("rows=3,cols=2000,density=1,fill=wide");
  CHECK(*std::max_element(brief.val.begin(), brief.val.end()) > 8000);
}

TEST_CASE("a case says whether its operands hold NaN or an infinity") {
  using plumb::Gemm;
  const auto holds = [](const plumb::Case& c) {
    plumb::Instance<Gemm, float> instance;
    Gemm::make<float>(c, instance);
    bool any = false;
    for (const auto& m : {instance.in.A, instance.in.B}) {
      for (std::int64_t i = 0; i < m.rows; ++i)
        for (std::int64_t j = 0; j < m.cols; ++j) any |= !std::isfinite(m(i, j));
    }
    return any;
  };
  for (const char* const facing :
       {"", ",facing=inf_tiny", ",facing=tiny_inf", ",facing=near_top", ",facing=large", ",facing=rows_small",
        ",facing=zeros", ",facing=run_of_zeros"}) {
    for (const char* const fill : {"real", "hostile"}) {
      const std::string id = std::string("gemm.f32(m=9,n=11,k=37,alpha=1,beta=0,zeros=0") + facing +
                             ",fill=" + fill + ",seed=1)";
      CAPTURE(id);
      const plumb::Case c = plumb::parse_case(id);
      CHECK(plumb::holds_nonfinite(c) == holds(c));
    }
  }
}

TEST_CASE("a bound of flushed additions covers a sum that became 0, and the native bound does not") {
  const plumb::Tolerance native{plumb::Fill::real, plumb::Arithmetic::native, plumb::Dtype::f32};
  const plumb::Tolerance flushed{plumb::Fill::real, plumb::Arithmetic::flushed, plumb::Dtype::f32};
  CHECK(native.smallest_normal() == 0x1p-126);
  const double sum = 0x1p-128;  // of four terms: flushed to 0 it errs by itself
  CHECK(plumb::sum_bound(native, sum, sum, 4) < sum);
  CHECK(plumb::sum_bound(flushed, sum, sum, 4) >= sum);
  CHECK(plumb::sum_bound(flushed, 1, 1, 4) < plumb::sum_bound(native, 1, 1, 4) * 1.0000001);
  const plumb::Tolerance exact{plumb::Fill::exact, plumb::Arithmetic::flushed, plumb::Dtype::f32};
  CHECK(plumb::sum_bound(exact, 1, 1, 4) == 0);
  CHECK(plumb::sum_bound(exact, sum, sum, 4) >= sum);  // integers scaled into the subnormals
  CHECK(plumb::sum_bound(exact, 0, 0, 4) == 0);
  CHECK(plumb::sum_bound({plumb::Fill::exact, plumb::Arithmetic::native, plumb::Dtype::f32}, sum, sum, 4) ==
        0);
}

TEST_CASE("terms of one sign have the bound of positive data under every fill that rounds") {
  const plumb::Tolerance real{plumb::Fill::real, plumb::Arithmetic::native, plumb::Dtype::f32};
  const plumb::Tolerance positive{plumb::Fill::positive, plumb::Arithmetic::native, plumb::Dtype::f32};
  CHECK(plumb::sum_bound_of_one_sign(real, 1, 1, 40009) == plumb::sum_bound(positive, 1, 1, 40009));
  CHECK(plumb::sum_bound_of_one_sign(real, 1, 1, 40009) > plumb::sum_bound(real, 1, 1, 40009));
  CHECK(plumb::sum_bound_of_one_sign({plumb::Fill::exact, plumb::Arithmetic::native, plumb::Dtype::f32}, 1, 1,
                                     9) == 0);
}

TEST_CASE("subnormal values of both types are subnormal, and sums of 64 of them too") {
  const auto a = plumb::make_sparse<double>(
      plumb::parse_case("spmv.f64(rows=1,cols=64,density=1,fill=real,seed=1)"), 1000);
  std::vector<double> wide(a.val);
  std::vector<float> narrow(a.val.begin(), a.val.end());
  plumb::make_subnormal(wide.data(), 64), plumb::make_subnormal(narrow.data(), 64);
  double sum = 0, narrow_sum = 0;
  for (int k = 0; k < 64; ++k) sum += std::fabs(wide[k]), narrow_sum += std::fabs(narrow[k]);
  CHECK(sum > 0);
  CHECK(sum < std::numeric_limits<double>::min());
  CHECK(narrow_sum > 0);
  CHECK(narrow_sum < std::numeric_limits<float>::min());
}

TEST_CASE("every special value meets every class of rows, and zeros lie in the first and the last column") {
  std::set<plumb::Special> first, last, single, behind_empty, empty_addend;
  for (std::uint64_t seed = 1; seed <= 7; ++seed) {
    const auto c = plumb::parse_case(
        "spmv.f64(rows=900,cols=70,density=0.02,pattern=empty,fill=hostile,seed=" + std::to_string(seed) +
        ")");
    const plumb::Csr<double> a = plumb::make_sparse<double>(c, 1000);
    std::vector<double> addend(900, 0.25);
    plumb::place_addend_specials(addend.data(), a, seed, 3000);
    int longest = 0;
    for (int i = 0; i < 900; ++i) {
      const std::int32_t begin = a.row_ptr[i], length = a.row_ptr[i + 1] - begin;
      if (length > a.row_ptr[longest + 1] - a.row_ptr[longest]) longest = i;
      const auto note = [](std::set<plumb::Special>& met, double value) {
        if (const auto special = plumb::special_of(value)) met.insert(*special);
      };
      if (length == 1) note(single, a.val[begin]);
      if (length > 0 && i > 0 && a.row_ptr[i - 1] == begin) note(behind_empty, a.val[begin]);
      if (length == 0) note(empty_addend, addend[i]);
    }
    if (const auto special = plumb::special_of(a.val[a.row_ptr[longest]])) first.insert(*special);
    if (const auto special = plumb::special_of(a.val[a.row_ptr[longest + 1] - 1])) last.insert(*special);
    for (const std::int32_t column : {0, 69}) {
      bool zero = false;
      for (std::int64_t k = 0; k < a.nnz(); ++k) zero = zero || (a.col[k] == column && a.val[k] == 0);
      CHECK(zero);
    }
  }
  for (const auto* met : {&first, &last, &single, &behind_empty, &empty_addend})
    CHECK(met->size() == plumb::kSpecials);
}
