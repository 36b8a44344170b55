// Written by `tools/plumb fit gemm`, not by hand. Measured on NVIDIA H100 80GB HBM3, sm_90, 132 SMs, 79.2 GiB, L2 50 MiB, 1980 MHz, driver CUDA 13.0, runtime 13.0:
// bench --case gemm --drawn 80 --seed 26112720 --device gpu --samples 20 --budget 0.02 --case-budget 20 --variant user/*,gpu/80* --limit 45
// bench --case gemm --drawn 80 --seed 26112720 --device gpu --samples 20 --budget 0.02 --case-budget 20 --variant user/*,gpu/80* --limit 115
// f32: 31 drawn cases, ridge 0.01; regret of the 19 whole ones, held out: median 0.0 %, 95th percentile 2.4 %, worst 8.9 %.
// f64: 71 drawn cases, ridge 0.01; regret of the 49 whole ones, held out: median 0.0 %, 95th percentile 5.3 %, worst 26.5 %.
#pragma once
#include "gpu/common/cost_model.hpp"

namespace plumb {
namespace gemm {

/// Of the candidates in their order: sharpness, microseconds for a unit of terms.
// clang-format off
template <class T>
struct Costs;
template <>
struct Costs<float> {
  static constexpr CostModel model[] = {
      {1, {4.248, 0.1585, 0.005711, 4.076, 0.06668, 0.7393, 0.05411, 4.4}},
      {1.5, {10.51, 0.1454, 0.004235, 5.175, 0.06975, 0.887, 1.411, 4.448}},
      {1, {5.182, 0.1602, 0.01048, 3.999, 0.06799, 0.29, 0.02093, 0.8099}},
      {4, {3.705, 0.2307, 0.04508, 6.416, 0.07245, 0.2142, 0.05354, 5.791}},
      {1, {6.75, 0.1602, 0.01234, 4.15, 0.06969, 0.3778, 0.02985, 0.658}},
      {1, {4.72, 0.1602, 0.01664, 4.012, 0.0691, 0.1956, 0.02903, 0.7746}},
      {2, {3.347, 0.2804, 0.06473, 4.648, 0.07163, 0.129, 0.07192, 3.05}},
      {1, {5.152, 0.1525, 0.005682, 4.303, 0.07009, 0.5559, 0.03594, 0.7423}},
      {1, {5.014, 0.1525, 0.007708, 4.33, 0.06538, 0.27, 0.01754, 1.969}},
      {1, {7.841, 0.1602, 0.01184, 3.401, 0.06579, 0.5409, 0.02927, 0.8791}},
  };
};
template <>
struct Costs<double> {
  static constexpr CostModel model[] = {
      {2, {4.457, 0.2016, 0.0002537, 2.819, 0.1723, 0.6675, 0.2034, 2.341}},
      {1, {5.59, 0.1436, 0.0002539, 2.678, 0.07471, 0.3339, 0.03744, 0.4854}},
      {1, {5.385, 0.1436, 0.0002327, 2.63, 0.06729, 0.2662, 0.0858, 0.4916}},
      {1.5, {5.156, 0.3683, 0.0002538, 4.186, 0.0921, 0.2298, 0.03239, 1.228}},
      {1, {4.84, 0.1444, 0.000257, 2.369, 0.06766, 0.4297, 0.02838, 1.315}},
      {1, {4.389, 0.1444, 0.000205, 2.546, 0.06867, 0.5167, 0.05092, 1.695}},
      {1, {6.729, 0.04274, 0.0002512, 2.124, 0.05679, 0.4119, 0.02417, 1.05}},
      {1, {5.817, 0.1241, 0.0002542, 2.26, 0.06, 0.7337, 0.06674, 3.302}},
      {1.5, {6.34, 0.3095, 0.0002541, 3.444, 0.08801, 0.1494, 0.06757, 1.4}},
      {1, {5.665, 0.1436, 0.0002523, 2.636, 0.06737, 0.2625, 0.04702, 2.834}},
  };
};
// clang-format on

}  // namespace gemm
}  // namespace plumb
