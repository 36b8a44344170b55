// Written by `tools/plumb fit dense_to_csr`, not by hand. Measured on NVIDIA H100 80GB HBM3, sm_90, 132 SMs, 79.2 GiB, L2 50 MiB, 1980 MHz, driver CUDA 13.0, runtime 13.0:
// bench --case dense_to_csr --drawn 120 --seed 26112841 --device gpu --variant user/*,gpu/80* --samples 20 --budget 0.02 --case-budget 20 --limit 85
// f32: 60 drawn cases, ridge 0.01; regret of the 56 whole ones, held out: median 0.0 %, 95th percentile 22.6 %, worst 63.2 %.
// f64: 60 drawn cases, ridge 0.01; regret of the 58 whole ones, held out: median 0.0 %, 95th percentile 2.9 %, worst 40.3 %.
#pragma once
#include "gpu/common/cost_model.hpp"

namespace plumb {
namespace dense_to_csr {

/// Of the candidates in their order: sharpness, microseconds for a unit of terms.
// clang-format off
template <class T>
struct Costs;
template <>
struct Costs<float> {
  static constexpr CostModel model[] = {
      {2, {4.583, 2.532, 0.05582, 105, 0.5347, 0.1598, 0.9562, 7.689}},
      {2, {4.336, 2.464, 0.03432, 85.34, 0.139, 0.1406, 1.877, 8.664}},
      {4, {2.839, 3.213, 0.5339, 47.27, 0.5533, 0.2967, 0.9997, 7.725}},
      {1.5, {5.009, 1.42, 0.1248, 44.7, 0.143, 0.3751, 1.037, 5.697}},
      {1.5, {3.853, 2.151, 0.3001, 26.65, 0.1379, 0.09672, 1.432, 8.491}},
  };
};
template <>
struct Costs<double> {
  static constexpr CostModel model[] = {
      {2, {4.555, 1.988, 0.1118, 112.3, 0.5062, 0.1846, 1.36, 7.101}},
      {2, {4.386, 1.968, 0.06629, 81.21, 0.4949, 0.1706, 1.621, 7.15}},
      {2, {2.036, 3.05, 1.106, 48.94, 0.1516, 0.3295, 2.357, 6.906}},
      {1.5, {4.446, 1.592, 0.1414, 23.03, 0.1315, 0.346, 1.84, 4.821}},
      {4, {3.595, 2.145, 0.477, 35.47, 0.3791, 0.2024, 1.263, 6.9}},
  };
};
// clang-format on

}  // namespace dense_to_csr
}  // namespace plumb
