// Planted faults of bias_gelu_residual: each is a right kernel with one thing changed. `verify --mutants` must kill every one.
#include <cmath>
#include <cstdint>

#include "reference/ops/bias_gelu_residual.hpp"
#include "verify/mutants/host_mutant.hpp"
#include "verify/mutants/narrow_mutants.hpp"

namespace plumb {
namespace {

template <class T>
using P = BiasGeluResidual::Problem<T>;
template <class T>
using In = BiasGeluResidual::In<T, Space::host>;
template <class T>
using Out = BiasGeluResidual::Out<T, Space::host>;

template <class T>
T gelu_of(T x) {
  return T(0.5) * x * (1 + std::erf(x * T(0.70710678118654752)));
}

template <class T>
void residual_dropped(const P<T>&, const In<T>& in, const Out<T>& out, Context&) {
  for (std::int64_t i = 0; i < out.y.rows; ++i) {
    for (std::int64_t j = 0; j < out.y.cols; ++j) { out.y(i, j) = gelu_of(in.x(i, j) + in.b[j]); }
  }
}
const HostMutant<BiasGeluResidual> m1{
    "residual_dropped",
    residual_dropped<float>,
    residual_dropped<double>,
    {0, "a term is dropped", "an epilogue without its last operand", kNumeric}};

template <class T>
void residual_inside(const P<T>&, const In<T>& in, const Out<T>& out, Context&) {
  for (std::int64_t i = 0; i < out.y.rows; ++i) {
    for (std::int64_t j = 0; j < out.y.cols; ++j) {
      out.y(i, j) = gelu_of(in.x(i, j) + in.b[j] + in.r(i, j));
    }
  }
}
const HostMutant<BiasGeluResidual> m2{
    "residual_inside",
    residual_inside<float>,
    residual_inside<double>,
    {0, "the residual is added before the activation", "an order of operations", kNumeric}};

template <class T>
void bias_of_the_last_column(const P<T>&, const In<T>& in, const Out<T>& out, Context&) {
  for (std::int64_t i = 0; i < out.y.rows; ++i) {
    for (std::int64_t j = 0; j < out.y.cols; ++j) {
      out.y(i, j) = gelu_of(in.x(i, j) + in.b[j < 32 ? j : j - 1]) + in.r(i, j);
    }
  }
}
const HostMutant<BiasGeluResidual> m3{
    "bias_of_the_last_column",
    bias_of_the_last_column<float>,
    bias_of_the_last_column<double>,
    {0, "behind 32 columns the bias is that of the column before", "an index", kNumeric}};

template <class T, class Fault>
struct Narrow {
  static void run(const P<T>&, const In<T>& in, const Out<T>& out, Context&) {
    for (std::int64_t i = 0; i < out.y.rows; ++i) {
      for (std::int64_t j = 0; j < out.y.cols; ++j) {
        const float t = Fault::read(in.x(i, j)) + Fault::read(in.b[j]);
        out.y(i, j) = Fault::template write<out_t<T>>(0.5F * t * (1 + std::erf(t * 0.70710678F)) +
                                                      Fault::read(in.r(i, j)));
      }
    }
  }
};
const NarrowMutants<BiasGeluResidual, Narrow, narrow_faults::OfElements, f16, bf16> narrow_types_m;

}  // namespace
}  // namespace plumb
