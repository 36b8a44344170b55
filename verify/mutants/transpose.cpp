// Planted faults of transpose: each is a right kernel with one thing changed. `verify --mutants` must kill every one of them.
#include <algorithm>
#include <utility>

#include "reference/ops/transpose.hpp"
#include "verify/mutants/host_mutant.hpp"
#include "verify/mutants/narrow_mutants.hpp"

namespace plumb {
namespace {

PLUMB_FAULTS_OF(Transpose);

constexpr std::int64_t kTile = 32;

PLUMB_FAULT(last, "last_tiles_never_written", 15, "only whole tiles are turned", "a grid of N / TILE",
            kNumeric) {
  for (std::int64_t i = 0; i < in.A.rows / kTile * kTile; ++i) {
    for (std::int64_t j = 0; j < in.A.cols / kTile * kTile; ++j) out.B(j, i) = in.A(i, j);
  }
}

PLUMB_FAULT(rounds, "sign_of_zero_lost", 0, "every value passes an addition of 0",
            "an epilogue alpha * A + beta * B", kNumeric) {
  for (std::int64_t i = 0; i < in.A.rows; ++i) {
    for (std::int64_t j = 0; j < in.A.cols; ++j) out.B(j, i) = in.A(i, j) + T(0);  // -0 + 0 is +0
  }
}

PLUMB_FAULT(guard, "guard_of_the_square", 16, "both dimensions are guarded with the smaller one",
            "kernels tested on square matrices only", kNumeric) {
  const std::int64_t n = std::min(in.A.rows, in.A.cols);
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < n; ++j) out.B(j, i) = in.A(i, j);
  }
}

PLUMB_FAULT(tiles, "tiles_turned_in_place", 0,
            "elements are turned within their tile, and the tiles stay where they are",
            "blockIdx.x and blockIdx.y not exchanged for the store", kNumeric) {
  // right within each tile, but tile (I, J) is not moved to (J, I): what falls outside B is put where it belongs
  for (std::int64_t i = 0; i < in.A.rows; ++i) {
    for (std::int64_t j = 0; j < in.A.cols; ++j) out.B(j, i) = in.A(i, j);
  }
  const std::int64_t whole = std::min(in.A.rows, in.A.cols) / kTile * kTile;
  for (std::int64_t i = 0; i < whole; ++i) {
    for (std::int64_t j = 0; j < whole; ++j) {
      out.B(i / kTile * kTile + j % kTile, j / kTile * kTile + i % kTile) = in.A(i, j);
    }
  }
}

PLUMB_FAULT(ld, "columns_in_place_of_ld", 18,
            "A is indexed with its columns in place of its leading dimension",
            "kernels never run on a part of a larger matrix", kNumeric) {
  for (std::int64_t i = 0; i < in.A.rows; ++i) {
    for (std::int64_t j = 0; j < in.A.cols; ++j) out.B(j, i) = in.A.data[i * in.A.cols + j];
  }
}

PLUMB_FAULT(untouched, "copied_not_turned", 0, "the elements are copied in their order",
            "a reshape taken for a transpose; symmetric test data pass", kNumeric) {
  for (std::int64_t at = 0; at < in.A.rows * in.A.cols; ++at) {
    out.B(at / out.B.cols, at % out.B.cols) = in.A(at / in.A.cols, at % in.A.cols);
  }
}

PLUMB_FAULT(nan, "nan_becomes_zero", 25, "NaN is replaced on the way", "a sanitising copy", kNumeric) {
  for (std::int64_t i = 0; i < in.A.rows; ++i) {
    for (std::int64_t j = 0; j < in.A.cols; ++j) {
      const T v = in.A(i, j);
      out.B(j, i) = v == v ? v : T(0);
    }
  }
}

PLUMB_FAULT(padding, "writes_between_rows", 39, "the padding between the rows of B is cleared",
            "whole tiles stored without a guard", kNumeric) {
  for (std::int64_t j = 0; j < out.B.rows; ++j) {
    for (std::int64_t i = 0; i < out.B.cols; ++i) out.B(j, i) = in.A(i, j);
    for (std::int64_t i = out.B.cols; i < out.B.ld && j + 1 < out.B.rows; ++i) out.B(j, i) = T(0);
  }
}

void through_float(const P<double>&, const In<double>& in, const Out<double>& out, Context&) {
  for (std::int64_t i = 0; i < in.A.rows; ++i) {
    for (std::int64_t j = 0; j < in.A.cols; ++j) out.B(j, i) = static_cast<float>(in.A(i, j));
  }
}
const RegisterMutant<Transpose, double, Space::host> through_float_m{
    "doubles_through_a_float_tile",
    through_float,
    {28, "doubles pass through a tile of floats",
     "a shared tile whose type was not made a template parameter", kNumeric}};

PLUMB_FAULT(paged_corner, "corner_lost_where_rows_lie_pages_apart", 0,
            "where rows lie whole pages apart, what is left over both down and across is not written",
            "a path of its own for a pitch that meets one set of the cache", kNumeric) {
  constexpr std::int64_t kBlock = 64, kPage = 4096;
  const bool paged = in.A.ld * static_cast<std::int64_t>(sizeof(T)) % kPage == 0;
  const std::int64_t rows = in.A.rows / kBlock * kBlock, cols = in.A.cols / kBlock * kBlock;
  for (std::int64_t i = 0; i < in.A.rows; ++i) {
    for (std::int64_t j = 0; j < in.A.cols; ++j) {
      if (paged && i >= rows && j >= cols && rows > 0 && cols > 0) continue;
      out.B(j, i) = in.A(i, j);
    }
  }
}

PLUMB_FAULT(gap_along, "gap_copied_along_where_pitches_are_equal", 0,
            "a square is copied as one piece where both pitches are equal, with what lies between its rows",
            "equal pitches taken for no gap", kNumeric) {
  const std::int64_t n = in.A.rows, ld = in.A.ld;
  if (n != in.A.cols || n < kTile || ld != out.B.ld) {
    for (std::int64_t i = 0; i < in.A.rows; ++i) {
      for (std::int64_t j = 0; j < in.A.cols; ++j) out.B(j, i) = in.A(i, j);
    }
    return;
  }
  std::copy_n(in.A.data, (n - 1) * ld + n, out.B.data);
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = i + 1; j < n; ++j) std::swap(out.B(i, j), out.B(j, i));
  }
}

// Tiles have one number, and the row of a tile is its product with a rounded reciprocal.
PLUMB_FAULT(by_reciprocal, "row_of_a_tile_by_a_reciprocal", 0,
            "a tile's row is its number times a reciprocal that may be rounded down: a row too small then",
            "a division of every thread saved; right for most numbers of tiles", kNumeric) {
  const std::int64_t across = (in.A.cols + kTile - 1) / kTile, down = (in.A.rows + kTile - 1) / kTile;
  const T inverse = T(1) / static_cast<T>(across);
  for (std::int64_t tile = 0; tile < across * down; ++tile) {
    const auto row = static_cast<std::int64_t>(static_cast<T>(tile) * inverse);
    const std::int64_t i0 = row * kTile, j0 = (tile - row * across) * kTile;
    for (std::int64_t i = i0; i < std::min(i0 + kTile, in.A.rows); ++i) {
      for (std::int64_t j = j0; j < std::min(j0 + kTile, in.A.cols); ++j) out.B(j, i) = in.A(i, j);
    }
  }
}

template <class T, class Fault>
struct Narrow {
  static void run(const P<T>&, const In<T>& in, const Out<T>& out, Context&) {
    for (std::int64_t i = 0; i < in.A.rows; ++i) {
      for (std::int64_t j = 0; j < in.A.cols; ++j)
        out.B(j, i) = Fault::template write<out_t<T>>(Fault::read(in.A(i, j)));
    }
  }
};
// Moved through fp32, as who computes would.
const NarrowMutants<Transpose, Narrow,
                    narrow_faults::Faults<narrow_faults::FlushesInputs, narrow_faults::SaturatesInfinity>,
                    f16, bf16, e4m3>
    narrow_types_m;

}  // namespace
}  // namespace plumb
