// Planted faults of swiglu: each is a right kernel with one thing changed. `verify --mutants` must kill every one.
#include <cmath>
#include <cstdint>

#include "reference/ops/swiglu.hpp"
#include "verify/mutants/host_mutant.hpp"
#include "verify/mutants/narrow_mutants.hpp"

namespace plumb {
namespace {

template <class T>
using P = SwiGlu::Problem<T>;
template <class T>
using In = SwiGlu::In<T, Space::host>;
template <class T>
using Out = SwiGlu::Out<T, Space::host>;

template <class T>
void gate_and_value_exchanged(const P<T>&, const In<T>& in, const Out<T>& out, Context&) {
  for (std::int64_t i = 0; i < out.y.rows; ++i) {
    for (std::int64_t j = 0; j < out.y.cols; ++j) {
      out.y(i, j) = in.b(i, j) / (1 + std::exp(-in.b(i, j))) * in.a(i, j);
    }
  }
}
const HostMutant<SwiGlu> m1{
    "gate_and_value_exchanged",
    gate_and_value_exchanged<float>,
    gate_and_value_exchanged<double>,
    {0, "the sigmoid is of the other operand", "two halves of one matrix confused", kNumeric}};

template <class T>
void sigmoid_without_its_factor(const P<T>&, const In<T>& in, const Out<T>& out, Context&) {
  for (std::int64_t i = 0; i < out.y.rows; ++i) {
    for (std::int64_t j = 0; j < out.y.cols; ++j) {
      out.y(i, j) = 1 / (1 + std::exp(-in.a(i, j))) * in.b(i, j);
    }
  }
}
const HostMutant<SwiGlu> m2{
    "sigmoid_without_its_factor",
    sigmoid_without_its_factor<float>,
    sigmoid_without_its_factor<double>,
    {0, "a sigmoid in place of a sigmoid linear unit", "two gates confused", kNumeric}};

template <class T>
void sign_of_the_exponent(const P<T>&, const In<T>& in, const Out<T>& out, Context&) {
  for (std::int64_t i = 0; i < out.y.rows; ++i) {
    for (std::int64_t j = 0; j < out.y.cols; ++j) {
      out.y(i, j) = in.a(i, j) / (1 + std::exp(in.a(i, j))) * in.b(i, j);
    }
  }
}
const HostMutant<SwiGlu> m3{"sign_of_the_exponent",
                            sign_of_the_exponent<float>,
                            sign_of_the_exponent<double>,
                            {0, "exp(a) in place of exp(-a)", "a sign", kNumeric}};

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
