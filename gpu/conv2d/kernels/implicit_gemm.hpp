// Filters by windows as a product of matrices that is never stored: what a term adds to the place of a
// window, the window that a thread gathers, and the way of a lane's sums back into planes. Header only.
//
// The outputs of all images are one row of n oh ow columns; a column's window begins at its corner, and a
// term of the sum, (channel, row, column) of a filter, is an offset from there.
#pragma once
#include "gpu/conv2d/common.hpp"
#include "gpu/gemm/kernels/warp_tile.hpp"

namespace plumb {
namespace conv2d {

/// What a term adds to the place of a window's first pixel.
struct alignas(16) Tap {
  Index offset;  // -1: past the last term
  int y, x;
};

/// Walks the terms of a sum in steps of `step`: divisions once, then carries. A thread per term of a tile
/// keeps one.
template <class T>
struct TapWalk {
  int ch, a, b;  // channel, row and column of the term
  int step_ch, step_a, step_b;
  PLUMB_DEVICE TapWalk(const Problem<T>& p, int term, int step)
      : ch(term / (p.r * p.s)),
        a(term / p.s % p.r),
        b(term % p.s),
        step_ch(step / (p.r * p.s)),
        step_a(step / p.s % p.r),
        step_b(step % p.s) {}
  /// The tap of the term, and on to the next.
  PLUMB_DEVICE Tap next(const Problem<T>& p, Index ld) {
    const int y = a * p.dilation_h, x = b * p.dilation_w;
    const Tap tap = {ch < p.c ? ch * ld + static_cast<Index>(y) * p.w + x : -1, y, x};
    ch += step_ch, a += step_a, b += step_b;
    if (b >= p.s) b -= p.s, ++a;
    if (a >= p.r) a -= p.r, ++ch;
    return tap;
  }
};

/// The window of one output.
template <class T>
struct Window {
  int y, x;         // of its first pixel in the image
  const T* corner;  // that pixel, which need not exist

  PLUMB_DEVICE Window(const Problem<T>& p, const In<T>& in, const Out<T>& out, Index output) {
    y = -0x7fffffff - 1, x = 0,
    corner = in.X.data;  // past the last output: no tap leads from there into an image
    const Index image = output / out.Y.cols;
    if (image >= p.n) return;
    const int at = static_cast<int>(output - image * out.Y.cols);
    y = at / p.ow * p.stride_h - p.pad_h, x = at % p.ow * p.stride_w - p.pad_w;
    corner += image * p.c * in.X.ld + static_cast<Index>(y) * p.w + x;
  }
  PLUMB_DEVICE bool has(const Problem<T>& p, const Tap& tap) const {
    return tap.offset >= 0 && has_pixel(p, y + tap.y, x + tap.x);
  }
};

/// Starts the copies of Count terms of a window, down a column of a tile in shared memory; zeros where it has
/// no pixel. All places are known before the first copy starts: a copy would hold back the loads behind it.
template <int Count, class T>
PLUMB_DEVICE void copy_window(const Problem<T>& p, const Window<T>& window, const T* anywhere,
                              const Tap* taps /* (Count), shared */, T* column /* (Count, pitch), shared */,
                              int pitch) {
  const T* from[Count];
  unsigned has = 0;
#pragma unroll
  for (int i = 0; i < Count; ++i) {
    const Tap tap = taps[i];
    const bool inside = window.has(p, tap);
    has |= inside ? 1u << i : 0u;
    from[i] = inside ? window.corner + tap.offset : anywhere;
  }
#pragma unroll
  for (int i = 0; i < Count; ++i)
    cp_async_zfill<sizeof(T)>(column + i * pitch, from[i], has >> i & 1 ? static_cast<int>(sizeof(T)) : 0);
}

/// Writes the sums of a lane: filters down, outputs across, from (filter0, output0) of its warp. `wide`:
/// planes of Y are whole vectors on their boundaries.
template <class T, int TM, int TN>
PLUMB_DEVICE void store_sums(const Problem<T>& p, const Out<T>& out, Index filter0, Index output0,
                             const T (&sum)[TM][TN], gemm::LanePlace place, bool wide) {
  constexpr int kV = gemm::Vector<T>::kLanes;
  const Index outputs = p.n * out.Y.cols;
#pragma unroll
  for (int c = 0; c < TN; c += kV) {
    const Index first = output0 + c * 8 + place.col * kV;
    if (first >= outputs) continue;
    const Index image = first / out.Y.cols, at = first - image * out.Y.cols;
#pragma unroll
    for (int r = 0; r < TM; ++r) {
      const Index filter = filter0 + r / kV * 4 * kV + place.row * kV + r % kV;
      if (filter >= p.k) continue;
      T* const to = &out.Y(image * p.k + filter, at);
      if (wide) {  // a vector lies within one image
        store_vector<kV>(to, &sum[r][c]);
      } else {
        to[0] = sum[r][c];
#pragma unroll
        for (int l = 1; l < kV; ++l) {
          const Index i = (first + l) / out.Y.cols;
          if (first + l < outputs) out.Y(i * p.k + filter, first + l - i * out.Y.cols) = sum[r][c + l];
        }
      }
    }
  }
}

template <class T>
const char* supports_gemm(const Problem<T>&, const In<T>& in, const Out<T>& out) {
  constexpr Index kMost = 0x7ffff000;  // tiles of terms and outputs may end past the last one
  return out.Y.cols <= kMost && in.F.cols <= kMost ? nullptr
                                                   : "counts outputs of a plane, and terms, in 32 bits";
}
template <class T>
const char* supports_pixels(const Problem<T>& p, const In<T>& in, const Out<T>& out) {
  return filters_are_pixels(p) ? supports_gemm(p, in, out)
                               : "takes filters of one pixel, stride 1, no padding";
}

/// Whether filters are pixels, and planes lie on vectors, so that images are matrices whose rows are copied as they lie.
template <class T>
bool images_are_matrices(const Problem<T>& p, const In<T>& in, const Out<T>& out) {
  return filters_are_pixels(p) && rows_on_vectors(in.X) && out.Y.cols % gemm::Vector<T>::kLanes == 0;
}

}  // namespace conv2d
}  // namespace plumb
