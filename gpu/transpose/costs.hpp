// Written by `tools/plumb fit transpose`, not by hand. Measured on NVIDIA H100 80GB HBM3, sm_90, 132 SMs, 79.2 GiB, L2 50 MiB, 1980 MHz, driver CUDA 13.0, runtime 13.0:
// bench --case transpose --drawn 50 --seed 26112610 --device gpu --variant user/*,gpu/80* --samples 20 --budget 0.02 --case-budget 20 --limit 32
// bench --case transpose --drawn 24 --seed 26112630 --device gpu --variant user/*,gpu/80* --samples 20 --budget 0.02 --case-budget 20 --limit 34
// f32: 37 drawn cases, ridge 0.1; regret of the 29 whole ones, held out: median 0.0 %, 95th percentile 10.0 %, worst 35.2 %.
// f64: 37 drawn cases, ridge 0.01; regret of the 34 whole ones, held out: median 0.0 %, 95th percentile 3.7 %, worst 7.4 %.
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
      {2, {3.498, 0, 0.03991, 13.09, 0.05621, 0.417, 0.3862, 1.692}},
      {2, {5.286, 0, 0.02657, 13.25, 0.05586, 0.3257, 0.4349, 2.843}},
      {2, {4.779, 0, 0.02435, 13.71, 0.05549, 0.2848, 0.4404, 2.724}},
      {2, {3.44, 0, 0.1247, 21.19, 0.05637, 0.4799, 0.4046, 1.838}},
      {1.5, {3.37, 0, 0.1206, 20.42, 0.06106, 0.3959, 0.4544, 1.805}},
      {2, {3.822, 0, 0.02711, 13.11, 0.05692, 0.4092, 0.3426, 1.85}},
  };
};
template <>
struct Costs<double> {
  static constexpr CostModel model[] = {
      {1.5, {2.721, 0, 0.2473, 5.431, 0.1466, 0.339, 0.2988, 1.634}},
      {4, {3.638, 0, 0.1786, 5.98, 0.1652, 0.642, 0.4392, 4.688}},
      {2, {2.335, 0, 0.3849, 6.009, 0.1654, 0.5136, 0.2939, 3.705}},
      {2, {3.324, 0, 0.231, 6.341, 0.1252, 0.4841, 1.284, 1.922}},
      {2, {3.402, 0, 0.2403, 6.154, 0.2207, 0.2006, 0.649, 1.886}},
      {4, {1.9, 0, 0.1545, 5.98, 0.1815, 0.6447, 0.3346, 1.628}},
  };
};
// clang-format on

}  // namespace transpose
}  // namespace plumb
