// Written by `tools/plumb fit sddmm`, not by hand. Measured on NVIDIA H200, sm_90, 132 SMs, 139.8 GiB, L2 60 MiB, 1980 MHz, driver CUDA 13.0, runtime 13.0:
// bench --case conv2d,skinny_gemm,gemv,sddmm,transpose,reduce,log_softmax,dense_to_csr,bias_relu --drawn 60 --seed 9201 --device gpu --variant user/* --samples 20 --budget 0.02 --limit 180
// bench --case sddmm --drawn 100 --seed 9301 --device gpu --variant user/* --samples 20 --budget 0.02 --limit 46
// f32: 50 drawn cases, ridge 0.01 and ridge 0.1; regret of those held out: median 0.0 %, 95th percentile 0.0 %, worst 74.3 %; of 1 uses: median 0.0 %, 95th percentile 11.0 %, worst 43.7 %; of 10 uses: median 0.0 %, 95th percentile 18.5 %, worst 52.7 %; of 1000 uses: median 0.0 %, 95th percentile 0.0 %, worst 69.2 %.
// f64: 48 drawn cases, ridge 0.01 and ridge 0.1; regret of those held out: median 0.0 %, 95th percentile 32.6 %, worst 37.3 %; of 1 uses: median 0.2 %, 95th percentile 27.4 %, worst 87.6 %; of 10 uses: median 0.0 %, 95th percentile 23.0 %, worst 72.3 %; of 1000 uses: median 0.0 %, 95th percentile 30.5 %, worst 36.7 %.
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
      {1, {3.939, 2.896, 0.06388, 0.3714, 0.07174, 0.08563, 0.4908, 0.01093}},
      {1.5, {2.699, 3.994, 0.0473, 0.5774, 0.07741, 0.1663, 0.7729, 0.0315}},
      {2, {4.556, 2.896, 0.05747, 1.033, 0.3548, 0.3648, 0.6997, 0.06731}},
      {1, {4.817, 2.896, 0.09202, 0.5054, 0.334, 0.142, 1.482, 0.04317}},
      {2, {18.04, 2.896, 0.03579, 0.5125, 0.4289, 0.1383, 0.7318, 0.07756}},
      {4, {6.36, 8.942, 0.2226, 1.172, 0.08006, 0.134, 0.6981, 0.04018}},
      {2, {4.151, 4.899, 0.2196, 1.013, 0.06829, 2.235, 0.7624, 0.03483}},
      {1, {3.89, 2.896, 0.1214, 0.9407, 0.1185, 0.1317, 0.6824, 0.0484}},
  };
  static constexpr CostModel preparation[] = {
      {1, {105.1, 43.41, 490.4, 7000, 118.2, 82.81, 16.37, 0}},
      {1, {110.9, 56.67, 181, 7000, 71.87, 82.81, 63.22, 0}},
      {1.5, {99.6, 37.41, 151.8, 7000, 62.71, 82.81, 120.7, 0}},
      {1.5, {96.26, 34.28, 160.8, 7000, 65.53, 82.81, 186.9, 0}},
      {1.5, {87.83, 28.31, 176, 7000, 69.94, 82.81, 270.5, 0}},
      {1.5, {108.3, 35.13, 156.1, 7000, 63.86, 82.61, 160.1, 0}},
      {1.5, {104.9, 32.09, 159, 7000, 64.87, 82.71, 167.9, 0}},
      {1, {95.64, 33.75, 164.7, 7000, 66.7, 82.81, 160.8, 0}},
  };
};
template <>
struct Costs<double> {
  static constexpr CostModel model[] = {
      {1, {4.323, 3.124, 0.1036, 1.022, 0.08805, 0.0231, 0.02426, 0.005638}},
      {1, {4.459, 3.056, 0.04272, 1.283, 0.05101, 0.2026, 0.04285, 0.01563}},
      {2, {4.511, 3.124, 0.041, 2.342, 0.138, 0.02653, 0.0444, 0.07483}},
      {2, {4.462, 3.124, 0.1133, 2.882, 0.1351, 0.02631, 0.0444, 0.04152}},
      {1, {13.67, 3.124, 0.1139, 1.867, 0.2548, 0.02859, 0.0434, 0.03755}},
      {1, {4.224, 2.52, 0.4694, 4.914, 0.1243, 0.02759, 0.04416, 0.0358}},
      {4, {4.249, 1.659, 0.1731, 2.829, 0.2131, 0.02627, 0.0444, 0.04139}},
      {1.5, {4.303, 3.124, 0.04248, 2.245, 0.1806, 0.02627, 0.0444, 0.05004}},
  };
  static constexpr CostModel preparation[] = {
      {4, {22.08, 28.77, 983.9, 7000, 130.6, 92.98, 33.74, 0}},
      {2, {21.84, 25.36, 319, 7000, 114.7, 92.98, 272.6, 0}},
      {1, {22.02, 27.88, 506, 7000, 145.5, 92.98, 48.67, 0}},
      {1, {22.03, 28.02, 531.4, 7000, 149.1, 92.98, 66.87, 0}},
      {1, {21.99, 27.57, 370, 7000, 120.3, 92.98, 25.59, 0}},
      {1.5, {22.35, 25.69, 401.9, 7000, 127.4, 92.94, 43.13, 0}},
      {1.5, {22.38, 27.84, 397.1, 7000, 126.6, 92.92, 39.08, 0}},
      {1.5, {22.02, 27.9, 394.6, 7000, 126.4, 92.98, 23.22, 0}},
  };
};
// clang-format on

}  // namespace sddmm
}  // namespace plumb
