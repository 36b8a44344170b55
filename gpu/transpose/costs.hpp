// Written by `tools/plumb fit transpose`, not by hand. Measured on NVIDIA H200, sm_90, 132 SMs, 139.8 GiB, L2 60 MiB, 1980 MHz, driver CUDA 13.0, runtime 13.0:
// bench --case conv2d,skinny_gemm,gemv,sddmm,transpose,reduce,log_softmax,dense_to_csr,bias_relu --drawn 60 --seed 9201 --device gpu --variant user/* --samples 20 --budget 0.02 --limit 180
// f32: 24 drawn cases; regret of those held out: median 0.0 %, 95th percentile 11.8 %, worst 14.7 %.
// f64: 24 drawn cases; regret of those held out: median 0.0 %, 95th percentile 1.7 %, worst 27.8 %.
#pragma once
#include "gpu/common/cost_model.hpp"

namespace plumb {
namespace transpose {

/// Of the candidates in their order: sharpness, microseconds for a unit of terms, most of them.
// clang-format off
template <class T>
struct Costs;
template <>
struct Costs<float> {
  static constexpr CostModel model[] = {
      {2, {3.016, 0, 0.1576, 11.64, 0.1436, 0.2396, 0.2952, 3.304}, {1, 0, 220, 3.496, 236.3, 236.3, 434.8, 27.97}},
      {4, {3.355, 0, 0.2208, 12.45, 0.1656, 0.2733, 0.2695, 5.319}, {1, 0, 112, 0.4096, 94.01, 96.9, 150.3, 13.11}},
      {4, {3.846, 0, 0.1951, 12.45, 0.1666, 0.2761, 0.2821, 4.559}, {1, 0, 48, 0.3656, 48.6, 47.93, 58.11, 5.849}},
      {2, {3.149, 0, 0.2014, 12.09, 0.1722, 0.3518, 0.3626, 4.587}, {1, 0, 35, 2.234, 37.75, 302, 37.75, 4.468}},
      {4, {3.284, 0, 0.2283, 11.43, 0.1669, 0.358, 0.3615, 4.514}, {1, 0, 20, 1.239, 167.5, 20.94, 4.131, 2.479}},
  };
};
template <>
struct Costs<double> {
  static constexpr CostModel model[] = {
      {1.5, {3.055, 0, 0.1219, 8.489, 0.1179, 0.2507, 0.2027, 2.318}, {1, 0, 116, 1.809, 244.5, 244.5, 451.3, 14.47}},
      {4, {3.875, 0, 0.1262, 9.385, 0.1536, 0.4683, 0.1859, 5.027}, {1, 0, 48, 0.1602, 37.88, 37.88, 38.01, 5.126}},
      {2, {3.639, 0, 0.1647, 9.442, 0.1463, 0.3226, 0.1645, 4.873}, {1, 0, 48, 0.3204, 37.88, 37.88, 38.01, 5.126}},
      {2, {3.228, 0, 0.1582, 8.961, 0.151, 0.4529, 0.1911, 3.133}, {1, 0, 18, 1.121, 37.88, 151.5, 38.01, 2.242}},
      {2, {3.476, 0, 0.1299, 9.197, 0.1438, 0.383, 0.1906, 3.174}, {1, 0, 8, 0.4673, 63.16, 15.79, 0, 0.9345}},
  };
};
// clang-format on

}  // namespace transpose
}  // namespace plumb
