// What the rungs of the conv2d ladder share: names, and the pixel under a tap. Header only.
#pragma once
#include "gpu/common/rung.hpp"
#include "reference/ops/conv2d.hpp"

namespace plumb {
namespace conv2d {

template <class T>
using Problem = Conv2d::Problem<T>;
template <class T>
using In = Conv2d::In<T, Space::device>;
template <class T>
using Out = Conv2d::Out<T, Space::device>;

/// Whether an image has a pixel at (y, x).
template <class T>
PLUMB_DEVICE bool has_pixel(const Problem<T>& p, int y, int x) {
  return static_cast<unsigned>(y) < static_cast<unsigned>(p.h) &&
         static_cast<unsigned>(x) < static_cast<unsigned>(p.w);
}

/// Pixel (y, x) of a plane (h, w), or zero outside of it.
template <class T>
PLUMB_DEVICE T pixel_or_zero(const Problem<T>& p, const T* plane, int y, int x) {
  return has_pixel(p, y, x) ? plane[static_cast<Index>(y) * p.w + x] : T(0);
}

/// A count of work on images, 1 where the device has none to do.
inline int at_least_one(int v) { return v < 1 ? 1 : v; }

/// Whether an output is made of one pixel of each channel: the one at its own place.
template <class T>
bool filters_are_pixels(const Problem<T>& p) {
  return p.r == 1 && p.s == 1 && p.stride_h == 1 && p.stride_w == 1 && p.pad_h == 0 && p.pad_w == 0;
}

}  // namespace conv2d
}  // namespace plumb
