// Costs from the chip's floors, until `tools/plumb fit gemv` replaces them by measured ones: NVIDIA H200, 132 SMs, memory read at 4341 GB/s and
// copied at 4241, the second-level cache at 9210 GB/s, an empty launch 2.7 us.
#pragma once
#include "gpu/common/cost_model.hpp"

namespace plumb {
namespace gemv {

/// Of the candidates in their order: sharpness, microseconds for a unit of terms, most of them.
// clang-format off
template <class T>
struct Costs;
template <>
struct Costs<float> {
  static constexpr CostModel model[] = {
      {2, {3, 2.7, 0.9, 25, 0.1086, 0.1218, 0.2358, 4}, {}},
      {2, {3, 2.7, 0.9, 22, 0.1086, 0.1218, 0.2358, 4}, {}},
      {2, {3, 2.7, 0.9, 22, 0.1086, 0.1218, 0.2358, 5}, {}},
      {2, {3, 2.7, 0.9, 22, 0.1086, 0.1218, 0.2358, 8}, {}},
      {2, {3.5, 2.7, 0.9, 30, 0.1086, 0.1218, 0.2358, 4}, {}},
      {2, {3.5, 2.7, 0.9, 30, 0.1086, 0.1218, 0.2358, 4}, {}},
      {1, {1e9, 0, 0, 0, 0, 0, 0, 0}, {}},
  };
};
template <>
struct Costs<double> {
  static constexpr CostModel model[] = {
      {2, {3, 2.7, 0.9, 25, 0.1086, 0.1218, 0.2358, 4}, {}},
      {2, {3, 2.7, 0.9, 22, 0.1086, 0.1218, 0.2358, 4}, {}},
      {2, {3, 2.7, 0.9, 22, 0.1086, 0.1218, 0.2358, 5}, {}},
      {2, {3, 2.7, 0.9, 22, 0.1086, 0.1218, 0.2358, 8}, {}},
      {2, {3.5, 2.7, 0.9, 30, 0.1086, 0.1218, 0.2358, 4}, {}},
      {2, {3.5, 2.7, 0.9, 30, 0.1086, 0.1218, 0.2358, 4}, {}},
      {1, {1e9, 0, 0, 0, 0, 0, 0, 0}, {}},
  };
};
// clang-format on

}  // namespace gemv
}  // namespace plumb
