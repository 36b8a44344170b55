// spmv, host 09: ELL for the regular part, CSR tails for what is longer; converted in prepare().
//
// Change    the first kWidth entries of every row are stored in ELL, the others in a list of tails, one per
//           long row. No matrix is refused, because a very long row costs ELL nothing.
// Traffic   rows * kWidth slots and the tails; kWidth is the largest at which at least a third of the slots
//           are used.
// Fails at  tails that hold most of the matrix: two formats' overhead for one format's work.
// Source    Bell and Garland, SC'09 (HYB: ELL and COO).
#include <algorithm>
#include <functional>
#include <vector>

#include "reference/cpu/spmv/finish_row.hpp"
#include "reference/ops/spmv.hpp"

namespace plumb {
namespace {

template <class T>
using In = Spmv::In<T, Space::host>;
template <class T>
using Out = Spmv::Out<T, Space::host>;

template <class T>
std::int64_t length_of(const In<T>& in, std::int64_t i) {
  return in.A.row_ptr[i + 1] - in.A.row_ptr[i];
}

// The largest width whose last slot is filled by at least a third of the rows.
template <class T>
std::int64_t regular_width(const In<T>& in) {
  std::vector<std::int64_t> length(static_cast<std::size_t>(in.A.rows));
  for (std::int64_t i = 0; i < in.A.rows; ++i) length[i] = length_of(in, i);
  if (length.empty()) return 0;
  const auto third = length.begin() + (in.A.rows - 1) / 3;
  std::nth_element(length.begin(), third, length.end(), std::greater<>());
  return *third;
}

template <class T>
struct Hyb {
  std::int64_t width = 0;
  std::vector<std::int32_t> col;     // (width, rows), slot-major; padding points at column 0
  std::vector<T> val;                // (width, rows)
  std::vector<std::int32_t> length;  // (rows), at most width
  std::vector<std::int32_t> tail;    // rows longer than width
};

template <class T>
void* prepare(const Spmv::Problem<T>&, const In<T>& in, const Out<T>&, Context&) {
  const auto A = in.A;
  auto* hyb = new Hyb<T>;
  hyb->width = regular_width(in);
  hyb->col.assign(static_cast<std::size_t>(hyb->width * A.rows), 0);
  hyb->val.assign(static_cast<std::size_t>(hyb->width * A.rows), T(0));
  hyb->length.resize(static_cast<std::size_t>(A.rows));
  for (std::int64_t i = 0; i < A.rows; ++i) {
    hyb->length[i] = static_cast<std::int32_t>(std::min(hyb->width, length_of(in, i)));
    for (std::int32_t s = 0; s < hyb->length[i]; ++s) {
      hyb->col[s * A.rows + i] = A.col[A.row_ptr[i] + s];
      hyb->val[s * A.rows + i] = A.val[A.row_ptr[i] + s];
    }
    if (length_of(in, i) > hyb->width) hyb->tail.push_back(static_cast<std::int32_t>(i));
  }
  return hyb;
}

template <class T>
void release(void* plan) {
  delete static_cast<Hyb<T>*>(plan);
}

template <class T>
void run(const Spmv::Problem<T>& p, const In<T>& in, const Out<T>& out, Context& context) {
  const auto& hyb = *static_cast<const Hyb<T>*>(context.plan);
  const auto A = in.A;
  constexpr std::int64_t kBlock = 512;  // rows whose sums stay in the first-level cache
#pragma omp parallel for schedule(static)
  for (std::int64_t begin = 0; begin < A.rows; begin += kBlock) {
    const std::int64_t count = std::min(kBlock, A.rows - begin);
    T sum[kBlock] = {};
    for (std::int64_t s = 0; s < hyb.width; ++s) {
      const std::int32_t* col = hyb.col.data() + s * A.rows + begin;
      const T* val = hyb.val.data() + s * A.rows + begin;
      const std::int32_t* length = hyb.length.data() + begin;
      // a padded slot adds nothing, not 0 * x: x[0] may hold NaN
#pragma omp simd
      for (std::int64_t r = 0; r < count; ++r) sum[r] += s < length[r] ? val[r] * in.x.data[col[r]] : T(0);
    }
    for (std::int64_t r = 0; r < count; ++r) { spmv::finish_row(p, sum[r], out.y[begin + r]); }
  }
  // each tail is one row, and no two threads share it
#pragma omp parallel for schedule(dynamic, 8)
  for (std::size_t t = 0; t < hyb.tail.size(); ++t) {
    const std::int32_t i = hyb.tail[t];
    T sum = 0;
#pragma omp simd reduction(+ : sum)
    for (std::int64_t k = A.row_ptr[i] + hyb.width; k < A.row_ptr[i + 1]; ++k)
      sum += A.val[k] * in.x.data[A.col[k]];
    out.y[i] += spmv::scaled(p, sum);
  }
}

PLUMB_REGISTER_WITH(Spmv, "09_hyb", (run<T>, {}, nullptr, prepare<T>, release<T>), float, double);

}  // namespace
}  // namespace plumb
