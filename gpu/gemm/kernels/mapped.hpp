// Tiles of B from B itself, by the copy engine, for the loop of rung 15: what rung 19 adds. Header only.
#pragma once
#include "gpu/device/tensor_map.hpp"
#include "gpu/gemm/kernels/packed.hpp"

namespace plumb {
namespace gemm {

/// Tiles of B from B.
template <class S>
struct MappedB {
  static constexpr bool kPacked = false;
  TensorMap map;

  struct Cursor {
    const TensorMap* map;
    int row, col;
    PLUMB_DEVICE Cursor(const MappedB& b, Index tile, Index k, Index)
        : map(&b.map), row(static_cast<int>(k)), col(static_cast<int>(tile) * S::BN) {}
    PLUMB_DEVICE void copy(float* to, Mbarrier* bar) {
      copy_tile(to, map, row, col, bar);
      row += S::BK;
    }
  };
};

/// Tiles of `shape`.
template <class S>
void run_mapped_tiles(Division division, const Problem<float>& p, const In<float>& in, const Out<float>& out,
                      Context& context) {
  MappedB<S> b;
  if (make_tensor_map(b.map, in.B.data, in.B.rows, in.B.cols, in.B.ld, S::BK, S::BN))
    run_packed<S>(p, in, out, context, division, b);
  else
    run_packed<S>(p, in, out, context, division, PackedB<S>{});
}
inline void run_mapped(const Problem<float>& p, const In<float>& in, const Out<float>& out,
                       Context& context) {
  run_by_shape(p, in, out, context, [&](auto shape, Division division) {
    run_mapped_tiles<decltype(shape)>(division, p, in, out, context);
  });
}
/// Never by slices.
inline void run_mapped_squares(const Problem<float>& p, const In<float>& in, const Out<float>& out,
                               Context& context) {
  run_squares(plan_of<Shallow>(in, out), out, context, [&](auto shape, Division division) {
    run_mapped_tiles<decltype(shape)>(division, p, in, out, context);
  });
}

}  // namespace gemm
}  // namespace plumb
