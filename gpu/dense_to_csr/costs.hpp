// Written by `tools/plumb fit dense_to_csr`, not by hand. Measured on NVIDIA H200, sm_90, 132 SMs, 139.8 GiB, L2 60 MiB, 1980 MHz, driver CUDA 13.0, runtime 13.0:
// bench --case transpose,reduce,dense_to_csr,bias_relu --drawn 40 --seed 9301 --device gpu --variant user/* --samples 20 --budget 0.02 --limit 46
// f32: 15 drawn cases, ridge 0.01; regret of those held out: median 0.0 %, 95th percentile 0.0 %, worst 0.0 %.
// f64: 15 drawn cases, ridge 0.1; regret of those held out: median 0.0 %, 95th percentile 11.5 %, worst 13.7 %.
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
      {2, {5.008, 1.953, 0.09413, 108.3, 0.4503, 0.07801, 0.2489, 2.416}},
      {2, {4.81, 1.917, 0.07056, 88.68, 0.4072, 0.07245, 0.248, 2.33}},
      {2, {6.273, 1.214, 0.4811, 56.12, 1.539, 0.08398, 0.2463, 2.409}},
      {2, {3.906, 1.623, 0.1284, 84.38, 0.4947, 0.08406, 0.2464, 2.408}},
      {2, {3.917, 1.675, 0.2352, 42.19, 0.3922, 0.08406, 0.2463, 2.389}},
  };
};
template <>
struct Costs<double> {
  static constexpr CostModel model[] = {
      {2, {4.859, 1.714, 0.07317, 117.9, 0.3437, 0.1473, 0.7163, 3.532}},
      {1.5, {4.574, 1.68, 0.07519, 65.52, 0.2911, 0.1885, 0.703, 3.392}},
      {2, {3.422, 2.159, 0.7462, 50.74, 0.2879, 0.2046, 0.4988, 3.441}},
      {4, {3.962, 1.778, 0.126, 60.99, 0.1679, 0.2062, 0.5187, 3.445}},
      {2, {4.168, 1.659, 0.1752, 42.9, 0.2417, 0.2062, 0.518, 3.425}},
  };
};
// clang-format on

}  // namespace dense_to_csr
}  // namespace plumb
