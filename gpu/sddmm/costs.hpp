// Written by `tools/plumb fit sddmm`, not by hand. Measured on NVIDIA H200, sm_90, 132 SMs, 139.8 GiB, L2 60 MiB, 1980 MHz, driver CUDA 13.0, runtime 13.0:
// bench --case sddmm --drawn 100 --seed 9301 --device gpu --variant user/* --samples 20 --budget 0.02 --limit 46
// bench --case sddmm --drawn 60 --seed 9402 --device gpu --variant user/* --samples 20 --budget 0.02 --case-budget 20 --limit 85
// f32: 63 drawn cases, ridge 0.1 and the prior in common alone; regret of those held out: median 0.0 %, 95th percentile 19.5 %, worst 154.9 %; of 1 uses: median 0.0 %, 95th percentile 23.4 %, worst 70.1 %; of 10 uses: median 0.0 %, 95th percentile 6.8 %, worst 12.2 %; of 1000 uses: median 0.0 %, 95th percentile 30.0 %, worst 130.2 %.
// f64: 62 drawn cases, ridge 0.01 and ridge 0.1; regret of those held out: median 0.0 %, 95th percentile 30.3 %, worst 75.1 %; of 1 uses: median 0.0 %, 95th percentile 23.9 %, worst 53.7 %; of 10 uses: median 0.0 %, 95th percentile 12.9 %, worst 21.7 %; of 1000 uses: median 0.0 %, 95th percentile 23.7 %, worst 31.4 %.
#pragma once
#include "gpu/common/cost_model.hpp"

namespace plumb {
namespace sddmm {

/// Of the candidates in their order: sharpness, microseconds for a unit of terms.
// clang-format off
template <class T>
struct Costs;
template <>
struct Costs<float> {
  static constexpr CostModel model[] = {
      {1, {4.023, 2.93, 0.08043, 0.3043, 0.04554, 0.07372, 0.6025, 0.01852}},
      {1.5, {3.679, 3.239, 0.04693, 0.3666, 0.06765, 0.1274, 1.638, 0.02746}},
      {2, {4.303, 2.93, 0.06289, 1.137, 0.09357, 0.09959, 1.041, 0.08206}},
      {1, {4.36, 2.93, 0.08859, 0.4986, 0.1097, 0.1478, 1.238, 0.05515}},
      {1, {13.24, 2.93, 0.06684, 0.4885, 0.1182, 0.2736, 1.349, 0.07964}},
      {1, {5.317, 2.457, 0.1269, 0.7405, 0.07775, 0.2081, 1.245, 0.05868}},
      {1, {4.323, 2.357, 0.1587, 0.9574, 0.05424, 0.1028, 0.7823, 0.02839}},
      {1.5, {4.043, 2.93, 0.07968, 0.8155, 0.09787, 0.08826, 1.016, 0.06359}},
  };
  static constexpr CostModel preparation[] = {
      {1, {242, 23.62, 154.6, 7000, 59.5, 72.17, 57.71, 0}},
      {1, {242, 23.62, 154.6, 7000, 59.5, 72.17, 57.71, 0}},
      {1, {242, 23.62, 154.6, 7000, 59.5, 72.17, 57.71, 0}},
      {1, {242, 23.62, 154.6, 7000, 59.5, 72.17, 57.71, 0}},
      {1, {242, 23.62, 154.6, 7000, 59.5, 72.17, 57.71, 0}},
      {1, {242, 23.62, 154.6, 7000, 59.5, 72.17, 57.71, 0}},
      {1, {242, 23.62, 154.6, 7000, 59.5, 72.17, 57.71, 0}},
      {1, {242, 23.62, 154.6, 7000, 59.5, 72.17, 57.71, 0}},
  };
};
template <>
struct Costs<double> {
  static constexpr CostModel model[] = {
      {1, {4.397, 3.336, 0.09605, 1.26, 0.0299, 0.1536, 0.01887, 0.008268}},
      {1.5, {4.183, 3.696, 0.03099, 1.545, 0.02608, 0.3843, 0.03896, 0.01463}},
      {1.5, {4.55, 3.336, 0.03074, 3.036, 0.1011, 0.8519, 0.03938, 0.06175}},
      {2, {4.132, 3.336, 0.1575, 2.67, 0.1547, 0.3266, 0.03934, 0.03844}},
      {1, {16.22, 3.336, 0.1197, 1.011, 0.0459, 0.3472, 0.04199, 0.2016}},
      {1, {4.01, 3.045, 0.5561, 2.969, 0.07428, 0.3252, 0.04207, 0.111}},
      {1, {4.348, 1.858, 0.1592, 1.063, 0.1072, 0.08935, 0.03528, 0.02032}},
      {1.5, {4.124, 3.336, 0.03248, 3.11, 0.06784, 0.2847, 0.03928, 0.05694}},
  };
  static constexpr CostModel preparation[] = {
      {1, {46.57, 31.17, 390.2, 7000, 107.9, 80.74, 33.83, 0}},
      {2, {44.69, 24.5, 337.8, 7000, 105.8, 80.74, 222.5, 0}},
      {1, {46.06, 28.89, 744.9, 7000, 142, 80.74, 44.44, 0}},
      {1, {45.69, 27.77, 869.9, 7000, 151, 80.74, 65.07, 0}},
      {1, {45.91, 28.41, 586.5, 7000, 131.8, 80.74, 65.66, 0}},
      {1.5, {49.61, 26.09, 430.5, 7000, 114.6, 80.7, 75.99, 0}},
      {1.5, {49.38, 27.44, 422.3, 7000, 113.7, 80.69, 81.78, 0}},
      {1, {45.29, 26.67, 468.6, 7000, 119.2, 80.74, 93.58, 0}},
  };
};
// clang-format on

}  // namespace sddmm
}  // namespace plumb
