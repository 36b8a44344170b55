// Kernels of gemv whose threads race (verify/mutants/gemv_threads.hpp), each beside its right twin. collisions_test.cpp judges both.
#include "verify/mutants/gemv_threads.hpp"

namespace plumb {
namespace {

#define TWINS(kernel)                                                                     \
  const Register<Gemv, float, Space::host> wrong_##kernel{                                \
      "wrong_" #kernel, gemv_threads::kernel<float, false>, Traits{}.not_reproducible()}; \
  const Register<Gemv, float, Space::host> right_##kernel {                               \
    "right_" #kernel, gemv_threads::kernel<float, true>, Traits{}.not_reproducible()      \
  }
TWINS(reduction);
TWINS(temporary);
TWINS(buffer);
TWINS(nowait);
TWINS(first_comer);
TWINS(increment);
TWINS(ordered);
TWINS(published);
TWINS(locks);
TWINS(single);
TWINS(last_adds);

}  // namespace
}  // namespace plumb
