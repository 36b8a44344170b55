// conv2d: cases, data, oracle, bound and cost of the contract in conv2d.hpp.
#include "reference/ops/conv2d.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reference/cases/case_space.hpp"
#include "reference/cases/case_words.hpp"
#include "reference/cases/dense_products.hpp"
#include "reference/cases/fills.hpp"
#include "reference/cases/operator.hpp"
#include "reference/cases/sparse_cases.hpp"
#include "reference/cases/timed_shapes.hpp"
#include "reference/core/error.hpp"
#include "reference/core/random.hpp"
#include "reference/core/text.hpp"

namespace plumb {
namespace {

std::int32_t narrow(std::int64_t v, const char* what) {
  if (v > std::numeric_limits<std::int32_t>::max())
    throw Error(fmt::format("conv2d: {} = {} does not fit 32 bits", what, v));
  return static_cast<std::int32_t>(v);
}

// The pixels under every place of the filter: (c r s, oh ow), zeros where the place lies outside the image.
template <class T>
std::vector<T> windows_of(const Conv2d::Problem<T>& p, const DenseView<const T, Space::host>& X,
                          std::int64_t image) {
  const std::int64_t pixels = static_cast<std::int64_t>(p.oh) * p.ow;
  std::vector<T> windows;
  windows.reserve(static_cast<std::size_t>(p.c * p.r * p.s * pixels));
  for (std::int64_t ch = 0; ch < p.c; ++ch) {
    for (std::int64_t a = 0; a < p.r; ++a) {
      for (std::int64_t b = 0; b < p.s; ++b) {
        for (std::int64_t y = 0; y < p.oh; ++y) {
          for (std::int64_t x = 0; x < p.ow; ++x) {
            const std::int64_t iy = y * p.stride_h + a * p.dilation_h - p.pad_h,
                               ix = x * p.stride_w + b * p.dilation_w - p.pad_w;
            const bool inside = iy >= 0 && iy < p.h && ix >= 0 && ix < p.w;
            windows.push_back(inside ? X(image * p.c + ch, iy * p.w + ix) : T(0));
          }
        }
      }
    }
  }
  return windows;
}

// |G|, |B^T| and |A^T| of F(2, 3).
constexpr double kG[4][3] = {{1, 0, 0}, {0.5, 0.5, 0.5}, {0.5, 0.5, 0.5}, {0, 0, 1}};
constexpr double kB[4][4] = {{1, 0, 1, 0}, {0, 1, 1, 0}, {0, 1, 1, 0}, {0, 1, 0, 1}};
constexpr double kA[2][4] = {{1, 1, 1, 0}, {0, 1, 1, 1}};

// to = M from M^T, for a (Rows, Inner) matrix M.
template <int Rows, int Inner>
void transform(const double (&m)[Rows][Inner], const double (&from)[Inner][Inner], double (&to)[Rows][Rows]) {
  double half[Rows][Inner] = {};
  for (int i = 0; i < Rows; ++i) {
    for (int j = 0; j < Inner; ++j) {
      for (int l = 0; l < Inner; ++l) half[i][j] += m[i][l] * from[l][j];
    }
  }
  for (int i = 0; i < Rows; ++i) {
    for (int j = 0; j < Rows; ++j) {
      to[i][j] = 0;
      for (int l = 0; l < Inner; ++l) to[i][j] += half[i][l] * m[j][l];
    }
  }
}

// Tiles of 2 x 2 outputs of an image, in blocks whose transforms stay in the second-level cache.
struct Tiles {
  template <class T>
  explicit Tiles(const Conv2d::Problem<T>& p)
      : across((p.ow + 1) / 2), count(across * ((p.oh + 1) / 2)), blocks((count + kBlock - 1) / kBlock) {}
  static constexpr std::int64_t kBlock = 32;
  std::int64_t across, count, blocks;
  // Of a block; and the first output of its tile t.
  [[nodiscard]] std::int64_t tiles(std::int64_t block) const {
    return std::min(kBlock, count - block * kBlock);
  }
  [[nodiscard]] std::int64_t y(std::int64_t block, std::int64_t t) const {
    return (block * kBlock + t) / across * 2;
  }
  [[nodiscard]] std::int64_t x(std::int64_t block, std::int64_t t) const {
    return (block * kBlock + t) % across * 2;
  }
};

// |G| |g| |G^T| of every filter and channel: (k, c, 16).
template <class T>
std::vector<double> filter_magnitudes(const Conv2d::Problem<T>& p, const Conv2d::In<T, Space::host>& in) {
  std::vector<double> filters(static_cast<std::size_t>(16) * static_cast<std::size_t>(p.k) *
                              static_cast<std::size_t>(p.c));
#pragma omp parallel for
  for (std::int64_t f = 0; f < p.k; ++f) {
    for (std::int64_t ch = 0; ch < p.c; ++ch) {
      double g[3][3], u[4][4];
      for (int e = 0; e < 9; ++e) g[e / 3][e % 3] = std::fabs(static_cast<double>(in.F(f, ch * 9 + e)));
      transform(kG, g, u);
      for (int e = 0; e < 16; ++e)
        filters[static_cast<std::size_t>((f * p.c + ch) * 16 + e)] = u[e / 4][e % 4];
    }
  }
  return filters;
}

// |B^T| |d| |B| of every channel and tile of a block: (c, 16, Tiles::kBlock).
template <class T>
std::vector<double> pixel_magnitudes(const Conv2d::Problem<T>& p, const Conv2d::In<T, Space::host>& in,
                                     const Tiles& tiles, std::int64_t image, std::int64_t block) {
  std::vector<double> pixels(static_cast<std::size_t>(p.c * 16 * Tiles::kBlock));
  for (std::int64_t ch = 0; ch < p.c; ++ch) {
    for (std::int64_t t = 0; t < tiles.tiles(block); ++t) {
      const std::int64_t y = tiles.y(block, t), x = tiles.x(block, t);
      double d[4][4], v[4][4];
      for (int e = 0; e < 16; ++e) {
        const std::int64_t iy = y + e / 4 - p.pad_h, ix = x + e % 4 - p.pad_w;
        const bool inside = iy >= 0 && iy < p.h && ix >= 0 && ix < p.w;
        d[e / 4][e % 4] = inside ? std::fabs(static_cast<double>(in.X(image * p.c + ch, iy * p.w + ix))) : 0;
      }
      transform(kB, d, v);
      for (int e = 0; e < 16; ++e)
        pixels[static_cast<std::size_t>((ch * 16 + e) * Tiles::kBlock + t)] = v[e / 4][e % 4];
    }
  }
  return pixels;
}

// W of the contract, packed as Y.
template <class T>
LargeArray<double> winograd_magnitude(const Conv2d::Problem<T>& p, const Conv2d::In<T, Space::host>& in) {
  constexpr std::int64_t kBlock = Tiles::kBlock;
  const Tiles tiles(p);
  const std::vector<double> filters = filter_magnitudes(p, in);
  LargeArray<double> w(static_cast<std::size_t>(p.n) * static_cast<std::size_t>(p.k) *
                       static_cast<std::size_t>(p.oh) * static_cast<std::size_t>(p.ow));
#pragma omp parallel for collapse(2) schedule(dynamic)
  for (std::int64_t image = 0; image < p.n; ++image) {
    for (std::int64_t block = 0; block < tiles.blocks; ++block) {
      const std::vector<double> pixels = pixel_magnitudes(p, in, tiles, image, block);
      for (std::int64_t f = 0; f < p.k; ++f) {
        double sum[16][kBlock] = {};
        for (std::int64_t ch = 0; ch < p.c; ++ch) {
          for (int e = 0; e < 16; ++e) {
            const double u = filters[static_cast<std::size_t>((f * p.c + ch) * 16 + e)];
            const double* v = &pixels[static_cast<std::size_t>((ch * 16 + e) * kBlock)];
#pragma omp simd
            for (std::int64_t t = 0; t < kBlock; ++t) sum[e][t] += u * v[t];
          }
        }
        for (std::int64_t t = 0; t < tiles.tiles(block); ++t) {
          const std::int64_t y = tiles.y(block, t), x = tiles.x(block, t);
          for (std::int64_t i = 0; i < std::min<std::int64_t>(2, p.oh - y); ++i) {
            for (std::int64_t j = 0; j < std::min<std::int64_t>(2, p.ow - x); ++j) {
              double total = 0;
              for (int e = 0; e < 16; ++e) total += kA[i][e / 4] * sum[e][t] * kA[j][e % 4];
              w[static_cast<std::size_t>(((image * p.k + f) * p.oh + y + i) * p.ow + x + j)] = total;
            }
          }
        }
      }
    }
  }
  return w;
}

// How many of `size` places lie under some window.
std::int64_t places_used(std::int64_t size, std::int64_t outputs, std::int64_t window, std::int64_t stride,
                         std::int64_t pad, std::int64_t dilation) {
  std::vector<bool> used(static_cast<std::size_t>(size));
  for (std::int64_t y = 0; y < outputs; ++y) {
    for (std::int64_t a = 0; a < window; ++a) {
      const std::int64_t at = y * stride + a * dilation - pad;
      if (at >= 0 && at < size) used[static_cast<std::size_t>(at)] = true;
    }
  }
  return std::count(used.begin(), used.end(), true);
}

// What is one more across than down, or down than across.
const std::vector<std::string> kUnequalWords = {"none",        "stride",   "pad",          "dilation",
                                                "stride_down", "pad_down", "dilation_down"};

// How much more than its parameter `key` is: across, or down.
int one_more(std::string_view unequal, std::string_view key, bool across) {
  return unequal.starts_with(key) && unequal.substr(key.size()) == (across ? "" : "_down") ? 1 : 0;
}

// One side of the images of a point: down, or across.
struct Side {
  Side(const Point& p, bool across)
      : size(p[across ? "w" : "h"]),
        window(p[across ? "s" : "r"]),
        stride(step(p, "stride", across)),
        pad(step(p, "pad", across)),
        dilation(step(p, "dilation", across)) {
    const double free = size + 2 * pad - dilation * (window - 1) - 1;
    outputs = free < 0 ? 0 : std::floor(free / stride) + 1;
  }
  static double step(const Point& p, const char* key, bool across) {
    return p[key] + one_more(p.word("unequal"), key, across);
  }
  // Whether some window has a pixel under it.
  [[nodiscard]] bool sees_pixels() const {
    for (double tap = 0; tap < window; ++tap) {
      const double place = tap * dilation - pad, first = std::max(0.0, std::ceil(-place / stride));
      if (first < outputs && place + first * stride < size) return true;
    }
    return outputs == 0;
  }
  double size, window, stride, pad, dilation, outputs;
};

double outputs_of_plane(const Point& p) { return Side(p, false).outputs * Side(p, true).outputs; }
double outputs_of(const Point& p) { return p["n"] * p["k"] * outputs_of_plane(p); }
double terms_of_output(const Point& p) { return p["c"] * p["r"] * p["s"]; }

// A size beyond 16 bits stands alone, and something is computed, for several images: in one alone nothing is a multiple of the size.
bool stands_alone(const Point& p) {
  const auto large = std::count_if(p.numbers.begin(), p.numbers.end(), [](double v) { return v > 65535; });
  const double work = outputs_of(p) * terms_of_output(p);
  return large == 0 || (large == 1 && p["n"] > 1 && work > 0 && work < 1.3e6);
}

// What differs tells nothing where no output or no tap stands beside another one.
bool tells_unequal(const Point& p) {
  const double down = Side(p, false).outputs, across = Side(p, true).outputs;
  const std::string& unequal = p.word("unequal");
  const bool of_taps = unequal.starts_with("dilation");
  return down * across == 0 || p["n"] * p["k"] == 0 ||
         ((unequal != "stride" || across > 1) && (unequal != "stride_down" || down > 1) &&
          (!of_taps || p["s"] > 1 || p["r"] > 1));
}

void describe_sizes(CaseSpace& space) {
  space.extent("n", {.values = {0, 1, 2, 3, 9}, .beyond_16_bits = true, .timed = timed_size(1, 128)})
      .extent("c", {.values = {0, 1, 3, 8, 17, 32, 65, 129, 600}, .timed = timed_size(3, 1024)})
      .extent("h", {.values = {0, 1, 2, 5, 8, 13, 16, 31, 33, 65, 600},
                    .beyond_16_bits = true,
                    .timed = timed_size(4, 512)})
      .extent("w", {.values = {1, 2, 7, 8, 15, 16, 32, 63, 129, 5000},
                    .beyond_16_bits = true,
                    .timed = timed_size(4, 512, "h", 0.75)})
      .extent("k", {.values = {0, 1, 4, 9, 16, 33, 64, 65, 600},
                    .beyond_16_bits = true,
                    .timed = timed_size(4, 1024, "c", 0.4)})
      .extent("r",
              {.values = {1, 2, 3, 4, 5, 7}, .timed = timed_words({"1", "1", "1", "3", "3", "3", "5", "7"})})
      .extent("s", {.values = {1, 2, 3, 4, 5, 7}, .timed = timed_words({"1", "3", "5", "7"}, "r", 0.9)});
  space.extent("stride", {.values = {1, 2, 3, 5}, .timed = timed_words({"1", "1", "1", "2"})})
      .extent("pad", {.values = {1, 2, 4},
                      .may_be_none = true,
                      .together = {{"r=1,s=1", "unequal"}, {"r=1,s=1", "stride"}, {"r", "stride"}},
                      .timed = timed_words({"0", "1", "2", "3"})})
      .extent("dilation", {.values = {1, 2, 3}, .timed = timed_words({"1", "1", "1", "1", "1", "2"})});
  space.words("unequal", kUnequalWords).layout({.widths = {"w"}});
  space.timed_family(timed::convolutions());
}

// What kernels are made for, by several values together.
void describe_kernels(CaseSpace& space) {
  using enum Met;
  space.one_case({"one pixel", "r=1,s=1", "a product of matrices", with_all})
      .one_case(
          {"Winograd's", "r=3,s=3,stride=1,dilation=1,unequal=none", "filters are transformed", with_all})
      .one_case({"one pixel, padded across alone", "r=1,s=1,stride=1,pad=0,unequal=pad", "of several"})
      .one_case({"one pixel, a step across alone", "r=1,s=1,stride=1,pad=0,unequal=stride",
                 "rows follow each other as in a product of matrices, and their pixels do not"});
  for (const char* const filter : {"r=1,s=2", "r=2,s=2|4"})
    space.one_case({"just beyond a block",
                    fmt::format("{},n=1,c=129,h=5,w=7,k=1,stride=1,pad=0,dilation=1", filter),
                    "a few terms more than kernels stage at a time, and each of them sees pixels"});
  space.one_case(
      {"one pixel, a ring of stages", "n=2,c=65,h=8,w=8,k=9,r=1,s=1,stride=1,pad=0,unequal=none,layout=wide",
       "more tiles of channels than a ring holds, where images are matrices of whole vectors", dear});
  for (const char* const sizes : {"n=3,c=20,h=5,w=13,k=65", "n=2,c=513,h=3,w=11,k=5"})
    space.one_case(
        {"one pixel, images in tiles", fmt::format("{},r=1,s=1,stride=1,pad=0,unequal=none", sizes),
         "tiles that do not cross from one image into the next: several, ragged; few, of much depth", dear});
  // problems of the same arrays that differ in one field alone
  for (const char* const steps :
       {"pad=0,dilation=1,stride=1", "pad=1,dilation=2,stride=1", "pad=1,dilation=1,stride=1",
        "pad=2,dilation=2,stride=1", "pad=0,dilation=1,stride=2", "pad=1,dilation=2,stride=2",
        "pad=1,dilation=1,stride=2", "pad=2,dilation=2,stride=2"})
    space.one_case({"one field differs",
                    fmt::format("n=2,c=3,h=8,w=9,k=4,r=3,s=3,unequal=none,{},fill=real", steps),
                    "images, filters and most answers of one size: what is kept under an incomplete key"});
  space.one_case({"filters beyond half a tile", "n=1,c=65,h=1,w=32,k=33,r=1,s=5,stride=1,pad=0,dilation=1",
                  "one tile of filters, full and ragged, whose sums are deep enough to be made in parts",
                  dear});
  space.one_case({"all but one array on 16 bytes",
                  "layout=not_1|not_2|not_3,n=2,c=8,h=16,w=16,k=4,r=1,s=1,stride=1,pad=0,dilation=1",
                  "whole vectors: a kernel that forgets to ask about that array takes its wide path", dear});
}

// One dimension of a convolution.
struct Dimension {
  std::int32_t size, window, stride, pad, dilation;
  [[nodiscard]] std::int32_t outputs() const {
    return static_cast<std::int32_t>(Conv2d::extent(size, window, stride, pad, dilation));
  }
  // Members in which they differ.
  [[nodiscard]] unsigned difference(const Dimension& b) const {
    return (size != b.size ? 1u : 0) | (window != b.window ? 2u : 0) | (stride != b.stride ? 4u : 0) |
           (pad != b.pad ? 8u : 0) | (dilation != b.dilation ? 16u : 0);
  }
};
struct Geometry {
  Dimension down, across;
  // A set of members, those of `down` in the lower bits.
  [[nodiscard]] unsigned difference(const Geometry& b) const {
    return down.difference(b.down) | across.difference(b.across) << 5;
  }
  [[nodiscard]] std::int64_t outputs() const { return std::int64_t{down.outputs()} * across.outputs(); }
};

template <class T>
Geometry geometry_of(const Conv2d::Problem<T>& p) {
  return {{p.h, p.r, p.stride_h, p.pad_h, p.dilation_h}, {p.w, p.s, p.stride_w, p.pad_w, p.dilation_w}};
}

// (a, b) and the next products of two numbers that are the same, and (b, a).
std::vector<std::pair<std::int32_t, std::int32_t>> products_like(std::int32_t a, std::int32_t b) {
  std::vector<std::pair<std::int32_t, std::int32_t>> all{{a, b}};
  if (a != b) all.emplace_back(b, a);
  for (const std::int32_t f : {2, 3}) {
    if (a % f == 0 && std::int64_t{b} * f < 46'341) all.emplace_back(a / f, b * f);
    if (b % f == 0 && std::int64_t{a} * f < 46'341) all.emplace_back(a * f, b / f);
  }
  return all;
}

// This dimension, and the same with another stride, pad and dilation.
std::vector<Dimension> dimensions_like(const Dimension& of) {
  std::vector<Dimension> all{of};
  for (std::int32_t stride = 1; stride <= 2; ++stride) {
    for (std::int32_t pad = 0; pad <= 3; ++pad) {
      for (std::int32_t dilation = 1; dilation <= 2; ++dilation)
        all.push_back({of.size, of.window, stride, pad, dilation});
    }
  }
  return all;
}

// Other geometries over arrays of the same shapes, one for each set of members that may differ, the smallest sets first.
std::vector<Geometry> neighbours(const Geometry& g) {
  std::map<std::pair<int, unsigned>, Geometry> found;
  for (const auto& [h, w] : products_like(g.down.size, g.across.size)) {
    for (const auto& [r, s] : products_like(g.down.window, g.across.window)) {
      const std::vector<Dimension> across =
          dimensions_like({w, s, g.across.stride, g.across.pad, g.across.dilation});
      for (const Dimension& down : dimensions_like({h, r, g.down.stride, g.down.pad, g.down.dilation})) {
        for (const Dimension& other : across) {
          const Geometry next{down, other};
          const unsigned set = next.difference(g);
          if (set != 0 && next.outputs() == g.outputs()) found.try_emplace({std::popcount(set), set}, next);
        }
      }
    }
  }
  std::vector<Geometry> all;
  for (const auto& [set, next] : found) all.push_back(next);
  return all;
}

}  // namespace

void Conv2d::describe(CaseSpace& space) {
  using enum Fill;
  describe_sizes(space);
  space.fills({exact, wide, index, real, positive, scaled, hostile, few});
  const auto cancels = [](const Point& p) {
    return p.word("facing") != "cancels" || p["c"] > 2;
  };  // channels
  const auto not_all_zeros = [](const Point& p) {
    return Side(p, false).sees_pixels() && Side(p, true).sees_pixels();
  };
  const auto as_users_have = [](const Point& p) {  // at most half a window lies outside of the image
    return p["pad"] == 0 || 2 * p["pad"] < p["dilation"] * (std::min(p["r"], p["s"]) - 1) + 1;
  };
  space.work({.multiply_adds = [](const Point& p) { return outputs_of(p) * terms_of_output(p); },
              .elements =
                  [](const Point& p) {
                    return p["n"] * p["c"] * p["h"] * p["w"] + p["k"] * terms_of_output(p) + outputs_of(p);
                  },
              .terms = terms_of_output,
              .where = {stands_alone, tells_unequal},
              .tells = {cancels, not_all_zeros},
              .timed = as_users_have});
  space.alike({"n", "c"}).alike({"h", "w"}).alike({"c", "k"}).alike({"r", "s"});
  const Count large_plane{.with = "n=1,c=1,h=16,w=5000,k=1,r=1,s=1,stride=1,pad=0,dilation=1"};
  space.count("planes", [](const Point& p) { return p["n"] * p["c"]; })
      .count(
          "pixels of a plane", [](const Point& p) { return p["h"] * p["w"]; }, large_plane)
      .count("terms", terms_of_output)
      .count("output planes", [](const Point& p) { return p["n"] * p["k"]; })
      .count("outputs of a plane", outputs_of_plane, large_plane);
  describe_kernels(space);
  space.special("facing").special("zeros", {"0", "0.5"}).special("equal", {"0", "1"});
}

void Conv2d::cases(CaseList& list) {
  using enum Fill;
  add_looks(list, "n=2,c=37,h=8,w=9,k=7,r=3,s=3,stride=1,pad=1,dilation=1");
  // whole numbers by a reciprocal of 16 bits: a tap's number over those of a window is wrong only where there are thousands of taps
  for (const char* const window :
       {"c=330,h=5,w=6,k=2,r=5,s=5", "c=168,h=7,w=8,k=2,r=7,s=7", "c=68,h=11,w=12,k=2,r=11,s=11"})
    list.add(Tier::smoke, fmt::format("n=1,{}", window), {exact}, "more than 8,192 taps in large windows");
  list.add_cancelling("n=1,c=8209,h=1,w=3,k=2,r=1,s=1");
  list.add_cancelling("n=1,c=329,h=5,w=6,k=2,r=5,s=5");
  for (const char* const differ : {"dilation_h=2,dilation_w=1", "stride_h=2,stride_w=1", "pad_h=2,pad_w=1"}) {
    list.add(Tier::smoke, fmt::format("n=1,c=2,h=9,w=9,k=3,r=3,s=3,{}", differ), {exact},
             "height and width alike but for one number: in its twin that number alone is another");
  }
  list.add(Tier::smoke, "n=0,c=3,h=5,w=5,k=4,r=3,s=3", {exact}, "no images: nothing may be touched");
  list.add(Tier::smoke, "n=2,c=3,h=5,w=5,k=0,r=3,s=3", {exact}, "no filters: nothing may be touched");
  list.add(Tier::smoke, "n=2,c=0,h=5,w=5,k=37,r=3,s=3,pad=1", {exact}, "no channels: +0 everywhere");
  list.add(Tier::smoke, "n=2,c=3,h=2,w=5,k=4,r=3,s=3", {exact}, "a window higher than the image: no outputs");
  list.add(Tier::smoke, "n=1,c=2,h=0,w=4,k=3,r=3,s=3,pad=2", {exact},
           "an image of no rows in its padding: zeros");
  list.add(Tier::smoke, "n=1,c=1,h=1,w=1,k=1,r=1,s=1", {exact, real}, "the smallest product");
  list.add(Tier::smoke, "n=1,c=1,h=3,w=3,k=1,r=3,s=3", {exact, real},
           "one window, one tile of Winograd mostly outside");
  list.add(Tier::smoke, "n=1,c=1,h=1,w=40,k=2,r=3,s=3,pad=1", {exact, real},
           "one row: two of three taps in padding");
  list.add(
      Tier::smoke, "n=1,c=1,h=3,w=107,k=1,r=1,s=1", {exact},
      "107 outputs across: in fp32 and in fp64 its reciprocal is rounded down, and 107 times it is below 1");
  list.add(Tier::smoke, "n=2,c=5,h=12,w=15,k=7,r=3,s=3,pad=1", {exact, index, wide, real, scaled, hostile},
           "the layer of most networks, odd columns, odd channels and filters");
  list.add(Tier::smoke, "n=1,c=4,h=9,w=11,k=9,r=3,s=3", {exact, index, real, hostile},
           "no padding, 7 x 9 outputs: ragged tiles of Winograd both ways");
  list.add(Tier::smoke, "n=3,c=8,h=8,w=8,k=8,r=3,s=3,pad=1", {exact, real, positive},
           "powers of two: nothing ragged");
  list.add(Tier::smoke, "n=1,c=3,h=17,w=33,k=33,r=3,s=3,pad=1", {exact, real},
           "one more than a tile of 32 columns, of 8 and 16 rows, of 32 filters");
  list.add(Tier::smoke, "n=1,c=2,h=31,w=63,k=5,r=3,s=3,pad=1", {exact, real}, "one less than tiles");
  list.add(Tier::smoke, "n=1,c=17,h=6,w=7,k=65,r=3,s=3,pad=1", {exact, real},
           "one more than a tile of 64 filters, channels past two stages of 8");
  list.add(Tier::smoke, "n=9,c=3,h=5,w=5,k=4,r=3,s=3,pad=1", {exact, index, real, hostile},
           "images smaller than a tile of pixels: a tile crosses them");
  list.add(Tier::smoke, "n=1,c=129,h=6,w=6,k=3,r=3,s=3,pad=1", {exact, wide, real, positive},
           "1161 terms: drift, and many stages of channels");
  list.add(Tier::smoke, "n=1,c=3,h=10,w=9,k=4,r=3,s=3,pad=2", {exact, real, hostile},
           "padding as wide as the window allows: corners see one pixel");
  list.add(Tier::smoke, "n=1,c=2,h=4,w=5,k=3,r=3,s=3,pad=4", {exact, real},
           "padding wider than the window: whole windows of zeros");
  list.add(Tier::smoke, "n=2,c=17,h=13,w=11,k=19,r=1,s=1", {exact, index, wide, real, hostile},
           "1 x 1: a product of matrices and nothing else");
  list.add(Tier::smoke, "n=2,c=16,h=8,w=16,k=32,r=1,s=1", {exact, real}, "1 x 1, whole vectors");
  list.add(Tier::smoke, "n=2,c=6,h=13,w=14,k=9,r=1,s=1,stride=2", {exact, real},
           "1 x 1 with stride: most pixels are not read");
  list.add(Tier::smoke, "n=1,c=3,h=7,w=9,k=4,r=1,s=1,pad=1", {exact, real},
           "1 x 1 with padding: a frame of zeros");
  list.add(Tier::smoke, "n=2,c=4,h=11,w=17,k=6,r=5,s=5,pad=2", {exact, index, real, hostile}, "5 x 5");
  list.add(Tier::smoke, "n=2,c=3,h=29,w=31,k=5,r=7,s=7,stride=2,pad=3", {exact, index, real, hostile},
           "a first layer: 7 x 7, stride 2, odd image");
  list.add(Tier::smoke, "n=1,c=3,h=16,w=18,k=4,r=4,s=4,stride=4", {exact, real},
           "patches: windows that do not overlap, an even filter");
  list.add(Tier::smoke, "n=1,c=3,h=17,w=15,k=4,r=3,s=3,stride_h=2,stride_w=1,pad=1", {exact, real},
           "strides that differ: down");
  list.add(Tier::smoke, "n=1,c=3,h=14,w=15,k=4,r=2,s=2,stride=3", {exact, real},
           "a stride longer than the window: pixels that no window sees");
  list.add(Tier::smoke, "n=2,c=3,h=9,w=12,k=5,r=1,s=5,pad_h=0,pad_w=2", {exact, real},
           "a row as a filter: r and s exchanged show");
  list.add(Tier::smoke, "n=2,c=3,h=12,w=9,k=5,r=5,s=1,pad_h=2,pad_w=0", {exact, real},
           "a column as a filter");
  list.add(Tier::smoke, "n=1,c=4,h=13,w=12,k=5,r=3,s=3,pad=2,dilation=2", {exact, index, real, hostile},
           "dilation: windows with holes");
  list.add(Tier::smoke, "n=1,c=2,h=15,w=17,k=3,r=3,s=2,stride=2,pad=1,dilation_h=1,dilation_w=3",
           {exact, real}, "dilations that differ, with stride");
  list.add(Tier::smoke, "n=2,c=4,h=9,w=8,k=6,r=3,s=3,pad=1,zeros=0.5", {real, hostile},
           "pixels as after a ReLU: a zero that is skipped loses the NaN or Inf beside it");
  for (const char* const faced :
       {"r=1,s=1,facing=zeros", "r=1,s=1,facing=run_of_zeros", "r=3,s=3,pad=1,facing=run_of_zeros"})
    list.add(Tier::smoke, fmt::format("n=2,c=37,h=5,w=7,k=7,{}", faced), {real},
             "zeros of a channel face NaN and infinities alone: pruned taps and quiet channels, passed over");
  list.add(Tier::smoke, "n=1,c=9,h=1,w=129,k=33,r=3,s=3,pad=1", {exact, real},
           "one long row: one more than a tile of 32 filters, and than a stage of 8 channels");
  list.add(Tier::smoke, "n=2,c=9,h=16,w=16,k=64,r=3,s=3,pad=1", {exact, real},
           "whole tiles of outputs and of 64 filters, channels one past a stage");
  list.add(Tier::smoke, "n=1,c=1,h=23,w=29,k=1,r=9,s=11,pad=1", {exact, real}, "one plane, a large filter");
  list.add(Tier::smoke, "n=1,c=1,h=1,w=5,k=4,r=1,s=4,pad_w=40001", {hostile},
           "more outputs beside the image than 16 bits count: NaN in a filter reaches them", {Dtype::f32});
  list.add(Tier::smoke, "n=1,c=1,h=1,w=70003,k=1,r=1,s=3,pad=1", {real}, "a row longer than 16 bits count",
           {Dtype::f32});
  list.add(Tier::smoke, "n=1,c=1,h=2,w=140007,k=1,r=3,s=3,pad=1", {real},
           "a row longer than 16 bits count by twos: tiles of two columns", {Dtype::f32});
  list.add(Tier::smoke, "n=1,c=70001,h=1,w=1,k=1,r=1,s=1,stride=1,pad=0,dilation=1", {real},
           "more channels than 16 bits count", {Dtype::f32});
  list.add(Tier::smoke, "n=2,c=19,h=6,w=6,k=5,r=1,s=1,layout=wide,first_nan=1", {real},
           "NaN in the first pixels, which copies of nothing are given as their source");
  list.add(Tier::smoke, "n=2,c=3,h=5,w=257,k=4,r=3,s=3,pad=1,equal=1", {exact, scaled},
           "box filters, pixels of many scales: a window moved by one pixel keeps the error of the largest");
  list.add(Tier::smoke, "n=2,c=1,h=1,w=1,k=70001,r=3,s=3,pad=1", {exact},
           "more filters than 16 bits count, for a second image");
  list.add(Tier::smoke, "n=1,c=1,h=1,w=70003,k=1,r=1,s=70001", {real}, "a filter wider than 16 bits count",
           {Dtype::f32});
  list.add(Tier::smoke, "n=1,c=1,h=70003,w=1,k=1,r=70001,s=1", {real}, "a filter higher than 16 bits count",
           {Dtype::f32});
  list.add(Tier::smoke, "n=1,c=2,h=1,w=70004,k=1,r=1,s=2,dilation=70001", {real},
           "pixels of one window further apart than 16 bits count", {Dtype::f32});
  list.add(Tier::smoke, "n=1,c=2,h=1,w=2,k=1,r=1,s=1,stride=70001,pad=70001", {real},
           "a padding wider than 16 bits count", {Dtype::f32});
  for (const char* const sides : {"r=3,s=2,pad_h=2,pad_w=0", "r=2,s=3,pad_h=0,pad_w=2"})
    list.add_hostile(Tier::smoke, fmt::format("n=1,c=3,h=5,w=7,k=9,{}", sides), 2,
                     "NaN of a filter meets zeros above and below the image alone, or beside it alone");
  list.add_hostile(Tier::smoke, "n=2,c=3,h=7,w=9,k=35,r=3,s=3,pad=1", 7,
                   "every special value at every class of position");

  list.add(Tier::full, "n=8,c=64,h=56,w=56,k=64,r=3,s=3,pad=1", {exact, wide, real, positive, hostile},
           "the 3 x 3 layer of ResNet's first stage");
  list.add(Tier::full, "n=8,c=3,h=224,w=224,k=64,r=7,s=7,stride=2,pad=3", {exact, real, hostile},
           "ResNet's first layer");
  list.add(Tier::full, "n=8,c=64,h=56,w=56,k=256,r=1,s=1", {exact, real, scaled}, "ResNet's widening 1 x 1");
  list.add(Tier::full, "n=4,c=256,h=14,w=14,k=256,r=3,s=3,pad=1", {exact, real},
           "deep and small: more sums than pixels");
  list.add(Tier::full, "n=1,c=512,h=7,w=7,k=512,r=3,s=3,pad=1", {exact, real, positive},
           "49 pixels: only filters and channels occupy a device");
  list.add(Tier::full, "n=32,c=6,h=28,w=28,k=16,r=5,s=5", {exact, index, real}, "LeNet's second layer");
  list.add(Tier::full, "n=3,c=37,h=101,w=103,k=41,r=3,s=3,pad=1", {exact, real, scaled, hostile},
           "prime in every dimension");
  list.add(Tier::full, "n=2,c=32,h=65,w=67,k=48,r=3,s=3,stride=2,pad=1", {exact, index, real},
           "a reduction between stages, odd image");
  list.add(Tier::stress, "n=33,c=65,h=1009,w=1009,k=2,r=3,s=3,stride=8,pad=1", {exact},
           "2,183,803,745 pixels: a 32-bit plane * ld wraps", {Dtype::f32});
  list.add_far_rows("n=3,c=2,h=5,w=4,k=5,r=3,s=3");
}

namespace {

// Channels face each other as rows of one operand and columns of another do: by facing=WORD (put_facing), with all taps of a channel, and
// its plane in every image, in the place of one element.
template <class T>
void put_facing_channels(T* x, T* f, const Conv2d::Problem<T>& p, const Case& c) {
  if (!c.has("facing")) return;
  const std::int64_t taps = std::int64_t{p.r} * p.s, pixels = std::int64_t{p.h} * p.w;
  std::vector<T> of_tap(static_cast<std::size_t>(std::int64_t{p.k} * p.c));
  for (std::int64_t tap = 0; tap < taps; ++tap) {
    for (std::size_t i = 0; i < of_tap.size(); ++i) of_tap[i] = f[static_cast<std::int64_t>(i) * taps + tap];
    put_facing(of_tap.data(), p.k, p.c, c, Role::left);
    for (std::size_t i = 0; i < of_tap.size(); ++i) f[static_cast<std::int64_t>(i) * taps + tap] = of_tap[i];
  }
  for (std::int64_t image = 0; image < p.n; ++image)
    put_facing(x + image * p.c * pixels, p.c, pixels, c, Role::right);
}

}  // namespace

template <class T>
void Conv2d::make(const Case& c, Instance<Conv2d, T>& instance) {
  Problem<T>& p = instance.problem;
  const auto size = [&](const char* key) { return narrow(c.integer(key), key); };
  const std::string unequal = c.text_or("unequal", "none");
  require_known_word(c, "unequal", unequal, kUnequalWords);
  // "stride" sets both dimensions, "stride_h" and "stride_w" one each; "unequal=stride": one more across, "unequal=stride_down": down
  const auto each_way = [&](const char* key, std::int64_t otherwise, std::int32_t& down,
                            std::int32_t& across) {
    const std::int64_t both = c.integer_or(key, otherwise);
    down = narrow(c.integer_or(std::string(key) + "_h", both + one_more(unequal, key, false)), key);
    across = narrow(c.integer_or(std::string(key) + "_w", both + one_more(unequal, key, true)), key);
  };
  p.n = size("n"), p.c = size("c"), p.h = size("h"), p.w = size("w");
  p.k = size("k"), p.r = size("r"), p.s = size("s");
  each_way("stride", 1, p.stride_h, p.stride_w);
  each_way("pad", 0, p.pad_h, p.pad_w);
  each_way("dilation", 1, p.dilation_h, p.dilation_w);
  if (p.stride_h < 1 || p.stride_w < 1) throw Error("conv2d: a stride is less than 1");
  p.oh = narrow(extent(p.h, p.r, p.stride_h, p.pad_h, p.dilation_h), "oh");
  p.ow = narrow(extent(p.w, p.s, p.stride_w, p.pad_w, p.dilation_w), "ow");
  const auto times = [](auto... v) { return (std::int64_t{1} * ... * v); };
  const std::int64_t planes = times(p.n, p.c), pixels = times(p.h, p.w), outputs = times(p.oh, p.ow);
  T* x = instance.arena.template allocate<T>(planes * pixels);
  fill_values(x, planes, pixels, c, Role::right, 1000);
  const double zeros = c.number_or("zeros", 0);  // the part of X's elements that are 0
  for (std::int64_t i = 0; zeros > 0 && i < planes * pixels; ++i) {
    if (random_unit(c.seed, 1200, static_cast<std::uint64_t>(i)) < zeros) x[i] = 0;
  }
  // what a copy reads in place of zeros that it forgets to ask for
  if (c.integer_or("first_nan", 0) != 0)
    std::fill_n(x, std::min<std::int64_t>(planes * pixels, 4), std::numeric_limits<T>::quiet_NaN());
  instance.in.X = {x, planes, pixels, pixels};
  const std::int64_t weights = times(p.c, p.r, p.s);
  T* f = instance.arena.template allocate<T>(p.k * weights);
  fill_values(f, p.k, weights, c, Role::left, 2000);
  for (std::int64_t i = 0; c.integer_or("equal", 0) != 0 && i < p.k; ++i)
    make_equal(f + i * weights, weights);
  put_facing_channels(x, f, p, c);
  instance.in.F = {f, p.k, weights, weights};
  instance.out.Y = {nullptr, times(p.n, p.k), outputs, outputs};
  instance.degenerate = instance.out.Y.rows * outputs <= 1 || planes * pixels == 0;
}

template <class T>
void Conv2d::validate(const Problem<T>& p, const In<T, Space::host>& in, const Out<T, Space::host>& out) {
  if (std::min({p.n, p.c, p.h, p.w, p.k}) < 0) throw Error("conv2d: a size is negative");
  if (p.r < 1 || p.s < 1) throw Error(fmt::format("conv2d: a filter of {} x {} has no place", p.r, p.s));
  if (std::min({p.stride_h, p.stride_w, p.dilation_h, p.dilation_w}) < 1)
    throw Error("conv2d: a stride or a dilation is less than 1");
  if (p.pad_h < 0 || p.pad_w < 0) throw Error("conv2d: a padding is negative");
  for (const std::int64_t framed : {p.h + std::int64_t{2} * p.pad_h, p.w + std::int64_t{2} * p.pad_w})
    (void)narrow(framed, "an image's side with its padding");
  if (p.oh != extent(p.h, p.r, p.stride_h, p.pad_h, p.dilation_h) ||
      p.ow != extent(p.w, p.s, p.stride_w, p.pad_w, p.dilation_w))
    throw Error(fmt::format("conv2d: outputs of {} x {} are not what the windows give", p.oh, p.ow));
  const auto check = [](const char* name, const auto& view, std::int64_t rows, std::int64_t cols) {
    if (view.rows != rows || view.cols != cols)
      throw Error(
          fmt::format("conv2d: {} is ({}, {}), not ({}, {})", name, view.rows, view.cols, rows, cols));
    if (view.ld < cols)
      throw Error(fmt::format("conv2d: {} has leading dimension {}, less than {}", name, view.ld, cols));
  };
  const std::int64_t n = p.n, c = p.c, h = p.h, k = p.k, oh = p.oh;
  check("X", in.X, n * c, h * p.w);
  check("F", in.F, k, c * p.r * p.s);
  check("Y", out.Y, n * k, oh * p.ow);
}

template <class T>
void Conv2d::oracle(const Problem<T>& p, const In<T, Space::host>& in, const Out<T, Space::host>& out,
                    Reference& reference) {
  ReferenceArray& y = reference.outputs.emplace_back();
  y.resize(out.Y.rows * out.Y.cols);
  const std::int64_t terms = in.F.cols, pixels = out.Y.cols;
  for (std::int64_t image = 0; image < p.n; ++image) {
    // the oracle computes each image as one product of matrices: filters by windows
    const std::vector<T> windows = windows_of(p, in.X, image);
    ReferenceArray part;
    oracle_dense_product<T>(T(1), in.F, {windows.data(), terms, pixels, pixels}, T(0),
                            {nullptr, p.k, pixels, pixels}, part);
    const std::ptrdiff_t at = image * p.k * pixels;
    std::copy(part.value.begin(), part.value.end(), y.value.begin() + at);
    std::copy(part.magnitude.begin(), part.magnitude.end(), y.magnitude.begin() + at);
    std::copy(part.terms.begin(), part.terms.end(), y.terms.begin() + at);
  }
  if (winograd_applies(p)) y.transformed = winograd_magnitude(p, in);
}

template <class T>
Work Conv2d::cost(const Problem<T>& p, const In<T, Space::host>& in, const Out<T, Space::host>& out) {
  const auto outputs = static_cast<double>(out.Y.rows) * static_cast<double>(out.Y.cols);
  const std::int64_t used = places_used(p.h, p.oh, p.r, p.stride_h, p.pad_h, p.dilation_h) *
                            places_used(p.w, p.ow, p.s, p.stride_w, p.pad_w, p.dilation_w);
  const double pixels = p.k == 0 ? 0 : static_cast<double>(in.X.rows) * static_cast<double>(used);
  const double filters = outputs == 0 ? 0 : static_cast<double>(in.F.rows) * static_cast<double>(in.F.cols);
  return {2 * outputs * static_cast<double>(in.F.cols), pixels + filters, outputs};
}

// The pixels of a window differ in scale, which no scale of a filter's terms balances.
double Conv2d::bound(const Tolerance& t, int, double value, double magnitude, std::int64_t terms) {
  if (t.arithmetic.transform != Arithmetic::Transform::winograd)
    return sum_bound_of_many_scales(t, value, magnitude, terms);
  // magnitude is W: multiples of 1/4 below 1 / (4 u) are exact
  if (is_bitwise(t.fill) && 4 * magnitude * t.unit() <= 1) return 0;
  Tolerance chain = t;
  if (is_bitwise(t.fill)) chain.fill = Fill::positive;
  return sum_bound_of_many_scales(chain, value, magnitude, terms / 9 + 10) +
         static_cast<double>(terms) * t.eta();
}

template <class T>
bool Conv2d::make_other(Problem<T>& p, int n) {
  if (n == 0) {  // height and width exchanged
    std::swap(p.h, p.w), std::swap(p.r, p.s), std::swap(p.oh, p.ow);
    std::swap(p.stride_h, p.stride_w), std::swap(p.pad_h, p.pad_w), std::swap(p.dilation_h, p.dilation_w);
    return true;
  }
  const std::vector<Geometry> all = neighbours(geometry_of(p));
  if (static_cast<std::size_t>(n) > all.size()) return false;
  const auto& [down, across] = all[static_cast<std::size_t>(n) - 1];
  p.h = down.size, p.r = down.window, p.oh = down.outputs();
  p.stride_h = down.stride, p.pad_h = down.pad, p.dilation_h = down.dilation;
  p.w = across.size, p.s = across.window, p.ow = across.outputs();
  p.stride_w = across.stride, p.pad_w = across.pad, p.dilation_w = across.dilation;
  return true;
}

template bool Conv2d::make_other<float>(Problem<float>&, int);
template bool Conv2d::make_other<double>(Problem<double>&, int);
PLUMB_INSTANTIATE_OPERATOR(Conv2d)

}  // namespace plumb
