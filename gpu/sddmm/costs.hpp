// Written by `tools/plumb fit sddmm`, not by hand. Measured on NVIDIA H200, sm_90, 132 SMs, 139.8 GiB, L2 60 MiB, 1980 MHz, driver CUDA 13.0, runtime 13.0:
// bench --case conv2d,skinny_gemm,gemv,sddmm,transpose,reduce,log_softmax,dense_to_csr,bias_relu --drawn 60 --seed 9201 --device gpu --variant user/* --samples 20 --budget 0.02 --limit 180
// f32: 17 drawn cases, the prior in common alone and the prior in common alone; regret of those held out: median 0.0 %, 95th percentile 6.0 %, worst 30.1 %; of 1 uses: median 0.2 %, 95th percentile 7.2 %, worst 18.4 %; of 10 uses: median 0.0 %, 95th percentile 15.5 %, worst 26.0 %; of 1000 uses: median 0.0 %, 95th percentile 5.9 %, worst 29.5 %.
// f64: 16 drawn cases, ridge 0.1 and the prior in common alone; regret of those held out: median 0.0 %, 95th percentile 17.2 %, worst 22.5 %; of 1 uses: median 0.0 %, 95th percentile 6.9 %, worst 7.3 %; of 10 uses: median 0.0 %, 95th percentile 8.7 %, worst 14.7 %; of 1000 uses: median 0.0 %, 95th percentile 15.2 %, worst 21.0 %.
#pragma once
#include "gpu/common/cost_model.hpp"

namespace plumb {
namespace sddmm {

/// Of the candidates in their order: sharpness, microseconds for a unit of terms.
// clang-format off
template <class T>
struct Costs;
template <>
struct Costs<float> {
  static constexpr CostModel model[] = {
      {1.5, {4.025, 2.605, 0.0431, 0.6854, 0.1067, 0.2269, 0.07774, 0.03184}},
      {1.5, {4.025, 2.605, 0.0431, 0.6854, 0.1067, 0.2269, 0.07774, 0.03184}},
      {1.5, {4.025, 2.605, 0.1379, 1.582, 0.1067, 0.2269, 0.07774, 0.04776}},
      {1.5, {4.025, 2.605, 0.08619, 0.8436, 0.1067, 0.2269, 0.07774, 0.1592}},
      {1.5, {4.025, 2.605, 0.08619, 1.002, 0.1067, 0.2269, 0.07774, 0.0796}},
      {1.5, {4.528, 2.605, 0.2069, 1.845, 0.1067, 0.2269, 0.07774, 0.0796}},
      {1.5, {4.528, 2.605, 0.1724, 1.687, 0.1067, 0.2269, 0.07774, 0.0796}},
      {1, {1e9, 0, 0, 0, 0, 0, 0, 0}},
  };
  static constexpr CostModel preparation[] = {
      {1, {21.96, 74.72, 378.6, 7000, 122.4, 90.61, 10.4, 0}},
      {1, {21.96, 74.72, 378.6, 7000, 122.4, 90.61, 10.4, 0}},
      {1, {21.96, 74.72, 378.6, 7000, 122.4, 90.61, 10.4, 0}},
      {1, {21.96, 74.72, 378.6, 7000, 122.4, 90.61, 10.4, 0}},
      {1, {21.96, 74.72, 378.6, 7000, 122.4, 90.61, 10.4, 0}},
      {1, {21.96, 74.72, 378.6, 7000, 122.4, 90.61, 10.4, 0}},
      {1, {21.96, 74.72, 378.6, 7000, 122.4, 90.61, 10.4, 0}},
      {1, {1e9, 0, 0, 0, 0, 0, 0, 0}},
  };
};
template <>
struct Costs<double> {
  static constexpr CostModel model[] = {
      {2, {4.769, 2.737, 0.1093, 1.184, 0.1332, 0.01819, 0.05039, 0.01199}},
      {1.5, {4.469, 2.94, 0.03418, 1.355, 0.14, 0.02103, 0.05051, 0.01224}},
      {1.5, {4.585, 2.737, 0.05662, 2.598, 0.1254, 0.02103, 0.0504, 0.03629}},
      {1.5, {4.656, 2.737, 0.09039, 1.459, 0.104, 0.02103, 0.05042, 0.04815}},
      {1.5, {8.525, 2.737, 0.1175, 1.797, 0.1232, 0.02103, 0.05039, 0.03011}},
      {1.5, {6.223, 2.737, 0.1969, 3.272, 0.1224, 0.02103, 0.05039, 0.03009}},
      {2, {4.745, 2.432, 0.1413, 2.295, 0.1157, 0.02103, 0.05038, 0.03009}},
      {1, {1e9, 0, 0, 0, 0, 0, 0, 0}},
  };
  static constexpr CostModel preparation[] = {
      {1, {12.99, 27.88, 3315, 7000, 120.8, 100.1, 39.68, 0}},
      {1, {12.99, 27.88, 3315, 7000, 120.8, 100.1, 39.68, 0}},
      {1, {12.99, 27.88, 3315, 7000, 120.8, 100.1, 39.68, 0}},
      {1, {12.99, 27.88, 3315, 7000, 120.8, 100.1, 39.68, 0}},
      {1, {12.99, 27.88, 3315, 7000, 120.8, 100.1, 39.68, 0}},
      {1, {12.99, 27.88, 3315, 7000, 120.8, 100.1, 39.68, 0}},
      {1, {12.99, 27.88, 3315, 7000, 120.8, 100.1, 39.68, 0}},
      {1, {1e9, 0, 0, 0, 0, 0, 0, 0}},
  };
};
// clang-format on

}  // namespace sddmm
}  // namespace plumb
