// Written by `tools/plumb fit reduce`, not by hand. Measured on NVIDIA H200, sm_90, 132 SMs, 139.8 GiB, L2 60 MiB, 1980 MHz, driver CUDA 13.0, runtime 13.0:
// bench --case conv2d,skinny_gemm,gemv,sddmm,transpose,reduce,log_softmax,dense_to_csr,bias_relu --drawn 60 --seed 9201 --device gpu --variant user/* --samples 20 --budget 0.02 --limit 180
// f32: 28 drawn cases; regret of those held out: median 0.0 %, 95th percentile 1.5 %, worst 1.8 %.
// f64: 27 drawn cases; regret of those held out: median 0.0 %, 95th percentile 3.2 %, worst 4.1 %.
#pragma once
#include "gpu/common/cost_model.hpp"

namespace plumb {
namespace reduce {

/// Of the candidates in their order: sharpness, microseconds for a unit of terms, most of them.
// clang-format off
template <class T>
struct Costs;
template <>
struct Costs<float> {
  static constexpr CostModel model[] = {
      {1, {4.719, 0.6463, 0.2319, 0.2379, 0.07571, 0.171, 0.01457, 0}, {1, 0, 13, 5, 211.3, 173.5, 64, 0}},
      {1, {4.685, 0.6453, 0.2292, 0.2385, 0.07767, 0.177, 0.01546, 0}, {1, 1, 13, 5, 211.3, 173.5, 64, 0}},
      {1, {4.594, 0.6463, 0.2319, 0.2326, 0.08713, 0.1423, 0.01463, 0}, {1, 0, 25, 3, 211.3, 173.5, 32, 0}},
      {1, {4.819, 0.6463, 0.2043, 0.2339, 0.07751, 0.1892, 0.01468, 0}, {1, 0, 22, 1, 46.8, 9.049, 8, 0}},
      {1, {5.065, 0.6463, 0.2196, 0.2344, 0.07833, 0.1667, 0.01467, 0}, {1, 0, 868, 1, 14.21, 0, 0.06061, 0}},
  };
};
template <>
struct Costs<double> {
  static constexpr CostModel model[] = {
      {1, {4.939, 0.7019, 0.2551, 0.1244, 0.1275, 0.1082, 0.009523, 0}, {1, 0, 24, 5, 414.7, 377, 64, 0}},
      {1, {4.916, 0.7015, 0.2653, 0.1113, 0.131, 0.113, 0.008569, 0}, {1, 1, 24, 5, 414.7, 377, 64, 0}},
      {1, {4.638, 0.7019, 0.2336, 0.1275, 0.1431, 0.09999, 0.009734, 0}, {1, 0, 16, 3, 131.4, 93.69, 32, 0}},
      {1, {5.065, 0.7019, 0.183, 0.1283, 0.0954, 0.2385, 0.009779, 0}, {1, 0, 61, 1, 131.4, 93.69, 8, 0}},
      {1, {5.311, 0.7019, 0.2238, 0.1284, 0.1218, 0.1254, 0.009775, 0}, {1, 0, 1532, 1, 25.1, 0, 0.06061, 0}},
  };
};
// clang-format on

}  // namespace reduce
}  // namespace plumb
