// Written by `tools/plumb fit gemv`, not by hand. Measured on NVIDIA H200, sm_90, 132 SMs, 139.8 GiB, L2 60 MiB, 1980 MHz, driver CUDA 13.0, runtime 13.0:
// bench --case gemv --drawn 100 --seed 9301 --device gpu --variant user/* --samples 20 --budget 0.02 --limit 30
// f32: 49 drawn cases, ridge 0.1; regret of those held out: median 0.0 %, 95th percentile 2.9 %, worst 6.0 %.
// f64: 48 drawn cases, ridge 1; regret of those held out: median 0.0 %, 95th percentile 11.7 %, worst 23.8 %.
#pragma once
#include "gpu/common/cost_model.hpp"

namespace plumb {
namespace gemv {

/// Of the candidates in their order: sharpness, microseconds for a unit of terms.
// clang-format off
template <class T>
struct Costs;
template <>
struct Costs<float> {
  static constexpr CostModel model[] = {
      {2, {3.173, 1.284, 0.6195, 33.19, 0.1979, 0.2055, 0.2316, 0.6219}},
      {2, {3.232, 1.284, 0.5382, 24.92, 0.2234, 0.2016, 0.2313, 0.6806}},
      {2, {3.434, 1.284, 0.5396, 21.26, 0.2414, 0.2016, 0.231, 0.8503}},
      {2, {3.099, 1.284, 0.4889, 21.93, 0.195, 0.2016, 0.2313, 1.444}},
      {2, {3.405, 1.284, 0.4565, 24.82, 0.2196, 0.2321, 0.2316, 0.6671}},
      {2, {3.555, 1.281, 0.5652, 30.44, 0.2056, 0.2016, 0.2316, 0.6802}},
      {2, {3.164, 1.284, 0.4849, 25.3, 0.2218, 0.2016, 0.2316, 0.793}},
  };
};
template <>
struct Costs<double> {
  static constexpr CostModel model[] = {
      {1.5, {3.095, 1.586, 0.6501, 31.38, 0.07331, 0.2376, 0.1797, 1.148}},
      {1.5, {3.051, 1.586, 0.6107, 14.58, 0.4187, 0.1963, 0.1769, 1.884}},
      {4, {2.646, 1.586, 1.345, 12.39, 0.3594, 0.1905, 0.1785, 2.109}},
      {2, {3.59, 1.586, 0.3275, 10.65, 0.1697, 1.53, 0.1667, 2.56}},
      {1.5, {3.46, 1.586, 0.4223, 15.61, 0.1283, 0.3029, 0.1797, 1.651}},
      {2, {3.284, 1.528, 0.588, 21.65, 0.2293, 0.1916, 0.1797, 1.907}},
      {2, {3.109, 1.576, 0.5421, 16.55, 0.1945, 0.3018, 0.1768, 1.827}},
  };
};
// clang-format on

}  // namespace gemv
}  // namespace plumb
