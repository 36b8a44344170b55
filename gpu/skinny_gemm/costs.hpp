// Costs from the chip's floors, until `tools/plumb fit skinny_gemm` replaces them by measured ones: NVIDIA H200, 132 SMs, memory read at
// 4341 GB/s and copied at 4241, the second-level cache at 9210 GB/s, 65.7 TFLOP/s in fp32, 33.1 in fp64, 66.5 on tensor cores, an empty
// launch 2.7 us; products at the share of these that the rungs reach.
#pragma once
#include "gpu/common/cost_model.hpp"

namespace plumb {
namespace skinny {

/// Of the candidates in their order: sharpness, microseconds for a unit of terms, most of them.
// clang-format off
template <class T>
struct Costs;
template <>
struct Costs<float> {
  static constexpr CostModel model[] = {
      {2, {4, 0.08, 0.012, 6.7, 0.1086, 0.2358, 0.4, 6}, {}},
      {2, {4, 0.08, 0.01, 8.04, 0.1086, 0.2358, 0.42, 6}, {}},
      {2, {4, 0.08, 0.012, 8.933, 0.1086, 0.2358, 0.2304, 6}, {}},
      {2, {6.5, 0.08, 0.006, 7.309, 0.1086, 0.2358, 0.2304, 5}, {}},
      {2, {5.5, 0.08, 0.006, 5.025, 0.1086, 0.2358, 0.2381, 0}, {}},
      {2, {4.5, 0.08, 0.014, 5.583, 0.1086, 0.2358, 0.2304, 6}, {}},
      {2, {4, 0.08, 0.02, 10.05, 0.1086, 0.2358, 0.2304, 40}, {}},
      {1, {1e9, 0, 0, 0, 0, 0, 0, 0}, {}},
  };
};
template <>
struct Costs<double> {
  static constexpr CostModel model[] = {
      {2, {4, 0.08, 0.014, 11.4, 0.1086, 0.2358, 0.29, 8}, {}},
      {2, {4, 0.08, 0.012, 13.3, 0.1086, 0.2358, 0.31, 8}, {}},
      {2, {4, 0.08, 0.014, 9.925, 0.1086, 0.2358, 0.2304, 8}, {}},
      {2, {5, 0.08, 0.006, 7.218, 0.1086, 0.2358, 0.25, 3}, {}},
      {2, {6, 0.08, 0.006, 6.617, 0.1086, 0.2358, 0.22, 4}, {}},
      {2, {4.5, 0.08, 0.014, 8.822, 0.1086, 0.2358, 0.2304, 8}, {}},
      {2, {4.5, 0.08, 0.016, 6.617, 0.1086, 0.2358, 0.2304, 8}, {}},
      {2, {4, 0.08, 0.03, 15.96, 0.1086, 0.2358, 0.2304, 40}, {}},
  };
};
// clang-format on

}  // namespace skinny
}  // namespace plumb
