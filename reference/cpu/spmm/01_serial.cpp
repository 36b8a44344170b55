// spmm, host 01: rows of A, entries of the row, columns of B.
//
// Change    first rung: the definition, in the operator's own precision; the row of C is the accumulator, or one in workspace where C is narrow.
// Traffic   compulsory bytes, and the row of C once more per entry, from the first-level cache.
// Limits    one core; a load and a store of C per multiply-add.
// Fails at  nothing, slowly.
#include "reference/core/values.hpp"
#include "reference/ops/spmm.hpp"

namespace plumb {
namespace {

template <class T>
void run(const Spmm::Problem<T>&, const Spmm::In<T, Space::host>& in, const Spmm::Out<T, Space::host>& out,
         Context& context) {
  using V = scalar_t<T>;
  V* row = nullptr;  // of sums, where C holds none
  if constexpr (!kHoldsSums<T>)
    row = static_cast<V*>(context.workspace(out.C.cols * static_cast<std::int64_t>(sizeof(V))));
  for (std::int64_t i = 0; i < in.A.rows; ++i) {
    V* c = row;
    if constexpr (kHoldsSums<T>) c = out.C.data + i * out.C.ld;
    for (std::int64_t j = 0; j < out.C.cols; ++j) c[j] = 0;
    for (std::int32_t k = in.A.row_ptr[i]; k < in.A.row_ptr[i + 1]; ++k) {
      for (std::int64_t j = 0; j < out.C.cols; ++j) c[j] += value(in.A.val[k]) * value(in.B(in.A.col[k], j));
    }
    for (std::int64_t j = 0; !kHoldsSums<T> && j < out.C.cols; ++j) out.C(i, j) = stored<out_t<T>>(c[j]);
  }
}

PLUMB_REGISTER(Spmm, "01_serial", run, float, double, f16, bf16, f16_f32, bf16_f32);

}  // namespace
}  // namespace plumb
