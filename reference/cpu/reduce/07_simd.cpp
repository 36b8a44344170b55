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
  using V = scalar_t<T>;
  const in_t<T>* x = in.x.data;
  const std::int64_t n = in.x.size;
  std::int64_t i = 0;
  if (p.kind == Reduce::Kind::max) {
    V best[kWide<V>];
    for (V& b : best) b = kMinusInf<V>;
    for (; i + kWide<V> <= n; i += kWide<V>) {
#pragma omp simd
      for (int l = 0; l < kWide<V>; ++l) best[l] = larger(best[l], value(x[i + l]));
    }
    V all = kMinusInf<V>;
    for (const V b : best) all = larger(all, b);
    for (; i < n; ++i) all = larger(all, value(x[i]));
    out.result[0] = stored<out_t<T>>(all);
    return;
  }
  Vector<V> sum[kSums] = {};
  for (; i + kWide<V> <= n; i += kWide<V>) {
    for (int s = 0; s < kSums; ++s) {
      Vector<V> terms;
      load_values<V>(terms, x + i + s * kLanes<V>);
      sum[s] += terms;
    }
  }
  const Vector<V> lanes = (sum[0] + sum[1]) + (sum[2] + sum[3]);
  V all = 0;
  for (int l = 0; l < kLanes<V>; ++l) all += lanes[l];
  for (; i < n; ++i) all += value(x[i]);
  out.result[0] = stored<out_t<T>>(all);
}

PLUMB_REGISTER(Reduce, "07_simd", run, float, double, f16, bf16, f16_f32, bf16_f32);

}  // namespace
}  // namespace plumb
