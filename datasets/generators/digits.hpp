// Generated handwriting: digit-like images drawn from strokes, so that the sparse-DNN challenge runs where MNIST
// is missing. mnist.hpp turns images of either origin into inputs.
#pragma once
#include <cstdint>

#include "datasets/generators/mnist.hpp"

namespace plumb {

/// `count` greyscale images of 28 x 28, image m a digit m % 10 in its own style: control points, slant,
/// aspect and pen width vary by (seed, m) alone, so any image is the same whatever the count. As in MNIST the
/// longer side of a digit spans 20 pixels and its centre of mass is in the middle. Only + - * / and square
/// roots are used: every machine draws the same bytes.
[[nodiscard]] GreyImages digit_images(std::int64_t count, std::uint64_t seed);

/// Inputs for a network of `neurons` = side^2 neurons, side even: digit_images through fourier_inputs. At
/// 1024 neurons and seed 1, rows hold 105 ones on average (MNIST: 106) and 3.2 % of them stay active through 120
/// layers of the official network (MNIST: 3.0 %). Throws Error when neurons is not the square of an even number
/// in 2..1024.
[[nodiscard]] PixelMask digit_inputs(std::int64_t count, std::int64_t neurons, std::uint64_t seed);

/// The side of a square image of `neurons` pixels. Throws Error when there is none that is even and
/// in 2..1024.
[[nodiscard]] std::int64_t image_side(std::int64_t neurons);

}  // namespace plumb
