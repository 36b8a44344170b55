// Written by `tools/plumb fit gemm`, not by hand. Measured on NVIDIA H200, sm_90, 132 SMs, 139.8 GiB, L2 60 MiB, 1980 MHz, driver CUDA 13.0, runtime 13.0:
// bench --device gpu --case gemm --drawn 300 --seed 26112721 --variant user/*,gpu/80* --samples 20 --budget 0.02 --limit 120
// bench --device gpu --case @fitg.cases --warm --samples 20 --budget 0.02 --variant user/*,gpu/80*
// f32: 110 drawn cases, ridge 0.01; regret of the 65 whole ones, held out: median 0.0 %, 95th percentile 2.7 %, worst 9.5 %.
// f64: 109 drawn cases, ridge 0.01; regret of the 54 whole ones, held out: median 0.0 %, 95th percentile 13.1 %, worst 22.4 %.
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
      {1, {4.242, 0.2396, 0.005928, 3.171, 0.1041, 0.5553, 0.01946, 3.967}},
      {1.5, {7.281, 0.1237, 0.004743, 4.592, 0.1166, 0.1805, 1.006, 1.552}},
      {1, {5.214, 0.2553, 0.011, 3.35, 0.114, 0.272, 0.006886, 0.6745}},
      {2, {2.202, 0.456, 0.03867, 5.457, 0.1208, 0.0939, 0.0174, 3.576}},
      {1, {6.271, 0.2553, 0.0146, 3.5, 0.1169, 0.2245, 0.009577, 1.344}},
      {1, {4.56, 0.2553, 0.0143, 3.542, 0.1193, 0.209, 0.009374, 1.422}},
      {2, {1.929, 0.577, 0.06048, 4.509, 0.1211, 0.05753, 0.02338, 3.201}},
      {1, {5.012, 0.2431, 0.005783, 3.069, 0.09979, 0.6967, 0.01203, 1.045}},
      {1, {4.913, 0.2431, 0.008085, 3.203, 0.09995, 0.2553, 0.005678, 1.989}},
      {1, {8.423, 0.2553, 0.01266, 2.593, 0.1051, 0.8141, 0.0097, 2.028}},
  };
};
template <>
struct Costs<double> {
  static constexpr CostModel model[] = {
      {1, {4.489, 0.2883, 0.0003414, 2.47, 0.09796, 0.3307, 0.04902, 2.255}},
      {1, {5.307, 0.208, 0.000308, 2.703, 0.06652, 0.4257, 0.0274, 0.7775}},
      {1, {5.221, 0.208, 0.0002976, 2.57, 0.05819, 0.2456, 0.07062, 1.641}},
      {1.5, {5.869, 0.8736, 0.0003081, 3.741, 0.07898, 0.141, 0.02261, 2.342}},
      {1, {4.629, 0.2092, 0.0003725, 2.44, 0.06039, 0.5092, 0.02043, 1.826}},
      {1, {4.247, 0.2092, 0.0002562, 2.627, 0.06116, 0.5893, 0.03958, 2.044}},
      {1, {6.232, 0.03786, 0.0003497, 2.622, 0.05836, 0.3309, 0.02003, 1.198}},
      {1, {5.115, 0.1438, 0.0003912, 2.555, 0.06176, 0.5987, 0.06955, 4.215}},
      {1.5, {5.304, 0.5362, 0.0003081, 3.297, 0.07556, 0.1048, 0.04834, 2.199}},
      {1, {7.007, 0.208, 0.0003056, 2.878, 0.06274, 0.1866, 0.03421, 2.471}},
  };
};
// clang-format on

}  // namespace gemm
}  // namespace plumb
