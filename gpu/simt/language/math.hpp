// Functions of CUDA's mathematical library that the C library does not have, and its overloads for float.
#pragma once
#include <math.h>

namespace plumb::simt {
/// The y with erf(y) = p, where q is 1 - p: each counts where the other has lost its digits.
double inverse_erf(double p, double q);
/// exp(x^2) erfc(x), which stays a number where erfc(x) is 0.
double scaled_erfc(double x);
/// The modified Bessel function of the first kind, of order 0 or 1.
double bessel_i(int order, double x);
/// The length of a vector of so many numbers, without overflow on the way.
template <class T>
T length_of(int count, const T* x) {
  T sum = 0;
  for (int i = 0; i < count; ++i) sum = static_cast<T>(hypot(sum, x[i]));
  return sum;
}
}  // namespace plumb::simt

inline float fdividef(float a, float b) { return a / b; }
inline float rsqrtf(float x) { return 1.0f / sqrtf(x); }
inline double rsqrt(double x) { return 1.0 / sqrt(x); }
inline float rcbrtf(float x) { return 1.0f / cbrtf(x); }
inline double rcbrt(double x) { return 1.0 / cbrt(x); }
inline float rhypotf(float x, float y) { return 1.0f / hypotf(x, y); }
inline double rhypot(double x, double y) { return 1.0 / hypot(x, y); }

// ---- lengths ----
inline float norm3df(float x, float y, float z) { return hypotf(hypotf(x, y), z); }
inline double norm3d(double x, double y, double z) { return hypot(hypot(x, y), z); }
inline float norm4df(float x, float y, float z, float w) { return hypotf(norm3df(x, y, z), w); }
inline double norm4d(double x, double y, double z, double w) { return hypot(norm3d(x, y, z), w); }
inline float normf(int count, const float* x) { return ::plumb::simt::length_of(count, x); }
inline double norm(int count, const double* x) { return ::plumb::simt::length_of(count, x); }
inline float rnorm3df(float x, float y, float z) { return 1.0f / norm3df(x, y, z); }
inline double rnorm3d(double x, double y, double z) { return 1.0 / norm3d(x, y, z); }
inline float rnorm4df(float x, float y, float z, float w) { return 1.0f / norm4df(x, y, z, w); }
inline double rnorm4d(double x, double y, double z, double w) { return 1.0 / norm4d(x, y, z, w); }
inline float rnormf(int count, const float* x) { return 1.0f / normf(count, x); }
inline double rnorm(int count, const double* x) { return 1.0 / norm(count, x); }

// ---- multiples of pi ----
inline double sinpi(double x) {
  const double r = x - 2.0 * nearbyint(0.5 * x);  // exact, as a multiple of pi should be
  return sin(3.14159265358979323846 * (fabs(r) > 0.5 ? copysign(1.0, r) - r : r));
}
inline double cospi(double x) {
  const double r = fabs(x - 2.0 * nearbyint(0.5 * x));
  return r == 0.5 ? 0.0 : cos(3.14159265358979323846 * r);
}
inline float sinpif(float x) { return static_cast<float>(sinpi(static_cast<double>(x))); }
inline float cospif(float x) { return static_cast<float>(cospi(static_cast<double>(x))); }
inline void sincospif(float x, float* s, float* c) {
  *s = sinpif(x);
  *c = cospif(x);
}
inline void sincospi(double x, double* s, double* c) {
  *s = sinpi(x);
  *c = cospi(x);
}

// ---- the error function, the normal distribution, Bessel functions ----
inline double erfinv(double x) { return ::plumb::simt::inverse_erf(x, 1.0 - x); }
inline double erfcinv(double x) { return ::plumb::simt::inverse_erf(1.0 - x, x); }
inline double erfcx(double x) { return ::plumb::simt::scaled_erfc(x); }
inline double normcdf(double x) { return 0.5 * erfc(-x * 0.70710678118654752440); }
inline double normcdfinv(double x) { return -1.41421356237309504880 * erfcinv(2.0 * x); }
inline double cyl_bessel_i0(double x) { return ::plumb::simt::bessel_i(0, x); }
inline double cyl_bessel_i1(double x) { return ::plumb::simt::bessel_i(1, x); }
#define PLUMB_SIMT_IN_DOUBLE(name) \
  inline float name##f(float x) { return static_cast<float>(name(static_cast<double>(x))); }
PLUMB_SIMT_IN_DOUBLE(erfinv)
PLUMB_SIMT_IN_DOUBLE(erfcinv)
PLUMB_SIMT_IN_DOUBLE(erfcx)
PLUMB_SIMT_IN_DOUBLE(normcdf)
PLUMB_SIMT_IN_DOUBLE(normcdfinv)
PLUMB_SIMT_IN_DOUBLE(cyl_bessel_i0)
PLUMB_SIMT_IN_DOUBLE(cyl_bessel_i1)
#undef PLUMB_SIMT_IN_DOUBLE

// ---- overloads: of a float, the function of float ----
#define PLUMB_SIMT_OF_FLOAT(name) \
  inline float name(float x) { return name##f(x); }
PLUMB_SIMT_OF_FLOAT(rsqrt)
PLUMB_SIMT_OF_FLOAT(rcbrt)
PLUMB_SIMT_OF_FLOAT(exp10)
PLUMB_SIMT_OF_FLOAT(sinpi)
PLUMB_SIMT_OF_FLOAT(cospi)
PLUMB_SIMT_OF_FLOAT(erfinv)
PLUMB_SIMT_OF_FLOAT(erfcinv)
PLUMB_SIMT_OF_FLOAT(erfcx)
PLUMB_SIMT_OF_FLOAT(normcdf)
PLUMB_SIMT_OF_FLOAT(normcdfinv)
PLUMB_SIMT_OF_FLOAT(j0)
PLUMB_SIMT_OF_FLOAT(j1)
PLUMB_SIMT_OF_FLOAT(y0)
PLUMB_SIMT_OF_FLOAT(y1)
#undef PLUMB_SIMT_OF_FLOAT
inline float jn(int n, float x) { return jnf(n, x); }
inline float yn(int n, float x) { return ynf(n, x); }
inline void sincos(float x, float* s, float* c) { sincosf(x, s, c); }
inline void sincospi(float x, float* s, float* c) { sincospif(x, s, c); }

// ---- the larger and the smaller of two integers, by the type's name ----
inline unsigned umin(unsigned a, unsigned b) { return a < b ? a : b; }
inline unsigned umax(unsigned a, unsigned b) { return a < b ? b : a; }
inline long long llmin(long long a, long long b) { return a < b ? a : b; }
inline long long llmax(long long a, long long b) { return a < b ? b : a; }
inline unsigned long long ullmin(unsigned long long a, unsigned long long b) { return a < b ? a : b; }
inline unsigned long long ullmax(unsigned long long a, unsigned long long b) { return a < b ? b : a; }
