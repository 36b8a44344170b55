// Written by `tools/plumb fit gemm`, not by hand. Measured on NVIDIA H200, sm_90, 132 SMs, 139.8 GiB, L2 60 MiB, 1980 MHz, driver CUDA 13.0, runtime 13.0:
// bench --case gemm --drawn 80 --seed 9301 --device gpu --variant user/* --samples 20 --budget 0.02 --limit 38
// f32: 30 drawn cases, the prior in common alone; regret of those held out: median 0.0 %, 95th percentile 9.4 %, worst 25.4 %.
// f64: 29 drawn cases, ridge 1; regret of those held out: median 0.0 %, 95th percentile 3.6 %, worst 5.1 %.
#pragma once
#include "gpu/common/cost_model.hpp"

namespace plumb {
namespace gemm {

/// Of the candidates in their order: sharpness, microseconds for a unit of terms.
// clang-format off
template <class T>
struct Costs;
template <>
struct Costs<float> {
  static constexpr CostModel model[] = {
      {1, {4.917, 4.039, 0.0002512, 3.892, 0.1503, 0.3548, 0.1462, 3.999}},
      {1, {6.247, 4.039, 0.0002393, 3.743, 0.1577, 0.7558, 0.1477, 1.031}},
      {1, {7.872, 2.332, 0.0002462, 3.582, 0.1583, 0.102, 0.7612, 1.655}},
      {1, {8.427, 4.039, 0.0002493, 3.81, 0.1563, 0.5839, 0.1325, 1.161}},
      {1.5, {6.42, 4.342, 0.0002463, 5.541, 0.1879, 0.1355, 0.1735, 1.859}},
      {1, {8.431, 4.039, 0.0002486, 5, 0.1766, 0.09271, 0.1661, 1.609}},
      {1, {7.187, 4.039, 0.0002464, 4.42, 0.1701, 0.1244, 0.1753, 1.521}},
      {1.5, {6.494, 4.368, 0.0002466, 6.19, 0.1758, 0.1064, 0.1988, 1.302}},
  };
};
template <>
struct Costs<double> {
  static constexpr CostModel model[] = {
      {1.5, {5.201, 1.349, 0.0001941, 1.865, 0.1893, 0.4832, 0.05076, 0.4402}},
      {1, {5.555, 1.349, 0.0001815, 1.759, 0.1162, 0.4889, 0.02649, 0.4797}},
      {1, {5.163, 1.349, 0.000185, 1.614, 0.09556, 0.4999, 0.03059, 0.3853}},
      {1, {6.136, 1.378, 0.0001939, 1.809, 0.1212, 0.2044, 0.02451, 0.4143}},
      {1, {6.054, 1.373, 0.0001892, 1.95, 0.1437, 0.1884, 0.02529, 0.6461}},
      {1, {5.92, 1.349, 0.0001919, 2.495, 0.1911, 0.6325, 0.03061, 0.4659}},
      {1, {6.107, 1.349, 0.0001915, 2.109, 0.1691, 0.5253, 0.03039, 0.4987}},
      {1, {1e9, 0, 0, 0, 0, 0, 0, 0}},
  };
};
// clang-format on

}  // namespace gemm
}  // namespace plumb
