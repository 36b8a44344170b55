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
#include <new>
#include <numbers>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reference/core/error.hpp"
#include "reference/core/exhaustion.hpp"

/// FFTW calls this where an allocation of its own fails, and its own version ends the process by SIGABRT. The function of the executable
/// is found before the library's; weak, so that a static FFTW can be linked too. What it throws passes through the library's frames,
/// whose state is lost: no other plan may be made then.
extern "C" [[noreturn]] __attribute__((weak, visibility("default"))) void fftw_assertion_failed(
    const char* what, int line, const char* file) {
  if (std::string_view(file).find("alloc") == std::string_view::npos)
    throw plumb::input_error(file, line, "FFTW: assertion failed", what);
  plumb::note_exhausted_memory();
  throw std::bad_alloc();
}

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
// side}. So only p is computed, and the short direction is a real (side x rows) matrix applied to p plus
// rank-one corrections.
//
// All of p is rows * count * side numbers: more than the images of a large side are worth. With g = gcd(side,
// cols) and L = side / g, the L-th part of p is every L-th of its columns, t = L q + s, and follows from the
// spectrum by a transform of the length count * g: frequencies that differ by count * g fall on one another
// there, each turned by s. So memory holds the spectrum, and one such part at a time.
class Along {
 public:
  Along(const GreyImages& images, std::int64_t side)
      : rows_(images.rows),
        stride_(side / std::gcd(side, images.cols)),
        length_(images.count * std::gcd(side, images.cols)),
        kept_(std::min(images.count * images.cols, images.count * side) / 2),
        spectrum_(static_cast<std::size_t>(rows_ * kept_)),
        wave_(static_cast<std::size_t>(rows_)),
        turned_(static_cast<std::size_t>(length_ / 2 + 1)),
        part_(static_cast<std::size_t>(rows_ * length_)) {
    transform(images);
    const int threads = static_cast<int>(std::min<std::int64_t>(omp_get_max_threads(), rows_));
    for (int k = 0; k < threads; ++k) {
      line_.push_back(fftw_buffer<double>(length_));
      folded_.push_back(fftw_buffer<fftw_complex>(length_ / 2 + 1));
    }
    inverse_ = plan_of(
        fftw_plan_dft_c2r_1d(static_cast<int>(length_), folded_[0].get(), line_[0].get(), FFTW_ESTIMATE),
        images.count);
  }

  [[nodiscard]] std::int64_t stride() const { return stride_; }
  [[nodiscard]] const std::vector<Complex>& wave() const { return wave_; }  // (rows): c
  /// Columns s, s + stride, ... of p, after make_part(s): element (row r, column q) at [r * length + q].
  [[nodiscard]] const double* part() const { return part_.data(); }
  [[nodiscard]] std::int64_t length() const { return length_; }

  void make_part(std::int64_t s) {
#pragma omp parallel for schedule(static)
    for (std::int64_t k = 0; k <= length_ / 2; ++k)
      turned_[static_cast<std::size_t>(k)] = turn(k * s, length_ * stride_);
#pragma omp parallel for schedule(dynamic) num_threads(static_cast <int>(line_.size()))
    for (std::int64_t r = 0; r < rows_; ++r) {
      const auto mine = static_cast<std::size_t>(omp_get_thread_num());
      fold(r, s, folded_[mine].get());
      fftw_execute_dft_c2r(inverse_.get(), folded_[mine].get(), line_[mine].get());
      std::copy_n(line_[mine].get(), length_, part_.data() + r * length_);
    }
  }

 private:
  static Plan plan_of(fftw_plan_s* plan, std::int64_t count) {
    if (plan == nullptr) throw input_error("fftw", 0, "no plan for this many images", std::to_string(count));
    return Plan(plan);
  }

  /// The spectra of all rows, from frequency 0 to below the Nyquist term, and that term. Estimated plans depend on the
  /// size alone, so that results do not vary from run to run. Planning is not thread-safe, and sizes above 2^31 are
  /// refused by the caller.
  void transform(const GreyImages& images) {
    const std::int64_t wide = images.count * images.cols;
    const FftwBuffer<double> x = fftw_buffer<double>(wide);
    const FftwBuffer<fftw_complex> f = fftw_buffer<fftw_complex>(wide / 2 + 1);
    const Plan forward =
        plan_of(fftw_plan_dft_r2c_1d(static_cast<int>(wide), x.get(), f.get(), FFTW_ESTIMATE), images.count);
    const double scale = 1.0 / static_cast<double>(wide);
    for (std::int64_t r = 0; r < rows_; ++r) {
      for (std::int64_t m = 0; m < images.count; ++m) {
        const std::uint8_t* from = images.pixels.data() + (m * images.rows + r) * images.cols;
        std::copy(from, from + images.cols, x.get() + m * images.cols);
      }
      fftw_execute_dft_r2c(forward.get(), x.get(), f.get());
      for (std::int64_t k = 0; k < kept_; ++k)
        spectrum_[static_cast<std::size_t>(r * kept_ + k)] = Complex(f[k][0], f[k][1]) * scale;
      // The term at -nyquist is the conjugate of the one at +nyquist; it is kept apart, as the wave w.
      wave_[static_cast<std::size_t>(r)] = Complex(f[kept_][0], -f[kept_][1]) * scale;
    }
  }

  /// Row r's spectrum, turned by s columns, with the frequencies that are equal modulo the length added up.
  void fold(std::int64_t r, std::int64_t s, fftw_complex* out) const {
    auto* const to = reinterpret_cast<Complex*>(out);
    const std::int64_t half = length_ / 2 + 1;
    std::fill_n(to, half, Complex(0));
    const Complex* const f = spectrum_.data() + r * kept_;
    for (std::int64_t j = 0; j * length_ < kept_ + half; ++j) {
      const Complex above = turn(j * s, stride_), below = std::conj(above);
      const std::int64_t end = std::min(half, kept_ - j * length_);
      for (std::int64_t k = 0; k < end; ++k) to[k] += product(f[j * length_ + k], above);
      if (j == 0) continue;  // frequencies below 0: conjugates
      for (std::int64_t k = std::max<std::int64_t>(0, j * length_ - kept_ + 1); k < half; ++k)
        to[k] += product(std::conj(f[j * length_ - k]), below);
    }
    for (std::int64_t k = 0; k < half; ++k) to[k] = product(to[k], turned_[static_cast<std::size_t>(k)]);
  }
  /// Without the look for infinities that the operator has.
  static Complex product(Complex a, Complex b) {
    return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
  }

  std::int64_t rows_, stride_, length_, kept_;
  std::vector<Complex> spectrum_;  // (rows, kept)
  std::vector<Complex> wave_;
  std::vector<Complex> turned_;  // (length / 2 + 1): by s columns, below the first frequency that is folded
  std::vector<double> part_;     // (rows, length)
  std::vector<FftwBuffer<double>> line_;  // of each thread
  std::vector<FftwBuffer<fftw_complex>> folded_;
  Plan inverse_;
};

// The short direction, one image at a time: values (side columns, side rows) of |B|^2, column by column.
class Across {
 public:
  Across(const GreyImages& images, const Along& along, std::int64_t side)
      : in_(images.rows),
        side_(side),
        along_(along),
        matrix_(size(in_ * side)),
        wave_in_(size(in_)),
        wave_out_(size(side)),
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
      for (std::int64_t r = 0; r < in_; ++r)
        fixed_[size(u)] += matrix_[size(r * side + u)] * along.wave()[size(r)];
    }
    for (std::int64_t r = 0; r < in_; ++r) corner_ += wave_in_[size(r)] * along.wave()[size(r)];
  }

  [[nodiscard]] std::int64_t side() const { return side_; }
  // Squared magnitudes of column v of image m, which is in along's part; `out` (side).
  void column(std::int64_t m, std::int64_t v, double* __restrict out) const {
    const double* p = along_.part() + (m * side_ + v) / along_.stride();
    const std::int64_t width = along_.length();
    const double* __restrict matrix = matrix_.data();
    double re_edge = 0, im_edge = 0;
    for (std::int64_t u = 0; u < side_; ++u) out[u] = 0;
    std::int64_t r = 0;
    for (; r + 4 <= in_; r += 4) {  // four rows a pass: a quarter of the loads and stores of `out`
      const double p0 = p[r * width], p1 = p[(r + 1) * width];
      const double p2 = p[(r + 2) * width], p3 = p[(r + 3) * width];
      const double* __restrict e = matrix + r * side_;
      for (std::int64_t u = 0; u < side_; ++u) {
        out[u] += p0 * e[u] + p1 * e[side_ + u] + p2 * e[2 * side_ + u] + p3 * e[3 * side_ + u];
      }
    }
    for (; r < in_; ++r) {
      const double p0 = p[r * width];
      for (std::int64_t u = 0; u < side_; ++u) out[u] += p0 * matrix[r * side_ + u];
    }
    for (std::int64_t k = 0; k < in_; ++k) {
      re_edge += p[k * width] * wave_in_[size(k)].real();
      im_edge += p[k * width] * wave_in_[size(k)].imag();
    }
    // w(t) repeats with every image: t = side * image + v gives e^{-i pi m image} = 1, since m is even
    const Complex w = wave_out_[size(v)];
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
  const Along& along_;
  std::vector<double>
      matrix_;  // (in, side): real interpolation, transposed so that output rows are contiguous
  std::vector<Complex> wave_in_;   // (in): weight of an input row in the Nyquist term
  std::vector<Complex> wave_out_;  // (side): that term at an output row
  std::vector<Complex> fixed_;     // (side): matrix applied to the waves of the rows
  Complex corner_;                 // the term that is Nyquist both ways
};

/// use(image, v, squares of column v) for all columns of all images, part by part; an image is one thread's at a time.
template <class Use>
void for_each_column(std::int64_t count, Along& along, const Across& across, const Use& use) {
  for (std::int64_t s = 0; s < along.stride(); ++s) {
    along.make_part(s);
#pragma omp parallel
    {
      std::vector<double> column(static_cast<std::size_t>(across.side()));
#pragma omp for schedule(static)
      for (std::int64_t m = 0; m < count; ++m) {
        for (std::int64_t v = s; v < across.side(); v += along.stride()) {
          across.column(m, v, column.data());
          use(m, v, column.data());
        }
      }
    }
  }
}

}  // namespace

std::int64_t PixelMask::nnz() const {
  std::int64_t count = 0;
  for (const std::uint64_t word : bits) count += std::popcount(word);
  return count;
}

std::int64_t resizing_bytes(std::int64_t count, std::int64_t cols, std::int64_t side) {
  const std::int64_t part = count * std::gcd(side, cols), kept = count * std::min(cols, side) / 2;
  // Spectra, one part of all rows; what turns it, and each thread's line and folded spectrum of it. While the spectra are
  // made, one line and its spectrum take their place.
  return 16 * cols * kept + 8 * cols * part + (8 + 16 * omp_get_max_threads()) * part + 16 * count * cols;
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

  Along along(images, side);
  const Across across(images, along, side);
  std::vector<double> most(static_cast<std::size_t>(omp_get_max_threads()));  // of squares, by thread
  for_each_column(images.count, along, across, [&](std::int64_t, std::int64_t, const double* column) {
    double& mine = most[static_cast<std::size_t>(omp_get_thread_num())];
    mine = std::max(mine, *std::max_element(column, column + side));
  });
  const double maximum = *std::max_element(most.begin(), most.end());
  mask.maximum = std::sqrt(maximum);
  if (maximum == 0) return mask;  // blank images: half of nothing is reached everywhere, and means nothing
  // The second pass computes again what the first threw away: 31 GB at side 256, which costs more to keep
  // than to redo.
  const double threshold = maximum / 4;
  for_each_column(images.count, along, across, [&](std::int64_t m, std::int64_t v, const double* column) {
    std::uint64_t* out = mask.bits.data() + m * mask.words;
    for (std::int64_t u = 0; u < side; ++u) {
      const std::int64_t feature = v * side + u;
      out[feature / 64] |= std::uint64_t{column[u] >= threshold ? 1U : 0U} << (feature % 64);
    }
  });
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
