#include "reference/arithmetic/fp.hpp"

namespace plumb {

bool arithmetic_self_test() {
  // volatile: the compiler must not do the sums itself, with rules of its own
  volatile double terms[] = {1.0, 1e20, 1.0, -1e20};
  NeumaierSum<double> neumaier;
  Dot2<double> dot;
  for (const volatile double& t : terms) {
    neumaier.add(t);
    dot.add_product(t, 1.0);
  }
  volatile double zero = 0.0;
  const double nan = zero / zero;
  volatile float tiny = std::numeric_limits<float>::denorm_min();
  volatile float half = tiny * 0.75f;  // rounds to tiny; 0 under flush-to-zero
  return neumaier.value() == 2.0 && dot.value() == 2.0 && !(nan <= 1.0) && !(nan == nan) && half == tiny;
}

}  // namespace plumb
