// reduce, host 07: vector registers, four side by side.
//
// Change    kSums * lanes running results, combined at the end: neither the chain of adds nor the scalar
//           width is the limit.
// Traffic   compulsory bytes.
// Limits    one core's memory bandwidth.
// Fails at  [1, 1e20, 1, -1e20], as rung 01; more lanes than terms.
#include "reference/cpu/reduce/parts.hpp"
#include "reference/cpu/simd.hpp"
#include "reference/ops/reduce.hpp"

namespace plumb {
namespace {

constexpr int kSums = 4;
template <class T>
constexpr int kWide = kSums* kLanes<T>;

template <class T>
void run(const Reduce::Problem<T>& p, const Reduce::In<T, Space::host>& in,
         const Reduce::Out<T, Space::host>& out, Context&) {
  const T* x = in.x.data;
  const std::int64_t n = in.x.size;
  std::int64_t i = 0;
  if (p.kind == Reduce::Kind::max) {
    T best[kWide<T>];
    for (T& b : best) b = kMinusInf<T>;
    for (; i + kWide<T> <= n; i += kWide<T>) {
#pragma omp simd
      for (int l = 0; l < kWide<T>; ++l) best[l] = larger(best[l], x[i + l]);
    }
    T all = kMinusInf<T>;
    for (const T b : best) all = larger(all, b);
    for (; i < n; ++i) all = larger(all, x[i]);
    out.result[0] = all;
    return;
  }
  Vector<T> sum[kSums] = {};
  for (; i + kWide<T> <= n; i += kWide<T>) {
    for (int s = 0; s < kSums; ++s) {
      Vector<T> terms;
      load<T>(terms, x + i + s * kLanes<T>);
      sum[s] += terms;
    }
  }
  const Vector<T> lanes = (sum[0] + sum[1]) + (sum[2] + sum[3]);
  T all = 0;
  for (int l = 0; l < kLanes<T>; ++l) all += lanes[l];
  for (; i < n; ++i) all += x[i];
  out.result[0] = all;
}

PLUMB_REGISTER(Reduce, "07_simd", run, float, double);

}  // namespace
}  // namespace plumb
