// Litmus tests: which outcomes of a few unordered accesses the executor must show, and which never. The table is that of
// docs/executor/memory-model.md; the verdicts follow NVIDIA's PTX model (Lustig, Sahasrabuddhe and Giroux, ASPLOS 2019; PTX ISA, "Memory
// Consistency Model").
#include "gpu/tests/kernels/litmus.hpp"

#include <sstream>

#include "gpu/tests/simt_support.hpp"

namespace plumb::simt_test {
namespace {

using Step = LitmusStep;

/// Threads are separated by |. x=1 stores, x? loads, x+ adds 1, F is a fence. The weak outcome names what the loads and additions read, in
/// the order in which they are written, then what the variables hold in the end; _ is any value.
struct Shape {
  const char* name;
  const char* text;
  const char* weak;
};

/// How a shape's accesses are done.
struct Way {
  const char* name;
  Step::Order load, store, add;
  Step::Scope scope;  // of accesses
  bool fences;
  Step::Order fence;
  Step::Scope fence_scope;
};

LitmusProgram program_of(const Shape& shape, const Way& way) {
  LitmusProgram p;
  int thread = 0, step = 0, reads = 0;
  std::istringstream in(shape.text);
  for (std::string word; in >> word;) {
    if (word == "|") {
      ++thread;
      step = 0;
      continue;
    }
    Step s;
    if (word == "F") {
      if (!way.fences) continue;
      s.kind = Step::fence, s.order = way.fence, s.scope = way.fence_scope;
    } else {
      s.variable = word[0] - 'x';
      s.scope = way.scope;
      if (word[1] == '=') {
        s.kind = Step::store, s.order = way.store, s.value = word[2] - '0';
      } else {
        s.kind = word[1] == '?' ? Step::load : Step::add;
        s.order = word[1] == '?' ? way.load : way.add;
        s.value = reads++;
      }
    }
    REQUIRE(thread < kLitmusThreads);
    REQUIRE(step < kLitmusSteps);
    p.steps[thread][step++] = s;
  }
  REQUIRE(reads <= kLitmusReads);
  p.threads = thread + 1;
  return p;
}

bool matches(const char* weak, const std::vector<int>& reads, const std::vector<int>& memory) {
  std::istringstream in(weak);
  std::size_t read = 0, variable = 0;
  bool final = false;
  for (std::string word; in >> word;) {
    if (word == ";") {
      final = true;
      continue;
    }
    const int got = final ? memory.at(variable++) : reads.at(read++);
    if (word != "_" && word != std::to_string(got)) return false;
  }
  return true;
}

bool weak_outcome(const Shape& shape, const LitmusProgram& program, LitmusLayout layout, std::uint64_t seed) {
  std::vector<int> memory(kLitmusVariables), reads(kLitmusReads);
  Run run(seed, program.threads);
  simt::add_array("program", &program, sizeof program, true, false);
  run_litmus(&program, layout, run.output(memory, "memory"), run.output(reads, "reads"));
  REQUIRE_FALSE(simt::stopped());
  static_cast<void>(Run::findings());
  return matches(shape.weak, reads, memory);
}

constexpr std::uint64_t kMustShowWithin = 400, kMustNotShowIn = 60;
const char* const kLayouts[] = {"blocks", "warps", "lanes", "shared"};

void expect(const Shape& shape, const Way& way, LitmusLayout layout, bool shows) {
  const LitmusProgram program = program_of(shape, way);
  std::uint64_t seed = 0;
  const std::uint64_t seeds = shows ? kMustShowWithin : kMustNotShowIn;
  while (seed < seeds && !weak_outcome(shape, program, layout, seed)) ++seed;
  CAPTURE(shape.name);
  CAPTURE(way.name);
  CAPTURE(kLayouts[static_cast<int>(layout)]);
  CAPTURE(seed);
  CHECK((seed < seeds) == shows);
}

// By the strength that each shape needs.
const Shape kMP{"MP", "x=1 F y=1 | y? F x?", "1 0"};
const Shape kMPAdd{"MP+add", "x=1 F y+ | y? F x?", "_ 1 0"};
const Shape kMPChain{"MP+chain", "x=1 F y=1 | y+ | y? F x?", "1 2 0"};
const Shape kWRC{"WRC", "x=1 | x? F y=1 | y? F x?", "1 1 0"};
const Shape kISA2{"ISA2", "x=1 F y=1 | y? F z=1 | z? F x?", "1 1 0"};
const Shape kS{"S", "x=2 F y=1 | y? F x=1", "1 ; 2"};
const Shape kSB{"SB", "x=1 F y? | y=1 F x?", "0 0"};
const Shape kR{"R", "x=1 F y=1 | y=2 F x?", "0 ; _ 2"};
const Shape k22W{"2+2W", "x=1 F y=2 | y=1 F x=2", "; 1 1"};
const Shape kIRIW{"IRIW", "x=1 | y=1 | x? F y? | y? F x?", "1 0 1 0"};
const Shape kSBRelay{"SB+relay", "x=1 F y? | y=1 F z=1 | z? F x?", "0 1 0"};
const Shape kByReleaseAcquire[] = {kMP, kMPAdd, kMPChain, kWRC, kISA2, kS};
const Shape kBySequential[] = {kSB, kR, k22W, kIRIW, kSBRelay};
const Shape kNever[] = {
    {"LB", "x? F y=1 | y? F x=1", "1 1"},  // allowed by the model; the executor does not produce it
    {"CoRR", "x=1 | x? x?", "1 0"},
    {"CoRR2", "x=1 | x=2 | x? x? | x? x?", "1 2 2 1"},
    {"CoWW", "x=1 x=2", "; 1"},
    {"CoRW", "x? x=1 | x=2", "2 ; 2"},
    {"CoWR", "x=1 x? | x=2", "2 ; 1"},
    {"two additions", "x+ | x+", "0 0"},
    {"a store within an addition", "x+ | x=5 | x? x?", "0 5 1"},
};

constexpr Way relaxed(const char* name, Step::Scope scope = Step::device) {
  return {name, Step::relaxed, Step::relaxed, Step::relaxed, scope, false, Step::relaxed, scope};
}
constexpr Way fenced(const char* name, Step::Order fence, Step::Scope scope,
                     Step::Order access = Step::relaxed) {
  return {name, access, access, Step::relaxed, Step::device, true, fence, scope};
}
const Way kUnordered[] = {
    relaxed("relaxed"),
    relaxed("relaxed.sys", Step::system),
    {"volatile", Step::of_volatile, Step::of_volatile, Step::relaxed, Step::device, false, Step::relaxed,
     Step::device},
    {"acquire loads alone", Step::acquire, Step::relaxed, Step::relaxed, Step::device, false, Step::relaxed,
     Step::device},
    {"release stores alone", Step::relaxed, Step::release, Step::release, Step::device, false, Step::relaxed,
     Step::device},
};
const Way kReleaseAcquire[] = {
    {"release/acquire", Step::acquire, Step::release, Step::acquire_release, Step::device, false,
     Step::relaxed, Step::device},
    fenced("fence.acq_rel.gpu", Step::acquire_release, Step::device),
    fenced("fence.acq_rel.sys", Step::acquire_release, Step::system),
    fenced("volatile, fence.acq_rel.gpu", Step::acquire_release, Step::device, Step::of_volatile),
};
const Way kSequential[] = {
    {"seq_cst", Step::sequential, Step::sequential, Step::sequential, Step::device, false, Step::relaxed,
     Step::device},
    fenced("fence.sc.gpu", Step::sequential, Step::device),
    fenced("fence.sc.sys", Step::sequential, Step::system),
    fenced("volatile, fence.sc.gpu", Step::sequential, Step::device, Step::of_volatile),
};
// Right within a block, nothing across blocks.
const Way kBlockReleaseAcquire[] = {
    {"release/acquire.cta", Step::acquire, Step::release, Step::acquire_release, Step::block, false,
     Step::relaxed, Step::block},
    fenced("fence.acq_rel.cta", Step::acquire_release, Step::block),
};
const Way kBlockSequential[] = {fenced("fence.sc.cta", Step::sequential, Step::block)};
const LitmusLayout kAllLayouts[] = {LitmusLayout::blocks, LitmusLayout::warps, LitmusLayout::lanes,
                                    LitmusLayout::shared};

template <class Ways>
void expect_all(const Ways& ways, bool shows_message, bool shows_store, bool blocks, bool within) {
  for (const Way& way : ways) {
    for (const LitmusLayout layout : kAllLayouts) {
      if (layout == LitmusLayout::blocks ? !blocks : !within) continue;
      for (const Shape& shape : kByReleaseAcquire) expect(shape, way, layout, shows_message);
      for (const Shape& shape : kBySequential) expect(shape, way, layout, shows_store);
    }
  }
}

}  // namespace

TEST_CASE("litmus: without an order every weak outcome shows") {
  if (!checked()) return;
  expect_all(kUnordered, true, true, true, true);
}

TEST_CASE("litmus: release and acquire order messages, and not a store with a later load") {
  if (!checked()) return;
  expect_all(kReleaseAcquire, false, true, true, true);
  expect_all(kBlockReleaseAcquire, false, true, false, true);
}

TEST_CASE("litmus: with sequentially consistent fences or atomics no weak outcome shows") {
  if (!checked()) return;
  expect_all(kSequential, false, false, true, true);
  expect_all(kBlockSequential, false, false, false, true);
}

TEST_CASE("litmus: a scope that does not reach orders nothing") {
  if (!checked()) return;
  expect_all(kBlockReleaseAcquire, true, true, true, false);
  expect_all(kBlockSequential, true, true, true, false);
}

TEST_CASE("litmus: coherence and atomicity hold whatever the order") {
  if (!checked()) return;
  const auto never = [](const auto& ways) {
    for (const Way& way : ways) {
      for (const LitmusLayout layout : kAllLayouts) {
        for (const Shape& shape : kNever) expect(shape, way, layout, false);
      }
    }
  };
  never(kUnordered);
  never(kReleaseAcquire);
  never(kSequential);
}

}  // namespace plumb::simt_test
