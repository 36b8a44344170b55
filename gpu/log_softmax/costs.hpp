// Written by `tools/plumb fit log_softmax`, not by hand. Measured on NVIDIA H100 80GB HBM3, sm_90, 132 SMs, 79.2 GiB, L2 50 MiB, 1980 MHz, driver CUDA 13.0, runtime 13.0:
// bench --case log_softmax --drawn 120 --seed 26112841 --device gpu --variant user/*,gpu/80* --samples 20 --budget 0.02 --case-budget 20 --limit 85
// f32: 60 drawn cases, ridge 0.1; regret of the 53 whole ones, held out: median 0.0 %, 95th percentile 7.7 %, worst 31.2 %.
// f64: 60 drawn cases, ridge 0.01; regret of the 57 whole ones, held out: median 0.0 %, 95th percentile 14.3 %, worst 23.0 %.
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
      {1.5, {3.801, 0, 0.02981, 18.15, 0.1752, 0.3788, 2.022, 0}},
      {2, {3.864, 0, 0.04095, 13.35, 0.2342, 0.2784, 2.006, 0}},
      {2, {4.42, 0, 0.05348, 18.38, 0.2874, 0.3373, 1.999, 0}},
      {1, {4.275, 0, 0.298, 25.92, 0.16, 0.3033, 1.816, 0}},
      {1.5, {4.549, 5.799, 0.03811, 20.87, 0.2761, 0.612, 2.012, 0}},
  };
};
template <>
struct Costs<double> {
  static constexpr CostModel model[] = {
      {1.5, {3.797, 0, 0.05581, 43.1, 0.1771, 0.5284, 6.588, 0}},
      {2, {2.476, 0, 1.585, 10.71, 0.3234, 0.09774, 5.77, 0}},
      {4, {3.77, 0, 0.6741, 40.87, 0.372, 0.1618, 6.772, 0}},
      {1, {5.739, 0, 0.4812, 92.02, 0.1538, 0.1833, 5.011, 0}},
      {2, {4.865, 10.25, 0.0554, 35.12, 0.4096, 0.1937, 6.675, 0}},
  };
};
// clang-format on

}  // namespace log_softmax
}  // namespace plumb
