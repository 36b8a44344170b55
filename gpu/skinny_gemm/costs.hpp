// Written by `tools/plumb fit skinny_gemm`, not by hand. Measured on NVIDIA H200, sm_90, 132 SMs, 139.8 GiB, L2 60 MiB, 1980 MHz, driver CUDA 13.0, runtime 13.0:
// bench --case skinny_gemm --drawn 110 --seed 9301 --device gpu --variant user/* --samples 20 --budget 0.02 --limit 44
// bench --case skinny_gemm --drawn 60 --seed 9402 --device gpu --variant user/* --samples 20 --budget 0.02 --case-budget 20 --limit 50
// f32: 77 drawn cases, ridge 0.01; regret of those held out: median 0.0 %, 95th percentile 27.0 %, worst 186.8 %.
// f64: 77 drawn cases, ridge 0.01; regret of those held out: median 0.0 %, 95th percentile 12.5 %, worst 35.3 %.
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
      {4, {4.421, 0.1846, 0.04166, 10.12, 0.1658, 0.9534, 0.4133, 241.5}},
      {2, {3.792, 0.1846, 0.02613, 10.8, 0.1289, 0.8919, 0.2613, 191.6}},
      {2, {4.308, 0.161, 0.01069, 11.37, 0.08297, 1.292, 0.1224, 132.3}},
      {1, {5.156, 0.1846, 0.00558, 2.473, 0.1326, 0.5979, 0.08632, 107.6}},
      {1.5, {5.321, 0.1846, 0.005609, 3.05, 0.1449, 1.258, 0.08615, 0}},
      {1.5, {9.126, 0.1846, 0.01455, 5.193, 0.2273, 1.816, 0.248, 40.1}},
      {2, {4.124, 0.1846, 0.02683, 5.328, 0.2297, 2.32, 0.2347, 379.8}},
      {1.5, {1.386, 0.1846, 0.08537, 9.298, 0.1957, 0.5313, 0.5559, 96.52}},
      {1, {1e9, 0, 0, 0, 0, 0, 0, 0}},
  };
};
template <>
struct Costs<double> {
  static constexpr CostModel model[] = {
      {2, {4.08, 0.2098, 0.0337, 17.63, 0.0499, 0.7665, 0.1315, 174.5}},
      {2, {3.814, 0.2098, 0.02852, 28.16, 0.0524, 0.7679, 0.1776, 322.3}},
      {2, {4.3, 0.239, 0.007797, 8.271, 0.1801, 0.7619, 0.1795, 69.97}},
      {1.5, {4.372, 0.2098, 0.01071, 1.436, 0.07244, 0.6822, 0.2046, 14.01}},
      {1, {5.093, 0.2098, 0.004998, 2.025, 0.03776, 0.289, 0.1108, 30.12}},
      {1.5, {4.726, 0.2098, 0.007992, 6.793, 0.06143, 0.5125, 0.1382, 110.6}},
      {2, {5.283, 0.2098, 0.02522, 3.354, 0.06222, 0.7784, 0.317, 144.7}},
      {2, {4.371, 0.2098, 0.08657, 6.703, 0.05626, 2.192, 0.1486, 533.4}},
      {2, {3.453, 0.2098, 0.06749, 6.244, 0.06196, 0.6219, 0.3392, 132.9}},
  };
};
// clang-format on

}  // namespace skinny
}  // namespace plumb
