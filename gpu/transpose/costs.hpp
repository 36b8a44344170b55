// Written by `tools/plumb fit transpose`, not by hand. Measured on NVIDIA H200, sm_90, 132 SMs, 139.8 GiB, L2 60 MiB, 1980 MHz, driver CUDA 13.0, runtime 13.0:
// bench --case conv2d,skinny_gemm,gemv,sddmm,transpose,reduce,log_softmax,dense_to_csr,bias_relu --drawn 60 --seed 9201 --device gpu --variant user/* --samples 20 --budget 0.02 --limit 180
// f32: 24 drawn cases, ridge 1; regret of those held out: median 0.0 %, 95th percentile 14.3 %, worst 53.3 %.
// f64: 24 drawn cases, ridge 1; regret of those held out: median 0.0 %, 95th percentile 0.8 %, worst 1.9 %.
#pragma once
#include "gpu/common/cost_model.hpp"

namespace plumb {
namespace transpose {

/// Of the candidates in their order: sharpness, microseconds for a unit of terms.
// clang-format off
template <class T>
struct Costs;
template <>
struct Costs<float> {
  static constexpr CostModel model[] = {
      {2, {2.539, 0, 0.2927, 6.887, 0.07637, 0.2788, 0.1609, 3.925}},
      {2, {3.485, 0, 0.1747, 6.906, 0.07638, 0.2792, 0.1551, 4.347}},
      {2, {3.638, 0, 0.1674, 6.903, 0.07629, 0.2743, 0.1535, 4}},
      {2, {2.599, 0, 0.9273, 13.96, 0.07647, 0.3012, 0.1556, 4.166}},
      {2, {2.619, 0, 0.9105, 13.68, 0.0766, 0.2819, 0.1556, 4.135}},
  };
};
template <>
struct Costs<double> {
  static constexpr CostModel model[] = {
      {2, {2.787, 0, 0.2138, 8.653, 0.09393, 0.3838, 0.1998, 3.433}},
      {2, {3.71, 0, 0.1168, 8.701, 0.09416, 0.3943, 0.1903, 3.744}},
      {2, {3.83, 0, 0.1162, 8.707, 0.09416, 0.3942, 0.1903, 3.767}},
      {2, {2.904, 0, 0.6573, 17.19, 0.09411, 0.4163, 0.1914, 3.619}},
      {2, {3.034, 0, 0.6624, 17.33, 0.09395, 0.3921, 0.1914, 3.624}},
  };
};
// clang-format on

}  // namespace transpose
}  // namespace plumb
