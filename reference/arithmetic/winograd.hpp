// The transforms of minimal filtering F(2x2, 3x3), for host and device. Stands apart because variants in both
// rooms use it. Source: Lavin and Gray, "Fast algorithms for convolutional neural networks", CVPR 2016,
// section 4.1.
//
// Y = A^T (sum_ch (G g G^T) . (B^T d B)) A gives 2 x 2 outputs from 4 x 4 inputs d by a 3 x 3 filter g, with
// 16 products per channel where the sum takes 36.
#pragma once
#include "reference/core/abi.hpp"

namespace plumb {

/// G g G^T of a filter g (3, 3), packed; element e of 16 goes to to[e * step].
template <class T>
PLUMB_HOST_DEVICE void winograd_filter(const T* g, T* to, std::int64_t step) {
  T half[4][3];
  for (int j = 0; j < 3; ++j) {
    const T ends = g[j] + g[6 + j];
    half[0][j] = g[j], half[3][j] = g[6 + j];
    half[1][j] = (ends + g[3 + j]) * T(0.5), half[2][j] = (ends - g[3 + j]) * T(0.5);
  }
  for (int i = 0; i < 4; ++i) {
    const T ends = half[i][0] + half[i][2];
    to[(4 * i + 0) * step] = half[i][0];
    to[(4 * i + 1) * step] = (ends + half[i][1]) * T(0.5);
    to[(4 * i + 2) * step] = (ends - half[i][1]) * T(0.5);
    to[(4 * i + 3) * step] = half[i][2];
  }
}

/// B^T d B of a tile of inputs.
template <class T>
PLUMB_HOST_DEVICE void winograd_input(const T (&d)[4][4], T* to, std::int64_t step) {
  T half[4][4];
  for (int j = 0; j < 4; ++j) {
    half[0][j] = d[0][j] - d[2][j], half[1][j] = d[1][j] + d[2][j];
    half[2][j] = d[2][j] - d[1][j], half[3][j] = d[1][j] - d[3][j];
  }
  for (int i = 0; i < 4; ++i) {
    to[(4 * i + 0) * step] = half[i][0] - half[i][2];
    to[(4 * i + 1) * step] = half[i][1] + half[i][2];
    to[(4 * i + 2) * step] = half[i][2] - half[i][1];
    to[(4 * i + 3) * step] = half[i][1] - half[i][3];
  }
}

/// A^T m A: the outputs of a tile, from m's element e at m[e * step].
template <class T>
PLUMB_HOST_DEVICE void winograd_output(const T* m, std::int64_t step, T (&y)[2][2]) {
  T half[2][4];
  for (int j = 0; j < 4; ++j) {
    const T m1 = m[(4 + j) * step], m2 = m[(8 + j) * step];
    half[0][j] = m[j * step] + m1 + m2, half[1][j] = m1 - m2 - m[(12 + j) * step];
  }
  for (int i = 0; i < 2; ++i) {
    y[i][0] = half[i][0] + half[i][1] + half[i][2];
    y[i][1] = half[i][1] - half[i][2] - half[i][3];
  }
}

}  // namespace plumb
