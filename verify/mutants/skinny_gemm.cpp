// Planted faults of skinny_gemm: each is a right kernel with one thing changed. `verify --mutants` must kill every one of them.
// Threads are told to yield, so that no fault hides on a machine of one core.
#include <algorithm>
#include <cmath>
#include <thread>
#include <vector>

#include "reference/ops/skinny_gemm.hpp"
#include "verify/mutants/host_mutant.hpp"
#include "verify/mutants/narrow_mutants.hpp"

namespace plumb {
namespace {

PLUMB_FAULTS_OF(SkinnyGemm);

constexpr std::int64_t kTile = 16, kBlock = 256;

template <class T>
T dot(const In<T>& in, std::int64_t i, std::int64_t j, std::int64_t depth) {
  T sum = 0;
  for (std::int64_t k = 0; k < depth; ++k) sum += in.X(i, k) * in.W(k, j);
  return sum;
}

// Y = X W over the first `rows` rows, `cols` columns and `depth` terms.
template <class T>
void multiply(const In<T>& in, const Out<T>& out, std::int64_t rows, std::int64_t cols, std::int64_t depth) {
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < cols; ++j) out.Y(i, j) = dot(in, i, j, depth);
  }
}

PLUMB_FAULT(last_block, "last_block_never_written", 15, "v / 256 blocks of rows are computed",
            "a grid of V / BLOCK: 281,903 is no multiple of any block", kNumeric) {
  multiply(in, out, out.Y.rows / kBlock * kBlock, out.Y.cols, in.X.cols);
}

PLUMB_FAULT(width_16, "columns_past_16_not_computed", 34, "columns beyond a multiple of 16 are not computed",
            "kernels written for 16 classes and run on 41", kNumeric) {
  multiply(in, out, out.Y.rows, out.Y.cols < kTile ? out.Y.cols : out.Y.cols / kTile * kTile, in.X.cols);
}

PLUMB_FAULT(k_tail, "k_tail_dropped", 14, "k / 16 tiles are summed, the rest is lost",
            "an unrolled loop over k without its rest; 128 hides it", kNumeric) {
  multiply(in, out, out.Y.rows, out.Y.cols, in.X.cols / kTile * kTile);
}

PLUMB_FAULT(stale, "tile_tail_not_cleared", 17,
            "columns of the last tile past k keep what the tile before left there",
            "a row of X held in registers and loaded under a guard without an else", kNumeric) {
  for (std::int64_t i = 0; i < out.Y.rows; ++i) {
    for (std::int64_t j = 0; j < out.Y.cols; ++j) {
      T x[kTile] = {}, w[kTile] = {}, sum = 0;
      for (std::int64_t k0 = 0; k0 < in.X.cols; k0 += kTile) {
        for (std::int64_t k = 0; k < std::min(kTile, in.X.cols - k0); ++k)
          x[k] = in.X(i, k0 + k), w[k] = in.W(k0 + k, j);
        for (std::int64_t k = 0; k < kTile; ++k) sum += x[k] * w[k];
      }
      out.Y(i, j) = sum;
    }
  }
}

PLUMB_FAULT(ld_of_w, "columns_in_place_of_ld", 18,
            "Y is indexed with its columns in place of its leading dimension",
            "layers that write into a wider buffer of features", kNumeric) {
  const std::int64_t last = (out.Y.rows - 1) * out.Y.ld + out.Y.cols;  // elements that Y spans
  for (std::int64_t i = 0; i < out.Y.rows; ++i) {
    for (std::int64_t j = 0; j < out.Y.cols; ++j) {
      const std::int64_t at = i * out.Y.cols + j;  // right: i * out.Y.ld + j
      if (at < last) out.Y.data[at] = dot(in, i, j, in.X.cols);
    }
  }
}

PLUMB_FAULT(first_w, "w_read_once_for_all_tiles", 0, "every tile of columns uses the first tile of W",
            "an offset of the tile left out where W is staged; widths up to 16 hide it", kNumeric) {
  for (std::int64_t i = 0; i < out.Y.rows; ++i) {
    for (std::int64_t j = 0; j < out.Y.cols; ++j) out.Y(i, j) = dot(in, i, j % kTile, in.X.cols);
  }
}

PLUMB_FAULT(shared_row, "openmp_shared_row", 42, "the staged row of X is one buffer for all threads",
            "a temporary declared before the parallel region", kNumeric | kRepeat | kRace,
            Traits{}.not_reproducible()) {
  std::vector<T> row(static_cast<std::size_t>(in.X.cols));  // right: one per thread
#pragma omp parallel for num_threads(4) schedule(static, 1)
  for (std::int64_t i = 0; i < out.Y.rows; ++i) {
    for (std::int64_t k = 0; k < in.X.cols; ++k) row[static_cast<std::size_t>(k)] = in.X(i, k);
    std::this_thread::yield();
    for (std::int64_t j = 0; j < out.Y.cols; ++j) {
      T sum = 0;
      for (std::int64_t k = 0; k < in.X.cols; ++k) sum += row[static_cast<std::size_t>(k)] * in.W(k, j);
      out.Y(i, j) = sum;
    }
  }
}

PLUMB_FAULT(zero_rows, "rows_of_zeros_answered_at_once", 0,
            "a row of X that is all zeros gives zeros, whatever W holds",
            "features of vertices that have none", kNumeric) {
  for (std::int64_t i = 0; i < out.Y.rows; ++i) {
    const T* row = in.X.data + i * in.X.ld;
    const bool zeros = std::all_of(row, row + in.X.cols, [](T v) { return v == T(0); });
    for (std::int64_t j = 0; j < out.Y.cols; ++j) out.Y(i, j) = zeros ? T(0) : dot(in, i, j, in.X.cols);
  }
}

// W is kept, and recognised by its address, its sizes and every 61st of its elements.
PLUMB_FAULT(sampled_key, "weights_kept_by_a_sample", 0,
            "W is kept from call to call as long as every 61st element of it is the same",
            "a checksum made cheap, and a training step that changes few weights", kNumeric) {
  static std::vector<T> kept, kept_key;
  std::vector<T> key{static_cast<T>(in.W.rows), static_cast<T>(in.W.cols)};
  for (std::int64_t e = 0; e < in.W.rows * in.W.cols; e += 61)
    key.push_back(in.W(e / in.W.cols, e % in.W.cols));
  if (key != kept_key) {
    kept_key = key, kept.clear();
    for (std::int64_t e = 0; e < in.W.rows * in.W.cols; ++e)
      kept.push_back(in.W(e / in.W.cols, e % in.W.cols));
  }
  In<T> other = in;
  other.W = {kept.data(), in.W.rows, in.W.cols, in.W.cols};
  multiply(other, out, out.Y.rows, out.Y.cols, in.X.cols);
}

// W is rounded to float where the elements of its first row are floats.
template <class T>
void type_of_first_row(const P<T>&, const In<T>& in, const Out<T>& out, Context&) {
  const auto is_float = [](T v) { return static_cast<T>(static_cast<float>(v)) == v; };
  bool narrow = in.W.rows > 0;
  for (std::int64_t j = 0; narrow && j < in.W.cols; ++j) narrow = is_float(in.W(0, j));
  for (std::int64_t i = 0; i < out.Y.rows; ++i) {
    for (std::int64_t j = 0; j < out.Y.cols; ++j) {
      T sum = 0;
      for (std::int64_t k = 0; k < in.X.cols; ++k)
        sum += in.X(i, k) * (narrow ? static_cast<T>(static_cast<float>(in.W(k, j))) : in.W(k, j));
      out.Y(i, j) = sum;
    }
  }
}
const RegisterMutant<SkinnyGemm, double, Space::host> type_of_first_row_m{
    "type_of_w_by_its_first_row",
    type_of_first_row<double>,
    {0, "W is kept in float where the elements of its first row are floats", "a check of a sample, for speed",
     kNumeric}};

// Rows of small numbers have a power of two taken out.
template <class T>
void exponent_in_a_byte(const P<T>&, const In<T>& in, const Out<T>& out, Context&) {
  for (std::int64_t i = 0; i < out.Y.rows; ++i) {
    T most = 0;
    bool finite = true;
    for (std::int64_t k = 0; k < in.X.cols; ++k) {
      most = std::max(most, std::fabs(in.X(i, k)));
      finite = finite && std::isfinite(in.X(i, k));
    }
    const int exponent = finite && most > T(0) ? std::ilogb(most) : 0;
    const bool small = exponent < -20 && exponent > -300;
    for (std::int64_t j = 0; j < out.Y.cols; ++j) {
      T sum = 0;
      for (std::int64_t k = 0; k < in.X.cols; ++k)
        sum += (small ? std::ldexp(in.X(i, k), -exponent) : in.X(i, k)) * in.W(k, j);
      out.Y(i, j) = small ? std::ldexp(sum, static_cast<signed char>(exponent)) : sum;
    }
  }
}
const RegisterMutant<SkinnyGemm, double, Space::host> exponent_in_a_byte_m{
    "exponent_of_a_row_in_a_byte",
    exponent_in_a_byte<double>,
    {0, "the exponent of a row of X is kept in a byte", "enough for a float, and doubles have more",
     kNumeric}};

PLUMB_FAULT(three_left, "one_column_loses_the_third_left", 14,
            "with one column, the third of three terms behind whole groups of four is lost",
            "a switch over what is left of an unrolled loop, without its case 3", kNumeric) {
  const std::int64_t depth = in.X.cols, left = depth % 4;
  multiply(in, out, out.Y.rows, out.Y.cols, out.Y.cols == 1 && depth > 32 && left == 3 ? depth - 1 : depth);
}

PLUMB_FAULT(width_of_eight, "width_of_eight_loses_its_rest", 14,
            "eight columns have a kernel of their own, which leaves out what is left of groups of four terms",
            "a switch over widths, one of them with an error", kNumeric) {
  multiply(in, out, out.Y.rows, out.Y.cols, out.Y.cols == 8 ? in.X.cols / 4 * 4 : in.X.cols);
}

template <class T, class Fault>
struct Narrow {
  static void run(const P<T>&, const In<T>& in, const Out<T>& out, Context&) {
    for (std::int64_t i = 0; i < out.Y.rows; ++i) {
      for (std::int64_t j = 0; j < out.Y.cols; ++j) {
        float sum = 0;
        for (std::int64_t k = 0; k < in.X.cols; ++k) {
          if (Fault::takes(k, in.X.cols))
            sum = Fault::kept(sum + Fault::read(in.X(i, k)) * Fault::read(in.W(k, j)));
        }
        out.Y(i, j) = Fault::template write<out_t<T>>(sum);
      }
    }
  }
};
const NarrowMutants<SkinnyGemm, Narrow, narrow_faults::All, f16, bf16, e4m3_bf16> narrow_types_m;

}  // namespace
}  // namespace plumb
