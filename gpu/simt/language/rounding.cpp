// Arithmetic in a stated direction: the processor's own rounding mode, set around one operation on volatile
// operands, which no compiler moves across the calls that set it.
#include "gpu/simt/language/rounding.hpp"

#include <cfenv>

namespace plumb::simt {

namespace {

class Direction {
 public:
  explicit Direction(Round round) : before_(std::fegetround()) {
    constexpr int kModes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_UPWARD, FE_DOWNWARD};
    std::fesetround(kModes[static_cast<int>(round)]);
  }
  ~Direction() { std::fesetround(before_); }
  Direction(const Direction&) = delete;
  Direction& operator=(const Direction&) = delete;

 private:
  int before_;
};

template <class T>
T evaluated(Arithmetic what, T x, T y, T z) {
  switch (what) {
    case Arithmetic::add:
      return x + y;
    case Arithmetic::sub:
      return x - y;
    case Arithmetic::mul:
      return x * y;
    case Arithmetic::div:
      return x / y;
    case Arithmetic::fma:
      return std::fma(x, y, z);
    case Arithmetic::sqrt:
      return std::sqrt(x);
  }
  return x;
}

}  // namespace

template <class T>
T rounded(Arithmetic what, Round round, T a, T b, T c) {
  const volatile T x = a, y = b, z = c;
  volatile T result = 0;
  {
    const Direction direction(round);
    result = evaluated<T>(what, x, y, z);
  }
  return result;
}
template float rounded(Arithmetic, Round, float, float, float);
template double rounded(Arithmetic, Round, double, double, double);

template <class To, class From>
To narrowed(Round round, From x) {
  const volatile From from = x;
  volatile To result = 0;
  {
    const Direction direction(round);
    result = static_cast<To>(from);
  }
  return result;
}
template float narrowed(Round, int);
template float narrowed(Round, unsigned);
template float narrowed(Round, long long);
template float narrowed(Round, unsigned long long);
template float narrowed(Round, double);
template double narrowed(Round, long long);
template double narrowed(Round, unsigned long long);

}  // namespace plumb::simt
