// Where Eigen is out of memory, operator new's handler hears of it: what the programs say and return hangs on that (reference/core/exhaustion.hpp).
#include <cstddef>
#include <new>

#include <doctest/doctest.h>
#include <Eigen/Core>

#if !defined(__SANITIZE_ADDRESS__)  // its own allocator ends the process
TEST_CASE("an allocation of Eigen's that fails asks operator new's handler") {
  struct Asked {};
  const std::new_handler before = std::set_new_handler([] { throw Asked(); });
  const volatile std::size_t too_much = std::size_t{1} << 60;
  CHECK_THROWS_AS((void)Eigen::internal::aligned_malloc(too_much), Asked);
  std::set_new_handler(before);
}
#endif
