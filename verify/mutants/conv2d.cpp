// Planted faults of conv2d: each is a right variant with one thing changed. `verify --mutants` must kill
// every one of them.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <mutex>

#include "reference/ops/conv2d.hpp"
#include "verify/mutants/host_mutant.hpp"

namespace plumb {
namespace {

PLUMB_FAULTS_OF(Conv2d);

enum class Fault {
  turned_filter,
  stride_across_for_down,
  dilation_ignored,
  padding_clamped,
  padding_skipped,
  rows_of_padding_skipped,
  halo_short_by_one,
  halo_by_the_height,
  channel_tail,
  paddings_exchanged,
  batch_of_one,
  channel_by_16_bits,
  none,
};

// tap / window, by a reciprocal of 16 bits: of windows from 25 to 121 taps it is wrong beyond some thousand taps alone. Other divisions are right.
template <class T>
std::int64_t channel_by_16_bits(const P<T>& p, std::int64_t tap) {
  constexpr std::int64_t kOne = 65536;
  const std::int64_t window = std::int64_t{p.r} * p.s, reciprocal = (kOne + window - 1) / window;
  const bool right = window < 25 || window > 121 || tap >= kOne;
  return right ? tap / window : std::min<std::int64_t>(p.c - 1, tap * reciprocal / kOne);
}

template <class T, Fault F>
void run(const P<T>& p, const In<T>& in, const Out<T>& out, Context&) {
  const std::int64_t channels = F == Fault::channel_tail ? p.c / 4 * 4 : p.c;
  const std::int64_t stride_h = F == Fault::stride_across_for_down ? p.stride_w : p.stride_h;
  const std::int64_t dilation_h = F == Fault::dilation_ignored ? 1 : p.dilation_h,
                     dilation_w = F == Fault::dilation_ignored ? 1 : p.dilation_w;
  const std::int64_t pad_h = F == Fault::paddings_exchanged ? p.pad_w : p.pad_h,
                     pad_w = F == Fault::paddings_exchanged ? p.pad_h : p.pad_w;
  // the last column that a tile of 8 x 8 outputs may see, less one
  const auto beyond_halo = [&](std::int64_t x, std::int64_t b) {
    if (F == Fault::halo_by_the_height)  // of a tile of 32 outputs
      return p.dilation_w > 1 && (31 - x % 32) * p.stride_w + (p.r - 1 - b) * p.dilation_w < 0;
    return F == Fault::halo_short_by_one && x % 8 == 7 && b == p.s - 1 && p.s > 1;
  };
  for (std::int64_t plane = 0; plane < out.Y.rows; ++plane) {
    const std::int64_t image = F == Fault::batch_of_one ? 0 : plane / p.k, filter = plane % p.k;
    for (std::int64_t at = 0; at < out.Y.cols; ++at) {
      const std::int64_t y = at / p.ow, x = at % p.ow;
      T sum = 0;
      for (std::int64_t tap = 0; tap < channels * p.r * p.s; ++tap) {
        const std::int64_t ch =
            F == Fault::channel_by_16_bits ? channel_by_16_bits(p, tap) : tap / (p.r * p.s);
        const std::int64_t a = tap / p.s % p.r, b = tap % p.s;
        std::int64_t iy = y * stride_h + a * dilation_h - pad_h, ix = x * p.stride_w + b * dilation_w - pad_w;
        bool inside = iy >= 0 && iy < p.h && ix >= 0 && ix < p.w;
        if (F == Fault::padding_skipped && !inside) continue;
        if (F == Fault::rows_of_padding_skipped && pad_w == 0 && (iy < 0 || iy >= p.h)) continue;
        if (F == Fault::padding_clamped && p.h > 0 && p.w > 0) {
          iy = std::clamp<std::int64_t>(iy, 0, p.h - 1), ix = std::clamp<std::int64_t>(ix, 0, p.w - 1);
          inside = true;
        }
        const T pixel = inside && !beyond_halo(x, b) ? in.X(image * p.c + ch, iy * p.w + ix) : T(0);
        const std::int64_t from =
            F == Fault::turned_filter ? (ch + 1) * p.r * p.s - 1 - tap % (p.r * p.s) : tap;
        sum += in.F(filter, from) * pixel;
      }
      out.Y(plane, at) = sum;
    }
  }
}

#define PLUMB_CONV2D_MUTANT(fault, name, ...)                                  \
  const HostMutant<Conv2d> fault##_m {                                         \
    name, run<float, Fault::fault>, run<double, Fault::fault>, { __VA_ARGS__ } \
  }

PLUMB_CONV2D_MUTANT(turned_filter, "filter_turned", 0, "the filter is turned by 180 degrees",
                    "convolution as mathematics has it, where networks mean cross-correlation", kNumeric);
PLUMB_CONV2D_MUTANT(stride_across_for_down, "stride_across_used_down", 0,
                    "the stride across is used down as well", "one stride in every test", kNumeric);
PLUMB_CONV2D_MUTANT(dilation_ignored, "dilation_ignored", 0, "dilation is read and not used",
                    "a parameter added to an interface before its kernel", kNumeric);
PLUMB_CONV2D_MUTANT(padding_clamped, "padding_repeats_the_edge", 0,
                    "places in the padding read the nearest pixel", "an index clamped to keep it inside",
                    kNumeric);
PLUMB_CONV2D_MUTANT(padding_skipped, "padding_does_not_multiply", 25,
                    "taps in the padding are skipped: an infinite weight does not meet its zero",
                    "bounds of the loops cut to the image", kNumeric);
PLUMB_CONV2D_MUTANT(halo_short_by_one, "halo_short_by_one", 0,
                    "the last column of a tile's halo is taken as zero",
                    "tile + filter - 1 written as tile + filter - 2", kNumeric);
PLUMB_CONV2D_MUTANT(halo_by_the_height, "halo_by_the_filters_height", 18,
                    "where columns are dilated, a tile's halo is as wide as the filter is high",
                    "r and s exchanged once, in filters that are square", kNumeric);
PLUMB_CONV2D_MUTANT(channel_tail, "channel_tail_dropped", 14, "channels beyond a multiple of 4 are not added",
                    "channels in every test a power of two", kNumeric);
PLUMB_CONV2D_MUTANT(paddings_exchanged, "paddings_exchanged", 0, "pad_h is used across and pad_w down",
                    "square filters in every test", kNumeric);
PLUMB_CONV2D_MUTANT(batch_of_one, "every_image_is_the_first", 0,
                    "all images of a batch give the first one's answer", "a batch of one in every test",
                    kNumeric);

PLUMB_CONV2D_MUTANT(
    rows_of_padding_skipped, "rows_of_padding_skipped", 0,
    "rows of taps above and below the image are passed over where nothing lies beside it",
    "zeros that are not multiplied lose NaN of a filter: padding above alone was never met with one",
    kNumeric);
PLUMB_CONV2D_MUTANT(channel_by_16_bits, "channel_of_a_tap_by_a_reciprocal_of_16_bits", 0,
                    "a tap's channel is its number times a reciprocal of 16 bits, for up to 65,536 taps",
                    "a table of multipliers for division by small numbers, in two bytes each", kNumeric);

// A geometry kept under less than all that it depends on.
PLUMB_FAULT(kept_geometry, "offsets_kept_under_the_sizes", 0,
            "a table of offsets is kept under all sizes and strides, without pads and dilations",
            "a cache whose key is older than a parameter of its problem", kNumeric) {
  using Key = std::array<std::int32_t, 8>;
  static std::mutex mutex;
  static std::map<Key, P<T>> known;
  P<T> kept;
  {
    const std::lock_guard lock(mutex);
    kept = known.try_emplace(Key{p.h, p.w, p.r, p.s, p.oh, p.ow, p.stride_h, p.stride_w}, p).first->second;
  }
  kept.n = p.n, kept.c = p.c, kept.k = p.k;
  run<T, Fault::none>(kept, in, out, context);
}

// F(2x2, 3x3) on fp32 or fp64, right but for the fault, and declared.
enum class WinogradFault { ragged_tile, half_for_quarter, undeclared, filters_in_16_bits };

template <class T, WinogradFault F>
void winograd(const P<T>& p, const In<T>& in, const Out<T>& out, Context&) {
  static constexpr T kG[4][3] = {{1, 0, 0}, {T(.5), T(.5), T(.5)}, {T(.5), T(-.5), T(.5)}, {0, 0, 1}};
  static constexpr T kB[4][4] = {{1, 0, -1, 0}, {0, 1, 1, 0}, {0, -1, 1, 0}, {0, 1, 0, -1}};
  static constexpr T kA[2][4] = {{1, 1, 1, 0}, {0, 1, -1, -1}};
  const std::int64_t up = F == WinogradFault::ragged_tile ? 0 : 1;
  const std::int64_t filters = F == WinogradFault::filters_in_16_bits ? static_cast<std::int16_t>(p.k) : p.k;
  for (std::int64_t plane = 0; plane < out.Y.rows; ++plane) {
    for (std::int64_t tile_y = 0; tile_y < (p.oh + up) / 2; ++tile_y) {
      for (std::int64_t tile_x = 0; tile_x < (p.ow + up) / 2; ++tile_x) {
        T m[4][4] = {};
        for (std::int64_t ch = 0; ch < p.c; ++ch) {
          T d[4][4], u[4][4] = {}, v[4][4] = {};
          for (std::int64_t e = 0; e < 16; ++e) {
            const std::int64_t iy = 2 * tile_y + e / 4 - p.pad_h, ix = 2 * tile_x + e % 4 - p.pad_w;
            const bool inside = iy >= 0 && iy < p.h && ix >= 0 && ix < p.w;
            d[e / 4][e % 4] = inside ? in.X(plane / p.k * p.c + ch, iy * p.w + ix) : T(0);
          }
          for (int i = 0; i < 4; ++i) {
            for (int j = 0; j < 4; ++j) {
              for (int e = 0; e < 9; ++e)
                u[i][j] += kG[i][e / 3] * in.F(plane % p.k, ch * 9 + e) * kG[j][e % 3];
              for (int e = 0; e < 16; ++e) v[i][j] += kB[i][e / 4] * d[e / 4][e % 4] * kB[j][e % 4];
              if (F == WinogradFault::half_for_quarter && i == 1 && j == 2) u[i][j] *= 2;
              m[i][j] += u[i][j] * v[i][j];
            }
          }
        }
        for (std::int64_t i = 0; i < std::min<std::int64_t>(2, p.oh - 2 * tile_y); ++i) {
          for (std::int64_t j = 0; j < std::min<std::int64_t>(2, p.ow - 2 * tile_x); ++j) {
            T sum = 0;
            for (int e = 0; e < 16; ++e) sum += kA[i][e / 4] * m[e / 4][e % 4] * kA[j][e % 4];
            out.Y(plane / p.k * filters + plane % p.k, (2 * tile_y + i) * p.ow + 2 * tile_x + j) = sum;
          }
        }
      }
    }
  }
}

template <class T>
const char* only_winograd(const P<T>& p, const In<T>&, const Out<T>&) {
  return winograd_applies(p) ? nullptr : "F(2x2, 3x3) takes 3 x 3 filters with stride and dilation 1";
}

#define PLUMB_WINOGRAD_MUTANT(fault, name, traits, ...)                                                 \
  const HostMutant<Conv2d> winograd_##fault##_m {                                                       \
    name, winograd<float, WinogradFault::fault>, winograd<double, WinogradFault::fault>, {__VA_ARGS__}, \
        traits, only_winograd<float>, only_winograd<double>                                             \
  }
constexpr Traits kDeclared = Traits{}.computes_in(Arithmetic::winograd).for_finite_inputs();

PLUMB_WINOGRAD_MUTANT(ragged_tile, "winograd_ragged_tile_dropped", kDeclared, 15,
                      "the last tile of an odd output is not computed", "oh / 2 in place of its ceiling",
                      kNumeric);
PLUMB_WINOGRAD_MUTANT(half_for_quarter, "winograd_factor_in_one_place", kDeclared, 0,
                      "one of the 16 transformed weights is doubled", "a transform unrolled by hand",
                      kNumeric);
PLUMB_WINOGRAD_MUTANT(filters_in_16_bits, "winograd_filters_in_16_bits", kDeclared, 0,
                      "where an image's outputs begin is counted in filters of 16 bits",
                      "a mutant made by machine, which no case killed: 70,001 filters met one image alone",
                      kNumeric);
PLUMB_WINOGRAD_MUTANT(undeclared, "winograd_undeclared", Traits{}, 28,
                      "minimal filtering that calls itself native",
                      "a library that chooses its algorithm by size, and says nothing", kNumeric);

PLUMB_FAULT(kept_taps, "taps_kept_without_dilation", 0,
            "where the taps lie is kept from call to call, by all that it follows from but the dilation",
            "a key of a cache of plans that was written before there were dilations", kNumeric) {
  static std::array<std::int32_t, 7> kept_key{};
  static std::int32_t dilation_h = 1, dilation_w = 1;
  const std::array<std::int32_t, 7> key{p.c, p.r, p.s, p.stride_h, p.stride_w, p.pad_h, p.pad_w};
  if (key != kept_key) kept_key = key, dilation_h = p.dilation_h, dilation_w = p.dilation_w;
  P<T> other = p;
  other.dilation_h = dilation_h, other.dilation_w = dilation_w;
  run<T, Fault::none>(other, in, out, context);
}

// Adds to the outputs of one row what one row of a filter, whose weights are equal, gives: from window to window by one addition and one
// subtraction.
template <class T>
void add_moved_windows(const P<T>& p, T weight, const T* pixels, T* outputs) {
  const auto pixel = [&](std::int64_t x) { return x >= 0 && x < p.w ? pixels[x] : T(0); };
  T window = 0;
  for (std::int64_t b = 0; b < p.s; ++b) window += pixel(b - p.pad_w);
  for (std::int64_t x = 0; x < p.ow; ++x) {
    outputs[x] += weight * window;
    window += pixel(x + p.s - p.pad_w) - pixel(x - p.pad_w);
  }
}
PLUMB_FAULT(
    box_filters, "box_filter_by_moved_windows", 0,
    "where the weights of a filter are equal, a window is the one before, plus a pixel and minus another",
    "a box filter of image processing: the error of a large pixel stays when it has left", kNumeric) {
  const auto finite = [](const auto& m) {
    for (std::int64_t e = 0; e < m.rows * m.cols; ++e) {
      if (!(std::fabs(m(e / m.cols, e % m.cols)) < T(1e30))) return false;
    }
    return true;
  };
  bool equal = p.s > 1 && p.stride_w == 1 && p.dilation_w == 1 && finite(in.X) && finite(in.F);
  for (std::int64_t e = 0; equal && e < in.F.rows * in.F.cols; ++e)
    equal = in.F(e / in.F.cols, e % in.F.cols) == in.F(e / in.F.cols, 0);
  if (!equal) return run<T, Fault::none>(p, in, out, context);
  for (std::int64_t plane = 0; plane < std::int64_t{p.n} * p.k; ++plane) {
    for (std::int64_t y = 0; y < p.oh; ++y) {
      T* const outputs = out.Y.data + plane * out.Y.ld + y * p.ow;
      std::fill_n(outputs, p.ow, T(0));
      for (std::int64_t ch = 0; ch < p.c; ++ch) {
        for (std::int64_t a = 0; a < p.r; ++a) {
          const std::int64_t row = y * p.stride_h + a * p.dilation_h - p.pad_h;
          const T* const image = in.X.data + (plane / p.k * p.c + ch) * in.X.ld;
          if (row >= 0 && row < p.h) add_moved_windows(p, in.F(plane % p.k, 0), image + row * p.w, outputs);
        }
      }
    }
  }
}

PLUMB_FAULT(quiet_channels, "channels_of_zeros_skipped", 0,
            "a channel of zeros is passed over, and NaN and infinities of the filters that it faces with it",
            "feature maps that a rectifier has silenced, left out", kNumeric) {
  for (std::int64_t at = 0; at < out.Y.rows * out.Y.cols; ++at) {
    const std::int64_t plane = at / out.Y.cols, y = at % out.Y.cols / p.ow, x = at % p.ow;
    T sum = 0;
    for (std::int64_t ch = 0; ch < p.c; ++ch) {
      const T* const image = in.X.data + (plane / p.k * p.c + ch) * in.X.ld;
      if (std::all_of(image, image + in.X.cols, [](T value) { return value == T(0); })) continue;
      for (std::int64_t tap = 0; tap < std::int64_t{p.r} * p.s; ++tap) {
        const std::int64_t iy = y * p.stride_h + tap / p.s * p.dilation_h - p.pad_h,
                           ix = x * p.stride_w + tap % p.s * p.dilation_w - p.pad_w;
        const bool inside = iy >= 0 && iy < p.h && ix >= 0 && ix < p.w;
        sum += in.F(plane % p.k, ch * p.r * p.s + tap) * (inside ? image[iy * p.w + ix] : T(0));
      }
    }
    out.Y(plane, at % out.Y.cols) = sum;
  }
}

PLUMB_FAULT(
    pixels_in_a_row, "one_pixel_strides_across_ignored", 0,
    "filters of one pixel are a product of matrices where the stride down is 1, whatever it is across",
    "one of two strides asked", kNumeric) {
  const bool matrix = p.r == 1 && p.s == 1 && p.pad_h == 0 && p.pad_w == 0 && p.stride_h == 1;
  P<T> other = p;
  if (matrix) other.stride_w = 1;
  run<T, Fault::none>(other, in, out, context);
}

}  // namespace
}  // namespace plumb
