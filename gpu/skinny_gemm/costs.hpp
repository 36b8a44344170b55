// Written by `tools/plumb fit skinny_gemm`, not by hand. Measured on NVIDIA H100 80GB HBM3, sm_90, 132 SMs, 79.2 GiB, L2 50 MiB, 1980 MHz, driver CUDA 13.0, runtime 13.0:
// bench --case skinny_gemm --drawn 130 --seed 26112811 --device gpu --variant user/*,gpu/80* --samples 20 --budget 0.02 --case-budget 20 --limit 170
// bench --case skinny_gemm --drawn 130 --seed 26112812 --device gpu --variant user/*,gpu/80* --samples 20 --budget 0.02 --case-budget 20 --limit 170
// bench --case skinny_gemm --drawn 140 --seed 26112821 --device gpu --variant user/*,gpu/80* --samples 20 --budget 0.02 --case-budget 20 --limit 190
// bench --case skinny_gemm --drawn 140 --seed 26112822 --device gpu --variant user/*,gpu/80* --samples 20 --budget 0.02 --case-budget 20 --limit 190
// f32: 270 drawn cases, ridge 1; regret of the 244 whole ones, held out: median 0.0 %, 95th percentile 16.6 %, worst 70.0 %.
// f64: 270 drawn cases, the prior in common alone; regret of the 235 whole ones, held out: median 0.0 %, 95th percentile 15.5 %, worst 32.9 %.
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
      {4, {4.331, 0.2777, 0.05171, 11.74, 0.4026, 0.9475, 0.3791, 227.4}},
      {1.5, {3.912, 0.2777, 0.01264, 9.573, 0.07802, 0.4176, 0.1342, 130.1}},
      {2, {4.108, 0.2777, 0.01632, 10.6, 0.1117, 0.56, 0.1753, 156}},
      {1, {5.069, 0.2777, 0.004658, 6.771, 0.1598, 0.5519, 0.0664, 15.46}},
      {1.5, {4.903, 0.2777, 0.004731, 7.142, 0.07722, 1.125, 0.1012, 0}},
      {1.5, {2.907, 0.2777, 0.06541, 11.74, 0.1961, 0.3205, 0.2841, 194.6}},
      {1.5, {3.719, 0.2777, 0.02156, 10.97, 0.1661, 0.8971, 0.2479, 86.49}},
      {4, {4.245, 0.2777, 0.006201, 14.5, 0.1076, 0.6663, 0.3327, 97.09}},
      {2, {5.121, 0.2477, 0.03559, 7.727, 0.2274, 0.4707, 0.07243, 980.4}},
      {1, {4.306, 0.1984, 0.003471, 4.906, 0.1038, 0.6252, 0.05718, 4.062}},
      {1, {5.461, 0.1975, 0.01365, 4.417, 0.09805, 0.2135, 0.03092, 1.001}},
      {1, {5.946, 0.1975, 0.003877, 4.827, 0.09959, 0.2152, 0.02672, 1.05}},
      {1, {5.534, 0.1879, 0.005176, 4.706, 0.09571, 0.3402, 0.02011, 2.041}},
  };
};
template <>
struct Costs<double> {
  static constexpr CostModel model[] = {
      {1.5, {4.16, 0.187, 0.02608, 13.08, 0.04942, 0.5747, 0.2244, 177.2}},
      {1, {3.81, 0.187, 0.01843, 15.97, 0.02092, 0.3422, 0.04769, 103.5}},
      {1.5, {3.961, 0.187, 0.02407, 14.11, 0.04566, 0.481, 0.2027, 259.8}},
      {1, {4.297, 0.187, 0.009543, 0.4233, 0.03528, 0.4102, 0.2153, 5.638}},
      {1, {5.227, 0.187, 0.00511, 1.591, 0.03868, 0.4998, 0.1898, 21.96}},
      {1.5, {3.528, 0.187, 0.03415, 4.828, 0.07322, 0.2338, 0.4495, 286.7}},
      {2, {3.221, 0.187, 0.1041, 4.827, 0.07251, 0.7565, 0.2633, 383.4}},
      {4, {4.206, 0.187, 0.01187, 29.31, 0.2621, 3.206, 0.291, 277.9}},
      {2, {5.06, 0.302, 0.008329, 10.32, 0.3177, 0.417, 0.05951, 1056}},
      {1, {4.346, 0.248, 0.0005624, 1.959, 0.1145, 0.5878, 0.1228, 0.2062}},
      {1, {5.542, 0.1248, 0.0003637, 1.696, 0.0635, 0.4488, 0.1743, 1.31}},
      {1, {4.496, 0.1254, 0.0001693, 1.916, 0.0748, 0.6222, 0.1745, 0.6673}},
      {1, {5.669, 0.1248, 0.0004243, 1.468, 0.06596, 0.4059, 0.2009, 4.721}},
  };
};
// clang-format on

}  // namespace skinny
}  // namespace plumb
