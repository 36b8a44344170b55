// Written by `tools/plumb fit gemm`, not by hand. Measured on NVIDIA H100 80GB HBM3, sm_90, 132 SMs, 79.2 GiB, L2 50 MiB, 1980 MHz, driver CUDA 13.0, runtime 13.0:
// bench --device gpu --samples 20 --budget 0.02 --case-budget 20 --case gemm --drawn 80 --seed 9301 --variant user/* --limit 230
// f32: 40 drawn cases, the prior in common alone; regret of the 39 whole ones, held out: median 0.0 %, 95th percentile 8.3 %, worst 17.1 %.
// f64: 40 drawn cases, ridge 0.01; regret of the 40 whole ones, held out: median 0.0 %, 95th percentile 10.5 %, worst 11.0 %.
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
      {1, {4.485, 3.933, 0.004818, 3.764, 0.1022, 1.092, 0.06731, 4.346}},
      {1.5, {7.068, 2.635, 0.004211, 4.651, 0.1033, 0.3106, 0.8863, 1.134}},
      {1, {4.47, 3.933, 0.008002, 3.696, 0.1026, 0.4471, 0.04424, 0.7934}},
      {1, {3.736, 3.435, 0.004983, 3.881, 0.1049, 0.3482, 0.06597, 1.256}},
      {1, {6.446, 3.933, 0.007476, 3.795, 0.1046, 0.2186, 0.06597, 0.6782}},
      {1, {4.325, 3.933, 0.008966, 3.827, 0.1054, 0.2387, 0.06271, 0.7753}},
      {1.5, {4.34, 3.974, 0.004277, 5.415, 0.1104, 0.3497, 0.08358, 1.462}},
      {1.5, {5.011, 3.742, 0.006058, 5.028, 0.1302, 1.193, 0.05821, 1.745}},
      {1, {4.537, 3.742, 0.005908, 3.441, 0.09397, 0.3258, 0.08121, 1.276}},
      {1, {6.855, 3.933, 0.002939, 4.062, 0.1066, 1.459, 0.05791, 0.8466}},
  };
};
template <>
struct Costs<double> {
  static constexpr CostModel model[] = {
      {1.5, {5.24, 2.709, 0.0001295, 2.167, 0.1955, 0.493, 0.186, 0.3918}},
      {1, {5.763, 2.709, 0.0001176, 2, 0.1046, 0.4136, 0.03861, 0.489}},
      {1, {5.377, 2.709, 0.0001206, 1.917, 0.09215, 0.3295, 0.05008, 0.2838}},
      {1, {5.866, 2.728, 0.0001246, 2.005, 0.111, 0.3444, 0.03014, 0.6729}},
      {1, {4.548, 2.724, 0.0001375, 2.164, 0.1208, 0.2702, 0.03735, 0.3814}},
      {1, {4.244, 2.724, 0.0001352, 2.133, 0.1115, 0.4461, 0.05175, 0.4211}},
      {1, {6.779, 2.709, 0.0001196, 1.946, 0.09441, 0.3155, 0.03149, 0.3787}},
      {1, {7.244, 2.709, 0.0001186, 2.028, 0.1065, 0.4987, 0.02909, 0.5479}},
      {1, {5.843, 2.724, 0.0001264, 2.221, 0.1292, 1.006, 0.07865, 0.5279}},
      {1, {6.135, 2.779, 0.0001286, 2.048, 0.1069, 0.1786, 0.0421, 0.3926}},
  };
};
// clang-format on

}  // namespace gemm
}  // namespace plumb
