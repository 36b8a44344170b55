// Written by `tools/plumb fit dense_to_csr`, not by hand. Measured on NVIDIA H200, sm_90, 132 SMs, 139.8 GiB, L2 60 MiB, 1980 MHz, driver CUDA 13.0, runtime 13.0:
// bench --case conv2d,skinny_gemm,gemv,sddmm,transpose,reduce,log_softmax,dense_to_csr,bias_relu --drawn 60 --seed 9201 --device gpu --variant user/* --samples 20 --budget 0.02 --limit 180
// f32: 13 drawn cases; regret of those held out: median 0.0 %, 95th percentile 13.1 %, worst 18.4 %.
// f64: 13 drawn cases; regret of those held out: median 0.0 %, 95th percentile 3.9 %, worst 7.2 %.
#pragma once
#include "gpu/common/cost_model.hpp"

namespace plumb {
namespace dense_to_csr {

/// Of the candidates in their order: sharpness, microseconds for a unit of terms, most of them.
// clang-format off
template <class T>
struct Costs;
template <>
struct Costs<float> {
  static constexpr CostModel model[] = {
      {4, {5.535, 1.695, 0.1053, 108.5, 0.5676, 0.1606, 3.899, 2.717}, {1, 1, 424, 6.779, 458.1, 420.6, 55.81, 1.626}},
      {2, {5.044, 1.646, 0.09791, 74.23, 0.464, 0.1427, 3.74, 2.637}, {1, 1, 84, 1.291, 349, 312, 7.731, 20.65}},
      {2, {7.466, 1.391, 0.3893, 45.15, 0.5321, 0.1612, 2.567, 2.706}, {1, 4, 64, 0.3704, 55.77, 12.54, 6.566, 0.4166}},
      {4, {5.05, 1.466, 0.1193, 90.98, 0.593, 0.162, 3.728, 2.717}, {1, 4, 498, 0.008273, 69.59, 0, 0.09855, 2.06}},
      {1.5, {4.065, 1.288, 0.1125, 76.27, 0.6113, 0.162, 3.72, 2.718}, {1, 4, 6, 0.06521, 2.76, 0, 0.09855, 0.08168}},
  };
};
template <>
struct Costs<double> {
  static constexpr CostModel model[] = {
      {1.5, {5.589, 1.36, 0.06016, 65.78, 0.4799, 0.3945, 0.7577, 1.102}, {1, 1, 124, 1.957, 264.6, 226.9, 14.38, 0.2774}},
      {1.5, {5.147, 1.331, 0.0601, 50.64, 0.4855, 0.5663, 0.7048, 1.101}, {1, 1, 8, 0.1059, 28.64, 0, 2.07, 0.8475}},
      {1, {6.554, 1.224, 0.1897, 28.7, 0.6024, 0.5663, 0.6191, 1.081}, {1, 4, 64, 0.1037, 30.13, 0, 2.07, 0.1038}},
      {4, {5.297, 1.488, 0.1041, 41.97, 0.2882, 0.5663, 0.7334, 1.101}, {1, 4, 120, 0.1037, 57.27, 0, 2.07, 0.86}},
      {4, {4.83, 1.413, 0.05903, 39.09, 0.4089, 0.5663, 0.6911, 1.101}, {1, 4, 26, 0.8295, 15.77, 0, 2.07, 0.2333}},
  };
};
// clang-format on

}  // namespace dense_to_csr
}  // namespace plumb
