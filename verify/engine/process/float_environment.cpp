#include "verify/engine/process/float_environment.hpp"

#include <cfenv>

#include <fmt/format.h>
#if defined(__SSE__)
#include <immintrin.h>
#endif

namespace plumb {
namespace {

constexpr unsigned kFlushResults = 0x8000, kFlushOperands = 0x0040, kExceptionMasks = 0x1f80;
constexpr unsigned kControl = 0xffc0;  // without the flags of exceptions that have happened

unsigned control() {
#if defined(__SSE__)
  return _mm_getcsr() & kControl;
#else
  return 0;
#endif
}

void set_control(unsigned bits) {
#if defined(__SSE__)
  _mm_setcsr((_mm_getcsr() & ~kControl) | bits);
#else
  (void)bits;
#endif
}

}  // namespace

FloatEnvironment float_environment() { return {std::fegetround(), control()}; }

KeptFloatEnvironment::~KeptFloatEnvironment() {
  std::fesetround(before_.rounding);
  set_control(before_.control);
}

std::string KeptFloatEnvironment::change() const {
  const FloatEnvironment now = float_environment();
  const unsigned other = now.control ^ before_.control;
  const auto flushed = [&](const char* what, unsigned bit) {
    const bool is = (now.control & bit) != 0;
    return fmt::format("{} are {}flushed to 0, before the call they were{}", what, is ? "" : "not ",
                       is ? " not" : "");
  };
  if ((other & kFlushResults) != 0) return flushed("subnormal results", kFlushResults);
  if ((other & kFlushOperands) != 0) return flushed("subnormal operands", kFlushOperands);
  if (now.rounding != before_.rounding || (other & ~kExceptionMasks) != 0) {
    return fmt::format("rounding mode {:#x} (fegetround), before the call {:#x}", now.rounding,
                       before_.rounding);
  }
  return other != 0 ? "other floating-point exceptions trap than before the call" : "";
}

}  // namespace plumb
