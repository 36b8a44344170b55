#include <doctest/doctest.h>
#include <omp.h>

#include "reference/arithmetic/fp.hpp"
#include "reference/cases/case_id.hpp"
#include "reference/core/error.hpp"
#include "reference/core/random.hpp"
#include "reference/core/team.hpp"
#include "reference/core/text.hpp"
#include "reference/core/threads.hpp"

using namespace plumb;

TEST_CASE("little work has one thread, much work the usual ones, and what follows the usual ones again") {
  const int usual = omp_get_max_threads();
  omp_set_num_threads(3);
  {
    const ThreadsForWork threads(1e4);
    CHECK(omp_get_max_threads() == 1);
  }
  CHECK(omp_get_max_threads() == 3);
  {
    const ThreadsForWork threads(1e9);
    CHECK(omp_get_max_threads() == 3);
  }
  omp_set_num_threads(usual);
}

TEST_CASE(
    "a second is worth sharing and a picosecond is not; one thread and a thread of a team share nothing") {
  const int usual = omp_get_max_threads();
  omp_set_num_threads(2);
  CHECK(worth_sharing(1));
  CHECK_FALSE(worth_sharing(1e-12));
  int of_team = 0, sharing = 0;
#pragma omp parallel num_threads(2) reduction(+ : of_team, sharing)
  of_team += 1, sharing += worth_sharing(1) ? 1 : 0;
  if (of_team == 2) CHECK(sharing == 0);  // a system may refuse the second thread
  omp_set_num_threads(1);
  CHECK_FALSE(worth_sharing(1));
  omp_set_num_threads(usual);
}

TEST_CASE("globs match whole texts") {
  CHECK(glob_match("spmv.*", "spmv.f32"));
  CHECK(glob_match("*", ""));
  CHECK(glob_match("g?mm", "gemm"));
  CHECK_FALSE(glob_match("spmv", "spmv.f32"));
  CHECK(glob_match("gpu/*merge*", "gpu/12_merge_path"));
}

TEST_CASE("a misspelt word gets the nearest known word as a suggestion, and nonsense gets none") {
  CHECK(nearest("spvm", {"gemm", "spmv", "spmm"}) == "spmv");
  CHECK(nearest("xyzzyplugh", {"gemm", "spmv"}).empty());
}

TEST_CASE("sizes take k and M, and refuse everything else") {
  CHECK(parse_size("60k", "--inputs") == 60000);
  CHECK(parse_size("1M", "--inputs") == 1000000);
  CHECK(parse_size("2Ki", "--inputs") == 2048);
  CHECK_THROWS_AS((void)parse_size("-1", "--inputs"), Error);
  CHECK_THROWS_AS((void)parse_size("12x", "--inputs"), Error);
  CHECK_THROWS_AS((void)parse_size("", "--inputs"), Error);
  CHECK_THROWS_AS((void)parse_size("1.5", "--inputs"), Error);
  CHECK_THROWS_AS((void)parse_size("1e300", "--inputs"), Error);
}

TEST_CASE("amounts of memory have a unit of powers of 1024, and are whole bytes above 0") {
  CHECK(parse_bytes("8GiB", "--memory") == std::int64_t{8} << 30);
  CHECK(parse_bytes("1.5MiB", "--memory") == 3 << 19);
  CHECK(parse_bytes("512KiB", "--memory") == 1 << 19);
  CHECK(parse_bytes("65536B", "--memory") == 65536);
  for (const char* const wrong :
       {"0B", "8", "8G", "8GB", "-1GiB", "1e300GiB", "0.3B", "nanGiB", "GiB", "", "8GiB "}) {
    CAPTURE(wrong);
    CHECK_THROWS_AS((void)parse_bytes(wrong, "--memory"), Error);
  }
  try {
    (void)parse_bytes("8GB", "--memory");
  } catch (const Error& e) {
    CHECK(std::string(e.what()) == "--memory: not an amount of memory above 0 (examples: 8GiB, 512MiB): 8GB");
  }
}

TEST_CASE("split leaves commas inside parentheses alone") {
  CHECK(split("a(x=1,y=2),b", ',') == std::vector<std::string>{"a(x=1,y=2)", "b"});
}

TEST_CASE("trimmed takes white space off both ends, and only there") {
  CHECK(trimmed(" \t a b\r\n") == "a b");
  CHECK(trimmed(" \n").empty());
}

TEST_CASE("Neumaier and Dot2 keep the sum that Kahan loses") {
  KahanSum<double> kahan;
  NeumaierSum<double> neumaier;
  for (const double t : {1.0, 1e20, 1.0, -1e20}) kahan.add(t), neumaier.add(t);
  CHECK(kahan.value() == 0.0);
  CHECK(neumaier.value() == 2.0);
  CHECK(arithmetic_self_test());
}

TEST_CASE("Dot2 sums (1 + 2^-52) * (1 + 2^-52) - 1 - 2^-51 to 2^-104 exactly") {
  Dot2<double> dot;
  dot.add_product(1 + 0x1p-52, 1 + 0x1p-52);
  dot.add(-1);
  dot.add(-0x1p-51);
  CHECK(dot.value() == 0x1p-104);
}

TEST_CASE("random numbers depend on seed, stream and index alone, and look uniform") {
  CHECK(random_bits(1, 2, 3) == random_bits(1, 2, 3));
  CHECK(random_bits(1, 2, 3) != random_bits(1, 3, 2));
  CHECK(random_bits(1, 2, 3) != random_bits(2, 2, 3));
  double sum = 0;
  for (std::uint64_t i = 0; i < 10000; ++i) sum += random_unit(7, 0, i);
  CHECK(sum == doctest::Approx(5000).epsilon(0.02));  // 3.5 standard deviations are 1 %
  for (std::uint64_t i = 0; i < 1000; ++i) CHECK(random_below(7, 1, i, 10) < 10);
}

TEST_CASE("an id with any file's name in it is read back as it was") {
  for (const std::string name : {"plain.mtx", "../up/x.mtx", "a,b(c)*?.mtx", "it's", "50%", "%2C", "1..2",
                                 "a #b", "tab\tnew\nline", "x=y", "\xc3\xa4.mtx", "a b", ")(", "%"}) {
    plumb::Case c = plumb::parse_case("spmv.f32(matrix=x,fill=own,seed=7)");
    c.params[0].second = name;
    CAPTURE(c.id());
    CHECK(plumb::parse_case(c.id()) == c);
    CHECK(plumb::parse_case(c.id()).id() == c.id());
    const plumb::CaseFilter filter(c.id());
    REQUIRE(filter.whole_ids().size() == 1);
    CHECK(filter.whole_ids()[0] == c);
    CHECK(filter.matches(c));
  }
  CHECK(plumb::parse_case("spmv.f32(matrix=../a%b.mtx,fill=own,seed=7)").text("matrix") == "../a%b.mtx");
}
