#include "datasets/generators/mnist.hpp"

#include <fftw3.h>
#include <omp.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <complex>
#include <limits>
#include <memory>
#include <numbers>
#include <string_view>

#include "reference/core/error.hpp"

namespace plumb {
namespace {

using Complex = std::complex<double>;

struct FftwFree {
  void operator()(void* p) const { fftw_free(p); }
};
template <class T>
using FftwBuffer = std::unique_ptr<T[], FftwFree>;

template <class T>
FftwBuffer<T> fftw_buffer(std::int64_t count) {
  auto* p = static_cast<T*>(fftw_malloc(static_cast<std::size_t>(count) * sizeof(T)));
  if (p == nullptr) throw std::bad_alloc();
  return FftwBuffer<T>(p);
}

struct PlanDestroy {
  void operator()(fftw_plan_s* plan) const { fftw_destroy_plan(plan); }
};
using Plan = std::unique_ptr<fftw_plan_s, PlanDestroy>;

// e^{2 pi i numerator / denominator}, the angle reduced first.
Complex turn(std::int64_t numerator, std::int64_t denominator) {
  const std::int64_t k = ((numerator % denominator) + denominator) % denominator;
  const double angle = 2.0 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(denominator);
  return {std::cos(angle), std::sin(angle)};
}

// Resizing is separable. Along the picture every row is one long real transform. The kept Nyquist term makes
// its result complex, but only by one known wave: h_r(t) = p_r(t) + c_r w(t), p real, w(t) = e^{-i pi m t /
// side}. So memory holds p alone, and the short direction is a real (side x rows) matrix applied to p plus
// rank-one corrections.
struct Rows {
  std::int64_t width = 0;     // count * side
  std::vector<double> real;   // (rows, width): p
  std::vector<Complex> wave;  // (rows): c
};

Rows resize_along(const GreyImages& images, std::int64_t side) {
  const std::int64_t wide_in = images.count * images.cols;
  const std::int64_t wide_out = images.count * side;
  const std::int64_t nyquist = std::min(wide_in, wide_out) / 2;
  const std::int64_t spectrum = std::max(wide_in, wide_out) / 2 + 1;

  Rows rows;
  rows.width = wide_out;
  rows.real.resize(static_cast<std::size_t>(images.rows * wide_out));
  rows.wave.resize(static_cast<std::size_t>(images.rows));

  const int threads = static_cast<int>(std::min<std::int64_t>(omp_get_max_threads(), images.rows));
  std::vector<FftwBuffer<double>> line(static_cast<std::size_t>(threads));
  std::vector<FftwBuffer<fftw_complex>> waves(static_cast<std::size_t>(threads));
  for (std::size_t k = 0; k < line.size(); ++k) {
    line[k] = fftw_buffer<double>(std::max(wide_in, wide_out));
    waves[k] = fftw_buffer<fftw_complex>(spectrum);
  }
  // Estimated plans depend on the size alone, so that results do not vary from run to run. Planning is not
  // thread-safe, and sizes above 2^31 are refused by the caller.
  const Plan forward(
      fftw_plan_dft_r2c_1d(static_cast<int>(wide_in), line[0].get(), waves[0].get(), FFTW_ESTIMATE));
  const Plan inverse(
      fftw_plan_dft_c2r_1d(static_cast<int>(wide_out), waves[0].get(), line[0].get(), FFTW_ESTIMATE));
  if (!forward || !inverse)
    throw input_error("fftw", 0, "no plan for this many images", std::to_string(images.count));

#pragma omp parallel for schedule(dynamic) num_threads(threads)
  for (std::int64_t r = 0; r < images.rows; ++r) {
    double* x = line[static_cast<std::size_t>(omp_get_thread_num())].get();
    fftw_complex* f = waves[static_cast<std::size_t>(omp_get_thread_num())].get();
    for (std::int64_t m = 0; m < images.count; ++m) {
      const std::uint8_t* from = images.pixels.data() + (m * images.rows + r) * images.cols;
      std::copy(from, from + images.cols, x + m * images.cols);
    }
    fftw_execute_dft_r2c(forward.get(), x, f);
    // The term at -nyquist is the conjugate of the one at +nyquist; it is kept apart, as the wave w.
    const double scale = 1.0 / static_cast<double>(wide_in);
    rows.wave[static_cast<std::size_t>(r)] = {f[nyquist][0] * scale, -f[nyquist][1] * scale};
    std::fill(&f[nyquist][0], &f[0][0] + 2 * spectrum, 0.0);
    fftw_execute_dft_c2r(inverse.get(), f, x);
    double* to = rows.real.data() + r * wide_out;
    for (std::int64_t t = 0; t < wide_out; ++t) to[t] = x[t] * scale;
  }
  return rows;
}

// The short direction, one image at a time: values (side columns, side rows) of |B|^2, column by column.
class Across {
 public:
  Across(const GreyImages& images, const Rows& rows, std::int64_t side)
      : in_(images.rows),
        side_(side),
        rows_(rows),
        matrix_(size(in_ * side)),
        wave_in_(size(in_)),
        wave_out_(size(side)),
        along_(size(side)),
        fixed_(size(side)) {
    const std::int64_t m = std::min(in_, side);  // frequencies kept: -m/2 .. m/2 - 1
    const double scale = 1.0 / static_cast<double>(in_);
    for (std::int64_t r = 0; r < in_; ++r) {
      wave_in_[size(r)] = turn(m / 2 * r, in_) * scale;
      for (std::int64_t u = 0; u < side; ++u) {
        // 1 + 2 sum_k cos(2 pi k (u / side - r / in)) over the frequencies that come in pairs
        double sum = 1.0;
        for (std::int64_t k = 1; k < m / 2; ++k)
          sum += 2.0 * turn(k * (u * in_ - r * side), side * in_).real();
        matrix_[size(r * side + u)] = sum * scale;
      }
    }
    for (std::int64_t u = 0; u < side; ++u) {
      wave_out_[size(u)] = turn(-(m / 2) * u, side);
      // w(t) repeats with every image: t = side * image + v gives e^{-i pi m image} = 1, since m is even
      along_[size(u)] = wave_out_[size(u)];
      for (std::int64_t r = 0; r < in_; ++r)
        fixed_[size(u)] += matrix_[size(r * side + u)] * rows.wave[size(r)];
    }
    for (std::int64_t r = 0; r < in_; ++r) corner_ += wave_in_[size(r)] * rows.wave[size(r)];
  }

  // Squared magnitudes of column v of image m, `out` (side).
  void column(std::int64_t m, std::int64_t v, double* __restrict out) const {
    const double* p = rows_.real.data() + m * side_ + v;
    const double* __restrict matrix = matrix_.data();
    double re_edge = 0, im_edge = 0;
    for (std::int64_t u = 0; u < side_; ++u) out[u] = 0;
    std::int64_t r = 0;
    for (; r + 4 <= in_; r += 4) {  // four rows a pass: a quarter of the loads and stores of `out`
      const double p0 = p[r * rows_.width], p1 = p[(r + 1) * rows_.width];
      const double p2 = p[(r + 2) * rows_.width], p3 = p[(r + 3) * rows_.width];
      const double* __restrict e = matrix + r * side_;
      for (std::int64_t u = 0; u < side_; ++u) {
        out[u] += p0 * e[u] + p1 * e[side_ + u] + p2 * e[2 * side_ + u] + p3 * e[3 * side_ + u];
      }
    }
    for (; r < in_; ++r) {
      const double p0 = p[r * rows_.width];
      for (std::int64_t u = 0; u < side_; ++u) out[u] += p0 * matrix[r * side_ + u];
    }
    for (std::int64_t k = 0; k < in_; ++k) {
      re_edge += p[k * rows_.width] * wave_in_[size(k)].real();
      im_edge += p[k * rows_.width] * wave_in_[size(k)].imag();
    }
    const Complex w = along_[size(v)];
    const Complex edge = Complex(re_edge, im_edge) + corner_ * w;
    const double wr = w.real(), wi = w.imag(), er = edge.real(), ei = edge.imag();
    const auto* __restrict fixed = reinterpret_cast<const double*>(fixed_.data());
    const auto* __restrict wave = reinterpret_cast<const double*>(wave_out_.data());
    for (std::int64_t u = 0; u < side_; ++u) {
      const double re =
          out[u] + wr * fixed[2 * u] - wi * fixed[2 * u + 1] + er * wave[2 * u] - ei * wave[2 * u + 1];
      const double im = wr * fixed[2 * u + 1] + wi * fixed[2 * u] + er * wave[2 * u + 1] + ei * wave[2 * u];
      out[u] = re * re + im * im;
    }
  }

 private:
  static std::size_t size(std::int64_t i) { return static_cast<std::size_t>(i); }

  std::int64_t in_, side_;
  const Rows& rows_;
  std::vector<double>
      matrix_;  // (in, side): real interpolation, transposed so that output rows are contiguous
  std::vector<Complex> wave_in_;   // (in): weight of an input row in the Nyquist term
  std::vector<Complex> wave_out_;  // (side): that term at an output row
  std::vector<Complex> along_;     // (side): w(t) within an image
  std::vector<Complex> fixed_;     // (side): matrix applied to the waves of the rows
  Complex corner_;                 // the term that is Nyquist both ways
};

}  // namespace

std::int64_t PixelMask::nnz() const {
  std::int64_t count = 0;
  for (const std::uint64_t word : bits) count += std::popcount(word);
  return count;
}

PixelMask fourier_inputs(const GreyImages& images, std::int64_t side) {
  if (images.rows != images.cols || images.rows % 2 != 0 || images.rows < 2) {
    throw input_error("images", 0, "sides must be equal and even, are",
                      std::to_string(images.rows) + " x " + std::to_string(images.cols));
  }
  if (side < 2 || side > 1024 || side % 2 != 0) {
    throw input_error("images", 0, "the new side must be even, 2..1024, is", std::to_string(side));
  }
  if (images.count * std::max(side, images.cols) > std::numeric_limits<int>::max()) {
    throw input_error("images", 0, "too many for one picture", std::to_string(images.count));
  }
  PixelMask mask;
  mask.rows = images.count;
  mask.features = side * side;
  mask.words = (mask.features + 63) / 64;
  mask.bits.assign(static_cast<std::size_t>(mask.rows * mask.words), 0);
  if (images.count == 0) return mask;

  const Rows rows = resize_along(images, side);
  const Across across(images, rows, side);
  double maximum = 0;  // of squares
#pragma omp parallel reduction(max : maximum)
  {
    std::vector<double> column(static_cast<std::size_t>(side));
#pragma omp for schedule(static)
    for (std::int64_t m = 0; m < images.count; ++m) {
      for (std::int64_t v = 0; v < side; ++v) {
        across.column(m, v, column.data());
        for (const double x : column) maximum = std::max(maximum, x);
      }
    }
  }
  mask.maximum = std::sqrt(maximum);
  if (maximum == 0) return mask;  // blank images: half of nothing is reached everywhere, and means nothing
  // The second pass computes again what the first threw away: 31 GB at side 256, which costs more to keep
  // than to redo.
  const double threshold = maximum / 4;
#pragma omp parallel
  {
    std::vector<double> column(static_cast<std::size_t>(side));
#pragma omp for schedule(static)
    for (std::int64_t m = 0; m < images.count; ++m) {
      std::uint64_t* out = mask.bits.data() + m * mask.words;
      for (std::int64_t v = 0; v < side; ++v) {
        across.column(m, v, column.data());
        for (std::int64_t u = 0; u < side; ++u) {
          const std::int64_t feature = v * side + u;
          const std::uint64_t lit = column[static_cast<std::size_t>(u)] >= threshold ? 1 : 0;
          out[feature / 64] |= lit << (feature % 64);
        }
      }
    }
  }
  return mask;
}

Csr<float> to_csr(const PixelMask& mask, std::int64_t first, std::int64_t count) {
  if (first < 0 || count < 0 || first + count > mask.rows) {
    throw input_error("images", 0, "rows outside the set",
                      std::to_string(first) + " + " + std::to_string(count));
  }
  Csr<float> y;
  y.rows = count;
  y.cols = mask.features;
  y.row_ptr.resize(static_cast<std::size_t>(count + 1));
  std::int64_t nnz = 0;
  for (std::int64_t m = 0; m < count; ++m) {
    const std::uint64_t* row = mask.bits.data() + (first + m) * mask.words;
    for (std::int64_t w = 0; w < mask.words; ++w) nnz += std::popcount(row[w]);
    if (nnz > std::numeric_limits<std::int32_t>::max()) {
      throw input_error("images", 0, "non-zeros do not fit 32-bit offsets; take fewer rows",
                        std::to_string(nnz));
    }
    y.row_ptr[static_cast<std::size_t>(m + 1)] = static_cast<std::int32_t>(nnz);
  }
  y.col.resize(static_cast<std::size_t>(nnz));
  y.val.assign(static_cast<std::size_t>(nnz), 1.0F);
#pragma omp parallel for schedule(static)
  for (std::int64_t m = 0; m < count; ++m) {
    const std::uint64_t* row = mask.bits.data() + (first + m) * mask.words;
    std::int32_t* out = y.col.data() + y.row_ptr[static_cast<std::size_t>(m)];
    for (std::int64_t w = 0; w < mask.words; ++w) {
      for (std::uint64_t rest = row[w]; rest != 0; rest &= rest - 1) {
        *out++ = static_cast<std::int32_t>(w * 64 + std::countr_zero(rest));
      }
    }
  }
  return y;
}

Csr<float> to_csr(const PixelMask& mask) { return to_csr(mask, 0, mask.rows); }

}  // namespace plumb
