// Written by `tools/plumb fit reduce`, not by hand. Measured on NVIDIA H200, sm_90, 132 SMs, 139.8 GiB, L2 60 MiB, 1980 MHz, driver CUDA 13.0, runtime 13.0:
// bench --case conv2d,skinny_gemm,gemv,sddmm,transpose,reduce,log_softmax,dense_to_csr,bias_relu --drawn 60 --seed 9201 --device gpu --variant user/* --samples 20 --budget 0.02 --limit 180
// f32: 28 drawn cases, ridge 0.01; regret of those held out: median 0.0 %, 95th percentile 0.6 %, worst 1.8 %.
// f64: 27 drawn cases, ridge 0.01; regret of those held out: median 0.0 %, 95th percentile 2.6 %, worst 3.3 %.
#pragma once
#include "gpu/common/cost_model.hpp"

namespace plumb {
namespace reduce {

/// Of the candidates in their order: sharpness, microseconds for a unit of terms.
// clang-format off
template <class T>
struct Costs;
template <>
struct Costs<float> {
  static constexpr CostModel model[] = {
      {1.5, {4.774, 0, 0.2748, 0.3353, 0.1274, 0.2107, 0.02059, 0}},
      {1.5, {4.124, 1.264, 0.268, 0.3294, 0.131, 0.2161, 0.02233, 0}},
      {1.5, {4.648, 0, 0.273, 0.3513, 0.1334, 0.1899, 0.02096, 0}},
      {1.5, {4.873, 0, 0.2192, 0.3838, 0.1328, 0.3338, 0.02197, 0}},
      {2, {5.21, 0, 0.2241, 0.3894, 0.1501, 0.2325, 0.02205, 0}},
  };
};
template <>
struct Costs<double> {
  static constexpr CostModel model[] = {
      {1, {4.689, 0, 0.417, 0.1779, 0.1142, 0.112, 0.01009, 0}},
      {1, {4.038, 1.3, 0.4633, 0.158, 0.1175, 0.1146, 0.00929, 0}},
      {2, {4.316, 0, 0.3085, 0.4641, 0.2236, 0.1236, 0.01636, 0}},
      {1, {4.859, 0, 0.1675, 0.3088, 0.09845, 0.2519, 0.01544, 0}},
      {2, {5.361, 0, 0.2288, 0.3098, 0.2032, 0.1538, 0.01545, 0}},
  };
};
// clang-format on

}  // namespace reduce
}  // namespace plumb
