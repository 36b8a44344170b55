// Written by `tools/plumb fit gemm`, not by hand. Measured on NVIDIA H100 80GB HBM3, sm_90, 132 SMs, 79.2 GiB, L2 50 MiB, 1980 MHz, driver CUDA 13.0, runtime 13.0:
// bench --device gpu --samples 20 --budget 0.02 --case-budget 20 --case gemm --variant user/* --drawn 80 --seed 9301 --limit 230
// bench --device gpu --samples 20 --budget 0.02 --case-budget 20 --case gemm --variant user/* --drawn 60 --seed 26112521 --limit 170
// bench --device gpu --samples 20 --budget 0.02 --case-budget 20 --case gemm --variant user/* --drawn 70 --seed 26112531 --limit 150
// f32: 105 drawn cases, the prior in common alone; regret of the 103 whole ones, held out: median 0.0 %, 95th percentile 4.0 %, worst 10.8 %.
// f64: 105 drawn cases, the prior in common alone; regret of the 103 whole ones, held out: median 0.0 %, 95th percentile 11.9 %, worst 32.9 %.
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
      {1, {4.402, 0.1339, 0.005533, 4.164, 0.08013, 0.519, 0.1088, 4.574}},
      {4, {10.11, 0.1511, 0.003878, 5.662, 0.07997, 1.04, 1.679, 0.9006}},
      {1, {5.463, 0.1533, 0.00865, 3.822, 0.07817, 0.3133, 0.03556, 0.6887}},
      {4, {4.648, 0.1782, 0.03889, 5.868, 0.08255, 0.1729, 0.08943, 4.903}},
      {1, {6.485, 0.1533, 0.01185, 3.726, 0.0789, 0.3525, 0.04943, 0.5247}},
      {1, {4.818, 0.1533, 0.0114, 3.827, 0.0794, 0.2434, 0.048, 0.6092}},
      {2, {4.561, 0.1886, 0.05543, 4.618, 0.08183, 0.1112, 0.1203, 2.973}},
      {1, {5.176, 0.1459, 0.00502, 3.483, 0.07431, 0.8201, 0.06113, 0.7607}},
      {1, {5.05, 0.1459, 0.00583, 3.628, 0.07177, 0.4002, 0.02927, 1.302}},
  };
};
template <>
struct Costs<double> {
  static constexpr CostModel model[] = {
      {1.5, {4.596, 0.2067, 0.0004666, 2.812, 0.1418, 0.5733, 0.2592, 2.219}},
      {1, {5.966, 0.1398, 0.0004666, 2.61, 0.07351, 0.4101, 0.05749, 0.2975}},
      {1, {5.568, 0.1398, 0.0004666, 2.67, 0.06815, 0.312, 0.06479, 0.2471}},
      {1.5, {5.571, 0.3361, 0.0004666, 4.155, 0.09222, 0.244, 0.04351, 0.5661}},
      {1, {4.754, 0.1406, 0.0004666, 2.592, 0.0764, 0.4523, 0.03942, 0.4465}},
      {1, {4.361, 0.1406, 0.0004666, 2.648, 0.07298, 0.521, 0.09023, 0.8678}},
      {1, {6.324, 0.06995, 0.0004666, 2.476, 0.06498, 0.3168, 0.03643, 0.3984}},
      {1, {5.356, 0.1293, 0.0004666, 2.539, 0.07291, 0.7181, 0.1033, 1.722}},
      {1.5, {6.378, 0.2937, 0.0004666, 3.674, 0.09258, 0.1218, 0.09205, 0.6794}},
  };
};
// clang-format on

}  // namespace gemm
}  // namespace plumb
