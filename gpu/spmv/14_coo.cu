// spmv, rung 14: coordinate format, converted in prepare().
//
// Change    entries carry their row, so no thread looks at row_ptr: a segmented scan per warp, and an atomic
//           addition per row and warp.
// Traffic   4 bytes per entry more than CSR: 12 instead of 8 in fp32; y read and written once more, to scale
//           it.
// Fails at  reproducibility and, in fp32, subnormal sums, which atomicAdd in global memory flushes to 0 (both
//           declared); speed, because of the row index. The lengths of rows do not matter.
// Source    Bell and Garland, SC'09 (COO kernel); Blelloch, Heroux and Zagha, CMU-CS-93-173.
#include "gpu/spmv/features.hpp"
#include "gpu/spmv/kernels/coo.hpp"

namespace plumb {
namespace {

using namespace spmv;

template <class T>
void* prepare(const Problem<T>&, const In<T>& in, const Out<T>&, Context& context) {
  auto* row = workspace_of<std::int32_t>(in.A.nnz, context);
  launch(spmv_coo_rows, ceil_div(in.A.rows, kCooThreads / 32), kCooThreads, 0, context.stream, in.A.row_ptr,
         in.A.rows, row);
  return row;
}

template <class T>
void run(const Problem<T>& p, const In<T>& in, const Out<T>& out, Context& context) {
  launch(spmv_scale<T>, ceil_div(in.A.rows, kCooThreads), kCooThreads, 0, context.stream, p.beta, out.y.data,
         in.A.rows);
  run_coo(p.alpha, static_cast<const std::int32_t*>(context.plan), in.A.col, in.A.val, in.A.nnz, in.x.data,
          out.y.data, context.stream);
}

const Register<Spmv, float, Space::device> f32{
    "14_coo", run<float>, Traits{}.not_reproducible().flushes_subnormals(), nullptr, prepare<float>};
const Register<Spmv, double, Space::device> f64{"14_coo", run<double>, Traits{}.not_reproducible(), nullptr,
                                                prepare<double>};

}  // namespace
}  // namespace plumb
