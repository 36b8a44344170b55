// gemm, host 22: a tile of C in vector registers from operands where they lie, and the depth shared by threads.
//
// Change    nothing is packed, unless B is narrower than a vector: the kernel reads rows of B, and elements of at most kRows rows of A,
//           where they are, and writes C from registers. Rows and vectors are shared equally among tiles; each number of them has a
//           kernel. Columns that fill no vector are the last lanes of one that overlaps the vector before. Where C has fewer tiles
//           than there are threads, several threads share the depth of a tile, and its sums are added afterwards. Below kAlone
//           multiply-adds no other thread is woken.
// Traffic   A once and B once for each kRows rows of C, from the caches where they fit.
// Limits    the multiply-add pipes, as rung 21.
// Fails at  operands that outgrow the second-level cache: rung 21.
// Source    as rung 21, without its packing; K. Goto and R. van de Geijn say what that is for.
#include <omp.h>

#include <algorithm>
#include <cstring>

#include "reference/cpu/gemm/loops.hpp"
#include "reference/cpu/simd.hpp"
#include "reference/ops/gemm.hpp"

namespace plumb {
namespace {

constexpr int kRows = kVectorRegisters == 32 ? 8 : 4, kVectors = 3;
constexpr std::int64_t kAlone = 1 << 15;    // multiply-adds
constexpr std::int64_t kLeastOfPart = 128;  // terms that a thread sums at least

/// `n` things in as few shares of at most `most` as there can be, of which the first may have one more than the last.
struct Shares {
  std::int64_t count, each, more;
  Shares(std::int64_t n, int most) : count((n + most - 1) / most), each(n / count), more(n % count) {}
  [[nodiscard]] std::int64_t begin(std::int64_t share) const { return share * each + std::min(share, more); }
  [[nodiscard]] int size(std::int64_t share) const { return static_cast<int>(each + (share < more ? 1 : 0)); }
};

/// A tile of C: `rows` from row i on, `vectors` from vector v on.
struct Tile {
  std::int64_t i, v;
  int rows, vectors;
};

/// f.operator()<R, V>() with the R and V of the tile.
template <int R = kRows, int V = kVectors, class F>
void with_size(const Tile& t, F&& f) {
  if constexpr (R > 1) {
    if (t.rows < R) return with_size<R - 1, V>(t, f);
  }
  if constexpr (V > 1) {
    if (t.vectors < V) return with_size<R, V - 1>(t, f);
  }
  f.template operator()<R, V>();
}

/// How C and the depth are divided.
template <class T>
struct Tiles {
  static constexpr std::int64_t kSums = kRows * kVectors * kLanes<T>;  // of a tile, at most
  const Gemm::Problem<T>& p;
  const DenseView<const T, Space::host>& A;
  const DenseView<const T, Space::host>& B;
  const DenseView<T, Space::host>& C;
  std::int64_t depth;
  Shares rows{C.rows, kRows}, vectors{(C.cols + kLanes<T> - 1) / kLanes<T>, kVectors};
  std::int64_t parts = 1;
  const T* narrow = nullptr;  // (depth, kLanes): B of fewer columns than a vector has, and zeros
  T* sums = nullptr;          // (tiles, parts, kSums), where the depth is shared

  [[nodiscard]] Tile tile(std::int64_t row, std::int64_t column) const {
    return {rows.begin(row), vectors.begin(column), rows.size(row), vectors.size(column)};
  }
  /// The first column of a vector.
  [[nodiscard]] std::int64_t column_of(std::int64_t v) const {
    return std::max(std::min(v * kLanes<T>, C.cols - kLanes<T>), std::int64_t{0});
  }

  /// The terms [begin, end) of a tile. Put into its caller's place, as write() is, so that sums stay in registers.
  template <int R, int V>
  [[gnu::always_inline]] inline void multiply(const Tile& t, std::int64_t begin, std::int64_t end,
                                              Vector<T> (&to)[R][V]) const {
    const T *const a = A.data + t.i * A.ld, *b[V];
    const std::int64_t apart = narrow != nullptr ? kLanes<T> : B.ld;
    for (int v = 0; v < V; ++v)
      b[v] = (narrow != nullptr ? narrow : B.data + column_of(t.v + v)) + begin * apart;
    Vector<T> sum[R][V] = {};
    for (std::int64_t k = begin; k < end; ++k) {
      Vector<T> row[V];
      for (int v = 0; v < V; ++v) load<T>(row[v], b[v]), b[v] += apart;
#pragma GCC unroll 8
      for (int r = 0; r < R; ++r) {
#pragma GCC unroll 4
        for (int v = 0; v < V; ++v) sum[r][v] += a[r * A.ld + k] * row[v];
      }
    }
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) {
#pragma GCC unroll 4
      for (int v = 0; v < V; ++v) to[r][v] = sum[r][v];
    }
  }
  /// C from the sums of a tile.
  template <int R, int V>
  [[gnu::always_inline]] inline void write(const Tile& t, const Vector<T> (&sum)[R][V]) const {
#pragma GCC unroll 4
    for (int v = 0; v < V; ++v) {
      const std::int64_t j = column_of(t.v + v),
                         done = (t.v + v) * kLanes<T> - j;  // lanes of the vector before
#pragma GCC unroll 8
      for (int r = 0; r < R; ++r) {
        T* const c = C.data + (t.i + r) * C.ld + j;
        if (done == 0 && j + kLanes<T> <= C.cols) {
          Vector<T> to = p.alpha * sum[r][v], old;
          if (p.beta != T(0)) load<T>(old, c), to += p.beta * old;
          store<T>(c, to);
        } else {
          alignas(kVectorBytes) T lanes[kLanes<T>];
          store<T>(lanes, sum[r][v]);
          write_scaled(c + done, lanes + done, C.cols - j - done, p.alpha, p.beta);
        }
      }
    }
  }

  void make(std::int64_t row, std::int64_t column) const {
    const Tile t = tile(row, column);
    with_size(t, [&]<int R, int V>() {
      Vector<T> sum[R][V];
      multiply(t, 0, depth, sum);
      write(t, sum);
    });
  }
  [[nodiscard]] T* sums_of(std::int64_t row, std::int64_t column, std::int64_t part) const {
    return sums + ((row * vectors.count + column) * parts + part) * kSums;
  }
  void make_part(std::int64_t row, std::int64_t column, std::int64_t part) const {
    const Tile t = tile(row, column);
    with_size(t, [&]<int R, int V>() {
      Vector<T> sum[R][V];
      multiply(t, depth * part / parts, depth * (part + 1) / parts, sum);
      std::memcpy(sums_of(row, column, part), sum, sizeof sum);
    });
  }
  /// Adds the parts of a tile, and writes them.
  void join(std::int64_t row, std::int64_t column) const {
    const Tile t = tile(row, column);
    with_size(t, [&]<int R, int V>() {
      Vector<T> sum[R][V] = {}, more;
      for (std::int64_t part = 0; part < parts; ++part) {
        const T* const from = sums_of(row, column, part);
        for (int e = 0; e < R * V; ++e) load<T>(more, from + e * kLanes<T>), sum[e / V][e % V] += more;
      }
      write(t, sum);
    });
  }
};

template <class T>
void run(const Gemm::Problem<T>& p, const Gemm::In<T, Space::host>& in, const Gemm::Out<T, Space::host>& out,
         Context& context) {
  const std::int64_t m = out.C.rows, n = out.C.cols, depth = depth_of(p, in);
  if (m == 0 || n == 0) return;
  if (depth == 0) return scale_rows(out.C, p.beta, 0, m);
  Tiles<T> t{p, in.A, in.B, out.C, depth};
  const std::int64_t down = t.rows.count, across = t.vectors.count, tiles = down * across;
  const bool alone = m * n * depth <= kAlone;
  const std::int64_t threads = alone ? 1 : omp_get_max_threads();
  t.parts = std::clamp(std::min(threads / tiles, depth / kLeastOfPart), std::int64_t{1}, threads);
  const std::int64_t size_of_narrow = n < kLanes<T> ? depth * kLanes<T> : 0,
                     size_of_sums = t.parts > 1 ? tiles * t.parts * Tiles<T>::kSums : 0;
  T* const room = static_cast<T*>(
      context.workspace((size_of_narrow + size_of_sums) * static_cast<std::int64_t>(sizeof(T))));
  if (size_of_narrow > 0) t.narrow = room;
  t.sums = room + size_of_narrow;
#pragma omp parallel if (!alone)
  {
    if (size_of_narrow > 0) {
#pragma omp for schedule(static)
      for (std::int64_t k = 0; k < depth; ++k) {
        for (std::int64_t l = 0; l < kLanes<T>; ++l) room[k * kLanes<T> + l] = l < n ? in.B(k, l) : T(0);
      }
    }
    if (t.parts == 1) {
#pragma omp for collapse(2) schedule(static)
      for (std::int64_t row = 0; row < down; ++row) {
        for (std::int64_t column = 0; column < across; ++column) t.make(row, column);
      }
    } else {
#pragma omp for collapse(3) schedule(static)
      for (std::int64_t row = 0; row < down; ++row) {
        for (std::int64_t column = 0; column < across; ++column) {
          for (std::int64_t part = 0; part < t.parts; ++part) t.make_part(row, column, part);
        }
      }
#pragma omp for collapse(2) schedule(static)
      for (std::int64_t row = 0; row < down; ++row) {
        for (std::int64_t column = 0; column < across; ++column) t.join(row, column);
      }
    }
  }
}

PLUMB_REGISTER(Gemm, "22_in_place", run, float, double);

}  // namespace
}  // namespace plumb
