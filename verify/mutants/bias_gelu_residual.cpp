// Planted faults of bias_gelu_residual: each is a right kernel with one thing changed. `verify --mutants` must kill every one.
#include <cmath>
#include <cstdint>

#include "reference/ops/bias_gelu_residual.hpp"
#include "verify/mutants/host_mutant.hpp"
#include "verify/mutants/narrow_mutants.hpp"

namespace plumb {
namespace {

PLUMB_FAULTS_OF(BiasGeluResidual);

template <class T>
T gelu_of(T x) {
  return T(0.5) * x * (1 + std::erf(x * T(0.70710678118654752)));
}

PLUMB_FAULT(residual_dropped, "residual_dropped", 0, "a term is dropped",
            "an epilogue without its last operand", kNumeric) {
  for (std::int64_t i = 0; i < out.y.rows; ++i) {
    for (std::int64_t j = 0; j < out.y.cols; ++j) { out.y(i, j) = gelu_of(in.x(i, j) + in.b[j]); }
  }
}

PLUMB_FAULT(residual_inside, "residual_inside", 0, "the residual is added before the activation",
            "an order of operations", kNumeric) {
  for (std::int64_t i = 0; i < out.y.rows; ++i) {
    for (std::int64_t j = 0; j < out.y.cols; ++j) {
      out.y(i, j) = gelu_of(in.x(i, j) + in.b[j] + in.r(i, j));
    }
  }
}

PLUMB_FAULT(bias_of_the_last_column, "bias_of_the_last_column", 0,
            "behind 32 columns the bias is that of the column before", "an index", kNumeric) {
  for (std::int64_t i = 0; i < out.y.rows; ++i) {
    for (std::int64_t j = 0; j < out.y.cols; ++j) {
      out.y(i, j) = gelu_of(in.x(i, j) + in.b[j < 32 ? j : j - 1]) + in.r(i, j);
    }
  }
}

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
