// Written by `tools/plumb fit skinny_gemm`, not by hand. Measured on NVIDIA H100 80GB HBM3, sm_90, 132 SMs, 79.2 GiB, L2 50 MiB, 1980 MHz, driver CUDA 13.0, runtime 13.0:
// bench --case skinny_gemm --drawn 110 --seed 26112610 --device gpu --variant user/*,gpu/80* --samples 20 --budget 0.02 --case-budget 20 --limit 60
// f32: 49 drawn cases, ridge 0.1; regret of the 27 whole ones, held out: median 0.0 %, 95th percentile 12.8 %, worst 14.5 %.
// f64: costs fitted before, to other cases.
#pragma once
#include "gpu/common/cost_model.hpp"

namespace plumb {
namespace skinny {

/// Of the candidates in their order: sharpness, microseconds for a unit of terms.
// clang-format off
template <class T>
struct Costs;
template <>
struct Costs<float> {
  static constexpr CostModel model[] = {
      {4, {4.216, 0.2156, 0.05889, 14.4, 0.2142, 0.7281, 0.4652, 205.5}},
      {2, {3.956, 0.2156, 0.02961, 11.43, 0.1659, 0.5147, 0.3283, 151.6}},
      {2, {4.225, 0.2015, 0.01018, 14.01, 0.1089, 1.145, 0.1609, 103.6}},
      {1, {5.811, 0.2156, 0.006324, 2.773, 0.1776, 0.5928, 0.1103, 41.77}},
      {1.5, {5.249, 0.2156, 0.006971, 3.872, 0.1816, 1.046, 0.111, 0}},
      {1.5, {8.575, 0.2156, 0.01803, 6.728, 0.2931, 1.198, 0.3222, 33.14}},
      {1.5, {4.404, 0.2156, 0.02839, 5.781, 0.3178, 2.657, 0.302, 306.3}},
      {1.5, {2.217, 0.2156, 0.08885, 10.85, 0.2605, 0.3845, 0.8153, 85.81}},
      {2, {2.954, 0.2156, 0.08666, 10.8, 0.2294, 0.3854, 0.4613, 82.51}},
      {1, {1e9, 0, 0, 0, 0, 0, 0, 0}},
  };
};
template <>
struct Costs<double> {
  static constexpr CostModel model[] = {
      {2, {4.08, 0.2098, 0.0337, 17.63, 0.0499, 0.7665, 0.1315, 174.5}},
      {2, {3.814, 0.2098, 0.02852, 28.16, 0.0524, 0.7679, 0.1776, 322.3}},
      {2, {4.3, 0.239, 0.007797, 8.271, 0.1801, 0.7619, 0.1795, 69.97}},
      {1.5, {4.372, 0.2098, 0.01071, 1.436, 0.07244, 0.6822, 0.2046, 14.01}},
      {1, {5.093, 0.2098, 0.004998, 2.025, 0.03776, 0.289, 0.1108, 30.12}},
      {1.5, {4.726, 0.2098, 0.007992, 6.793, 0.06143, 0.5125, 0.1382, 110.6}},
      {2, {5.283, 0.2098, 0.02522, 3.354, 0.06222, 0.7784, 0.317, 144.7}},
      {2, {4.371, 0.2098, 0.08657, 6.703, 0.05626, 2.192, 0.1486, 533.4}},
      {2, {3.453, 0.2098, 0.06749, 6.244, 0.06196, 0.6219, 0.3392, 132.9}},
      {2, {3.453, 0.2098, 0.06749, 6.244, 0.06196, 0.6219, 0.3392, 132.9}},
  };
};
// clang-format on

}  // namespace skinny
}  // namespace plumb
