// A litmus test as data: what each of a few threads does to a few variables. One kernel runs them all.
#pragma once

namespace plumb::simt_test {

/// One step of a thread.
struct LitmusStep {
  enum Kind : int { end, load, store, add, fence } kind = end;
  enum Order : int { relaxed, of_volatile, acquire, release, acquire_release, sequential } order = relaxed;
  enum Scope : int { block, device, system } scope = device;
  int variable = 0;
  int value = 0;  // stored or added; of a load or an addition, where what was read goes
};
constexpr int kLitmusThreads = 4, kLitmusSteps = 6, kLitmusVariables = 3, kLitmusReads = 4;

struct LitmusProgram {
  LitmusStep steps[kLitmusThreads][kLitmusSteps];
  int threads = 0;
};

/// Where the threads stand, and where the variables lie.
enum class LitmusLayout { blocks, warps, lanes, shared };

/// memory: kLitmusVariables, zeroed here and as the threads leave it; reads: kLitmusReads.
void run_litmus(const LitmusProgram* program, LitmusLayout layout, int* memory, int* reads);

}  // namespace plumb::simt_test
