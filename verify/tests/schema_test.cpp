// Schemata: what a place does with none of its mutants in force, and with each; what is noted of it; the sweep over a schema.
#include <doctest/doctest.h>

#include <atomic>
#include <cstdio>
#include <fstream>
#include <string>

#include "reference/core/error.hpp"
#include "verify/engine/operator/mutant_points.hpp"
#include "verify/engine/operator/mutants_in_force.hpp"
#include "verify/sweep/schema_sweep.hpp"

using namespace plumb;

namespace {

MutantBoard& mutants() {
  static MutantBoard board;
  board.use_here();
  return board;
}

// With mutant `number` in force.
template <class F>
auto with(int number, const F& f) {
  mutants().put(number);
  const auto result = f();
  mutants().put(0);
  return result;
}

}  // namespace

TEST_CASE("an operator's mutants are its other operators, in order") {
  const auto less = [] { return mutate::binary<mutate::Less, mutate::LessEqual, mutate::NotEqual>(5, 3, 3); };
  CHECK(!with(0, less));
  CHECK(with(5, less));
  CHECK(!with(6, less));
  CHECK(!with(4, less));
  CHECK(!with(7, less));
  const auto minus = [] { return mutate::binary<mutate::Minus, mutate::Plus>(5, 7, 2); };
  CHECK(with(0, minus) == 5);
  CHECK(with(5, minus) == 9);
}

TEST_CASE("pointers keep what applies to them, and the rest is noted as absent") {
  const int values[] = {1, 2, 3};
  const auto shifted = [&] {
    return *mutate::binary<mutate::Plus, mutate::Times, mutate::Minus>(5, values + 1, 1);
  };
  CHECK(with(0, shifted) == 3);
  CHECK(with(5, shifted) == 3);
  CHECK(with(6, shifted) == 1);
  mutants().put(6);
  (void)shifted();
  const std::vector<SeenMutant> seen = mutants().seen();
  REQUIRE(seen.size() == 2);
  CHECK((seen[0].number == 5 && (seen[0].seen & kPlaceAbsent) != 0));
  CHECK((seen[1].number == 6 && (seen[1].seen & kPlaceReached) != 0));
  mutants().put(0);
  CHECK(mutants().seen().empty());
}

TEST_CASE("the right side of && is evaluated where the operator in force asks for it") {
  int asked = 0;
  const auto both = [&](bool left) {
    return mutate::both(5, left, [&] {
      ++asked;
      return true;
    });
  };
  CHECK(!with(0, [&] { return both(false); }));
  CHECK(asked == 0);
  CHECK(with(5, [&] { return both(false); }));
  CHECK(asked == 1);
  CHECK(with(5, [&] { return both(true); }));
  CHECK(asked == 1);
}

TEST_CASE("the original notes which mutants would have changed something") {
  const auto felt = [](const auto& place) {
    mutants().put(0);
    place();
    std::vector<int> numbers;
    for (const SeenMutant& m : mutants().seen()) {
      if ((m.seen & kPlaceFelt) != 0) numbers.push_back(m.number);
    }
    mutants().put(0);
    return numbers;
  };
  using Numbers = std::vector<int>;
  CHECK(
      felt([] { (void)mutate::binary<mutate::Less, mutate::LessEqual, mutate::NotEqual>(5, 2, 3); }).empty());
  CHECK(felt([] { (void)mutate::binary<mutate::Less, mutate::LessEqual, mutate::NotEqual>(5, 3, 3); }) ==
        Numbers{5});
  CHECK(felt([] { (void)mutate::narrow(5, 32767); }).empty());
  CHECK(felt([] { (void)mutate::narrow(5, std::int64_t{32768}); }) == Numbers{5});
  CHECK(felt([] { (void)mutate::narrow(5, std::int64_t{1} << 33); }) == Numbers{5, 6});
  CHECK(felt([] { (void)mutate::narrow(5, 0.5f); }).empty());
  CHECK(felt([] { (void)mutate::narrow(5, 1e-9f); }) == Numbers{5});
  CHECK(felt([] { (void)mutate::scalar(5, 1.0); }).empty());
  CHECK(felt([] { (void)mutate::off(5, 1); }) == Numbers{5, 6});
  CHECK(felt([] { (void)mutate::both(5, true, [] { return true; }); }).empty());
  CHECK(felt([] { (void)mutate::both(5, true, [] { return false; }); }) == Numbers{5, 6});
  CHECK(felt([] { (void)mutate::both(5, false, [] { return true; }); }) == Numbers{5, 7});
  CHECK(felt([] { (void)mutate::either(5, false, [] { return true; }); }) == Numbers{5, 6});
  CHECK(felt([] { (void)mutate::either(5, true, [] { return true; }); }) == Numbers{5, 7});
  CHECK(felt([] { (void)mutate::deleted(5); }) == Numbers{5});
  int sum = 0;
  CHECK(felt([&] { mutate::update<mutate::Plus>(5, sum, 3); }).empty());
  CHECK(felt([&] { mutate::update<mutate::Plus>(5, sum, 3); }) == Numbers{5});
  CHECK(sum == 6);
}

TEST_CASE("a constant or a bounded value that the narrower type holds has no such mutant") {
  const auto absent = [](const auto& place) {
    mutants().put(0);
    place();
    const std::vector<SeenMutant> seen = mutants().seen();
    mutants().put(0);
    return !seen.empty() && (seen[0].seen & kPlaceReached) == 0;
  };
  CHECK(absent([] { (void)mutate::narrow_constant(5, 256); }));
  CHECK(absent([] { (void)mutate::narrow_constant(5, 0.5); }));
  CHECK(!absent([] { (void)mutate::narrow_constant(5, 70001); }));
  CHECK(!absent([] { (void)mutate::narrow_constant(5, 0.1); }));
  CHECK(absent([] { (void)mutate::narrow_within(5, 3, 1023); }));
  CHECK(!absent([] { (void)mutate::narrow_within(5, 3, 40000); }));
  CHECK(with(5, [] { return mutate::narrow_constant(5, 70001); }) == 70001 - 65536);
  CHECK(with(5, [] { return mutate::narrow_within(5, 70001, 100000); }) == 70001 - 65536);
}

TEST_CASE(
    "each side of a condition alone, a step more, another parity, a weaker order, a volatile read plainly") {
  CHECK(with(6, [] { return mutate::both(5, true, [] { return false; }); }));
  CHECK(with(7, [] { return mutate::both(5, false, [] { return true; }); }));
  CHECK(!with(6, [] { return mutate::either(5, false, [] { return true; }); }));
  CHECK(!with(7, [] { return mutate::either(5, true, [] { return false; }); }));
  CHECK(with(5, [] { return mutate::by(5, 10, 16); }) == 26);
  CHECK(with(6, [] { return mutate::by(5, 10, 16); }) == -6);
  CHECK(with(6, [] { return mutate::by(5, 10, 16, 1); }) == 10);
  CHECK(with(5, [] { return mutate::flipped(5, 1u); }) == 0u);
  CHECK(with(5, [] { return mutate::order(5, std::memory_order_acquire, std::memory_order_relaxed); }) ==
        std::memory_order_relaxed);
  volatile int there = 7;
  CHECK(with(5, [&] { return mutate::plainly(5, there); }) == 7);
  CHECK(with(6, [&] {
          mutate::assign_volatile(5, there, 4);
          return static_cast<int>(there);
        }) == 4);
}

TEST_CASE("values: off by one, half a width, a lane less, a scalar ignored or twice, a sign") {
  CHECK(with(5, [] { return mutate::off(5, 7); }) == 8);
  CHECK(with(6, [] { return mutate::off(5, 7); }) == 6);
  CHECK(with(0, [] { return mutate::off(5, 7); }) == 7);
  CHECK(with(5, [] { return mutate::halved(5, 32); }) == 16);
  CHECK(with(5, [] { return mutate::mask(5, 0xffffffffu); }) == 0x7fffffffu);
  CHECK(with(6, [] { return mutate::mask(5, 0xffffffffu); }) == 0xfffffffeu);
  CHECK(with(5, [] { return mutate::scalar(5, 3.0); }) == 1.0);
  CHECK(with(6, [] { return mutate::scalar(5, 3.0); }) == 9.0);
  CHECK(with(5, [] { return mutate::negative(5, 3.0f); }) == 3.0f);
  CHECK(with(0, [] { return mutate::negative(5, 3.0f); }) == -3.0f);
  CHECK(with(5, [] { return mutate::condition(5, true, 2); }) == false);
  CHECK(with(6, [] { return mutate::condition(5, false, 2); }) == true);
}

TEST_CASE("a narrowed value is what the narrower type holds") {
  CHECK(with(5, [] { return mutate::narrow(5, std::int64_t{70001}); }) == 70001 - 65536);
  CHECK(with(6, [] { return mutate::narrow(5, std::int64_t{70001}); }) == 70001);
  CHECK(with(6, [] { return mutate::narrow(5, std::int64_t{1} << 33); }) == 0);
  CHECK(with(5, [] { return mutate::narrow(5, -32769); }) == 32767);
  CHECK(with(5, [] { return mutate::narrow(5, 70001u); }) == 70001u - 65536u);
  CHECK(with(5, [] { return mutate::narrow(5, 0.1); }) == static_cast<double>(0.1f));
  CHECK(with(5, [] { return mutate::narrow(5, 1.0f); }) == 1.0f);
  CHECK(with(5, [] { return mutate::narrow(5, 2049.0f); }) == 2048.0f);
  CHECK(with(5, [] { return mutate::narrow(5, 70000.0f); }) > 1e30f);
  CHECK(with(5, [] { return mutate::narrow(5, 1e-9f); }) == 0.0f);
  CHECK(with(5, [] { return mutate::narrow(5, true); }));
}

TEST_CASE("an assignment becomes +=, and += an assignment") {
  const auto assigned = [](int number) {
    int to = 10;
    mutants().put(number);
    mutate::assign(5, to, 3);
    mutants().put(0);
    return to;
  };
  const auto updated = [](int number) {
    int to = 10;
    mutants().put(number);
    mutate::update<mutate::Minus>(5, to, 3);
    mutants().put(0);
    return to;
  };
  CHECK(assigned(0) == 3);
  CHECK(assigned(5) == 13);
  CHECK(updated(0) == 7);
  CHECK(updated(5) == 3);
}

TEST_CASE("in a constant expression every place is its original") {
  mutants().put(5);
  constexpr int kLength = mutate::off(5, 4);
  static_assert(kLength == 4);
  static_assert(mutate::binary<mutate::Plus, mutate::Minus>(5, 1, 2) == 3);
  static_assert(mutate::narrow(5, 70001) == 70001);
  mutants().put(0);
}

TEST_CASE("a list of schemata is read by variant, and refused with its line") {
  const std::string path = "schemata_test.txt";
  const auto read = [&](const char* text) {
    std::ofstream(path) << text;
    return read_schemata(path);
  };
  const std::vector<Schema> two = read("1 user/a\n3 user/b\n4 user/a\n");
  REQUIRE(two.size() == 2);
  CHECK(two[0].variant == "user/a");
  CHECK(two[0].mutants == std::vector<int>{1, 4});
  CHECK_THROWS_WITH_AS((void)read("1 user/a\nx user/b\n"),
                       "schemata_test.txt:2: not 'NUMBER VARIANT' with a number from 1 to 131072: 'x user/b'",
                       Error);
  CHECK_THROWS_AS((void)read("0 user/a\n"), Error);
  CHECK_THROWS_AS((void)attack_schemata({{"user/nobody", {1}}}, {}), Error);
  std::remove(path.c_str());
  CHECK_THROWS_AS((void)read_schemata(path), Error);
}
