// Written by `tools/plumb fit skinny_gemm`, not by hand. Measured on NVIDIA H200, sm_90, 132 SMs, 139.8 GiB, L2 60 MiB, 1980 MHz, driver CUDA 13.0, runtime 13.0:
// bench --case conv2d,skinny_gemm,gemv,sddmm,transpose,reduce,log_softmax,dense_to_csr,bias_relu --drawn 60 --seed 9201 --device gpu --variant user/* --samples 20 --budget 0.02 --limit 180
// f32: 20 drawn cases, ridge 1; regret of those held out: median 0.0 %, 95th percentile 14.2 %, worst 14.5 %.
// f64: 20 drawn cases, ridge 0.1; regret of those held out: median 0.0 %, 95th percentile 2.3 %, worst 5.0 %.
#pragma once
#include "gpu/common/cost_model.hpp"

namespace plumb {
namespace skinny {

/// Of the candidates in their order: sharpness, microseconds for a unit of terms.
// clang-format off
template <class T>
struct Costs;
template <>
struct Costs<float> {
  static constexpr CostModel model[] = {
      {2, {3.928, 0.08, 0.0252, 11.65, 0.1048, 0.6527, 0.364, 7.705}},
      {2, {3.779, 0.08, 0.02233, 12.55, 0.1043, 0.6495, 0.3693, 7.704}},
      {2, {3.519, 0.08, 0.02332, 14.5, 0.1047, 0.6569, 0.2106, 7.703}},
      {2, {4.964, 0.08, 0.01238, 10.71, 0.1051, 0.6586, 0.2116, 6.419}},
      {2, {4.883, 0.08, 0.01249, 8.218, 0.1048, 0.6563, 0.2182, 0}},
      {2, {4.119, 0.08, 0.02925, 9.698, 0.105, 0.6563, 0.2114, 7.703}},
      {2, {3.732, 0.08, 0.04222, 17.5, 0.1049, 0.6612, 0.212, 51.52}},
      {1, {1e9, 0, 0, 0, 0, 0, 0, 0}},
      {1, {1e9, 0, 0, 0, 0, 0, 0, 0}},
  };
};
template <>
struct Costs<double> {
  static constexpr CostModel model[] = {
      {2, {4.286, 0.2214, 0.03248, 15.31, 0.08558, 0.596, 0.2634, 9.188}},
      {2, {3.906, 0.2214, 0.02867, 22.95, 0.08867, 0.6056, 0.3587, 9.182}},
      {1.5, {3.538, 0.2479, 0.019, 10.17, 0.09328, 0.6078, 0.3324, 9.162}},
      {2, {4.186, 0.2214, 0.009135, 5.706, 0.08477, 0.6056, 0.3059, 3.444}},
      {2, {5.002, 0.2214, 0.008533, 4.927, 0.09678, 0.6112, 0.2704, 4.593}},
      {2, {4.975, 0.2214, 0.0226, 7.521, 0.08991, 0.6149, 0.2899, 9.179}},
      {2, {4.043, 0.2214, 0.02516, 4.937, 0.08863, 0.6153, 0.2783, 9.182}},
      {1.5, {4.642, 0.2214, 0.06189, 20.6, 0.08998, 0.6191, 0.2841, 46.54}},
      {1, {1e9, 0, 0, 0, 0, 0, 0, 0}},
  };
};
// clang-format on

}  // namespace skinny
}  // namespace plumb
