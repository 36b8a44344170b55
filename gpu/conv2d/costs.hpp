// Costs from the chip's floors, until `tools/plumb fit conv2d` replaces them by measured ones: NVIDIA H200, 132 SMs, memory read at
// 4341 GB/s and copied at 4241, the second-level cache at 9210 GB/s, 65.7 TFLOP/s in fp32, 66.5 in fp64 on tensor cores, an empty launch
// 2.7 us; products at the share of these that rungs 3, 6 and 7 reach.
#pragma once
#include "gpu/common/cost_model.hpp"

namespace plumb {
namespace conv2d {

/// Of the candidates in their order: sharpness, microseconds for a unit of terms, most of them.
// clang-format off
template <class T>
struct Costs;
template <>
struct Costs<float> {
  static constexpr CostModel model[] = {
      {1.5, {4, 12, 0.01, 5.583, 0.1086, 0.2358, 0.2304, 35}, {}},
      {1.5, {4, 12, 0.01, 5.583, 0.1086, 0.2358, 0.2304, 35}, {}},
      {1.5, {4, 12, 0.012, 5.289, 0.1086, 0.2358, 0.2304, 35}, {}},
      {1.5, {4, 12, 0.016, 5.025, 0.1086, 0.2358, 0.2304, 35}, {}},
      {1.5, {4, 12, 0.016, 5.025, 0.1086, 0.2358, 0.2304, 35}, {}},
      {1.5, {4, 12, 0.009, 6.7, 0.1086, 0.2358, 0.2304, 35}, {}},
      {1.5, {4, 12, 0.009, 6.7, 0.1086, 0.2358, 0.2304, 35}, {}},
      {1.5, {4, 12, 0.008, 9.571, 0.1086, 0.2358, 0.2304, 35}, {}},
      {1.5, {4, 12, 0.008, 9.571, 0.1086, 0.2358, 0.2304, 35}, {}},
      {1.5, {4, 12, 0.012, 8.04, 0.1086, 0.2358, 0.2304, 20}, {}},
  };
};
template <>
struct Costs<double> {
  static constexpr CostModel model[] = {
      {1.5, {4, 12, 0.012, 8.822, 0.1086, 0.2358, 0.2304, 35}, {}},
      {1.5, {4, 12, 0.012, 8.822, 0.1086, 0.2358, 0.2304, 35}, {}},
      {1.5, {4, 12, 0.016, 7.94, 0.1086, 0.2358, 0.2304, 35}, {}},
      {1.5, {4, 12, 0.016, 7.94, 0.1086, 0.2358, 0.2304, 35}, {}},
      {1.5, {4, 12, 0.01, 11.03, 0.1086, 0.2358, 0.2304, 35}, {}},
      {1.5, {4, 12, 0.01, 11.03, 0.1086, 0.2358, 0.2304, 35}, {}},
      {1.5, {4, 12, 0.008, 18.05, 0.1086, 0.2358, 0.2304, 35}, {}},
      {1.5, {4, 12, 0.008, 18.05, 0.1086, 0.2358, 0.2304, 35}, {}},
      {1.5, {4, 12, 0.02, 15.96, 0.1086, 0.2358, 0.2304, 20}, {}},
      {1, {1e9, 0, 0, 0, 0, 0, 0, 0}, {}},
  };
};
// clang-format on

}  // namespace conv2d
}  // namespace plumb
