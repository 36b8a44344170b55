// spmv, host 06: ELLPACK, column-major slots of the longest row's length, converted in prepare().
//
// Change    every row has the same number of slots, so the inner loop runs over rows and vectorises without a gather of lengths.
// Traffic   rows * longest row entries, padding included: refused where that is more than three times nnz + rows.
// Limits    the padding; the gather of x.
// Fails at  one long row: the padding grows beyond bounds, so supports() refuses it with the numbers.
// Source    Kincaid, Oppe and Young, ITPACKV 2D user's guide (1989).
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
std::int64_t longest_row(const In<T>& in) {
  std::int64_t longest = 0;
  for (std::int64_t i = 0; i < in.A.rows; ++i) {
    const std::int64_t length = in.A.row_ptr[i + 1] - in.A.row_ptr[i];
    longest = length > longest ? length : longest;
  }
  return longest;
}

template <class T>
const char* supports(const Spmv::Problem<T>&, const In<T>& in, const Out<T>&) {
  return longest_row(in) * in.A.rows > 3 * (in.A.nnz + in.A.rows)
             ? "ELL would pad to more than three times the entries: one row is much longer than the mean"
             : nullptr;
}

template <class T>
struct Ell {
  std::int64_t width = 0;
  std::vector<std::int32_t> col;  // (width, rows), slot-major; padding points at column 0
  std::vector<T> val;             // (width, rows)
  std::vector<std::int32_t> length;
};

template <class T>
void* prepare(const Spmv::Problem<T>&, const In<T>& in, const Out<T>&, Context&) {
  const auto A = in.A;
  auto* ell = new Ell<T>;
  ell->width = longest_row(in);
  ell->col.assign(static_cast<std::size_t>(ell->width * A.rows), 0);
  ell->val.assign(static_cast<std::size_t>(ell->width * A.rows), T(0));
  ell->length.resize(static_cast<std::size_t>(A.rows));
  for (std::int64_t i = 0; i < A.rows; ++i) {
    ell->length[i] = A.row_ptr[i + 1] - A.row_ptr[i];
    for (std::int32_t s = 0; s < ell->length[i]; ++s) {
      ell->col[s * A.rows + i] = A.col[A.row_ptr[i] + s];
      ell->val[s * A.rows + i] = A.val[A.row_ptr[i] + s];
    }
  }
  return ell;
}

template <class T>
void release(void* plan) {
  delete static_cast<Ell<T>*>(plan);
}

template <class T>
void run(const Spmv::Problem<T>& p, const In<T>& in, const Out<T>& out, Context& context) {
  const auto& ell = *static_cast<const Ell<T>*>(context.plan);
  const std::int64_t rows = in.A.rows;
  constexpr std::int64_t kBlock = 512;  // rows whose sums stay in the first-level cache
#pragma omp parallel for schedule(static)
  for (std::int64_t begin = 0; begin < rows; begin += kBlock) {
    const std::int64_t count = rows - begin < kBlock ? rows - begin : kBlock;
    T sum[kBlock] = {};
    for (std::int64_t s = 0; s < ell.width; ++s) {
      const std::int32_t* col = ell.col.data() + s * rows + begin;
      const T* val = ell.val.data() + s * rows + begin;
      const std::int32_t* length = ell.length.data() + begin;
      // a padded slot adds nothing: 0 * x would turn NaN or Inf in x[0] into a NaN that the row does not have
#pragma omp simd
      for (std::int64_t r = 0; r < count; ++r) sum[r] += s < length[r] ? val[r] * in.x.data[col[r]] : T(0);
    }
    for (std::int64_t r = 0; r < count; ++r) { spmv::finish_row(p, sum[r], out.y[begin + r]); }
  }
}

PLUMB_REGISTER_WITH(Spmv, "06_ell", (run<T>, {}, supports<T>, prepare<T>, release<T>), float, double);

}  // namespace
}  // namespace plumb
