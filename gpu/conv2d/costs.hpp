// Written by `tools/plumb fit conv2d`, not by hand. Measured on NVIDIA H200, sm_90, 132 SMs, 139.8 GiB, L2 60 MiB, 1980 MHz, driver CUDA 13.0, runtime 13.0:
// bench --case conv2d,skinny_gemm,gemv,sddmm,transpose,reduce,log_softmax,dense_to_csr,bias_relu --drawn 60 --seed 9201 --device gpu --variant user/* --samples 20 --budget 0.02 --limit 180
// f32: 6 drawn cases, ridge 0.1; regret of those held out: median 0.0 %, 95th percentile 0.2 %, worst 0.2 %.
// f64: 5 drawn cases, ridge 0.01; regret of those held out: median 0.0 %, 95th percentile 0.0 %, worst 0.0 %.
#pragma once
#include "gpu/common/cost_model.hpp"

namespace plumb {
namespace conv2d {

/// Of the candidates in their order: sharpness, microseconds for a unit of terms.
// clang-format off
template <class T>
struct Costs;
template <>
struct Costs<float> {
  static constexpr CostModel model[] = {
      {1.5, {4.463, 12.8, 0.01028, 7.333, 0.09468, 0.3046, 0.2304, 35.06}},
      {1.5, {4.404, 12.8, 0.01026, 7.37, 0.09517, 0.3018, 0.2304, 35.08}},
      {1.5, {4.404, 12.8, 0.01233, 7.364, 0.09528, 0.3019, 0.2304, 35.11}},
      {1.5, {4.403, 12.8, 0.01642, 6.532, 0.0951, 0.3019, 0.2304, 35.08}},
      {1.5, {4.406, 12.82, 0.01642, 6.97, 0.0954, 0.3036, 0.2304, 35.09}},
      {1.5, {4.404, 12.8, 0.009234, 8.93, 0.09525, 0.302, 0.2304, 35.08}},
      {1.5, {4.404, 12.8, 0.009234, 8.93, 0.09525, 0.302, 0.2304, 35.08}},
      {1.5, {4.404, 12.8, 0.008208, 12.76, 0.09525, 0.302, 0.2304, 35.08}},
      {1.5, {4.404, 12.8, 0.008208, 12.76, 0.09525, 0.302, 0.2304, 35.08}},
      {1.5, {4.404, 12.8, 0.01231, 10.72, 0.09525, 0.302, 0.2304, 20.05}},
  };
};
template <>
struct Costs<double> {
  static constexpr CostModel model[] = {
      {1.5, {6.095, 20.7, 0.03667, 5.802, 0.06235, 0.1819, 0.1407, 38.87}},
      {1.5, {5.887, 21.5, 0.03221, 7.56, 0.06713, 0.1989, 0.1717, 35.93}},
      {1.5, {6.269, 20.7, 0.04898, 7.281, 0.06413, 0.1908, 0.1561, 37.18}},
      {2, {6.586, 20.96, 0.03935, 6.158, 0.06592, 0.1926, 0.1716, 35.87}},
      {1.5, {5.264, 20.7, 0.02357, 8.951, 0.06747, 0.1985, 0.1718, 35.89}},
      {1.5, {5.488, 20.7, 0.0252, 8.906, 0.06673, 0.1983, 0.1716, 35.88}},
      {1.5, {4.759, 20.7, 0.01753, 13.25, 0.06669, 0.1983, 0.1716, 35.65}},
      {1.5, {5.488, 20.7, 0.02016, 14.57, 0.06673, 0.1983, 0.1716, 35.88}},
      {1.5, {5.488, 20.7, 0.0504, 12.89, 0.06673, 0.1983, 0.1716, 20.5}},
      {1, {1e9, 0, 0, 0, 0, 0, 0, 0}},
  };
};
// clang-format on

}  // namespace conv2d
}  // namespace plumb
