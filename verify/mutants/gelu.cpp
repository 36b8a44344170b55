// Planted faults of gelu: each is a right kernel with one thing changed. `verify --mutants` must kill every one.
#include <cmath>
#include <cstdint>

#include "reference/ops/gelu.hpp"
#include "verify/mutants/host_mutant.hpp"
#include "verify/mutants/narrow_mutants.hpp"

namespace plumb {
namespace {

PLUMB_FAULTS_OF(Gelu);

PLUMB_FAULT(by_tanh, "by_tanh", 0, "the form with tanh, which is another function",
            "an approximation taken for the function", kNumeric) {
  for (std::int64_t i = 0; i < out.y.rows; ++i) {
    for (std::int64_t j = 0; j < out.y.cols; ++j) {
      const T x = in.x(i, j);
      out.y(i, j) = T(0.5) * x * (1 + std::tanh(T(0.7978845608028654) * (x + T(0.044715) * x * x * x)));
    }
  }
}

PLUMB_FAULT(root_of_two_left_out, "root_of_two_left_out", 0, "erf of x, not of x / sqrt(2)", "a factor",
            kNumeric) {
  for (std::int64_t i = 0; i < out.y.rows; ++i) {
    for (std::int64_t j = 0; j < out.y.cols; ++j) {
      const T x = in.x(i, j);
      out.y(i, j) = T(0.5) * x * (1 + std::erf(x));
    }
  }
}

template <class T, class Fault>
struct Narrow {
  static void run(const P<T>&, const In<T>& in, const Out<T>& out, Context&) {
    for (std::int64_t i = 0; i < out.y.rows; ++i) {
      for (std::int64_t j = 0; j < out.y.cols; ++j) {
        const float x = Fault::read(in.x(i, j));
        out.y(i, j) = Fault::template write<out_t<T>>(0.5F * x * (1 + std::erf(x * 0.70710678F)));
      }
    }
  }
};
const NarrowMutants<Gelu, Narrow, narrow_faults::OfElements, f16, bf16> narrow_types_m;

}  // namespace
}  // namespace plumb
