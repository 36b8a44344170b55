// gemm, host 21: packed panels, and a tile of C in vector registers.
//
// Change    a kernel keeps kRows x kVectors vector sums in registers over kDepth steps of the sum; A and B
//           are copied beforehand in the order in which it reads them, padded with zeros to whole tiles.
// Traffic   B once into the shared cache and A once into the second-level cache, per kDepth; C once per
//           kDepth.
// Limits    the multiply-add pipes: per step kVectors loads of B and kRows broadcasts of A feed kRows *
//           kVectors of them.
// Fails at  small or thin products: packing and padding cost as much as they save.
// Source    K. Goto and R. van de Geijn, ACM TOMS 34(3) (2008); F. Van Zee and R. van de Geijn, BLIS, ACM
//           TOMS 41(3) (2015).
#include <algorithm>

#include "reference/cpu/gemm/loops.hpp"
#include "reference/cpu/simd.hpp"
#include "reference/ops/gemm.hpp"

namespace plumb {
namespace {

// 24 sums, 3 vectors of B and 1 broadcast in 32 registers; 12, 3 and 1 in 16
constexpr int kRows = kVectorRegisters == 32 ? 8 : 4, kVectors = 3;
template <class T>
constexpr std::int64_t kCols = kVectors* kLanes<T>;
constexpr std::int64_t kDepth = 160;          // a strip of B, kDepth x kCols, stays in the first-level cache
constexpr std::int64_t kHeight = 24 * kRows;  // rows of packed A that stay in the second-level cache
constexpr std::int64_t kWidth = 3072;         // columns of packed B that stay in the shared cache

std::int64_t round_up(std::int64_t n, std::int64_t to) { return (n + to - 1) / to * to; }

/// The part of C that a tile of sums is written to: c = alpha sum + beta c.
template <class T>
struct Target {
  T* c;
  std::int64_t ld, rows, cols;
  T alpha, beta;
};

/// From registers where the tile is whole; the padding of the last tiles was computed and is dropped.
template <class T>
[[gnu::always_inline]] inline void write_tile(const Vector<T> (&sum)[kRows][kVectors], const Target<T>& to) {
  if (to.rows == kRows && to.cols == kCols<T>) {
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) {
        T* const at = to.c + r * to.ld + v * kLanes<T>;
        Vector<T> scaled = to.alpha * sum[r][v], old;
        if (to.beta != T(0)) load<T>(old, at), scaled += to.beta * old;
        store<T>(at, scaled);
      }
    }
    return;
  }
  alignas(kVectorBytes) T tile[kRows * kCols<T>];
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) store<T>(tile + r * kCols<T> + v * kLanes<T>, sum[r][v]);
  }
  for (std::int64_t r = 0; r < to.rows; ++r)
    write_scaled(to.c + r * to.ld, tile + r * kCols<T>, to.cols, to.alpha, to.beta);
}

/// A tile of C (kRows, kCols) from the sum over `depth` steps of a (depth, kRows) and b (depth, kCols).
template <class T>
void multiply_tile(std::int64_t depth, const T* a, const T* b, const Target<T>& to) {
  Vector<T> sum[kRows][kVectors] = {};
  for (std::int64_t k = 0; k < depth; ++k, a += kRows, b += kCols<T>) {
    Vector<T> row[kVectors];
    for (int v = 0; v < kVectors; ++v) load<T>(row[v], b + v * kLanes<T>);
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) sum[r][v] += a[r] * row[v];
    }
  }
  write_tile<T>(sum, to);
}

template <class T>
void run(const Gemm::Problem<T>& p, const Gemm::In<T, Space::host>& in, const Gemm::Out<T, Space::host>& out,
         Context& context) {
  const auto A = in.A, B = in.B;
  const auto C = out.C;
  const std::int64_t m = C.rows, n = C.cols, depth = depth_of(p, in);
  if (depth == 0) return scale_rows(C, p.beta, 0, m);
  const std::int64_t width = std::min(round_up(n, kCols<T>), round_up(kWidth, kCols<T>));
  const std::int64_t a_size = round_up(m, kRows) * std::min(depth, kDepth),
                     b_size = width * std::min(depth, kDepth);
  auto* a_packed =
      static_cast<T*>(context.workspace((a_size + b_size) * static_cast<std::int64_t>(sizeof(T))));
  T* b_packed = a_packed + a_size;
#pragma omp parallel
  for (std::int64_t j0 = 0; j0 < n; j0 += width) {
    const std::int64_t j1 = std::min(j0 + width, n);
    for (std::int64_t k0 = 0; k0 < depth; k0 += kDepth) {
      const std::int64_t steps = std::min(kDepth, depth - k0);
#pragma omp for schedule(static)
      for (std::int64_t j = j0; j < j1; j += kCols<T>) {  // strips of B: (steps, kCols)
        T* strip = b_packed + (j - j0) * steps;
        const std::int64_t wide = std::min(kCols<T>, j1 - j);
        for (std::int64_t k = 0; k < steps; ++k, strip += kCols<T>) {
          for (std::int64_t c = 0; c < wide; ++c) strip[c] = B(k0 + k, j + c);
          for (std::int64_t c = wide; c < kCols<T>; ++c) strip[c] = 0;
        }
      }
#pragma omp for schedule(static)
      for (std::int64_t i = 0; i < m; i += kRows) {  // strips of A: (steps, kRows)
        T* strip = a_packed + i * steps;
        const std::int64_t high = std::min<std::int64_t>(kRows, m - i);
        for (std::int64_t k = 0; high == kRows && k < steps; ++k) {
#pragma GCC unroll 8
          for (std::int64_t r = 0; r < kRows; ++r) strip[k * kRows + r] = A(i + r, k0 + k);
        }
        for (std::int64_t r = 0; high < kRows && r < kRows; ++r) {
          for (std::int64_t k = 0; k < steps; ++k) strip[k * kRows + r] = r < high ? A(i + r, k0 + k) : T(0);
        }
      }
      const T beta = k0 == 0 ? p.beta : T(1);
#pragma omp for collapse(2) schedule(dynamic, 4)
      for (std::int64_t i0 = 0; i0 < m; i0 += kHeight) {
        for (std::int64_t j = j0; j < j1; j += kCols<T>) {
          const std::int64_t wide = std::min(kCols<T>, j1 - j);
          for (std::int64_t i = i0; i < std::min(i0 + kHeight, m); i += kRows)
            multiply_tile(
                steps, a_packed + i * steps, b_packed + (j - j0) * steps,
                Target<T>{&C(i, j), C.ld, std::min<std::int64_t>(kRows, m - i), wide, p.alpha, beta});
        }
      }
    }
  }
}

PLUMB_REGISTER(Gemm, "21_register_tile", run, float, double);

}  // namespace
}  // namespace plumb
