#include "datasets/generators/digits.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "reference/core/error.hpp"
#include "reference/core/random.hpp"

namespace plumb {
namespace {

struct Point {
  double x, y;
};
using Stroke = std::vector<Point>;

constexpr std::int64_t kSide = 28;
constexpr double kBox = 20;  // pixels the longer side of a digit spans, pen included

// Control points in the unit square, y down. A pen moves through them along a Catmull-Rom curve; a point
// given twice makes a corner.
const std::array<std::vector<Stroke>, 10>& shapes() {
  static const std::array<std::vector<Stroke>, 10> kShapes{{
      {{{.55, .02},
        {.25, .15},
        {.12, .50},
        {.25, .86},
        {.50, .98},
        {.76, .85},
        {.88, .50},
        {.75, .14},
        {.50, .02}}},
      {{{.38, .18}, {.55, .02}, {.55, .02}, {.52, .50}, {.48, .98}}},
      {{{.15, .25},
        {.35, .04},
        {.70, .06},
        {.80, .30},
        {.55, .62},
        {.15, .94},
        {.15, .94},
        {.50, .90},
        {.90, .93}}},
      {{{.18, .12}, {.50, .02}, {.80, .20}, {.48, .46}, {.48, .46}, {.85, .68}, {.60, .95}, {.15, .88}}},
      {{{.25, .05}, {.18, .50}, {.18, .50}, {.50, .56}, {.82, .50}}, {{.75, .10}, {.70, .55}, {.66, .98}}},
      {{{.82, .05},
        {.32, .07},
        {.32, .07},
        {.24, .44},
        {.24, .44},
        {.65, .42},
        {.82, .68},
        {.58, .94},
        {.15, .90}}},
      {{{.70, .03}, {.38, .25}, {.18, .65}, {.35, .95}, {.68, .90}, {.74, .65}, {.48, .52}, {.22, .70}}},
      {{{.12, .08}, {.50, .08}, {.85, .06}, {.85, .06}, {.60, .50}, {.42, .98}}},
      {{{.75, .12},
        {.45, .02},
        {.22, .22},
        {.50, .48},
        {.76, .76},
        {.48, .98},
        {.24, .78},
        {.50, .48},
        {.78, .24},
        {.70, .08}}},
      {{{.76, .20}, {.48, .03}, {.22, .25}, {.42, .48}, {.74, .26}, {.74, .26}, {.70, .60}, {.58, .98}}},
  }};
  return kShapes;
}

// Numbers of one image, drawn in order.
class Hand {
 public:
  Hand(std::uint64_t seed, std::int64_t image) : seed_(seed), image_(static_cast<std::uint64_t>(image)) {}
  /// Mean 0, deviation 1, within +-3.5: the sum of four uniforms, because logarithms differ between
  /// machines.
  double normal() { return (unit() + unit() + unit() + unit() - 2.0) * 1.7320508075688772; }

 private:
  double unit() { return random_unit(seed_, 0x646967 + image_, index_++); }
  std::uint64_t seed_, image_, index_ = 0;
};

Stroke smooth(const Stroke& control) {
  constexpr int kSteps = 6;
  Stroke curve;
  const auto n = static_cast<std::ptrdiff_t>(control.size());
  const auto at = [&](std::ptrdiff_t i) {
    return control[static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(i, 0, n - 1))];
  };
  for (std::ptrdiff_t i = 0; i + 1 < n; ++i) {
    const Point a = at(i - 1), b = at(i), c = at(i + 1), d = at(i + 2);
    for (int k = 0; k < kSteps; ++k) {
      const double t = static_cast<double>(k) / kSteps;
      const auto cubic = [t](double p, double q, double r, double s) {
        return q + 0.5 * t * (r - p + t * (2 * p - 5 * q + 4 * r - s + t * (3 * (q - r) + s - p)));
      };
      curve.push_back({cubic(a.x, b.x, c.x, d.x), cubic(a.y, b.y, c.y, d.y)});
    }
  }
  curve.push_back(control.back());
  return curve;
}

double distance_squared(Point p, Point a, Point b) {
  const double dx = b.x - a.x, dy = b.y - a.y;
  const double length = dx * dx + dy * dy;
  const double t = length > 0 ? std::clamp(((p.x - a.x) * dx + (p.y - a.y) * dy) / length, 0.0, 1.0) : 0.0;
  const double ex = p.x - a.x - t * dx, ey = p.y - a.y - t * dy;
  return ex * ex + ey * ey;
}

// How one image deviates from its shape.
struct Style {
  explicit Style(Hand& hand)
      : slant(0.15 + 0.20 * hand.normal()), aspect(0.82 + 0.12 * hand.normal()), turn(0.08 * hand.normal()) {
    const double deviate = hand.normal();
    pen = std::max(1.0, 2.15 + 0.84 * deviate + 0.30 * deviate * deviate);
  }
  double slant, aspect, turn;
  // Width in pixels. Skewed to the right: most pens are thin, and the few broad ones give the rows that stay
  // active through a network.
  double pen;
};

// The curves of a digit, each control point moved by a random amount.
std::vector<Stroke> strokes_of(std::int64_t image, const Style& style, Hand& hand) {
  std::vector<Stroke> strokes;
  for (const Stroke& shape : shapes()[static_cast<std::size_t>(image % 10)]) {
    Stroke control;
    Point before{-1, -1};
    for (const Point& p : shape) {
      // The two points of a corner move together; otherwise the curve would have a loop there.
      if (!control.empty() && p.x == before.x && p.y == before.y) {
        control.push_back(control.back());
        continue;
      }
      before = p;
      const double x = (p.x - 0.5 + 0.035 * hand.normal()) * style.aspect;
      const double y = p.y - 0.5 + 0.035 * hand.normal();
      control.push_back({x - style.slant * y - style.turn * y, y + style.turn * x});
    }
    strokes.push_back(smooth(control));
  }
  return strokes;
}

// Scales the curves to the box, and moves their centre of mass to the middle of the image, as MNIST does.
void place(std::vector<Stroke>& strokes, double pen) {
  Point low{1e9, 1e9}, high{-1e9, -1e9};
  double mass = 0, mx = 0, my = 0;
  for (const Stroke& stroke : strokes) {
    for (const Point& p : stroke) {
      low = {std::min(low.x, p.x), std::min(low.y, p.y)};
      high = {std::max(high.x, p.x), std::max(high.y, p.y)};
    }
    for (std::size_t i = 1; i < stroke.size(); ++i) {
      const Point a = stroke[i - 1], b = stroke[i];
      const double length = std::sqrt((b.x - a.x) * (b.x - a.x) + (b.y - a.y) * (b.y - a.y));
      mass += length;
      mx += length * (a.x + b.x) / 2;
      my += length * (a.y + b.y) / 2;
    }
  }
  const double scale = (kBox - pen) / std::max(high.x - low.x, high.y - low.y);
  const Point middle{mx / mass, my / mass};
  for (Stroke& stroke : strokes) {
    for (Point& p : stroke) p = {14 + (p.x - middle.x) * scale, 14 + (p.y - middle.y) * scale};
  }
}

// The squared distance of each pixel from the nearest curve; of pixels out of the pen's reach, a large number.
std::array<double, kSide * kSide> squared_distances(const std::vector<Stroke>& strokes, double pen) {
  std::array<double, kSide * kSide> nearest;
  nearest.fill(1e9);
  const double reach = pen / 2 + 1;
  for (const Stroke& stroke : strokes) {
    for (std::size_t i = 1; i < stroke.size(); ++i) {
      const Point a = stroke[i - 1], b = stroke[i];
      const auto from = [](double v) {
        return std::clamp<std::int64_t>(static_cast<std::int64_t>(v), 0, kSide - 1);
      };
      const std::int64_t x0 = from(std::min(a.x, b.x) - reach), x1 = from(std::max(a.x, b.x) + reach);
      const std::int64_t y0 = from(std::min(a.y, b.y) - reach), y1 = from(std::max(a.y, b.y) + reach);
      for (std::int64_t y = y0; y <= y1; ++y) {
        for (std::int64_t x = x0; x <= x1; ++x) {
          const Point p{static_cast<double>(x) + 0.5, static_cast<double>(y) + 0.5};
          double& best = nearest[static_cast<std::size_t>(y * kSide + x)];
          best = std::min(best, distance_squared(p, a, b));
        }
      }
    }
  }
  return nearest;
}

void draw(std::uint64_t seed, std::int64_t image, std::uint8_t* pixels) {
  Hand hand(seed, image);
  const Style style(hand);
  std::vector<Stroke> strokes = strokes_of(image, style, hand);
  place(strokes, style.pen);
  const std::array<double, kSide* kSide> nearest = squared_distances(strokes, style.pen);
  for (std::size_t i = 0; i < nearest.size(); ++i) {
    // An edge two pixels wide, as MNIST's smoothing leaves it.
    const double ink = std::clamp((style.pen / 2 + 0.5 - std::sqrt(nearest[i])) / 1.1, 0.0, 1.0);
    pixels[i] = static_cast<std::uint8_t>(std::min(255.0, 280.0 * ink));
  }
}

}  // namespace

GreyImages digit_images(std::int64_t count, std::uint64_t seed) {
  if (count < 0 || count > 100'000'000) {
    throw input_error("digits", 0, "the number of images must be 0..100000000", std::to_string(count));
  }
  GreyImages images;
  images.count = count;
  images.rows = images.cols = kSide;
  images.pixels.resize(static_cast<std::size_t>(count * kSide * kSide));
#pragma omp parallel for schedule(dynamic, 256)
  for (std::int64_t m = 0; m < count; ++m) draw(seed, m, images.pixels.data() + m * kSide * kSide);
  return images;
}

std::int64_t image_side(std::int64_t neurons) {
  std::int64_t side = 0;
  while (side <= 1024 && side * side < neurons) side += 2;
  if (side < 2 || side * side != neurons) {
    throw input_error("images", 0, "neurons must be the square of an even number in 2..1024",
                      std::to_string(neurons));
  }
  return side;
}

PixelMask digit_inputs(std::int64_t count, std::int64_t neurons, std::uint64_t seed) {
  const std::int64_t side = image_side(neurons);
  return fourier_inputs(digit_images(count, seed), side);
}

}  // namespace plumb
