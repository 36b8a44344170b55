// Written by `tools/plumb fit bias_relu`, not by hand. Measured on NVIDIA H200, sm_90, 132 SMs, 139.8 GiB, L2 60 MiB, 1980 MHz, driver CUDA 13.0, runtime 13.0:
// bench --case conv2d,skinny_gemm,gemv,sddmm,transpose,reduce,log_softmax,dense_to_csr,bias_relu --drawn 60 --seed 9201 --device gpu --variant user/* --samples 20 --budget 0.02 --limit 180
// f32: 20 drawn cases; regret of those held out: median 0.0 %, 95th percentile 0.0 %, worst 0.5 %.
// f64: 20 drawn cases; regret of those held out: median 0.0 %, 95th percentile 8.0 %, worst 17.5 %.
#pragma once
#include "gpu/common/cost_model.hpp"

namespace plumb {
namespace bias_relu {

/// Of the candidates in their order: sharpness, microseconds for a unit of terms, most of them.
// clang-format off
template <class T>
struct Costs;
template <>
struct Costs<float> {
  static constexpr CostModel model[] = {
      {2, {3.158, 0, 0.1588, 11.87, 0.1433, 0.2287, 4.556, 0}, {1, 0, 186, 11.89, 401.7, 363.9, 11.89, 0}},
      {2, {3.421, 0, 0.1392, 11.32, 0.1402, 0.2581, 4.471, 0}, {1, 0, 80, 0.6356, 22.14, 0, 5.084, 0}},
      {2, {3.232, 0, 0.1525, 10.96, 0.1305, 0.2581, 4.499, 0}, {1, 0, 3, 0.1638, 22.14, 0, 0.1638, 0}},
      {2, {3.639, 0, 0.1592, 11.33, 0.1396, 0.2581, 4.52, 0}, {1, 0, 1, 0.02923, 15.8, 0, 0.1169, 0}},
  };
};
template <>
struct Costs<double> {
  static constexpr CostModel model[] = {
      {1.5, {3.153, 0, 0.1872, 1.298, 0.1855, 0.1531, 4.866, 0}, {1, 0, 82, 5.209, 352.1, 314.3, 5.209, 0}},
      {2, {2.938, 0, 0.207, 1.298, 0.2302, 0.2357, 5.445, 0}, {1, 0, 56, 0.4466, 150.9, 113.2, 3.573, 0}},
      {1.5, {3.042, 0, 0.1709, 1.299, 0.193, 0.1868, 4.891, 0}, {1, 0, 7, 0.4412, 59.64, 21.89, 0.4412, 0}},
      {4, {3.551, 0, 0.1743, 1.298, 0.1567, 0.166, 4.878, 0}, {1, 0, 1, 0.01899, 10.27, 0, 0.07595, 0}},
  };
};
// clang-format on

}  // namespace bias_relu
}  // namespace plumb
