// Planted faults of swiglu: each is a right kernel with one thing changed. `verify --mutants` must kill every one.
#include <cmath>
#include <cstdint>

#include "reference/ops/swiglu.hpp"
#include "verify/mutants/host_mutant.hpp"
#include "verify/mutants/narrow_mutants.hpp"

namespace plumb {
namespace {

PLUMB_FAULTS_OF(SwiGlu);

PLUMB_FAULT(gate_and_value_exchanged, "gate_and_value_exchanged", 0, "the sigmoid is of the other operand",
            "two halves of one matrix confused", kNumeric) {
  for (std::int64_t i = 0; i < out.y.rows; ++i) {
    for (std::int64_t j = 0; j < out.y.cols; ++j) {
      out.y(i, j) = in.b(i, j) / (1 + std::exp(-in.b(i, j))) * in.a(i, j);
    }
  }
}

PLUMB_FAULT(sigmoid_without_its_factor, "sigmoid_without_its_factor", 0,
            "a sigmoid in place of a sigmoid linear unit", "two gates confused", kNumeric) {
  for (std::int64_t i = 0; i < out.y.rows; ++i) {
    for (std::int64_t j = 0; j < out.y.cols; ++j) {
      out.y(i, j) = 1 / (1 + std::exp(-in.a(i, j))) * in.b(i, j);
    }
  }
}

PLUMB_FAULT(sign_of_the_exponent, "sign_of_the_exponent", 0, "exp(a) in place of exp(-a)", "a sign",
            kNumeric) {
  for (std::int64_t i = 0; i < out.y.rows; ++i) {
    for (std::int64_t j = 0; j < out.y.cols; ++j) {
      out.y(i, j) = in.a(i, j) / (1 + std::exp(in.a(i, j))) * in.b(i, j);
    }
  }
}

template <class T, class Fault>
struct Narrow {
  static void run(const P<T>&, const In<T>& in, const Out<T>& out, Context&) {
    for (std::int64_t i = 0; i < out.y.rows; ++i) {
      for (std::int64_t j = 0; j < out.y.cols; ++j) {
        const float a = Fault::read(in.a(i, j));
        out.y(i, j) = Fault::template write<out_t<T>>(a / (1 + std::exp(-a)) * Fault::read(in.b(i, j)));
      }
    }
  }
};
const NarrowMutants<SwiGlu, Narrow, narrow_faults::OfElements, f16, bf16> narrow_types_m;

}  // namespace
}  // namespace plumb
