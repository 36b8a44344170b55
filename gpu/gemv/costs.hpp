// Written by `tools/plumb fit gemv`, not by hand. Measured on NVIDIA H200, sm_90, 132 SMs, 139.8 GiB, L2 60 MiB, 1980 MHz, driver CUDA 13.0, runtime 13.0:
// bench --case conv2d,skinny_gemm,gemv,sddmm,transpose,reduce,log_softmax,dense_to_csr,bias_relu --drawn 60 --seed 9201 --device gpu --variant user/* --samples 20 --budget 0.02 --limit 180
// f32: 28 drawn cases, the prior in common alone; regret of those held out: median 0.0 %, 95th percentile 8.8 %, worst 17.9 %.
// f64: 27 drawn cases, ridge 0.01; regret of those held out: median 0.0 %, 95th percentile 5.3 %, worst 8.0 %.
#pragma once
#include "gpu/common/cost_model.hpp"

namespace plumb {
namespace gemv {

/// Of the candidates in their order: sharpness, microseconds for a unit of terms.
// clang-format off
template <class T>
struct Costs;
template <>
struct Costs<float> {
  static constexpr CostModel model[] = {
      {2, {2.987, 1.364, 0.4652, 29.41, 0.217, 0.147, 0.2318, 0.8945}},
      {2, {2.987, 1.364, 0.4652, 25.88, 0.217, 0.147, 0.2318, 0.8945}},
      {2, {2.987, 1.364, 0.4652, 25.88, 0.217, 0.147, 0.2318, 1.118}},
      {2, {2.987, 1.364, 0.4652, 25.88, 0.217, 0.147, 0.2318, 1.789}},
      {2, {3.484, 1.364, 0.4652, 35.29, 0.217, 0.147, 0.2318, 0.8945}},
      {2, {3.484, 1.364, 0.4652, 35.29, 0.217, 0.147, 0.2318, 0.8945}},
      {1, {1e9, 0, 0, 0, 0, 0, 0, 0}},
  };
};
template <>
struct Costs<double> {
  static constexpr CostModel model[] = {
      {1.5, {2.834, 1.465, 0.7347, 38.6, 0.07253, 0.2846, 0.1805, 1.207}},
      {1.5, {3.129, 1.465, 0.7086, 17.83, 0.385, 0.2328, 0.1777, 1.924}},
      {4, {2.7, 1.465, 1.61, 15.11, 0.3337, 0.2263, 0.1793, 2.147}},
      {2, {3.588, 1.465, 0.3736, 13.03, 0.1514, 1.815, 0.1674, 2.574}},
      {1.5, {3.518, 1.465, 0.4832, 19.2, 0.1158, 0.3414, 0.1805, 1.677}},
      {2, {3.253, 1.412, 0.6796, 26.49, 0.1992, 0.2261, 0.1805, 1.94}},
      {1, {1e9, 0, 0, 0, 0, 0, 0, 0}},
  };
};
// clang-format on

}  // namespace gemv
}  // namespace plumb
