// spmv, rung 16: SELL-C-sigma with C = 32 and sigma = 1024, converted in prepare().
//
// Change    slices of 32 rows have their own width, and rows are sorted by length within windows of 1024
//           first, so that a slice's rows are much alike: the padding of rung 15 all but goes.
// Traffic   entries plus little padding, coalesced; 4 bytes per row for the order.
// Limits    32 registers, no shared memory: 8 blocks of 256 per SM (sm_90, nvcc 13.0, ptxas -v).
// Fails at  a giant row: its slice is 31 rows of padding, and one warp's work. Refused beyond three times the
//           entries.
// Source    M. Kreutzer, G. Hager, G. Wellein, H. Fehske, A. R. Bishop, SIAM J. Sci. Comput. 36 (2014).
#include <algorithm>

#include "gpu/spmv/features.hpp"

namespace plumb {
namespace {

using namespace spmv;

constexpr int kThreads = 256;
constexpr int kSlice = 32;       // C: one warp
constexpr Index kWindow = 1024;  // sigma

template <class T>
struct Sell {
  Index slices = 0;
  const Index* start = nullptr;         // (slices + 1), in entries
  const std::int32_t* order = nullptr;  // (slices * 32): row at each place, -1 past the last
  std::int32_t* col = nullptr;  // (start[slices]), slot-major within a slice; -1 where there is no entry
  T* val = nullptr;
};

// Rows in order of falling length within windows; equal lengths keep their order.
void sort_rows(const HostArray<std::int32_t>& row_ptr, HostArray<std::int32_t>& order) {
  const Index rows = row_ptr.size() - 1;
  for (Index i = 0; i < order.size(); ++i) order[i] = i < rows ? static_cast<std::int32_t>(i) : -1;
  for (Index begin = 0; begin < rows; begin += kWindow) {
    const Index end = begin + kWindow < rows ? begin + kWindow : rows;
    std::stable_sort(order.data() + begin, order.data() + end, [&](std::int32_t a, std::int32_t b) {
      return row_ptr[a + 1] - row_ptr[a] > row_ptr[b + 1] - row_ptr[b];
    });
  }
}

// start (slices + 1); returns the number of slots.
Index place_slices(const HostArray<std::int32_t>& row_ptr, const HostArray<std::int32_t>& order,
                   HostArray<Index>& start) {
  Index slots = 0;
  for (Index s = 0; s + 1 < start.size(); ++s) {
    start[s] = slots;
    Index width = 0;
    for (Index r = s * kSlice; r < (s + 1) * kSlice; ++r) {
      if (order[r] < 0) continue;
      const Index length = row_ptr[order[r] + 1] - row_ptr[order[r]];
      width = length > width ? length : width;
    }
    slots += width * kSlice;
  }
  start[start.size() - 1] = slots;
  return slots;
}

template <class T>
__global__ void __launch_bounds__(kThreads) spmv_sell_fill(In<T> in, Sell<T> sell) {
  const Index at = static_cast<Index>(blockIdx.x) * kThreads + threadIdx.x, slice = at / kSlice;
  if (slice >= sell.slices) return;
  const Index lane = at % kSlice, width = (sell.start[slice + 1] - sell.start[slice]) / kSlice;
  const std::int32_t i = sell.order[at];
  const Index begin = i < 0 ? 0 : in.A.row_ptr[i], length = i < 0 ? 0 : in.A.row_ptr[i + 1] - begin;
  for (Index s = 0; s < width; ++s) {
    const Index to = sell.start[slice] + s * kSlice + lane;
    sell.col[to] = s < length ? in.A.col[begin + s] : -1;
    sell.val[to] = s < length ? in.A.val[begin + s] : T(0);
  }
}

template <class T>
__global__ void __launch_bounds__(kThreads) spmv_sell(Problem<T> p, In<T> in, Out<T> out, Sell<T> sell) {
  const Index at = static_cast<Index>(blockIdx.x) * kThreads + threadIdx.x, slice = at / kSlice;
  if (slice >= sell.slices) return;
  const Index end = sell.start[slice + 1];
  T sum = T(0);
  for (Index k = sell.start[slice] + at % kSlice; k < end; k += kSlice) {
    const std::int32_t c = sell.col[k];
    if (c >= 0) sum += sell.val[k] * __ldg(in.x.data + c);
  }
  const std::int32_t i = sell.order[at];
  if (i >= 0) finish_row(p, out.y.data, i, sum);
}

template <class T>
const char* supports(const Problem<T>&, const In<T>& in, const Out<T>&) {
  const HostCopy<std::int32_t> row_ptr(in.A.row_ptr, in.A.rows + 1, nullptr);
  const Index slices = ceil_div(in.A.rows, kSlice);
  HostArray<std::int32_t> order(slices * kSlice);
  HostArray<Index> start(slices + 1);
  sort_rows(row_ptr, order);
  return explodes(place_slices(row_ptr, order, start), in.A.rows, in.A.nnz)
             ? "SELL-C-sigma would pad to more than three times the entries: a giant row widens its slice"
             : nullptr;
}

template <class T>
void* prepare(const Problem<T>&, const In<T>& in, const Out<T>&, Context& context) {
  const HostCopy<std::int32_t> row_ptr(in.A.row_ptr, in.A.rows + 1, context.stream);
  auto* sell = new Sell<T>;
  sell->slices = ceil_div(in.A.rows, kSlice);
  HostArray<std::int32_t> order(sell->slices * kSlice);
  HostArray<Index> start(sell->slices + 1);
  sort_rows(row_ptr, order);
  const Index slots = place_slices(row_ptr, order, start);
  sell->start = upload(start, context);
  sell->order = upload(order, context);
  sell->col = workspace_of<std::int32_t>(slots, context);
  sell->val = workspace_of<T>(slots, context);
  launch(spmv_sell_fill<T>, ceil_div(sell->slices * kSlice, kThreads), kThreads, 0, context.stream, in,
         *sell);
  return sell;
}

template <class T>
void release(void* plan) {
  delete static_cast<Sell<T>*>(plan);
}

template <class T>
void run(const Problem<T>& p, const In<T>& in, const Out<T>& out, Context& context) {
  const auto& sell = *static_cast<const Sell<T>*>(context.plan);
  launch(spmv_sell<T>, ceil_div(sell.slices * kSlice, kThreads), kThreads, 0, context.stream, p, in, out,
         sell);
}

const Register<Spmv, float, Space::device> f32{"16_sell_c_sigma", run<float>,     {},
                                               supports<float>,   prepare<float>, release<float>};
const Register<Spmv, double, Space::device> f64{"16_sell_c_sigma", run<double>,     {},
                                                supports<double>,  prepare<double>, release<double>};

}  // namespace
}  // namespace plumb
