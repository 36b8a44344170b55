// Planted faults of log_softmax on a device: one block per row, which takes the maximum and then the sum through the same scratch; and
// rows in pieces, whose maxima and sums a second kernel merges; and a warp per row, which
// holds it in registers.
#include "reference/ops/log_softmax.hpp"
#include "verify/mutants/device/device_mutant.hpp"

namespace plumb {
namespace {

PLUMB_DEVICE_FAULTS_OF(LogSoftmax);

constexpr int kThreads = 64;

enum class Fault {
  none,
  scratch_reused,
  online_minus_inf,
  log_of_softmax,
  not_rescaled,
  last_piece_lost,
  one_too_many_held
};

template <class T>
PLUMB_DEVICE T larger(T a, T b) {
  return a >= b || a != a ? a : b;
}

// The tree's result in s[0]; all threads call it.
template <class T, class Join>
PLUMB_DEVICE void tree(T* s /* (kThreads), shared */, T mine, Join join) {
  const int t = static_cast<int>(threadIdx.x);
  s[t] = mine;
  __syncthreads();
  for (int d = kThreads / 2; d > 0; d /= 2) {
    if (t < d) s[t] = join(s[t], s[t + d]);
    __syncthreads();
  }
}

template <class T, Fault F>
__global__ void log_softmax_mutant(In<T> in, Out<T> out) {
  __shared__ T s[kThreads];
  const Index i = blockIdx.x, cols = in.x.cols;
  const T* x = in.x.data + i * in.x.ld;
  T* y = out.y.data + i * out.y.ld;
  T mine = static_cast<T>(-INFINITY), so_far = T(0);
  for (Index j = threadIdx.x; j < cols; j += kThreads) {
    const T next = larger(mine, x[j]);
    if (F == Fault::online_minus_inf) so_far = so_far * exp(mine - next) + exp(x[j] - next);
    mine = next;
  }
  const T own_largest = mine;
  tree(s, mine, [](T a, T b) { return larger(a, b); });
  const T largest = s[0];
  if (F != Fault::scratch_reused) __syncthreads();
  mine = T(0);
  if (F == Fault::online_minus_inf)
    mine = so_far * exp(own_largest - largest);
  else
    for (Index j = threadIdx.x; j < cols; j += kThreads) mine += exp(x[j] - largest);
  tree(s, mine, [](T a, T b) { return a + b; });
  const T sum = s[0];
  for (Index j = threadIdx.x; j < cols; j += kThreads)
    y[j] = F == Fault::log_of_softmax ? log(exp(x[j] - largest) / sum) : (x[j] - largest) - log(sum);
}

template <class T, Fault F>
void run(const P<T>&, const In<T>& in, const Out<T>& out, Context& context) {
  if (in.x.cols == 0) return;
  launch(log_softmax_mutant<T, F>, in.x.rows, kThreads, 0, context.stream, in, out);
}

constexpr Index kPiece = 32;  // columns

// Block number row * pieces + piece leaves its piece's maximum and sum.
template <class T>
__global__ void log_softmax_mutant_pieces(In<T> in, Index pieces, T* m /* (rows, pieces) */, T* sums) {
  __shared__ T s[kThreads];
  const Index i = blockIdx.x / pieces, j = blockIdx.x % pieces * kPiece + threadIdx.x;
  const bool mine = threadIdx.x < kPiece && j < in.x.cols;
  const T x = mine ? in.x.data[i * in.x.ld + j] : static_cast<T>(-INFINITY);
  tree(s, x, [](T a, T b) { return larger(a, b); });
  const T largest = s[0];
  __syncthreads();
  tree(s, mine && x != static_cast<T>(-INFINITY) ? exp(x - largest) : T(0), [](T a, T b) { return a + b; });
  if (threadIdx.x == 0) m[blockIdx.x] = largest, sums[blockIdx.x] = s[0];
}

template <class T, Fault F>
__global__ void log_softmax_mutant_merge(In<T> in, Out<T> out, Index pieces, const T* m, const T* sums) {
  const Index i = blockIdx.x, end = F == Fault::last_piece_lost && pieces > 1 ? pieces - 1 : pieces;
  T largest = static_cast<T>(-INFINITY), sum = T(0);
  for (Index p = 0; p < pieces; ++p) largest = larger(largest, m[i * pieces + p]);
  for (Index p = 0; p < end; ++p)
    sum += F == Fault::not_rescaled ? sums[i * pieces + p]
                                    : sums[i * pieces + p] * exp(m[i * pieces + p] - largest);
  for (Index j = threadIdx.x; j < in.x.cols; j += kThreads)
    out.y.data[i * out.y.ld + j] = (in.x.data[i * in.x.ld + j] - largest) - log(sum);
}

template <class T, Fault F>
void run_pieces(const P<T>&, const In<T>& in, const Out<T>& out, Context& context) {
  const Index pieces = (in.x.cols + kPiece - 1) / kPiece, blocks = in.x.rows * pieces;
  if (blocks == 0) return;
  auto* m = static_cast<T*>(context.workspace(2 * blocks * static_cast<Index>(sizeof(T))));
  launch(log_softmax_mutant_pieces<T>, blocks, kThreads, 0, context.stream, in, pieces, m, m + blocks);
  launch(log_softmax_mutant_merge<T, F>, in.x.rows, kThreads, 0, context.stream, in, out, pieces, m,
         m + blocks);
}

constexpr int kHeld = 4, kWarp = 32;

template <class T, Fault F>
__global__ void log_softmax_mutant_registers(In<T> in, Out<T> out) {
  const Index i = blockIdx.x, cols = in.x.cols;
  T held[kHeld], largest = static_cast<T>(-INFINITY), sum = T(0);
  for (int e = 0; e < (F == Fault::one_too_many_held ? kHeld + 1 : kHeld); ++e) {
    const Index j = e * kWarp + threadIdx.x;
    held[e] = j < cols ? in.x.data[i * in.x.ld + j] : static_cast<T>(-INFINITY);
  }
  for (const T x : held) largest = larger(largest, x);
  for (int d = kWarp / 2; d > 0; d /= 2) largest = larger(largest, __shfl_xor_sync(0xffffffffu, largest, d));
  for (const T x : held) sum += x == static_cast<T>(-INFINITY) ? T(0) : exp(x - largest);
  for (int d = kWarp / 2; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, d);
  for (int e = 0; e < kHeld; ++e) {
    const Index j = e * kWarp + threadIdx.x;
    if (j < cols) out.y.data[i * out.y.ld + j] = held[e] - largest - log(sum);
  }
}

template <class T, Fault F>
void run_registers(const P<T>&, const In<T>& in, const Out<T>& out, Context& context) {
  launch(log_softmax_mutant_registers<T, F>, in.x.rows, kWarp, 0, context.stream, in, out);
}

template <class T>
const char* held_by_a_warp(const P<T>&, const In<T>& in, const Out<T>&) {
  if (in.x.cols == 0 || in.x.rows == 0) return "an array without elements";
  return in.x.cols > kHeld * kWarp ? "a row that a warp does not hold" : nullptr;
}

PLUMB_DEVICE_FAULT(scratch_reused, "scratch_reused_without_barrier", 3,
                   "the scratch of the maximum takes the sum with no barrier between",
                   "two block reductions in a row, each right by itself",
                   kNumeric | kRepeat | kRace | kSanitizer);
PLUMB_DEVICE_FAULT(online_minus_inf, "online_sum_of_leading_minus_inf", 26,
                   "-Inf minus -Inf where a row starts with -Inf, in a sum that is rescaled as it goes",
                   "online softmax whose running maximum starts from -Inf", kNumeric);
PLUMB_DEVICE_FAULT(log_of_softmax, "device_log_of_softmax", 27, "log(softmax) in place of x - max - log(sum)",
                   "the definition, written down", kNumeric);

#define PLUMB_PIECES_MUTANT(fault, name, ...)                                                \
  const DeviceMutant<LogSoftmax> fault##_m {                                                 \
    name, run_pieces<float, Fault::fault>, run_pieces<double, Fault::fault>, { __VA_ARGS__ } \
  }

PLUMB_PIECES_MUTANT(not_rescaled, "pieces_summed_without_rescaling", 0,
                    "sums of a row's pieces are added, each to its own piece's maximum",
                    "a merge of online sums that forgets their maxima", kNumeric);
PLUMB_PIECES_MUTANT(last_piece_lost, "last_piece_of_row_lost", 0,
                    "the merge leaves out the last piece's sum, where a row has several",
                    "pieces counted by rounding down", kNumeric);

const DeviceMutant<LogSoftmax> one_too_many_held{
    "element_beside_what_a_lane_holds",
    run_registers<float, Fault::one_too_many_held>,
    run_registers<double, Fault::one_too_many_held>,
    {0, "a lane writes one element more than its array has, and never uses it",
     "a loop over registers that goes on to <=", kSimt | kRace},
    Traits{}.not_reproducible(),
    held_by_a_warp<float>,
    held_by_a_warp<double>};

}  // namespace
}  // namespace plumb
