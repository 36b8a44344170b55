// requires: cusparse
// cuSPARSE's SpMV behind the two vendor rungs: descriptors, buffer and analysis in prepare(), one call in
// run().
#pragma once
#include "gpu/runtime/cusparse.hpp"
#include "reference/ops/spmv.hpp"

namespace plumb {
namespace spmv {

/// Everything of a call that does not depend on the values; destroyed with what it owns.
template <class T>
struct CusparseSpmv {
  CusparseHandle handle;
  CusparseSpMat a;
  CusparseDnVec x, y;
  cusparseSpMVAlg_t algorithm;
  void* buffer = nullptr;

  CusparseSpmv(const Spmv::Problem<T>& p, const Spmv::In<T, Space::device>& in,
               const Spmv::Out<T, Space::device>& out, Context& context, cusparseSpMVAlg_t which)
      : handle(make_cusparse(context.stream)),
        a(describe(in.A)),
        x(describe_vector(in.x.size, in.x.data)),
        y(describe_vector(out.y.size, out.y.data)),
        algorithm(which) {
    std::size_t bytes = 0;
    PLUMB_CUSPARSE(cusparseSpMV_bufferSize(handle.get(), CUSPARSE_OPERATION_NON_TRANSPOSE, &p.alpha, a.get(),
                                           x.get(), &p.beta, y.get(), kCudaType<scalar_t<T>>, algorithm,
                                           &bytes));
    buffer = context.workspace(static_cast<std::int64_t>(bytes));
    PLUMB_CUSPARSE(cusparseSpMV_preprocess(handle.get(), CUSPARSE_OPERATION_NON_TRANSPOSE, &p.alpha, a.get(),
                                           x.get(), &p.beta, y.get(), kCudaType<scalar_t<T>>, algorithm,
                                           buffer));
  }

  void run(const Spmv::Problem<T>& p) {
    PLUMB_CUSPARSE(cusparseSpMV(handle.get(), CUSPARSE_OPERATION_NON_TRANSPOSE, &p.alpha, a.get(), x.get(),
                                &p.beta, y.get(), kCudaType<scalar_t<T>>, algorithm, buffer));
  }
};

template <class T>
const char* cusparse_supports(const Spmv::Problem<T>&, const Spmv::In<T, Space::device>& in,
                              const Spmv::Out<T, Space::device>&) {
  return in.A.rows == 0 || in.A.cols == 0 || in.A.nnz == 0
             ? "cuSPARSE takes no matrix without rows, columns or entries"
             : nullptr;
}

template <class T>
void cusparse_release(void* plan) {
  delete static_cast<CusparseSpmv<T>*>(plan);
}

template <class T>
void cusparse_run(const Spmv::Problem<T>& p, const Spmv::In<T, Space::device>&,
                  const Spmv::Out<T, Space::device>&, Context& context) {
  static_cast<CusparseSpmv<T>*>(context.plan)->run(p);
}

}  // namespace spmv
}  // namespace plumb
