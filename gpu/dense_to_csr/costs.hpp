// Written by `tools/plumb fit dense_to_csr`, not by hand. Measured on NVIDIA H200, sm_90, 132 SMs, 139.8 GiB, L2 60 MiB, 1980 MHz, driver CUDA 13.0, runtime 13.0:
// bench --case conv2d,skinny_gemm,gemv,sddmm,transpose,reduce,log_softmax,dense_to_csr,bias_relu --drawn 60 --seed 9201 --device gpu --variant user/* --samples 20 --budget 0.02 --limit 180
// f32: 13 drawn cases, ridge 0.1; regret of those held out: median 0.0 %, 95th percentile 0.3 %, worst 0.8 %.
// f64: 13 drawn cases, ridge 0.01; regret of those held out: median 0.0 %, 95th percentile 0.7 %, worst 1.7 %.
#pragma once
#include "gpu/common/cost_model.hpp"

namespace plumb {
namespace dense_to_csr {

/// Of the candidates in their order: sharpness, microseconds for a unit of terms.
// clang-format off
template <class T>
struct Costs;
template <>
struct Costs<float> {
  static constexpr CostModel model[] = {
      {2, {5.093, 2.132, 0.08939, 102.2, 0.4982, 0.1007, 0.2455, 3.025}},
      {2, {4.696, 2.059, 0.08724, 78.09, 0.4736, 0.09978, 0.2443, 2.96}},
      {2, {5.651, 2.32, 0.1788, 57.4, 0.5745, 0.1012, 0.244, 3.018}},
      {2, {4.05, 1.849, 0.1161, 82.48, 0.5113, 0.1013, 0.2441, 3.016}},
      {2, {3.633, 1.722, 0.179, 74.72, 0.5532, 0.1013, 0.2441, 3.023}},
  };
};
template <>
struct Costs<double> {
  static constexpr CostModel model[] = {
      {2, {5.374, 1.711, 0.07614, 86.48, 0.4827, 0.4919, 0.3489, 4.899}},
      {1.5, {4.88, 1.656, 0.08157, 56.79, 0.4188, 0.6809, 0.3624, 4.668}},
      {2, {3.526, 2.195, 0.8465, 39.8, 0.457, 0.6809, 0.2724, 4.783}},
      {4, {4.322, 1.787, 0.1232, 46.27, 0.2519, 0.6809, 0.2729, 4.781}},
      {2, {4.281, 1.602, 0.1569, 37.61, 0.368, 0.6809, 0.2725, 4.757}},
  };
};
// clang-format on

}  // namespace dense_to_csr
}  // namespace plumb
