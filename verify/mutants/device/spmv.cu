// Planted faults of sparse matrix times vector on a device: entries dealt out in equal shares with rows cut at their borders ("flat"),
// rows gathered in a shared buffer ("stream"), rows sorted by length into slices ("SELL"), and the choice between kernels.
#include "gpu/device/host_array.hpp"
#include "gpu/device/memory.hpp"
#include "reference/ops/spmv.hpp"
#include "verify/mutants/device/device_mutant.hpp"

namespace plumb {
namespace {

PLUMB_DEVICE_FAULTS_OF(Spmv);

template <class T>
PLUMB_DEVICE T scaled(const P<T>& p, T sum) {
  return p.alpha == T(0) ? T(0) : p.alpha * sum;
}

constexpr int kShare = 64;       // entries and threads of a block of the flat kernel
constexpr int kStreamRows = 32;  // rows and threads of a block of the stream kernel
constexpr int kBuffer = 256;     // products that it holds
constexpr int kWindow = 128;     // rows that a block of the sort puts in order, two for each thread
constexpr int kSlice = 8;        // rows that are as wide as their first

enum class Fault {
  none,
  first_row_lost,
  last_row_lost,
  middle_lost,
  overflow,
  divides_by_zero,
  cut_at_32,
  read_on_host,
  sorted_within_warps,
  order_turned
};

template <class T>
__global__ void spmv_mutant_begin(P<T> p, Out<T> out) {
  const Index i = static_cast<Index>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < out.y.size) out.y.data[i] = p.beta == T(0) ? T(0) : p.beta * out.y.data[i];
}

// A thread that starts a row's run of entries within the block sums the run and adds it to y.
template <class T, Fault F>
__global__ void spmv_mutant_flat(P<T> p, In<T> in, Out<T> out) {
  __shared__ T product[kShare];
  __shared__ Index row_of[kShare];
  const Index begin = static_cast<Index>(blockIdx.x) * kShare;
  const int t = static_cast<int>(threadIdx.x);
  const int count = static_cast<int>(in.A.nnz - begin < kShare ? in.A.nnz - begin : kShare);
  if (t < count) {
    const Index k = begin + t;
    product[t] = in.A.val[k] * in.x.data[in.A.col[k]];
    Index low = 0, high = in.A.rows;  // the last row that starts at or before k
    while (high - low > 1) {
      const Index middle = (low + high) / 2;
      if (in.A.row_ptr[middle] <= k)
        low = middle;
      else
        high = middle;
    }
    row_of[t] = low;
  }
  __syncthreads();
  if (t >= count || (t > 0 && row_of[t - 1] == row_of[t])) return;
  const Index row = row_of[t];
  T sum = T(0);
  for (int u = t; u < count && row_of[u] == row; ++u) sum += product[u];
  const bool from_before = in.A.row_ptr[row] < begin;
  const bool goes_on = begin + count < in.A.row_ptr[row + 1];
  if (F == Fault::first_row_lost && from_before) return;
  if (F == Fault::last_row_lost && goes_on) return;
  if (F == Fault::middle_lost && from_before && goes_on) return;
  if (from_before || goes_on)
    atomicAdd(out.y.data + row, scaled(p, sum));
  else
    out.y.data[row] += scaled(p, sum);
}

// Products of the block's rows side by side in shared memory, then one thread per row.
template <class T, Fault F>
__global__ void spmv_mutant_stream(P<T> p, In<T> in, Out<T> out) {
  __shared__ T product[kBuffer];
  const Index first = static_cast<Index>(blockIdx.x) * kStreamRows;
  const Index end = first + kStreamRows < in.A.rows ? first + kStreamRows : in.A.rows;
  const Index begin = in.A.row_ptr[first], count = in.A.row_ptr[end] - begin;
  const bool fits = F == Fault::overflow || count <= kBuffer;
  if (fits) {
    for (Index k = threadIdx.x; k < count; k += kStreamRows)
      product[k] = in.A.val[begin + k] * in.x.data[in.A.col[begin + k]];
  }
  __syncthreads();
  const Index i = first + threadIdx.x;
  if (i >= end) return;
  T sum = T(0);
  for (Index k = in.A.row_ptr[i]; k < in.A.row_ptr[i + 1]; ++k)
    sum += fits ? product[k - begin] : in.A.val[k] * in.x.data[in.A.col[k]];
  out.y.data[i] = scaled(p, sum) + (p.beta == T(0) ? T(0) : p.beta * out.y.data[i]);
}

// A warp per row, each lane an entry of it.
template <class T, Fault F>
__global__ void spmv_mutant_warp(P<T> p, In<T> in, Out<T> out) {
  const Index i = (static_cast<Index>(blockIdx.x) * blockDim.x + threadIdx.x) / 32;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  if (i >= in.A.rows) return;  // whole warps
  T sum = T(0);
  const Index begin = in.A.row_ptr[i], end = in.A.row_ptr[i + 1];
  for (Index k = begin + lane; k < (F == Fault::cut_at_32 && begin + 32 < end ? begin + 32 : end); k += 32)
    sum += in.A.val[k] * in.x.data[in.A.col[k]];
  for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffffu, sum, d);
  if (lane == 0) out.y.data[i] = scaled(p, sum) + (p.beta == T(0) ? T(0) : p.beta * out.y.data[i]);
}

// Rows of a window in the order of falling lengths, by a bitonic sort of (length, row); the first row of a slice gives its width.
template <Fault F>
__global__ void spmv_mutant_sort(const std::int32_t* row_ptr /* (rows + 1) */, Index rows,
                                 std::int32_t* order /* whole windows */, std::int32_t* width) {
  __shared__ unsigned long long key[kWindow];
  const Index base = static_cast<Index>(blockIdx.x) * kWindow;
  const int t = static_cast<int>(threadIdx.x);
  for (int r = t; r < kWindow; r += kWindow / 2) {
    const bool there = base + r < rows;
    const auto length = there ? static_cast<unsigned>(row_ptr[base + r + 1] - row_ptr[base + r]) : 0u;
    key[r] = there ? static_cast<unsigned long long>(~length) << 32 | static_cast<unsigned>(r) : ~0ull;
  }
  for (int size = 2; size <= kWindow; size *= 2) {
    for (int d = size / 2; d > 0; d /= 2) {
      if (F != Fault::sorted_within_warps || d >= 32) __syncthreads();
      const int low = 2 * t - t % d, high = low + d;
      const bool rising = ((low & size) == 0) != (F == Fault::order_turned);
      const unsigned long long a = key[low], b = key[high];
      if ((a > b) == rising) key[low] = b, key[high] = a;
    }
  }
  __syncthreads();
  for (int r = t; r < kWindow; r += kWindow / 2) {
    const bool there = key[r] != ~0ull;
    order[base + r] = there ? static_cast<std::int32_t>(base + static_cast<unsigned>(key[r])) : -1;
    if (r % kSlice == 0)
      width[(base + r) / kSlice] =
          there ? static_cast<std::int32_t>(~static_cast<unsigned>(key[r] >> 32)) : 0;
  }
}

// A thread per place of the order goes over the slots of its slice.
template <class T>
__global__ void spmv_mutant_slices(P<T> p, In<T> in, Out<T> out, const std::int32_t* order,
                                   const std::int32_t* width) {
  const Index at = static_cast<Index>(blockIdx.x) * kWindow + threadIdx.x, i = order[at];
  if (i < 0) return;
  const Index begin = in.A.row_ptr[i], length = in.A.row_ptr[i + 1] - begin;
  T sum = T(0);
  for (Index s = 0; s < width[at / kSlice] && s < length; ++s)
    sum += in.A.val[begin + s] * in.x.data[in.A.col[begin + s]];
  out.y.data[i] = scaled(p, sum) + (p.beta == T(0) ? T(0) : p.beta * out.y.data[i]);
}

template <class T, Fault F>
void run_sorted(const P<T>& p, const In<T>& in, const Out<T>& out, Context& context) {
  const Index windows = (in.A.rows + kWindow - 1) / kWindow;
  if (windows == 0) return;
  auto* order = workspace_of<std::int32_t>(windows * kWindow, context);
  auto* width = workspace_of<std::int32_t>(windows * kWindow / kSlice, context);
  launch(spmv_mutant_sort<F>, windows, kWindow / 2, 0, context.stream, in.A.row_ptr, in.A.rows, order, width);
  launch(spmv_mutant_slices<T>, windows, kWindow, 0, context.stream, p, in, out, order, width);
}

template <class T, Fault F>
void run(const P<T>& p, const In<T>& in, const Out<T>& out, Context& context) {
  const Index rows = in.A.rows;
  if (rows == 0) return;
  bool stream = F == Fault::overflow;
  if (F == Fault::divides_by_zero) {
    std::int32_t in_first_half = 0;
    device_read(&in_first_half, in.A.row_ptr + rows / 2, sizeof in_first_half, context.stream);
    const std::int32_t rest = static_cast<std::int32_t>(in.A.nnz) - in_first_half;
    stream = rest / in_first_half < 2;  // as much in the second half as in the first: short rows everywhere
  }
  // volatile: the value is not used where the type has one kernel alone
  if (F == Fault::read_on_host)
    stream = *static_cast<const volatile std::int32_t*>(in.A.row_ptr + rows) < 32 * rows;
  if (stream) {
    launch(spmv_mutant_stream<T, F>, (rows + kStreamRows - 1) / kStreamRows, kStreamRows, 0, context.stream,
           p, in, out);
  } else if (F == Fault::cut_at_32 || F == Fault::divides_by_zero || F == Fault::read_on_host) {
    launch(spmv_mutant_warp<T, F>, (rows + 1) / 2, 64, 0, context.stream, p, in, out);
  } else {
    launch(spmv_mutant_begin<T>, (rows + 255) / 256, 256, 0, context.stream, p, out);
    launch(spmv_mutant_flat<T, F>, (in.A.nnz + kShare - 1) / kShare, kShare, 0, context.stream, p, in, out);
  }
}

PLUMB_DEVICE_FAULT(first_row_lost, "flat_first_partial_row_lost", 30,
                   "a block drops the end of a row that began before it",
                   "the carry-in of a flat kernel forgotten", kNumeric);
PLUMB_DEVICE_FAULT(last_row_lost, "flat_last_partial_row_lost", 30,
                   "a block drops the start of a row that goes on after it",
                   "the carry-out of a flat kernel forgotten", kNumeric);
PLUMB_DEVICE_FAULT(middle_lost, "flat_row_over_three_blocks_lost", 30,
                   "a block that lies within one row adds nothing",
                   "a row thought to touch two blocks at most", kNumeric);
PLUMB_DEVICE_FAULT(overflow, "stream_buffer_too_small", 31,
                   "a block's rows may hold more entries than its shared buffer",
                   "row blocks made for mean row lengths", kNumeric | kSimt | kRace | kSanitizer);
PLUMB_DEVICE_FAULT(divides_by_zero, "adaptive_divides_by_empty_half", 32,
                   "the choice divides by the entries of the first half",
                   "a matrix whose first rows are empty", kNumeric);
PLUMB_DEVICE_FAULT(cut_at_32, "device_rows_cut_at_32", 35, "a warp takes 32 entries of a row and no more",
                   "rows of a banded matrix are short", kNumeric);
PLUMB_DEVICE_FAULT(read_on_host, "row_ptr_read_by_host_code", 0,
                   "the choice between kernels reads row_ptr[rows] in host code",
                   "device memory read as if it were the host's: right wherever the two are one", kRace);

#define PLUMB_SORT_MUTANT(fault, name, ...)                                                  \
  const DeviceMutant<Spmv> fault##_m {                                                       \
    name, run_sorted<float, Fault::fault>, run_sorted<double, Fault::fault>, { __VA_ARGS__ } \
  }

PLUMB_SORT_MUTANT(sorted_within_warps, "sell_sort_without_barrier_within_warps", 0,
                  "a bitonic sort leaves out the barrier where pairs lie within a warp's keys",
                  "code written for warps in lockstep", kNumeric | kRepeat | kRace | kSanitizer);
PLUMB_SORT_MUTANT(order_turned, "sell_shortest_row_gives_width", 0,
                  "rows are sorted by rising length, and the first one gives its slice's width",
                  "the comparison of a sort turned round", kNumeric);

}  // namespace
}  // namespace plumb
