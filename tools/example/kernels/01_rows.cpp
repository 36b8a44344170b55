// spmv on the host, one row after another.
#include "reference/ops/spmv.hpp"

namespace plumb {
namespace {

template <class T>
void run(const Spmv::Problem<T>& p, const Spmv::In<T, Space::host>& in, const Spmv::Out<T, Space::host>& out,
         Context&) {
  for (std::int64_t i = 0; i < in.A.rows; ++i) {
    T sum = 0;
    const std::int32_t end = p.alpha == T(0) ? in.A.row_ptr[i] : in.A.row_ptr[i + 1];
    for (std::int32_t k = in.A.row_ptr[i]; k < end; ++k) sum += in.A.val[k] * in.x[in.A.col[k]];
    out.y[i] = p.beta == T(0) ? p.alpha * sum : p.alpha * sum + p.beta * out.y[i];
  }
}

const Register<Spmv, float, Space::host> f32{"01_rows", run<float>};
const Register<Spmv, double, Space::host> f64{"01_rows", run<double>};

}  // namespace
}  // namespace plumb
