// Costs from the chip's floors, until `tools/plumb fit sddmm` replaces them by measured ones: NVIDIA H200, 132 SMs, memory read at 4341 GB/s,
// the second-level cache at 9210 GB/s, an empty launch 2.7 us; gathered lines at what rungs 8, 9 and 11 took on the matrices of their headers.
// Times of preparation, until they are measured so, after those of the ladders (docs/results/ladders.md): 41 us for three steps, 250 us for a
// pass of the host over a million row lengths, 7 ms over a million entries, 10 GB/s to and from the host.
#pragma once
#include "gpu/common/cost_model.hpp"

namespace plumb {
namespace sddmm {

/// Of the candidates in their order: sharpness, microseconds for a unit of terms, most of them.
// clang-format off
template <class T>
struct Costs;
template <>
struct Costs<float> {
  static constexpr CostModel model[] = {
      {1.5, {4, 2.7, 0.25, 1.3, 0.1086, 0.2304, 0.05, 0.004}, {}},
      {1.5, {4, 2.7, 0.25, 1.3, 0.1086, 0.2304, 0.05, 0.004}, {}},
      {1.5, {4, 2.7, 0.8, 3, 0.1086, 0.2304, 0.05, 0.006}, {}},
      {1.5, {4, 2.7, 0.5, 1.6, 0.1086, 0.2304, 0.05, 0.02}, {}},
      {1.5, {4, 2.7, 0.5, 1.9, 0.1086, 0.2304, 0.05, 0.01}, {}},
      {1.5, {4.5, 2.7, 1.2, 3.5, 0.1086, 0.2304, 0.05, 0.01}, {}},
      {1.5, {4.5, 2.7, 1, 3.2, 0.1086, 0.2304, 0.05, 0.01}, {}},
  };
  static constexpr CostModel preparation[] = {
      {1, {20, 8, 250, 7000, 100, 100, 0.5, 0}, {}},
      {1, {20, 8, 250, 7000, 100, 100, 0.5, 0}, {}},
      {1, {20, 8, 250, 7000, 100, 100, 0.5, 0}, {}},
      {1, {20, 8, 250, 7000, 100, 100, 0.5, 0}, {}},
      {1, {20, 8, 250, 7000, 100, 100, 0.5, 0}, {}},
      {1, {20, 8, 250, 7000, 100, 100, 0.5, 0}, {}},
      {1, {20, 8, 250, 7000, 100, 100, 0.5, 0}, {}},
  };
};
template <>
struct Costs<double> {
  static constexpr CostModel model[] = {
      {1.5, {4, 2.7, 0.25, 1.495, 0.1086, 0.2304, 0.05, 0.004}, {}},
      {1.5, {4, 2.7, 0.25, 1.495, 0.1086, 0.2304, 0.05, 0.004}, {}},
      {1.5, {4, 2.7, 0.8, 3.45, 0.1086, 0.2304, 0.05, 0.006}, {}},
      {1.5, {4, 2.7, 0.5, 1.84, 0.1086, 0.2304, 0.05, 0.02}, {}},
      {1.5, {4, 2.7, 0.5, 2.185, 0.1086, 0.2304, 0.05, 0.01}, {}},
      {1.5, {4.5, 2.7, 1.2, 4.025, 0.1086, 0.2304, 0.05, 0.01}, {}},
      {1.5, {4.5, 2.7, 1, 3.68, 0.1086, 0.2304, 0.05, 0.01}, {}},
  };
  static constexpr CostModel preparation[] = {
      {1, {20, 8, 250, 7000, 100, 100, 0.5, 0}, {}},
      {1, {20, 8, 250, 7000, 100, 100, 0.5, 0}, {}},
      {1, {20, 8, 250, 7000, 100, 100, 0.5, 0}, {}},
      {1, {20, 8, 250, 7000, 100, 100, 0.5, 0}, {}},
      {1, {20, 8, 250, 7000, 100, 100, 0.5, 0}, {}},
      {1, {20, 8, 250, 7000, 100, 100, 0.5, 0}, {}},
      {1, {20, 8, 250, 7000, 100, 100, 0.5, 0}, {}},
  };
};
// clang-format on

}  // namespace sddmm
}  // namespace plumb
