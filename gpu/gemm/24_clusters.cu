// gemm, rung 24: the depth of a tile in parts, whose sums a cluster of blocks adds in shared memory.
//
// Change    rung 21 writes the sums of all parts to memory, where they are added. Here the blocks that share a tile are a
//           cluster: each leaves its sums in its own shared memory, and adds a share of the rows of all of them, which it reads from the
//           others' (distributed shared memory). No parts in memory, and all blocks add. The blocks of a cluster must lie on neighbouring
//           multiprocessors, 16 to 18 of them together: clusters of seven leave two to four idle, which the choice of parts counts.
// Traffic   that of the tiles; C once. Between the blocks of a cluster the tile once for each part.
// Fails at  large products, and little depth: sums that leave through shared memory take up to 1.7 times as long there as stores from
//           registers. fp32: rung 20 and the tiles of rung 23 are faster but in 3 of 70 drawn cases. Few tiles and a depth for more than
//           eight blocks each: rungs 20 and 21.
// Source    CUDA C++ Programming Guide, "Thread Block Clusters", "Distributed Shared Memory".
#include "gpu/gemm/families/clusters_family.hpp"

namespace plumb {
namespace {

using namespace gemm;

template <class S, Index Together, class T>
void run(const Problem<T>& p, const In<T>& in, const Out<T>& out, Context& context) {
  const int parts = divided_in_clusters<S>(out.C.rows, out.C.cols, depth_of(p, in), Together).division.parts;
  context.explain(parts > 1 ? "64 x 64 tiles, depth in parts: a cluster of blocks for a tile"
                            : "64 x 64 tiles, a block for a tile");
  run_clusters<S>(p, in, out, parts, context);
}

const Register<Gemm, float, Space::device> f32{"24_clusters", run<Quartered, 4, float>,
                                               Traits{}.needs_sm(90)};
const Register<Gemm, double, Space::device> f64{"24_clusters", run<Fp64Small, 2, double>,
                                                Traits{}.needs_sm(90)};

}  // namespace
}  // namespace plumb
