// Kernels that are right only while memory is strong, lanes stay together and nothing fails for no reason: each must show its mistake
// within a hundred seeds, in its result or as a finding, and its repaired twin must pass all of them in silence.
#include <algorithm>

#include "gpu/tests/simt_support.hpp"

namespace plumb::simt_test {
namespace {

constexpr std::uint64_t kManySeeds = 100;

/// Seeds under which the form showed its mistake. `run` launches it and says whether the result is right.
int mistakes(Form form, const std::function<bool(Form, std::uint64_t)>& run) {
  int shown = 0;
  for (std::uint64_t seed = 0; seed < kManySeeds; ++seed) {
    const bool right = run(form, seed);
    const auto findings = Run::findings();
    if (form == Form::right) {
      CAPTURE(seed);
      CHECK_MESSAGE(findings.empty(), all_of(findings));
      CHECK(right);
    }
    if (!right || !findings.empty()) ++shown;
  }
  return shown;
}

void shows_within_seeds(const std::function<bool(Form, std::uint64_t)>& run) {
  CHECK(mistakes(Form::right, run) == 0);
  CHECK(mistakes(Form::wrong, run) > 0);
}

/// What only the order of memory shows needs every access checked.
void shows_in_weak_memory(const std::function<bool(Form, std::uint64_t)>& run) {
  CHECK(mistakes(Form::right, run) == 0);
  if (checked()) CHECK(mistakes(Form::wrong, run) > 0);
}

using Words = std::vector<int>;

/// An array that holds zeros before the launch.
int* zeros(Words& v, std::size_t n, const char* name) {
  v.assign(n, 0);
  simt::add_array(name, v.data(), n * sizeof(int), true, true);
  return v.data();
}

using Message = void (*)(Form, int*, int*, int*);
std::function<bool(Form, std::uint64_t)> message(Message launch) {
  return [launch](Form f, std::uint64_t seed) {
    Words data, flag, out;
    Run run(seed, 2);
    launch(f, zeros(data, 1, "data"), zeros(flag, 1, "flag"), zeros(out, 1, "out"));
    return out[0] == 42;
  };
}

}  // namespace

TEST_CASE("a flag stored by a relaxed atomic may become visible before its data") {
  shows_in_weak_memory(message(relaxed_message));
}

TEST_CASE("a spin on a volatile flag with no fence may see old data") {
  shows_in_weak_memory(message(volatile_message));
}

TEST_CASE("a look-back whose blocks publish without a fence may add up old sums") {
  shows_in_weak_memory([](Form f, std::uint64_t seed) {
    Words sums, flags, out;
    Run run(seed, 2);
    look_back(f, 6, zeros(sums, 6, "sums"), zeros(flags, 7, "flags"), zeros(out, 6, "out"));
    return out == Words{1, 3, 6, 10, 15, 21};
  });
}

TEST_CASE("release and acquire do not keep two blocks from entering together") {
  shows_in_weak_memory([](Form f, std::uint64_t seed) {
    Words flags, inside;
    Run run(seed, 2);
    two_flags(f, zeros(flags, 2, "flags"), zeros(inside, 1, "inside"));
    return inside[0] <= 1;
  });
}

TEST_CASE("a lock without fences loses updates of volatile data") {
  shows_in_weak_memory([](Form f, std::uint64_t seed) {
    Words lock, count;
    Run run(seed, 5);
    locked_count(f, 5, zeros(lock, 1, "lock"), zeros(count, 1, "count"));
    return count[0] == 5;
  });
}

TEST_CASE("a barrier of an atomic counter and a volatile spin needs fences on both sides") {
  shows_in_weak_memory([](Form f, std::uint64_t seed) {
    Words data, arrived, out;
    Run run(seed, 4);
    hand_made_barrier(f, 4, zeros(data, 4, "data"), zeros(arrived, 1, "arrived"), zeros(out, 4, "out"));
    return out == Words(4, 10);
  });
}

TEST_CASE("an acquiring load publishes nothing") {
  shows_in_weak_memory([](Form f, std::uint64_t seed) {
    Words data, seen, flag, out;
    Run run(seed, 2);
    acquire_is_no_release(f, zeros(data, 1, "data"), zeros(seen, 1, "seen"), zeros(flag, 1, "flag"),
                          zeros(out, 1, "out"));
    return out[0] == 42;
  });
}

TEST_CASE("the active mask may leave out lanes of the same branch") {
  Words in(32);
  for (int i = 0; i < 32; ++i) in[static_cast<std::size_t>(i)] = i % 7;
  shows_within_seeds([&](Form f, std::uint64_t seed) {
    Words out;
    Run run(seed);
    branch_sum(f, run.input(in), zeros(out, 1, "out"));
    int sum = 0;
    for (const int v : in) sum += v > 3 ? v : 0;
    return out[0] == sum;
  });
}

TEST_CASE("a weak compare-exchange fails spuriously now and then") {
  shows_within_seeds([](Form f, std::uint64_t seed) {
    Words slots, count;
    Run run(seed);
    claimed_slots(f, 64, zeros(slots, 64, "slots"), zeros(count, 1, "count"));
    return count[0] == 64;
  });
}

TEST_CASE("more blocks may be under way than a warp has lanes") {
  shows_within_seeds([](Form f, std::uint64_t seed) {
    Words ticket, ring, lost;
    Run run(seed);
    slots_of_a_ring(f, 44, zeros(ticket, 1, "ticket"), zeros(ring, 44, "ring"), zeros(lost, 1, "lost"));
    return lost[0] == 0;
  });
}

TEST_CASE("a stack without a tag gives a node to two blocks, where one of them is held back for long") {
  constexpr int kBlocks = 8, kNodes = 2 * kBlocks + 1;
  const auto run_stack = [](Form f, std::uint64_t seed) {
    std::vector<unsigned long long> head{1};
    Words next, owners;
    Run run(seed);
    simt::add_array("head", head.data(), sizeof head[0], true, true);
    zeros(next, kNodes + 1, "next");
    for (int node = 1; node < kNodes; ++node) next[static_cast<std::size_t>(node)] = node + 1;
    stack_of_nodes(f, kBlocks, head.data(), next.data(), zeros(owners, kNodes + 1, "owners"));
    std::vector<bool> met(kNodes + 1);
    int nodes = 0;
    for (auto at = static_cast<std::size_t>(static_cast<unsigned>(head[0])); at != 0 && !met[at];
         at = static_cast<std::size_t>(next[at]))
      met[at] = true, ++nodes;
    return owners[0] == 0 && nodes == kNodes;
  };
  shows_within_seeds(run_stack);
  CHECK(mistakes(Form::wrong, run_stack) >= 3);  // of a hundred
}

TEST_CASE("accesses of different sizes to one word are not atomic to each other") {
  const int word = line_of("weak", "word"), half = line_of("weak", "half");
  REQUIRE(word > 0);
  REQUIRE(half > 0);
  for (const Form form : {Form::right, Form::wrong}) {
    for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
      CAPTURE(seed);
      std::vector<unsigned> bits(1, 0);
      Run run(seed);
      simt::add_array("bits", bits.data(), sizeof(unsigned), true, true);
      half_of_a_word(form, bits.data());
      const auto findings = Run::findings();
      if (form == Form::right) {
        CHECK_MESSAGE(findings.empty(), all_of(findings));
        CHECK(bits[0] == 0x10001u);
      } else if (checked()) {
        CHECK_MESSAGE(reports(findings, simt::FindingKind::race, word, half), all_of(findings));
      }
    }
  }
}

}  // namespace plumb::simt_test
