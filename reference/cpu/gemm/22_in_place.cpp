// gemm, host 22: a tile of C in vector registers from operands where they lie, and the depth shared by threads.
//
// Change    nothing is packed but the columns of B that fill no vector: the kernel reads rows of B, and elements of kRows rows of A, where
//           they are. Where C has fewer tiles than there are threads, several threads share the depth of a tile, and its sums are added
//           afterwards. Below kAlone multiply-adds no other thread is woken.
// Traffic   A once and B once for each kRows rows of C, from the caches where they fit.
// Limits    the multiply-add pipes, as rung 21.
// Fails at  operands that outgrow the second-level cache: rung 21.
// Source    as rung 21, without its packing; K. Goto and R. van de Geijn say what that is for.
#include <omp.h>

#include <algorithm>

#include "reference/cpu/gemm/loops.hpp"
#include "reference/cpu/simd.hpp"
#include "reference/ops/gemm.hpp"

namespace plumb {
namespace {

constexpr int kRows = kVectorRegisters == 32 ? 8 : 4, kVectors = 3;
constexpr std::int64_t kAlone = 1 << 15;    // multiply-adds
constexpr std::int64_t kLeastOfPart = 128;  // terms that a thread sums at least

/// Up to kVectors vectors of columns of B: where each begins, and how far its rows lie apart.
template <class T>
struct Strip {
  const T* from[kVectors];
  std::int64_t apart[kVectors];
};

/// tile (kRows, V vectors) = sum of terms [begin, end) of rows `a` of A and `b` of B.
template <int V, class T>
void multiply(const T* const (&a)[kRows], const Strip<T>& b, std::int64_t begin, std::int64_t end, T* tile) {
  Vector<T> sum[kRows][V] = {};
  const T* from[V];
  for (int v = 0; v < V; ++v) from[v] = b.from[v] + begin * b.apart[v];
  for (std::int64_t k = begin; k < end; ++k) {
    Vector<T> row[V];
    for (int v = 0; v < V; ++v) load<T>(row[v], from[v]), from[v] += b.apart[v];
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
      for (int v = 0; v < V; ++v) sum[r][v] += a[r][k] * row[v];
    }
  }
  for (int r = 0; r < kRows; ++r) {
    for (int v = 0; v < V; ++v) store<T>(tile + (r * V + v) * kLanes<T>, sum[r][v]);
  }
}

/// How C and the depth are divided.
template <class T>
struct Tiles {
  static constexpr std::int64_t kSums = kRows * kVectors * kLanes<T>;  // of a tile, at most
  const Gemm::Problem<T>& p;
  const DenseView<const T, Space::host>& A;
  const DenseView<const T, Space::host>& B;
  const DenseView<T, Space::host>& C;
  std::int64_t depth, vectors, across, tiles, parts;
  const T* last;  // (depth, kLanes): the columns of B that fill no vector, and zeros
  T* sums;        // (tiles, parts, kSums), where the depth is shared

  [[nodiscard]] std::int64_t first_row(std::int64_t tile) const { return tile / across * kRows; }
  [[nodiscard]] std::int64_t first_vector(std::int64_t tile) const { return tile % across * kVectors; }
  [[nodiscard]] int vectors_of(std::int64_t tile) const {
    return static_cast<int>(std::min<std::int64_t>(kVectors, vectors - first_vector(tile)));
  }

  void make(std::int64_t tile, std::int64_t part, T* to) const {
    const T* a[kRows];
    for (int r = 0; r < kRows; ++r)  // past the last row it is computed again, and dropped
      a[r] = A.data + std::min(first_row(tile) + r, C.rows - 1) * A.ld;
    Strip<T> b;
    const int count = vectors_of(tile);
    for (int v = 0; v < count; ++v) {
      const std::int64_t j = (first_vector(tile) + v) * kLanes<T>;
      const bool whole = j + kLanes<T> <= C.cols;
      b.from[v] = whole ? B.data + j : last, b.apart[v] = whole ? B.ld : kLanes<T>;
    }
    const std::int64_t begin = depth * part / parts, end = depth * (part + 1) / parts;
    if (count == 1) return multiply<1>(a, b, begin, end, to);
    if (count == 2) return multiply<2>(a, b, begin, end, to);
    multiply<3>(a, b, begin, end, to);
  }
  void write(std::int64_t tile, const T* from) const {
    const int count = vectors_of(tile);
    const std::int64_t i0 = first_row(tile), j0 = first_vector(tile) * kLanes<T>,
                       rows = std::min<std::int64_t>(kRows, C.rows - i0),
                       cols = std::min<std::int64_t>(count * kLanes<T>, C.cols - j0);
    for (std::int64_t r = 0; r < rows; ++r)
      write_scaled(&C(i0 + r, j0), from + r * count * kLanes<T>, cols, p.alpha, p.beta);
  }
  /// Adds the parts of a tile, and writes them.
  void join(std::int64_t tile) const {
    T* const of_tile = sums + tile * parts * kSums;
    for (std::int64_t part = 1; part < parts; ++part) {
      for (std::int64_t e = 0; e < kRows * vectors_of(tile) * kLanes<T>; ++e)
        of_tile[e] += of_tile[part * kSums + e];
    }
    write(tile, of_tile);
  }
};

template <class T>
void run(const Gemm::Problem<T>& p, const Gemm::In<T, Space::host>& in, const Gemm::Out<T, Space::host>& out,
         Context& context) {
  const std::int64_t m = out.C.rows, n = out.C.cols, depth = depth_of(p, in), ragged = n % kLanes<T>;
  if (m == 0 || n == 0) return;
  if (depth == 0) return scale_rows(out.C, p.beta, 0, m);
  const std::int64_t vectors = (n + kLanes<T> - 1) / kLanes<T>, across = (vectors + kVectors - 1) / kVectors,
                     tiles = (m + kRows - 1) / kRows * across;
  const bool alone = m * n * depth <= kAlone;
  const std::int64_t threads = alone ? 1 : omp_get_max_threads(),
                     parts = std::clamp(std::min(threads / tiles, depth / kLeastOfPart), std::int64_t{1},
                                        threads);
  const std::int64_t size_of_last = ragged > 0 ? depth * kLanes<T> : 0,
                     size_of_sums = parts > 1 ? tiles * parts * Tiles<T>::kSums : 0;
  T* const last = static_cast<T*>(
      context.workspace((size_of_last + size_of_sums) * static_cast<std::int64_t>(sizeof(T))));
  const Tiles<T> t{p, in.A, in.B, out.C, depth, vectors, across, tiles, parts, last, last + size_of_last};
#pragma omp parallel if (!alone)
  {
    if (ragged > 0) {
#pragma omp for schedule(static)
      for (std::int64_t k = 0; k < depth; ++k) {
        for (std::int64_t l = 0; l < kLanes<T>; ++l)
          last[k * kLanes<T> + l] = l < ragged ? in.B(k, n - ragged + l) : T(0);
      }
    }
    if (parts == 1) {
#pragma omp for schedule(static)
      for (std::int64_t tile = 0; tile < tiles; ++tile) {
        alignas(kVectorBytes) T sum[Tiles<T>::kSums];
        t.make(tile, 0, sum);
        t.write(tile, sum);
      }
    } else {
#pragma omp for schedule(static)
      for (std::int64_t e = 0; e < tiles * parts; ++e) t.make(e / parts, e % parts, t.sums + e * t.kSums);
#pragma omp for schedule(static)
      for (std::int64_t tile = 0; tile < tiles; ++tile) t.join(tile);
    }
  }
}

const Register<Gemm, float, Space::host> f32{"22_in_place", run<float>};
const Register<Gemm, double, Space::host> f64{"22_in_place", run<double>};

}  // namespace
}  // namespace plumb
