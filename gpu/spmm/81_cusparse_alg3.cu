// requires: cusparse
// spmm, vendor: cuSPARSE SpMM, CSR_ALG3, row-major B and C.
//
// Change    the library's own kernel; descriptors, buffer and analysis are made in prepare(), so only the
//           product is timed. CSR_ALG1 is for column-major operands, and no rung.
// Traffic   not published.
// Fails at  sizes of zero, which it refuses, and so do we: unsupported. NaN and Inf in rows of B that no
//           entry names come through (cuSPARSE 12.6.3): hostile cases are unsupported too. Rows with more entries than A has columns:
//           its analysis writes out of bounds (do_reorder_ker; 12.6.3, H200, memcheck).
// Source    cuSPARSE library, "cusparseSpMM()".
#include "gpu/device/host_array.hpp"
#include "gpu/spmm/cusparse.hpp"

namespace plumb {
namespace {

using namespace spmm;

template <class T>
const char* supports(const Problem<T>& p, const In<T>& in, const Out<T>& out) {
  if (const char* const reason = cusparse_supports(p, in, out)) return reason;
  const HostCopy<std::int32_t> row_ptr(in.A.row_ptr, in.A.rows + 1, nullptr);
  for (std::int64_t i = 0; i < in.A.rows; ++i) {
    if (row_ptr[i + 1] - row_ptr[i] > in.A.cols)
      return "cuSPARSE's CSR_ALG3 writes out of bounds where a row has more entries than there are columns";
  }
  return nullptr;
}

template <class T>
void* prepare(const Problem<T>&, const In<T>& in, const Out<T>& out, Context& context) {
  return new CusparseSpmm<T>(in, out, context, CUSPARSE_SPMM_CSR_ALG3);
}

PLUMB_REGISTER_WITH(Spmm, "81_cusparse_alg3",
                    (cusparse_run<T>, Traits{}.of_library().not_reproducible().align(16).for_finite_inputs(),
                     supports<T>, prepare<T>, cusparse_release<T>),
                    float, double, f16, bf16, f16_f32, bf16_f32);

}  // namespace
}  // namespace plumb
