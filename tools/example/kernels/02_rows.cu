// spmv on the GPU, a thread for each row.
#include "gpu/device/kernel.hpp"
#include "reference/ops/spmv.hpp"

namespace plumb {
namespace {

template <class T>
__global__ void rows(Spmv::Problem<T> p, Spmv::In<T, Space::device> in, Spmv::Out<T, Space::device> out) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= in.A.rows) return;
  T sum = 0;
  const std::int32_t end = p.alpha == T(0) ? in.A.row_ptr[i] : in.A.row_ptr[i + 1];
  for (std::int32_t k = in.A.row_ptr[i]; k < end; ++k) sum += in.A.val[k] * in.x[in.A.col[k]];
  out.y[i] = p.beta == T(0) ? p.alpha * sum : p.alpha * sum + p.beta * out.y[i];
}

template <class T>
void run(const Spmv::Problem<T>& p, const Spmv::In<T, Space::device>& in,
         const Spmv::Out<T, Space::device>& out, Context& context) {
  launch(rows<T>, (in.A.rows + 127) / 128, 128, 0, context.stream, p, in, out);
}

const Register<Spmv, float, Space::device> f32{"02_rows", run<float>};
const Register<Spmv, double, Space::device> f64{"02_rows", run<double>};

}  // namespace
}  // namespace plumb
