// spmm, host 05: one instantiation per width, rows dealt out in small chunks.
//
// Change    the width is a template argument, so every panel has a constant length and no width has a
//           remainder loop; chunks of 64 rows are handed out dynamically.
// Traffic   as rung 03.
// Limits    loads of B: one vector load per multiply-add.
// Fails at  widths it was not built for (it refuses them), and giant rows, which are not split.
#include "reference/cpu/spmm/row_panel.hpp"

namespace plumb {
namespace {

template <class T>
using In = Spmm::In<T, Space::host>;
template <class T>
using Out = Spmm::Out<T, Space::host>;

// A row of Width columns: constant panels of at most eight registers, or scalars where it is narrower than
// one.
template <int Width, class T>
void row(const In<T>& in, std::int64_t begin, std::int64_t end, std::int64_t column, T* c /* (Width) */) {
  constexpr int kMost = 8 * kLanes<T>;
  if constexpr (Width > kMost) {
    spmm_host::panel<8>(in.A, in.B, begin, end, column, kMost, c);
    // what is left is at least one register wide, or is widened to one by going over a few columns twice
    constexpr int kRest = Width - kMost, kTaken = kRest < kLanes<T> ? kLanes<T> : kRest;
    row<kTaken>(in, begin, end, column + Width - kTaken, c + Width - kTaken);
  } else if constexpr (Width >= kLanes<T>) {
    constexpr int kRegisters = (Width + kLanes<T> - 1) / kLanes<T>;
    spmm_host::panel<kRegisters>(in.A, in.B, begin, end, column, Width, c);
  } else {
    T sum[Width] = {};
    for (std::int64_t k = begin; k < end; ++k) {
      const T a = in.A.val[k];
      const T* b = in.B.data + in.A.col[k] * in.B.ld + column;
      for (int j = 0; j < Width; ++j) sum[j] += a * b[j];
    }
    for (int j = 0; j < Width; ++j) c[j] = sum[j];
  }
}

template <int Width, class T>
void product(const In<T>& in, const Out<T>& out) {
#pragma omp parallel for schedule(dynamic, 64)
  for (std::int64_t i = 0; i < in.A.rows; ++i) {
    row<Width>(in, in.A.row_ptr[i], in.A.row_ptr[i + 1], 0, out.C.data + i * out.C.ld);
  }
}

template <int... Widths>
struct WidthList {
  static bool has(std::int64_t n) { return ((n == Widths) || ...); }
  template <class T>
  static void dispatch(const In<T>& in, const Out<T>& out) {
    (void)((out.C.cols == Widths ? (product<Widths>(in, out), true) : false) || ...);
  }
};
using Widths = WidthList<1, 3, 6, 7, 16, 32, 40, 41, 47, 64, 128, 256>;

template <class T>
const char* supports(const Spmm::Problem<T>&, const In<T>& in, const Out<T>&) {
  return Widths::has(in.B.cols) ? nullptr
                                : "built for widths 1, 3, 6, 7, 16, 32, 40, 41, 47, 64, 128 and 256 only";
}

template <class T>
void run(const Spmm::Problem<T>&, const In<T>& in, const Out<T>& out, Context&) {
  Widths::dispatch(in, out);
}

PLUMB_REGISTER_WITH(Spmm, "05_width_specialised", (run<T>, {}, supports<T>), float, double);

}  // namespace
}  // namespace plumb
