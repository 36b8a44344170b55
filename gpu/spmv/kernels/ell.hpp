// ELLPACK, slot-major, as rungs 15 and 17 use it: every row has `width` slots; a slot without an entry has
// column -1 and adds nothing (0 * x would turn a NaN or Inf of x into a NaN that the row does not have).
#pragma once
#include "gpu/spmv/common.hpp"

namespace plumb {
namespace spmv {

constexpr int kEllThreads = 256;

template <class T>
struct Ell {
  Index width = 0;
  std::int32_t* col = nullptr;  // (width, rows)
  T* val = nullptr;             // (width, rows)
};

// The first `width` entries of every row.
template <class T>
__global__ void __launch_bounds__(kEllThreads) spmv_ell_fill(In<T> in, Ell<T> ell) {
  const Index rows = in.A.rows, i = static_cast<Index>(blockIdx.x) * kEllThreads + threadIdx.x;
  if (i >= rows) return;
  const Index begin = in.A.row_ptr[i], length = in.A.row_ptr[i + 1] - begin;
  for (Index s = 0; s < ell.width; ++s) {
    ell.col[s * rows + i] = s < length ? in.A.col[begin + s] : -1;
    ell.val[s * rows + i] = s < length ? in.A.val[begin + s] : T(0);
  }
}

template <class T>
__global__ void __launch_bounds__(kEllThreads) spmv_ell(Problem<T> p, In<T> in, Out<T> out, Ell<T> ell) {
  const Index rows = in.A.rows, i = static_cast<Index>(blockIdx.x) * kEllThreads + threadIdx.x;
  if (i >= rows) return;
  T sum = T(0);
  for (Index s = 0; s < ell.width; ++s) {
    const std::int32_t c = ell.col[s * rows + i];
    if (c >= 0) sum += ell.val[s * rows + i] * __ldg(in.x.data + c);
  }
  finish_row(p, out.y.data, i, sum);
}

template <class T>
Ell<T> make_ell(Index width, const In<T>& in, Context& context) {
  Ell<T> ell;
  ell.width = width;
  ell.col = static_cast<std::int32_t*>(
      context.workspace(width * in.A.rows * static_cast<Index>(sizeof(std::int32_t))));
  ell.val = static_cast<T*>(context.workspace(width * in.A.rows * static_cast<Index>(sizeof(T))));
  launch(spmv_ell_fill<T>, ceil_div(in.A.rows, kEllThreads), kEllThreads, 0, context.stream, in, ell);
  return ell;
}

template <class T>
void run_ell(const Ell<T>& ell, const Problem<T>& p, const In<T>& in, const Out<T>& out, Context& context) {
  launch(spmv_ell<T>, ceil_div(in.A.rows, kEllThreads), kEllThreads, 0, context.stream, p, in, out, ell);
}

}  // namespace spmv
}  // namespace plumb
