// spmv, host 07: SELL-C-sigma, chunks of rows of like length, converted in prepare().
//
// Change    rows are sorted by length within windows of kSigma, cut in chunks of kRows, and each chunk is
//           stored slot-major as wide as its own longest row: ELL's vector loop without ELL's padding.
// Traffic   the entries and the padding of each chunk, bounded to half of nnz + rows; one row number per row.
// Limits    the gather of x; the scattered store of y within a window. With a mask in every slot it took four
//           times as long in fp32 (AVX-512, gcc 12.2): only slots that some row of the chunk lacks are
//           masked.
// Fails at  rows that differ much within a window; refused, with the reason, where padding passes its bound.
// Source    Kreutzer, Hager, Wellein, Fehske and Bishop, "A unified sparse matrix data format for efficient
//           general sparse matrix-vector multiplication on modern processors with wide SIMD units", SIAM J.
//           Sci. Comput. 36 (2014).
#include <algorithm>
#include <numeric>
#include <vector>

#include "reference/cpu/simd.hpp"
#include "reference/cpu/spmv/finish_row.hpp"
#include "reference/ops/spmv.hpp"

namespace plumb {
namespace {

template <class T>
using In = Spmv::In<T, Space::host>;
template <class T>
using Out = Spmv::Out<T, Space::host>;

template <class T>
constexpr std::int64_t kRows = kLanes<T>;  // C: one vector register of sums
constexpr std::int64_t kSigma =
    1024;  // window of the sort: far enough to help, near enough for y's cache lines

template <class T>
std::int64_t length_of(const In<T>& in, std::int64_t i) {
  return in.A.row_ptr[i + 1] - in.A.row_ptr[i];
}

// Rows by descending length within each window; equal lengths keep their order.
template <class T>
std::vector<std::int32_t> sorted_rows(const In<T>& in) {
  std::vector<std::int32_t> order(static_cast<std::size_t>(in.A.rows));
  std::iota(order.begin(), order.end(), 0);
  for (std::int64_t begin = 0; begin < in.A.rows; begin += kSigma) {
    const std::int64_t end = std::min(in.A.rows, begin + kSigma);
    std::stable_sort(order.begin() + begin, order.begin() + end,
                     [&](std::int32_t a, std::int32_t b) { return length_of(in, a) > length_of(in, b); });
  }
  return order;
}

template <class T>
std::int64_t slots_of(const In<T>& in, const std::vector<std::int32_t>& order) {
  std::int64_t slots = 0;
  for (std::int64_t begin = 0; begin < in.A.rows; begin += kRows<T>) {
    std::int64_t width = 0;  // a chunk may lie across two windows, so its first row need not be its longest
    for (std::int64_t r = begin; r < std::min(in.A.rows, begin + kRows<T>); ++r) {
      width = std::max(width, length_of(in, order[static_cast<std::size_t>(r)]));
    }
    slots += width * kRows<T>;
  }
  return slots;
}

template <class T>
const char* supports(const Spmv::Problem<T>&, const In<T>& in, const Out<T>&) {
  return 2 * slots_of(in, sorted_rows(in)) > 3 * (in.A.nnz + in.A.rows) + 2 * kRows<T>
             ? "SELL-C-sigma would pad by more than half: row lengths differ too much within a chunk"
             : nullptr;
}

template <class T>
struct Sell {
  std::vector<std::int32_t> row, length;  // (rows), in sorted order
  std::vector<std::int64_t> begin;        // (chunks + 1), into col and val
  std::vector<std::int32_t> col;          // slot-major within a chunk; padding points at column 0
  std::vector<T> val;
};

template <class T>
void* prepare(const Spmv::Problem<T>&, const In<T>& in, const Out<T>&, Context&) {
  auto* sell = new Sell<T>;
  sell->row = sorted_rows(in);
  const auto slots = static_cast<std::size_t>(slots_of(in, sell->row));
  sell->col.assign(slots, 0);
  sell->val.assign(slots, T(0));
  sell->length.resize(static_cast<std::size_t>(in.A.rows));
  sell->begin.push_back(0);
  for (std::int64_t first = 0; first < in.A.rows; first += kRows<T>) {
    std::int64_t width = 0;
    for (std::int64_t r = first; r < std::min(in.A.rows, first + kRows<T>); ++r) {
      const std::int32_t i = sell->row[r];
      const std::int64_t length = length_of(in, i);
      sell->length[r] = static_cast<std::int32_t>(length);
      width = std::max(width, length);
      for (std::int64_t s = 0; s < length; ++s) {
        sell->col[sell->begin.back() + s * kRows<T> + r - first] = in.A.col[in.A.row_ptr[i] + s];
        sell->val[sell->begin.back() + s * kRows<T> + r - first] = in.A.val[in.A.row_ptr[i] + s];
      }
    }
    sell->begin.push_back(sell->begin.back() + width * kRows<T>);
  }
  return sell;
}

template <class T>
void release(void* plan) {
  delete static_cast<Sell<T>*>(plan);
}

template <class T>
void run(const Spmv::Problem<T>& p, const In<T>& in, const Out<T>& out, Context& context) {
  const auto& sell = *static_cast<const Sell<T>*>(context.plan);
  const T* x = in.x.data;
  const auto chunks = static_cast<std::int64_t>(sell.begin.size()) - 1;
#pragma omp parallel for schedule(static)
  for (std::int64_t c = 0; c < chunks; ++c) {
    const std::int64_t first = c * kRows<T>, rows = std::min(kRows<T>, in.A.rows - first);
    const std::int64_t width = (sell.begin[c + 1] - sell.begin[c]) / kRows<T>;
    const std::int32_t* col = sell.col.data() + sell.begin[c];
    const T* val = sell.val.data() + sell.begin[c];
    std::int32_t length[kRows<T>] = {};
    std::copy_n(sell.length.data() + first, rows, length);
    // slots that every row of the chunk fills need no mask; after the sort these are nearly all
    const std::int64_t full = *std::min_element(length, length + kRows<T>);
    Vector<T> sum{};
    for (std::int64_t s = 0; s < full; ++s) {
      Vector<T> a, b;
      load<T>(a, val + s * kRows<T>);
#pragma GCC unroll 16
      for (std::int64_t r = 0; r < kRows<T>; ++r) b[r] = x[col[s * kRows<T> + r]];
      sum += a * b;
    }
    for (std::int64_t s = full; s < width; ++s) {
      // a padded slot adds nothing, not 0 * x: x[0] may hold NaN
      for (std::int64_t r = 0; r < kRows<T>; ++r) {
        if (s < length[r]) sum[r] += val[s * kRows<T> + r] * x[col[s * kRows<T> + r]];
      }
    }
    for (std::int64_t r = 0; r < rows; ++r) {
      const std::int32_t i = sell.row[first + r];
      spmv::finish_row(p, sum[r], out.y[i]);
    }
  }
}

PLUMB_REGISTER_WITH(Spmv, "07_sell_c_sigma", (run<T>, {}, supports<T>, prepare<T>, release<T>), float,
                    double);

}  // namespace
}  // namespace plumb
