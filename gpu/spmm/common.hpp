// What the rungs of the spmm ladder share: types, neighbours read together, and sums over the entries of a
// row. Header only, and as lean as the ABI, because every rung includes it.
#pragma once
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

/// V neighbours of a row, moved in one instruction where V is more than 1; their address is a multiple of
/// their size.
template <class T, int V>
struct alignas(V * sizeof(T)) Pack {
  T at[V];
};

/// Through the read-only path.
template <class T>
PLUMB_DEVICE Pack<T, 1> load_pack(const Pack<T, 1>* p) {
  return {{__ldg(p->at)}};
}
PLUMB_DEVICE Pack<float, 2> load_pack(const Pack<float, 2>* p) {
  const float2 v = __ldg(reinterpret_cast<const float2*>(p));
  return {{v.x, v.y}};
}
PLUMB_DEVICE Pack<float, 4> load_pack(const Pack<float, 4>* p) {
  const float4 v = __ldg(reinterpret_cast<const float4*>(p));
  return {{v.x, v.y, v.z, v.w}};
}
PLUMB_DEVICE Pack<double, 2> load_pack(const Pack<double, 2>* p) {
  const double2 v = __ldg(reinterpret_cast<const double2*>(p));
  return {{v.x, v.y}};
}

/// Elements of T that a lane may move at once: 16 bytes, or fewer where a base, a leading dimension or the
/// width is no multiple of them.
template <class T>
int vector_length(const In<T>& in, const Out<T>& out) {
  const auto fits = [&](std::size_t v) {
    const auto whole = [v](Index i) { return i % static_cast<Index>(v) == 0; };
    const auto aligned = [v](const void* p) {
      return reinterpret_cast<std::uintptr_t>(p) % (v * sizeof(T)) == 0;
    };
    return whole(out.C.cols) && (in.B.rows <= 1 || whole(in.B.ld)) && (out.C.rows <= 1 || whole(out.C.ld)) &&
           aligned(in.B.data) && aligned(out.C.data);
  };
  std::size_t v = 16 / sizeof(T);
  while (v > 1 && !fits(v)) v /= 2;
  return static_cast<int>(v);
}

}  // namespace spmm
}  // namespace plumb
