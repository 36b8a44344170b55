// requires: cusparse
// spmm, vendor: cuSPARSE SpMM, CSR_ALG3, row-major B and C.
//
// Change    the library's own kernel; descriptors, buffer and analysis are made in prepare(), so only the
//           product is timed. CSR_ALG1 is for column-major operands, and no rung.
// Traffic   not published.
// Limits    the library's.
// Fails at  sizes of zero, which it refuses, and so do we: unsupported. NaN and Inf in rows of B that no
//           entry names come through (cuSPARSE 12.6.3): hostile cases are unsupported too.
// Source    cuSPARSE library, "cusparseSpMM()".
#include "gpu/spmm/cusparse.hpp"

namespace plumb {
namespace {

using namespace spmm;

template <class T>
void* prepare(const Problem<T>&, const In<T>& in, const Out<T>& out, Context& context) {
  return new CusparseSpmm<T>(in, out, context, CUSPARSE_SPMM_CSR_ALG3);
}

const Register<Spmm, float, Space::device> f32{
    "81_cusparse_alg3",
    cusparse_run<float>,
    Traits{}.of_library().not_reproducible().align(16).for_finite_inputs(),
    cusparse_supports<float>,
    prepare<float>,
    cusparse_release<float>};
const Register<Spmm, double, Space::device> f64{
    "81_cusparse_alg3",
    cusparse_run<double>,
    Traits{}.of_library().not_reproducible().align(16).for_finite_inputs(),
    cusparse_supports<double>,
    prepare<double>,
    cusparse_release<double>};

}  // namespace
}  // namespace plumb
