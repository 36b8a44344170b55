// Costs from the chip's floors, until `tools/plumb fit bias_relu` replaces them by measured ones: NVIDIA H200, 132 SMs, memory read at 4341 GB/s and
// copied at 4241, the second-level cache at 9210 GB/s, an empty launch 2.7 us.
#pragma once
#include "gpu/common/cost_model.hpp"

namespace plumb {
namespace bias_relu {

/// Of the candidates in their order: sharpness, microseconds for a unit of terms, most of them.
// clang-format off
template <class T>
struct Costs;
template <>
struct Costs<float> {
  static constexpr CostModel model[] = {
      {2, {3, 0, 0.9, 40, 0.1086, 0.1272, 12, 0}, {}},
      {2, {3, 0, 0.9, 20, 0.1086, 0.1272, 4, 0}, {}},
      {2, {3, 0, 0.9, 22, 0.1086, 0.1272, 4, 0}, {}},
      {2, {3, 0, 1.2, 25, 0.1086, 0.1272, 4, 0}, {}},
  };
};
template <>
struct Costs<double> {
  static constexpr CostModel model[] = {
      {2, {3, 0, 0.9, 40, 0.1086, 0.1272, 12, 0}, {}},
      {2, {3, 0, 0.9, 20, 0.1086, 0.1272, 4, 0}, {}},
      {2, {3, 0, 0.9, 22, 0.1086, 0.1272, 4, 0}, {}},
      {2, {3, 0, 1.2, 25, 0.1086, 0.1272, 4, 0}, {}},
  };
};
// clang-format on

}  // namespace bias_relu
}  // namespace plumb
