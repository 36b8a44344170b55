// Written by `tools/plumb fit gemm`, not by hand. Measured on NVIDIA H100 80GB HBM3, sm_90, 132 SMs, 79.2 GiB, L2 50 MiB, 1980 MHz, driver CUDA 13.0, runtime 13.0:
// bench --device gpu --case gemm --drawn 160 --seed 26112941 --limit 95 --variant user/* --samples 20 --budget 0.02
// bench --device gpu --case @fitg.cases --variant user/* --warm --samples 20 --budget 0.02
// f32: 153 drawn cases, ridge 0.01; regret of the 137 whole ones, held out: median 0.0 %, 95th percentile 6.2 %, worst 30.5 %.
// f64: 115 drawn cases, ridge 0.01; regret of the 94 whole ones, held out: median 0.0 %, 95th percentile 11.3 %, worst 27.8 %.
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
      {1, {4.118, 0.2628, 0.006036, 3.179, 0.1139, 0.6556, 0.02542, 3.422}},
      {2, {7.907, 0.06481, 0.004874, 4.786, 0.125, 0.629, 1.524, 1.73}},
      {1, {4.97, 0.2715, 0.01008, 3.335, 0.1228, 0.241, 0.009962, 0.3161}},
      {2, {2.175, 0.4621, 0.04078, 5.485, 0.1296, 0.1004, 0.02367, 1.866}},
      {1, {5.863, 0.2715, 0.02107, 3.142, 0.1197, 0.2331, 0.01267, 0.6472}},
      {1, {4.578, 0.2715, 0.01808, 3.191, 0.1208, 0.2369, 0.01326, 0.4837}},
      {2, {1.308, 0.6152, 0.06562, 4.327, 0.129, 0.06248, 0.03178, 2.129}},
      {1, {4.783, 0.2585, 0.006817, 3.014, 0.1066, 0.7832, 0.02042, 0.3762}},
      {1, {4.584, 0.2585, 0.01036, 2.81, 0.09698, 0.3633, 0.009332, 1.888}},
      {1, {6.832, 0.2715, 0.0134, 2.674, 0.1153, 0.8317, 0.01297, 0.6063}},
  };
};
template <>
struct Costs<double> {
  static constexpr CostModel model[] = {
      {1, {4.481, 0.2829, 0.0003456, 2.487, 0.1047, 0.3878, 0.06341, 2.284}},
      {1, {5.6, 0.2241, 0.0003108, 2.478, 0.06745, 0.4557, 0.02686, 0.7199}},
      {1, {5.415, 0.2241, 0.001087, 2.465, 0.0604, 0.3198, 0.07169, 1.368}},
      {1, {4.987, 0.9852, 0.0003139, 2.879, 0.07224, 0.09389, 0.05893, 0.7493}},
      {1, {4.76, 0.2254, 0.0004499, 2.429, 0.06404, 0.6088, 0.02564, 1}},
      {1, {4.305, 0.2254, 0.0004978, 2.772, 0.07115, 0.6066, 0.07232, 0.7675}},
      {1, {6.949, 0.03071, 0.000463, 2.649, 0.06317, 0.2499, 0.03344, 0.3497}},
      {1.5, {5.697, 0.0848, 0.0003709, 2.953, 0.1166, 1.073, 0.1883, 2.283}},
      {2, {4.75, 0.6, 0.0003114, 4.915, 0.09631, 0.1304, 0.1365, 1.012}},
      {1, {7.167, 0.2241, 0.0003234, 2.676, 0.06465, 0.3695, 0.04342, 1.955}},
  };
};
// clang-format on

}  // namespace gemm
}  // namespace plumb
