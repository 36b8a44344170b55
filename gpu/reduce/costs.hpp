// Written by `tools/plumb fit reduce`, not by hand. Measured on NVIDIA H200, sm_90, 132 SMs, 139.8 GiB, L2 60 MiB, 1980 MHz, driver CUDA 13.0, runtime 13.0:
// bench --case transpose,reduce,dense_to_csr,bias_relu --drawn 40 --seed 9301 --device gpu --variant user/* --samples 20 --budget 0.02 --limit 46
// f32: 20 drawn cases, ridge 1; regret of those held out: median 0.0 %, 95th percentile 0.3 %, worst 1.7 %.
// f64: 20 drawn cases, the prior in common alone; regret of those held out: median 0.0 %, 95th percentile 3.9 %, worst 5.1 %.
#pragma once
#include "gpu/common/cost_model.hpp"

namespace plumb {
namespace reduce {

/// Of the candidates in their order: sharpness, microseconds for a unit of terms.
// clang-format off
template <class T>
struct Costs;
template <>
struct Costs<float> {
  static constexpr CostModel model[] = {
      {1.5, {4.795, 0, 0.2561, 0.2964, 0.1198, 0.1823, 0.02096, 0}},
      {1.5, {4.218, 1.068, 0.25, 0.291, 0.1223, 0.1862, 0.02265, 0}},
      {1.5, {4.835, 0, 0.2554, 0.3113, 0.1281, 0.1688, 0.02129, 0}},
      {1.5, {5.111, 0, 0.2015, 0.3403, 0.1223, 0.29, 0.02231, 0}},
      {2, {5.302, 0, 0.2106, 0.3445, 0.1412, 0.202, 0.02237, 0}},
  };
};
template <>
struct Costs<double> {
  static constexpr CostModel model[] = {
      {1, {4.592, 0, 0.4125, 0.2208, 0.1029, 0.1291, 0.01007, 0}},
      {1, {3.954, 1.119, 0.4583, 0.1961, 0.1058, 0.1321, 0.009276, 0}},
      {2, {4.227, 0, 0.3052, 0.5759, 0.2014, 0.1425, 0.01634, 0}},
      {1, {4.758, 0, 0.1657, 0.3832, 0.08868, 0.2903, 0.01542, 0}},
      {2, {5.25, 0, 0.2264, 0.3844, 0.183, 0.1773, 0.01543, 0}},
  };
};
// clang-format on

}  // namespace reduce
}  // namespace plumb
