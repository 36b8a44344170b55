// requires: cusparse
// spmm, vendor: cuSPARSE SpMM, CSR_ALG2, row-major B and C.
//
// Change    the library's own kernel; descriptors, buffer and analysis are made in prepare(), so only the
//           product is timed. CSR_ALG1 is for column-major operands, and no rung.
// Traffic   not published.
// Fails at  sizes of zero, which it refuses, and so do we: unsupported.
// Source    cuSPARSE library, "cusparseSpMM()".
#include "gpu/spmm/cusparse.hpp"

namespace plumb {
namespace {

using namespace spmm;

template <class T>
void* prepare(const Problem<T>&, const In<T>& in, const Out<T>& out, Context& context) {
  return new CusparseSpmm<T>(in, out, context, CUSPARSE_SPMM_CSR_ALG2);
}

/// fp32 sums flush. Where C is of 16 bits, parts of a sum are added in C: 56 of 71 cases were wrong by the bound of fp32 sums, integers too
/// (12.6.3, H200).
template <class T>
constexpr Traits kTraits = Traits{}.of_library().not_reproducible().align(16).computes_in(
    {Arithmetic::Order::any, Format::none, kHoldsSums<T> ? Format::none : kFormat<out_t<T>>, false,
     kFormat<scalar_t<T>> == Format::f32});

PLUMB_REGISTER_WITH(Spmm, "80_cusparse_alg2",
                    (cusparse_run<T>, kTraits<T>, cusparse_supports<T>, prepare<T>, cusparse_release<T>),
                    float, double, f16, bf16, f16_f32, bf16_f32);

}  // namespace
}  // namespace plumb
