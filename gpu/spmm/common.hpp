// What the rungs of the spmm ladder share: types, neighbours read together, and sums over the entries of a
// row. Header only, and as lean as the ABI, because every rung includes it.
#pragma once
#include "gpu/common/packs.hpp"
#include "gpu/common/rung.hpp"
#include "reference/ops/spmm.hpp"

namespace plumb {
namespace spmm {

template <class T>
using Problem = Spmm::Problem<T>;
template <class T>
using In = Spmm::In<T, Space::device>;
template <class T>
using Out = Spmm::Out<T, Space::device>;

/// A grid of `x` by `y` blocks; y is cut at what a device takes, so kernels stride over it by gridDim.y.
inline dim3 grid_of(Index x, Index y) {
  constexpr Index kMost = 65535;
  return {static_cast<unsigned>(x), static_cast<unsigned>(y < kMost ? y : kMost)};
}

/// Elements of B that a lane may load at once: 16 bytes, or fewer where a base, a leading dimension or the width is no multiple of them, or
/// where as many elements of C, of 16 bytes at most, lie on no such boundary.
template <class T>
int vector_length(const In<T>& in, const Out<T>& out) {
  const auto fits = [&](std::size_t v) {
    const auto whole = [v](Index i) { return i % static_cast<Index>(v) == 0; };
    const auto aligned = [](const void* p, std::size_t bytes) {
      return reinterpret_cast<std::uintptr_t>(p) % (bytes < 16 ? bytes : 16) == 0;
    };
    return whole(out.C.cols) && (in.B.rows <= 1 || whole(in.B.ld)) && (out.C.rows <= 1 || whole(out.C.ld)) &&
           aligned(in.B.data, v * sizeof(in_t<T>)) && aligned(out.C.data, v * sizeof(out_t<T>));
  };
  std::size_t v = kPackOf<in_t<T>>;
  while (v > 1 && !fits(v)) v /= 2;
  return static_cast<int>(v);
}

}  // namespace spmm
}  // namespace plumb
