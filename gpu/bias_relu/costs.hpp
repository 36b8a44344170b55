// Written by `tools/plumb fit bias_relu`, not by hand. Measured on NVIDIA H200, sm_90, 132 SMs, 139.8 GiB, L2 60 MiB, 1980 MHz, driver CUDA 13.0, runtime 13.0:
// bench --case transpose,reduce,dense_to_csr,bias_relu --drawn 40 --seed 9301 --device gpu --variant user/* --samples 20 --budget 0.02 --limit 46
// f32: 19 drawn cases, ridge 0.1; regret of those held out: median 0.0 %, 95th percentile 1.2 %, worst 2.9 %.
// f64: 18 drawn cases, ridge 1; regret of those held out: median 0.4 %, 95th percentile 3.1 %, worst 7.1 %.
#pragma once
#include "gpu/common/cost_model.hpp"

namespace plumb {
namespace bias_relu {

/// Of the candidates in their order: sharpness, microseconds for a unit of terms.
// clang-format off
template <class T>
struct Costs;
template <>
struct Costs<float> {
  static constexpr CostModel model[] = {
      {2, {3.168, 0, 0.1791, 4.378, 0.2247, 0.2377, 10.75, 0}},
      {2, {3.109, 0, 0.1535, 2.236, 0.2677, 0.2163, 5.345, 0}},
      {2, {3.198, 0, 0.1763, 2.448, 0.2171, 0.2133, 3.846, 0}},
      {2, {3.662, 0, 0.2377, 2.788, 0.2103, 0.2181, 3.843, 0}},
  };
};
template <>
struct Costs<double> {
  static constexpr CostModel model[] = {
      {1.5, {3.137, 0, 0.2267, 6.119, 0.149, 0.1051, 5.316, 0}},
      {2, {2.707, 0, 0.2318, 3.521, 0.2403, 0.165, 2.125, 0}},
      {1.5, {3.184, 0, 0.1891, 3.841, 0.1891, 0.1514, 1.957, 0}},
      {2, {3.597, 0, 0.2689, 4.388, 0.163, 0.1369, 1.958, 0}},
  };
};
// clang-format on

}  // namespace bias_relu
}  // namespace plumb
