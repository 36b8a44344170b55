// Written by `tools/plumb fit spmv`, not by hand. Measured on NVIDIA H200, sm_90, 132 SMs, 139.8 GiB, L2 60 MiB, 1980 MHz, driver CUDA 13.0, runtime 13.0:
// bench --case spmv --drawn 240 --seed 9104 --device gpu --variant user/* --limit 80 --samples 20 --budget 0.02
// f32: 70 drawn cases; regret of those held out: median 0.0 %, 95th percentile 13.7 %, worst 123.3 %.
// f64: 69 drawn cases; regret of those held out: median 0.0 %, 95th percentile 13.5 %, worst 31.8 %.
// Times of preparation, until they are measured so, after those of the ladders (docs/results/ladders.md): 41 us for three steps, 250 us for a
// pass of the host over a million row lengths, 7 ms over a million entries, 10 GB/s to and from the host.
#pragma once
#include "gpu/common/cost_model.hpp"

namespace plumb {
namespace spmv {

/// Of the candidates, in their order: sharpness, microseconds for a unit of each term.
// clang-format off
template <class T>
struct Costs;
template <>
struct Costs<float> {
  static constexpr CostModel model[] = {
      {1, {3.459, 4.446, 0.1286, 0.002441, 0.02112, 0.01242, 0.3862, 1.572}},
      {1, {4.607, 4.446, 0.136, 0.01198, 0.0118, 0.01252, 0.2637, 1.713}},
      {1.5, {5.625, 4.446, 0.09556, 0.007493, 0.0142, 0.0165, 0.3586, 6.274}},
      {2, {5.643, 4.446, 0.1257, 0.005552, 0.05403, 0.01649, 0.2987, 7.37}},
      {1, {3.075, 3.163, 0.2887, 0.005597, 0.01257, 0.01582, 0.1831, 6.397}},
      {1, {4.058, 4.206, 0.1236, 0.01075, 0.01474, 0.01684, 0.3017, 4.712}},
      {1, {3.957, 4.446, 0.1007, 0.004777, 0.01341, 0.01559, 0.2904, 2.654}},
      {1, {4.487, 4.669, 0.1205, 0.00436, 0.01909, 0.01628, 0.2769, 4.996}},
  };
  static constexpr CostModel preparation[] = {
      {1, {20, 8, 250, 7000, 100, 100, 0.5, 0}, {}},
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
      {1, {3.543, 4.77, 0.1399, 0.007328, 0.008723, 0.07201, 0.2054, 2.632}},
      {1, {5.096, 4.77, 0.1168, 0.008617, 0.02139, 0.0793, 0.219, 2.486}},
      {1, {3.457, 4.77, 0.3293, 0.008975, 0.003601, 0.07506, 0.1441, 3.435}},
      {1, {5.131, 4.77, 0.2391, 0.01351, 0.005091, 0.1293, 0.1088, 2.046}},
      {1, {2.487, 2.684, 0.4566, 0.004919, 0.003613, 0.07029, 0.1463, 6.337}},
      {1, {4.104, 4.602, 0.1455, 0.007116, 0.003729, 0.09611, 0.1999, 11.74}},
      {1, {3.839, 4.77, 0.1311, 0.008784, 0.003552, 0.1001, 0.1702, 2.975}},
      {1, {4.32, 4.874, 0.1376, 0.005978, 0.004317, 0.1089, 0.1702, 4.854}},
  };
  static constexpr CostModel preparation[] = {
      {1, {20, 8, 250, 7000, 100, 100, 0.5, 0}, {}},
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

}  // namespace spmv
}  // namespace plumb
