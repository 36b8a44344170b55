// Written by `tools/plumb fit bias_relu`, not by hand. Measured on NVIDIA H200, sm_90, 132 SMs, 139.8 GiB, L2 60 MiB, 1980 MHz, driver CUDA 13.0, runtime 13.0:
// bench --case conv2d,skinny_gemm,gemv,sddmm,transpose,reduce,log_softmax,dense_to_csr,bias_relu --drawn 60 --seed 9201 --device gpu --variant user/* --samples 20 --budget 0.02 --limit 180
// f32: 20 drawn cases, ridge 0.1; regret of those held out: median 0.0 %, 95th percentile 0.0 %, worst 0.5 %.
// f64: 20 drawn cases, ridge 0.01; regret of those held out: median 0.0 %, 95th percentile 6.8 %, worst 7.5 %.
#pragma once
#include "gpu/common/cost_model.hpp"

namespace plumb {
namespace bias_relu {

/// Of the candidates in their order: sharpness, microseconds for a unit of terms.
// clang-format off
template <class T>
struct Costs;
template <>
struct Costs<float> {
  static constexpr CostModel model[] = {
      {2, {3.124, 0, 0.1861, 10.26, 0.1558, 0.1371, 8.449, 0}},
      {2, {3.162, 0, 0.1773, 5.197, 0.1628, 0.1338, 3.189, 0}},
      {2, {3.206, 0, 0.1835, 5.675, 0.1513, 0.1338, 2.831, 0}},
      {2, {3.546, 0, 0.2487, 6.463, 0.1517, 0.1338, 2.831, 0}},
  };
};
template <>
struct Costs<double> {
  static constexpr CostModel model[] = {
      {1.5, {3.092, 0, 0.2582, 5.376, 0.1517, 0.1497, 4.386, 0}},
      {2, {2.512, 0, 0.2704, 3.109, 0.2505, 0.2396, 1.755, 0}},
      {1.5, {3.013, 0, 0.2158, 3.385, 0.1918, 0.2198, 1.619, 0}},
      {2, {3.426, 0, 0.3072, 3.87, 0.1661, 0.1973, 1.62, 0}},
  };
};
// clang-format on

}  // namespace bias_relu
}  // namespace plumb
