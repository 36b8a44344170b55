// Test kernels that do one forbidden thing each.
#include <cassert>

#include "gpu/device/kernel.hpp"
#include "gpu/tests/kernels/simt_kernels.hpp"

namespace {

using plumb::simt_test::Copying;
using plumb::simt_test::OwnArray;

constexpr unsigned kAll = 0xffffffffu;

__global__ void shared_overrun_kernel(float* out) {
  __shared__ float s[32];
  s[threadIdx.x] = 1;  // <- shared overrun
  __syncthreads();
  out[threadIdx.x] = s[threadIdx.x % 32];
}
struct Four {
  float lane[4];
};
// n: the index, or how many, of the array that `where` names.
__global__ void own_array_kernel(OwnArray where, int n, const float* in, float* out) {
  float sum[8] = {}, rows[2][4] = {};
  Four held[2] = {}, one = {};
  switch (where) {
    case OwnArray::written:
      for (int i = 0; i < n; ++i) sum[i] += in[i];  // <- own written
      break;
    case OwnArray::read:
      out[0] = sum[threadIdx.x + n];  // <- own read
      break;
    case OwnArray::of_a_variable:
      one.lane[n] = 1;  // <- own of a variable
      break;
    case OwnArray::of_an_element:
      held[0].lane[n] = 1;  // <- own of an element
      break;
    case OwnArray::of_the_first_row:
      rows[0][n] = 1;  // <- own of the first row
      break;
    case OwnArray::of_the_last_row:
      rows[threadIdx.x + 1][n] = 1;  // <- own of the last row
      break;
    case OwnArray::its_end:
      for (float* at = sum; at != &sum[n]; ++at) *at = 1;  // <- own end
      break;
  }
  out[threadIdx.x] =
      sum[0] + sum[7] + rows[0][0] + rows[1][3] + held[0].lane[3] + held[1].lane[0] + one.lane[3];
}
// Rows of shared memory, of the block's array and of what a function is given, as one run of elements.
template <int Rows, int Cols>
__device__ void fill(float (&tile)[Rows][Cols]) {
  for (int i = threadIdx.x; i < Rows * Cols; i += blockDim.x) tile[0][i] = i;
}
__global__ void rows_as_one_kernel(float* out) {
  __shared__ float tile[4][33];
  fill(tile);
  __syncthreads();
  out[threadIdx.x] = tile[0][3 * 33 + threadIdx.x];
}
__global__ void global_overrun_kernel(const float* in, float* out, int n) {
  const unsigned t = threadIdx.x;
  if (static_cast<int>(t) <= n) out[t] = in[t];  // <- global overrun
}
// Sizes that are no vector's: a compiler expands such copies.
struct Three {
  float x[3];
};
__global__ void copies_kernel(Copying how, const float* in, float* out, int at, int bytes) {
  if (threadIdx.x != 0) return;
  float local[8] = {};
  switch (how) {
    case Copying::read:
      memcpy(local, in + at, 12);  // <- copied read
      break;
    case Copying::written:
      memcpy(out + at, local, sizeof(Three));  // <- copied write
      break;
    case Copying::moved:
      memmove(out + at, local, 12);  // <- moved
      break;
    case Copying::filled:
      memset(out + at, 0, 12);  // <- filled
      break;
    case Copying::of_some_size:
      std::memcpy(out + at, local, bytes);  // <- copied by size
      break;
  }
  out[0] = local[2];
}
__global__ void assigned_kernel(Three three, float* out, int at) {
  if (threadIdx.x == 0) *reinterpret_cast<Three*>(out + at) = three;  // <- assigned
}
__noinline__ __device__ float sum_of(Three three) { return three.x[0] + three.x[1] + three.x[2]; }
__global__ void handed_kernel(const float* in, float* out, int at) {
  if (threadIdx.x == 0) *out = sum_of(*reinterpret_cast<const Three*>(in + at));  // <- handed
}
using Function = float (*)(float);
__global__ void calls_kernel(Function f, float* out) { out[threadIdx.x] = f(2.0f); }  // <- no function
__global__ void divides_kernel(int by, float* out) {
  out[threadIdx.x] = static_cast<float>(7 / by);  // <- divided
}
__device__ float sum_from(const float* in, int n) {
  float held[64];
  for (int i = 0; i < 64; ++i) held[i] = in[(n + i) % 32];
  if (n < 0) return held[0];
  return sum_from(in, n + 1) + held[n % 64];
}
__global__ void recurses_kernel(const float* in, float* out) { out[threadIdx.x] = sum_from(in, 1); }
__global__ void holds_much_kernel(const float* in, float* out) {
  float held[50000];
  for (int i = 0; i < 50000; ++i) held[i] = in[i % 32] + static_cast<float>(i);
  out[threadIdx.x] = held[static_cast<int>(in[threadIdx.x]) + 7];
}
__global__ void copies_to_one_kernel(float* out, int apart) {
  const float mine[3] = {1.0f + threadIdx.x, 2, 3};
  memcpy(out + static_cast<int>(threadIdx.x) * apart, mine, 12);  // <- copied to one place
}
__global__ void write_input_kernel(float* in) {
  if (threadIdx.x == 3) in[3] = 0;  // <- input written
}
__global__ void read_unwritten_shared_kernel(float* out) {
  __shared__ float s[64];
  if (threadIdx.x % 2 == 0) s[threadIdx.x] = 1;
  __syncthreads();
  out[threadIdx.x] = s[threadIdx.x];  // <- unwritten shared
}
__global__ void read_unwritten_global_kernel(const float* workspace, float* out) {
  out[threadIdx.x] = workspace[threadIdx.x];  // <- unwritten global
}
__global__ void misaligned_vector_kernel(const float* in, float* out) {
  const float4 v = *reinterpret_cast<const float4*>(in + 4 * threadIdx.x);  // <- misaligned
  out[threadIdx.x] = v.x + v.w;
}
__global__ void misaligned_copy_kernel(const float* in, float* out) {
  __shared__ float s[4];
  plumb::cp_async16(s, in);  // <- misaligned copy
  plumb::cp_async_commit();
  plumb::cp_async_wait<0>();
  out[0] = s[3];
}
__global__ void named_wait_kernel(int* out) {
  if (threadIdx.x < 32) plumb::named_barrier_sync(1, 64);  // <- named wait
  out[threadIdx.x] = 1;
}
__global__ void poll_kernel(int* flag) {
  while (atomicAdd(flag, 0) == 0) {  // <- poll
  }
}
__global__ void poll_shared_kernel(int* unused) {
  __shared__ volatile int turn[2];
  if (threadIdx.x == 0) turn[0] = *unused, turn[1] = 17;
  __syncthreads();
  if (threadIdx.x == 0) __syncthreads();  // <- met by one
  while (turn[1] != 18) {                 // <- shared poll
    __nanosleep(20);
  }
}
__global__ void wrong_mask_pair_kernel(int* out) {
  const unsigned lane = threadIdx.x;
  int v = 0;
  if (lane < 16) {
    v = __shfl_sync(kAll, 1, 0);  // <- half arrives
  }
  out[lane] = v;
  if (lane >= 16) __syncthreads();  // <- half waits
}
__global__ void failed_assert_kernel(int* out, int value) {
  assert(value == 4);  // <- assert
  out[0] = value;
}
__global__ void idle_kernel(int* out) { out[0] = 1; }

__global__ void vote_meets_barrier_kernel(int* out) {
  if (threadIdx.x < 32) {
    out[threadIdx.x] = __syncthreads_count(1);  // <- a vote
  } else {
    __syncthreads();  // <- no vote
    out[threadIdx.x] = 0;
  }
}

}  // namespace

namespace plumb::simt_test {

void shared_overrun(int threads, float* out) { launch(shared_overrun_kernel, 1, threads, 0, nullptr, out); }
void own_array(OwnArray where, int n, const float* in, float* out) {
  launch(own_array_kernel, 1, 1, 0, nullptr, where, n, in, out);
}
void rows_as_one(float* out) { launch(rows_as_one_kernel, 1, 32, 0, nullptr, out); }
void global_overrun(int threads, const float* in, float* out, int n) {
  launch(global_overrun_kernel, 1, threads, 0, nullptr, in, out, n);
}
void copies(Copying how, const float* in, float* out, int at) {
  launch(copies_kernel, 1, 32, 0, nullptr, how, in, out, at, 12);
}
void assigned(float* out, int at) { launch(assigned_kernel, 1, 32, 0, nullptr, Three{{1, 2, 3}}, out, at); }
void handed(const float* in, float* out, int at) { launch(handed_kernel, 1, 32, 0, nullptr, in, out, at); }
void refused(Refused how, const float* in, float* out) {
  if (how == Refused::call) launch(calls_kernel, 1, 32, 0, nullptr, static_cast<Function>(nullptr), out);
  if (how == Refused::division) launch(divides_kernel, 1, 32, 0, nullptr, 0, out);
  if (how == Refused::recursion) launch(recurses_kernel, 1, 32, 0, nullptr, in, out);
  if (how == Refused::large_array) launch(holds_much_kernel, 1, 32, 0, nullptr, in, out);
}
void copies_to_one(float* out, int apart) { launch(copies_to_one_kernel, 1, 8, 0, nullptr, out, apart); }
void write_input(const float* in) { launch(write_input_kernel, 1, 32, 0, nullptr, const_cast<float*>(in)); }
void read_unwritten_shared(int threads, float* out) {
  launch(read_unwritten_shared_kernel, 1, threads, 0, nullptr, out);
}
void read_unwritten_global(const float* workspace, float* out) {
  launch(read_unwritten_global_kernel, 1, 32, 0, nullptr, workspace, out);
}
void misaligned_vector(const float* in, float* out, int offset) {
  launch(misaligned_vector_kernel, 1, 4, 0, nullptr, in + offset, out);
}
void misaligned_copy(const float* in, float* out, int offset) {
  launch(misaligned_copy_kernel, 1, 1, 0, nullptr, in + offset, out);
}
void waits_for_exited_named(int* out) { launch(named_wait_kernel, 1, 64, 0, nullptr, out); }
void poll_forever(int* flag) { launch(poll_kernel, 1, 2, 0, nullptr, flag); }
void poll_shared_forever(int* unused) { launch(poll_shared_kernel, 1, 64, 0, nullptr, unused); }
void wrong_mask_pair(int* out) { launch(wrong_mask_pair_kernel, 1, 32, 0, nullptr, out); }
void failed_assert(int* out, int value) { launch(failed_assert_kernel, 1, 1, 0, nullptr, out, value); }
void too_many_threads(int* out) { launch(idle_kernel, 1, 1025, 0, nullptr, out); }

void vote_meets_barrier(int* out) { launch(vote_meets_barrier_kernel, 1, 64, 0, nullptr, out); }

}  // namespace plumb::simt_test
