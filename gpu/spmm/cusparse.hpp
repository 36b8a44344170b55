// requires: cusparse
// cuSPARSE's SpMM behind the two vendor rungs: descriptors, buffer and analysis in prepare(), one call in
// run().
#pragma once
#include "gpu/runtime/cusparse.hpp"
#include "gpu/spmm/common.hpp"

namespace plumb {
namespace spmm {

/// Everything of a call that does not depend on the values; destroyed with what it owns.
template <class T>
struct CusparseSpmm {
  CusparseHandle handle;
  CusparseSpMat a;
  CusparseDnMat b, c;
  cusparseSpMMAlg_t algorithm;
  void* buffer = nullptr;
  scalar_t<T> alpha = 1, beta = 0;

  CusparseSpmm(const In<T>& in, const Out<T>& out, Context& context, cusparseSpMMAlg_t which)
      : handle(make_cusparse(context.stream)),
        a(describe(in.A)),
        b(describe(in.B)),
        c(describe(out.C)),
        algorithm(which) {
    std::size_t bytes = 0;
    PLUMB_CUSPARSE(cusparseSpMM_bufferSize(handle.get(), kPlain, kPlain, &alpha, a.get(), b.get(), &beta,
                                           c.get(), kCudaType<scalar_t<T>>, algorithm, &bytes));
    buffer = context.workspace(static_cast<std::int64_t>(bytes));
    PLUMB_CUSPARSE(cusparseSpMM_preprocess(handle.get(), kPlain, kPlain, &alpha, a.get(), b.get(), &beta,
                                           c.get(), kCudaType<scalar_t<T>>, algorithm, buffer));
  }

  void run() {
    PLUMB_CUSPARSE(cusparseSpMM(handle.get(), kPlain, kPlain, &alpha, a.get(), b.get(), &beta, c.get(),
                                kCudaType<scalar_t<T>>, algorithm, buffer));
  }

 private:
  static constexpr cusparseOperation_t kPlain = CUSPARSE_OPERATION_NON_TRANSPOSE;
};

template <class T>
const char* cusparse_supports(const Problem<T>&, const In<T>& in, const Out<T>& out) {
  return in.A.rows == 0 || in.A.cols == 0 || in.A.nnz == 0 || out.C.cols == 0
             ? "cuSPARSE takes no matrix without rows, columns or entries"
             : nullptr;
}

template <class T>
void cusparse_release(void* plan) {
  delete static_cast<CusparseSpmm<T>*>(plan);
}

template <class T>
void cusparse_run(const Problem<T>&, const In<T>&, const Out<T>&, Context& context) {
  static_cast<CusparseSpmm<T>*>(context.plan)->run();
}

}  // namespace spmm
}  // namespace plumb
