// gemm, host 21: packed panels, and a tile of C in vector registers.
//
// Change    a kernel keeps kRows x kVectors vector sums in registers over kDepth steps of the sum; A and B
//           are copied beforehand in the order in which it reads them, padded with zeros to whole tiles.
// Traffic   B once into the shared cache and A once into the second-level cache, per kDepth; C once per
//           kDepth.
// Types     narrow operands are widened when they are packed. A narrow C is no place for partial sums: they stand in workspace until the
//           last step of the depth.
// Limits    the multiply-add pipes: per step kVectors loads of B and kRows broadcasts of A feed kRows *
//           kVectors of them.
// Fails at  small or thin products: packing and padding cost as much as they save.
// Source    K. Goto and R. van de Geijn, ACM TOMS 34(3) (2008); F. Van Zee and R. van de Geijn, BLIS, ACM
//           TOMS 41(3) (2015).
#include <algorithm>

#include "reference/core/values.hpp"
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

/// Copies columns [j, j1) of B, at most kCols, in `steps` rows from k0: (steps, kCols), padded with zeros.
template <class V, class E>
void pack_columns(const DenseView<const E, Space::host>& B, std::int64_t k0, std::int64_t steps,
                  std::int64_t j, std::int64_t j1, V* strip) {
  const std::int64_t wide = std::min(kCols<V>, j1 - j);
  for (std::int64_t k = 0; k < steps; ++k, strip += kCols<V>) {
    for (std::int64_t c = 0; c < wide; ++c) strip[c] = value(B(k0 + k, j + c));
    for (std::int64_t c = wide; c < kCols<V>; ++c) strip[c] = 0;
  }
}

/// Copies rows from i of A, at most kRows, in `steps` columns from k0: (steps, kRows), padded with zeros.
template <class V, class E>
void pack_rows(const DenseView<const E, Space::host>& A, std::int64_t i, std::int64_t k0, std::int64_t steps,
               V* strip) {
  const std::int64_t high = std::min<std::int64_t>(kRows, A.rows - i);
  for (std::int64_t k = 0; high == kRows && k < steps; ++k) {
#pragma GCC unroll 8
    for (std::int64_t r = 0; r < kRows; ++r) strip[k * kRows + r] = value(A(i + r, k0 + k));
  }
  for (std::int64_t r = 0; high < kRows && r < kRows; ++r) {
    for (std::int64_t k = 0; k < steps; ++k) strip[k * kRows + r] = r < high ? value(A(i + r, k0 + k)) : V(0);
  }
}

/// Packed operands, and the sums of a C that cannot hold them.
template <class V>
struct Buffers {
  V *a, *b, *sums;
};

/// Adds to `sums`, or writes to C where it holds sums, the products of columns [j0, j1) over the depth. Called by all threads of a team.
template <class T, class V>
void multiply_columns(const Gemm::Problem<T>& p, const Gemm::In<T, Space::host>& in,
                      const DenseView<V, Space::host>& sums, V alpha, V beta, std::int64_t j0,
                      std::int64_t j1, const Buffers<V>& buffers) {
  const std::int64_t m = in.A.rows, depth = depth_of(p, in);
  for (std::int64_t k0 = 0; k0 < depth; k0 += kDepth) {
    const std::int64_t steps = std::min(kDepth, depth - k0);
#pragma omp for schedule(static)
    for (std::int64_t j = j0; j < j1; j += kCols<V>)
      pack_columns(in.B, k0, steps, j, j1, buffers.b + (j - j0) * steps);
#pragma omp for schedule(static)
    for (std::int64_t i = 0; i < m; i += kRows) pack_rows(in.A, i, k0, steps, buffers.a + i * steps);
    const V before = k0 == 0 ? beta : V(1);
#pragma omp for collapse(2) schedule(dynamic, 4)
    for (std::int64_t i0 = 0; i0 < m; i0 += kHeight) {
      for (std::int64_t j = j0; j < j1; j += kCols<V>) {
        const std::int64_t wide = std::min(kCols<V>, j1 - j);
        for (std::int64_t i = i0; i < std::min(i0 + kHeight, m); i += kRows)
          multiply_tile(steps, buffers.a + i * steps, buffers.b + (j - j0) * steps,
                        Target<V>{&sums(i, j - j0), sums.ld, std::min<std::int64_t>(kRows, m - i), wide,
                                  alpha, before});
      }
    }
  }
}

template <class T>
void run(const Gemm::Problem<T>& p, const Gemm::In<T, Space::host>& in, const Gemm::Out<T, Space::host>& out,
         Context& context) {
  using V = scalar_t<T>;
  constexpr bool kNarrow = is_narrow(kFormat<out_t<T>>);
  const auto C = out.C;
  const std::int64_t m = C.rows, n = C.cols, depth = depth_of(p, in);
  if (depth == 0) return scale_rows(C, p.beta, 0, m);
  const std::int64_t width = std::min(round_up(n, kCols<V>), round_up(kWidth, kCols<V>));
  const std::int64_t a_size = round_up(m, kRows) * std::min(depth, kDepth),
                     b_size = width * std::min(depth, kDepth), sums = kNarrow ? m * width : 0;
  auto* packed =
      static_cast<V*>(context.workspace((a_size + b_size + sums) * static_cast<std::int64_t>(sizeof(V))));
  const Buffers<V> buffers{packed, packed + a_size, packed + a_size + b_size};
#pragma omp parallel
  for (std::int64_t j0 = 0; j0 < n; j0 += width) {
    const std::int64_t j1 = std::min(j0 + width, n);
    if constexpr (kNarrow) {
      multiply_columns<T, V>(p, in, {buffers.sums, m, j1 - j0, width}, V(1), V(0), j0, j1, buffers);
#pragma omp for schedule(static)
      for (std::int64_t i = 0; i < m; ++i)
        write_scaled(&C(i, j0), buffers.sums + i * width, j1 - j0, p.alpha, p.beta);
    } else {
      multiply_columns<T, V>(p, in, {&C(0, j0), m, j1 - j0, C.ld}, p.alpha, p.beta, j0, j1, buffers);
    }
  }
}

PLUMB_REGISTER(Gemm, "21_register_tile", run, float, double, f16, bf16, f16_f32, bf16_f32, e4m3_f16,
               e4m3_bf16, e4m3_f32, e5m2_f16, e5m2_bf16, e5m2_f32);

}  // namespace
}  // namespace plumb
