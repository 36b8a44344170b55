// Written by `tools/plumb fit gemm`, not by hand. Measured on NVIDIA H200, sm_90, 132 SMs, 139.8 GiB, L2 60 MiB, 1980 MHz, driver CUDA 13.0, runtime 13.0:
// bench --case gemm --drawn 130 --seed 9101 --device gpu --variant user/* --limit 75 --samples 20 --budget 0.02
// f32: 55 drawn cases; regret of those held out: median 0.0 %, 95th percentile 6.1 %, worst 10.1 %.
// f64: 55 drawn cases; regret of those held out: median 0.0 %, 95th percentile 8.3 %, worst 33.6 %.
#pragma once
#include "gpu/common/cost_model.hpp"

namespace plumb {
namespace gemm {

/// Of the candidates, in their order: sharpness, microseconds for a unit of each term.
// clang-format off
template <class T>
struct Costs;
template <>
struct Costs<float> {
  static constexpr CostModel model[] = {
      {1, {5.278, 3.641, 0.0002236, 3.801, 0.1457, 0.4263, 0.1506, 4.13}},
      {1, {6.705, 3.641, 0.000213, 3.655, 0.1528, 0.9081, 0.1522, 1.065}},
      {1, {8.45, 2.102, 0.0002192, 3.498, 0.1534, 0.1226, 0.7842, 1.709}},
      {1, {9.045, 3.641, 0.0002219, 3.721, 0.1515, 0.7016, 0.1365, 1.199}},
      {1.5, {6.891, 3.914, 0.0002193, 5.411, 0.1821, 0.1628, 0.1787, 1.92}},
      {1, {9.05, 3.641, 0.0002213, 4.883, 0.1711, 0.1114, 0.1711, 1.662}},
      {1, {7.714, 3.641, 0.0002194, 4.316, 0.1648, 0.1495, 0.1806, 1.571}},
      {1.5, {6.971, 3.938, 0.0002195, 6.045, 0.1704, 0.1278, 0.2048, 1.345}},
  };
};
template <>
struct Costs<double> {
  static constexpr CostModel model[] = {
      {1.5, {5.394, 1.143, 0.000196, 1.769, 0.1943, 0.5255, 0.08101, 0.6453}},
      {1, {5.844, 1.143, 0.0001833, 1.641, 0.116, 0.5071, 0.04268, 0.7003}},
      {1, {5.181, 1.143, 0.0001867, 1.545, 0.09983, 0.6275, 0.04926, 0.5678}},
      {1, {6.257, 1.166, 0.0001957, 1.665, 0.1163, 0.2188, 0.03914, 0.605}},
      {1, {6.21, 1.164, 0.0001911, 1.938, 0.1605, 0.2172, 0.04081, 0.9515}},
      {1, {6.005, 1.143, 0.0001938, 2.412, 0.2008, 0.7644, 0.04907, 0.6868}},
      {1, {6.031, 1.143, 0.0001933, 1.996, 0.1728, 0.6004, 0.0487, 0.7315}},
      {1, {1e9, 0, 0, 0, 0, 0, 0, 0}},
  };
};
// clang-format on

}  // namespace gemm
}  // namespace plumb
