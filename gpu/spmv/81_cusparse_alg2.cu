// requires: cusparse
// spmv, vendor: cuSPARSE SpMV, CSR_ALG2: the same bits from run to run, as the vendor documents.
//
// Change    the library's own kernel; descriptors, buffer and analysis are made in prepare(), so only the
//           product is timed.
// Traffic   not published.
// Fails at  sizes of zero, which it refuses, and so do we: unsupported. Measured on an H200 (CUDA 13.0): with
//           alpha = 0.5, NaN stands where -Inf is due.
// Source    cuSPARSE library, "cusparseSpMV()".
#include "gpu/spmv/cusparse.hpp"

namespace plumb {
namespace {

using namespace spmv;

template <class T>
void* prepare(const Spmv::Problem<T>& p, const Spmv::In<T, Space::device>& in,
              const Spmv::Out<T, Space::device>& out, Context& context) {
  return new CusparseSpmv<T>(p, in, out, context, CUSPARSE_SPMV_CSR_ALG2);
}

PLUMB_REGISTER_WITH(Spmv, "81_cusparse_alg2",
                    (cusparse_run<T>, Traits{}.of_library().align(16).for_finite_inputs(),
                     cusparse_supports<T>, prepare<T>, cusparse_release<T>),
                    float, double, f16, bf16, f16_f32, bf16_f32);

}  // namespace
}  // namespace plumb
