// Written by `tools/plumb fit transpose`, not by hand. Measured on NVIDIA H200, sm_90, 132 SMs, 139.8 GiB, L2 60 MiB, 1980 MHz, driver CUDA 13.0, runtime 13.0:
// bench --case transpose,reduce,dense_to_csr,bias_relu --drawn 40 --seed 9301 --device gpu --variant user/* --samples 20 --budget 0.02 --limit 46
// f32: 13 drawn cases, ridge 1; regret of those held out: median 0.0 %, 95th percentile 0.0 %, worst 0.0 %.
// f64: 12 drawn cases, the prior in common alone; regret of those held out: median 0.0 %, 95th percentile 2.9 %, worst 5.8 %.
#pragma once
#include "gpu/common/cost_model.hpp"

namespace plumb {
namespace transpose {

/// Of the candidates in their order: sharpness, microseconds for a unit of terms.
// clang-format off
template <class T>
struct Costs;
template <>
struct Costs<float> {
  static constexpr CostModel model[] = {
      {2, {2.827, 0, 0.2012, 4.869, 0.06539, 0.3644, 0.1859, 3.19}},
      {2, {4.53, 0, 0.1272, 4.888, 0.06545, 0.3715, 0.1765, 3.771}},
      {2, {4.472, 0, 0.1191, 4.886, 0.06532, 0.3552, 0.1746, 3.371}},
      {2, {3.118, 0, 0.6481, 9.863, 0.0655, 0.402, 0.177, 3.485}},
      {2, {3.07, 0, 0.636, 9.668, 0.06555, 0.3694, 0.177, 3.46}},
  };
};
template <>
struct Costs<double> {
  static constexpr CostModel model[] = {
      {2, {2.678, 0, 0.2272, 11.69, 0.08728, 0.279, 0.2701, 4.053}},
      {2, {3.564, 0, 0.1241, 11.76, 0.08749, 0.2867, 0.2572, 4.42}},
      {2, {3.68, 0, 0.1235, 11.77, 0.08749, 0.2866, 0.2572, 4.448}},
      {2, {2.79, 0, 0.6984, 23.23, 0.08745, 0.3027, 0.2587, 4.273}},
      {2, {2.915, 0, 0.7038, 23.42, 0.0873, 0.2851, 0.2587, 4.279}},
  };
};
// clang-format on

}  // namespace transpose
}  // namespace plumb
