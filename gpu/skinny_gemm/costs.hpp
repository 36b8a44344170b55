// Written by `tools/plumb fit skinny_gemm`, not by hand. Measured on NVIDIA H200, sm_90, 132 SMs, 139.8 GiB, L2 60 MiB, 1980 MHz, driver CUDA 13.0, runtime 13.0:
// bench --case skinny_gemm --drawn 110 --seed 9301 --device gpu --variant user/* --samples 20 --budget 0.02 --limit 44
// f32: 47 drawn cases, ridge 0.01; regret of those held out: median 0.0 %, 95th percentile 25.0 %, worst 97.0 %.
// f64: 47 drawn cases, ridge 0.1; regret of those held out: median 0.0 %, 95th percentile 25.4 %, worst 35.3 %.
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
      {2, {4.384, 0.1893, 0.02787, 10.22, 0.1158, 0.6264, 0.2117, 174.7}},
      {2, {3.728, 0.1893, 0.0271, 10.42, 0.1371, 0.867, 0.2818, 196.6}},
      {2, {4.308, 0.1966, 0.01345, 11.81, 0.09052, 1.23, 0.1381, 103.5}},
      {1, {4.781, 0.1893, 0.007722, 3.585, 0.08987, 0.4648, 0.08382, 104.8}},
      {2, {5.215, 0.1893, 0.008644, 4.502, 0.1289, 1.432, 0.1443, 0}},
      {2, {8.678, 0.1893, 0.02321, 5.942, 0.1461, 2.373, 0.2077, 62.39}},
      {4, {3.84, 0.1893, 0.03615, 9.179, 0.1503, 3.815, 0.2208, 450.3}},
      {1.5, {1.469, 0.1893, 0.09107, 9.884, 0.1704, 0.5467, 0.5628, 71.78}},
      {1, {1e9, 0, 0, 0, 0, 0, 0, 0}},
  };
};
template <>
struct Costs<double> {
  static constexpr CostModel model[] = {
      {2, {4.069, 0.218, 0.03632, 17.14, 0.06575, 0.7799, 0.1625, 91.94}},
      {2, {3.72, 0.218, 0.03043, 27.94, 0.07021, 0.8037, 0.251, 86.47}},
      {1.5, {3.992, 0.2511, 0.01252, 8.133, 0.0758, 0.8818, 0.2472, 77.32}},
      {2, {4.339, 0.218, 0.01076, 3.983, 0.08407, 0.9023, 0.2111, 28.27}},
      {2, {4.915, 0.218, 0.01043, 5.084, 0.07625, 0.7578, 0.1588, 46.21}},
      {2, {4.677, 0.218, 0.02056, 6.989, 0.07504, 0.7113, 0.2593, 91.57}},
      {2, {4.633, 0.218, 0.03054, 5.523, 0.07136, 0.8671, 0.2136, 85.43}},
      {1.5, {4.21, 0.218, 0.06108, 15.25, 0.07087, 1.255, 0.1915, 399}},
      {1.5, {4.039, 0.2211, 0.04685, 9.252, 0.07239, 0.8413, 0.232, 101.6}},
  };
};
// clang-format on

}  // namespace skinny
}  // namespace plumb
