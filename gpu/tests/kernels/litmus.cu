// The kernel that runs litmus tests.
#include "gpu/tests/kernels/litmus.hpp"

#include <cuda/atomic>

#include "gpu/device/kernel.hpp"

namespace {

using plumb::simt_test::kLitmusSteps;
using plumb::simt_test::kLitmusVariables;
using plumb::simt_test::LitmusProgram;
using plumb::simt_test::LitmusStep;

__device__ cuda::std::memory_order order_of(LitmusStep::Order order) {
  switch (order) {
    case LitmusStep::acquire:
      return cuda::std::memory_order_acquire;
    case LitmusStep::release:
      return cuda::std::memory_order_release;
    case LitmusStep::acquire_release:
      return cuda::std::memory_order_acq_rel;
    case LitmusStep::sequential:
      return cuda::std::memory_order_seq_cst;
    default:
      return cuda::std::memory_order_relaxed;
  }
}

template <cuda::thread_scope Scope>
__device__ void step(const LitmusStep& s, int* memory, int* reads) {
  int& at = memory[s.variable];
  const cuda::atomic_ref<int, Scope> ref(at);
  switch (s.kind) {
    case LitmusStep::load:
      reads[s.value] =
          s.order == LitmusStep::of_volatile ? *static_cast<volatile int*>(&at) : ref.load(order_of(s.order));
      break;
    case LitmusStep::store:
      if (s.order == LitmusStep::of_volatile) {
        *static_cast<volatile int*>(&at) = s.value;
      } else {
        ref.store(s.value, order_of(s.order));
      }
      break;
    case LitmusStep::add:
      reads[s.value] = ref.fetch_add(1, order_of(s.order));
      break;
    case LitmusStep::fence:
      cuda::atomic_thread_fence(order_of(s.order), Scope);
      break;
    case LitmusStep::end:
      break;
  }
}

__device__ void run(const LitmusStep* steps, int* memory, int* reads) {
  for (int i = 0; i < kLitmusSteps; ++i) {
    const LitmusStep s = steps[i];
    if (s.scope == LitmusStep::block) {
      step<cuda::thread_scope_block>(s, memory, reads);
    } else if (s.scope == LitmusStep::device) {
      step<cuda::thread_scope_device>(s, memory, reads);
    } else {
      step<cuda::thread_scope_system>(s, memory, reads);
    }
  }
}

// Every `apart`-th thread of the grid is one of the program's.
__global__ void litmus_kernel(const LitmusProgram* program, int apart, int* memory, int* reads) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i % apart == 0) run(program->steps[i / apart], memory, reads);
}

__global__ void litmus_shared_kernel(const LitmusProgram* program, int* memory, int* reads) {
  __shared__ int variables[kLitmusVariables];
  const int i = static_cast<int>(threadIdx.x);
  if (i < kLitmusVariables) variables[i] = 0;
  __syncthreads();
  if (i % 32 == 0) run(program->steps[i / 32], variables, reads);
  __syncthreads();
  if (i < kLitmusVariables) memory[i] = variables[i];
}

}  // namespace

namespace plumb::simt_test {

void run_litmus(const LitmusProgram* program, LitmusLayout layout, int* memory, int* reads) {
  const int n = program->threads;
  device_fill(memory, 0, kLitmusVariables * sizeof(int), nullptr);
  device_fill(reads, 0, kLitmusReads * sizeof(int), nullptr);
  switch (layout) {
    case LitmusLayout::blocks:
      return launch(litmus_kernel, n, 1, 0, nullptr, program, 1, memory, reads);
    case LitmusLayout::warps:
      return launch(litmus_kernel, 1, 32 * n, 0, nullptr, program, 32, memory, reads);
    case LitmusLayout::lanes:
      return launch(litmus_kernel, 1, n, 0, nullptr, program, 1, memory, reads);
    case LitmusLayout::shared:
      return launch(litmus_shared_kernel, 1, 32 * n, 0, nullptr, program, memory, reads);
  }
}

}  // namespace plumb::simt_test
