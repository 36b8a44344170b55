// Costs from the chip's floors, until `tools/plumb fit log_softmax` replaces them by measured ones: NVIDIA H200, 132 SMs, memory read at 4341 GB/s and
// copied at 4241, the second-level cache at 9210 GB/s, an empty launch 2.7 us.
#pragma once
#include "gpu/common/cost_model.hpp"

namespace plumb {
namespace log_softmax {

/// Of the candidates in their order: sharpness, microseconds for a unit of terms.
// clang-format off
template <class T>
struct Costs;
template <>
struct Costs<float> {
  static constexpr CostModel model[] = {
      {2, {3, 0, 0.6, 20, 0.1086, 0.1272, 5, 0}},
      {2, {3, 0, 0.6, 20, 0.1086, 0.1272, 5, 0}},
      {2, {3.5, 0, 0.9, 30, 0.1086, 0.1272, 5, 0}},
      {2, {3.5, 0, 0.6, 30, 0.1086, 0.1272, 5, 0}},
      {2, {3.5, 2.7, 0.6, 30, 0.1086, 0.1272, 5, 0}},
  };
};
template <>
struct Costs<double> {
  static constexpr CostModel model[] = {
      {2, {3, 0, 0.6, 20, 0.1086, 0.1272, 60, 0}},
      {2, {3, 0, 0.6, 20, 0.1086, 0.1272, 60, 0}},
      {2, {3.5, 0, 0.9, 30, 0.1086, 0.1272, 60, 0}},
      {2, {3.5, 0, 0.6, 30, 0.1086, 0.1272, 60, 0}},
      {2, {3.5, 2.7, 0.6, 30, 0.1086, 0.1272, 60, 0}},
  };
};
// clang-format on

}  // namespace log_softmax
}  // namespace plumb
