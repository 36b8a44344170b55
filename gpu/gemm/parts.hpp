// The body of rung 21: tiles of any shape, the depth of all of them divided among as many rows of blocks, and a second launch that adds
// the parts in their order. Header only.
#pragma once
#include "gpu/gemm/fp64_tensor.hpp"

namespace plumb {
namespace gemm {

constexpr int kAddThreads = 256;

template <class T>
__global__ void __launch_bounds__(kAddThreads)
    gemm_add_rows_of_parts(Problem<T> p, const T* partial /* (parts, rows, ld) */, Index ld, int parts,
                           Out<T> out) {
  const Index rows = out.C.rows, stride = static_cast<Index>(gridDim.x) * kAddThreads;
  for (Index e = static_cast<Index>(blockIdx.x) * kAddThreads + threadIdx.x; e < rows * out.C.cols;
       e += stride) {
    const Index i = e / out.C.cols, j = e % out.C.cols;
    T sum = T(0);
#pragma unroll 4
    for (int part = 0; part < parts; ++part) sum += partial[(part * rows + i) * ld + j];
    finish(p, &out.C(i, j), sum);
  }
}

/// How the parts of a tile meet: how many there may be; what one costs to hand over and to add, as depth that it could have made; and
/// how many neighbouring multiprocessors the blocks of a tile must run on together (0: any).
struct Meeting {
  Index most, hand_over, neighbours;
};
constexpr Meeting kUndivided{1, 0, 0}, kInMemory{32, 64, 0};

/// How many parts the depth is divided into: the blocks of a multiprocessor take turns, `together` at once.
struct Parting {
  Index parts, steps, blocks;  // steps of a part; blocks of the busiest multiprocessor
};
template <class S>
Parting parting_of(Index m, Index n, Index depth, Index together, Meeting meeting) {
  const Index tiles = ceil_div(m, S::BM) * ceil_div(n, S::BN), steps = ceil_div(depth, S::BK),
              many = device_multiprocessors(), hand_over = ceil_div(meeting.hand_over, S::BK);
  const auto rounds = [&](Index parts) {
    if (meeting.neighbours == 0) return ceil_div(ceil_div(tiles * parts, many), together);
    const Index groups = ceil_div(many - meeting.neighbours + 1, meeting.neighbours),
                clusters = meeting.neighbours * together / parts;  // of a group, at once
    return ceil_div(tiles, (groups > 1 ? groups : 1) * clusters);
  };
  const auto blocks = [&](Index parts) {  // a round more has a block more at least
    const Index spread = ceil_div(tiles * parts, many), least = (rounds(parts) - 1) * together + 1;
    return spread > least ? spread : least;
  };
  Parting best{1, steps, ceil_div(tiles, many)};
  Index least = ceil_div(best.blocks, together) * steps;
  for (Index parts = 2; parts <= meeting.most && 2 * parts <= steps; ++parts) {
    const Index of_part = ceil_div(steps, parts), time = rounds(parts) * (of_part + hand_over);
    if (time < least) best = {parts, of_part, blocks(parts)}, least = time;
  }
  return best;
}

/// `start` launches the tiles for its operands, with `parts` rows of blocks.
template <class T, class Start>
void run_in_parts(const Problem<T>& p, const Out<T>& out, Index parts, Context& context, Start&& start) {
  const Index ld = ceil_div(out.C.cols, Vector<T>::kLanes) * Vector<T>::kLanes;
  auto* const partial =
      static_cast<T*>(context.workspace(parts * out.C.rows * ld * static_cast<Index>(sizeof(T))));
  Out<T> sums = out;
  sums.C = {partial, out.C.rows, out.C.cols, ld};
  start(sums);
  const Index blocks = ceil_div(out.C.rows * out.C.cols, kAddThreads),
              most = 16 * static_cast<Index>(device_multiprocessors());
  launch(gemm_add_rows_of_parts<T>, blocks < most ? blocks : most, kAddThreads, 0, context.stream, p,
         static_cast<const T*>(partial), ld, static_cast<int>(parts), out);
}

template <class S>
dim3 grid_of_parts(const Index m, const Index n, Index parts) {
  return {static_cast<unsigned>(ceil_div(m, S::BM) * ceil_div(n, S::BN)), static_cast<unsigned>(parts)};
}

/// fp32: the tiles of rungs 10 to 12.
template <class S>
void run_parts(const Problem<float>& p, const In<float>& in, const Out<float>& out, Index parts,
               Context& context) {
  if (parts == 1) return run_multistage<float, S>(p, in, out, context);
  run_in_parts(p, out, parts, context, [&](const Out<float>& sums) {
    launch(rows_on_vectors(in.B) ? gemm_multistage<float, S, true, true>
                                 : gemm_multistage<float, S, false, true>,
           grid_of_parts<S>(out.C.rows, out.C.cols, parts), S::kThreads, S::kShared, context.stream, p, in,
           sums, true);
  });
}

/// fp64: those of rungs 14 and 16.
template <class S>
void run_parts(const Problem<double>& p, const In<double>& in, const Out<double>& out, Index parts,
               Context& context) {
  using Math = FragmentsAhead<S>;
  if (parts == 1) return run_tensor<double, S, Math>(p, in, out, context);
  run_in_parts(p, out, parts, context, [&](const Out<double>& sums) {
    const bool wide = rows_on_vectors(in.A) && rows_on_vectors(in.B);
    launch(wide ? gemm_tensor<double, S, Math, true, true> : gemm_tensor<double, S, Math, false, true>,
           grid_of_parts<S>(out.C.rows, out.C.cols, parts), S::kThreads, S::kShared, context.stream, p, in,
           sums, true);
  });
}

/// 128 x 64 as rung 16; 64 x 64 by four warps, three blocks on a multiprocessor.
using Fp64Tile = TensorShape<double, 128, 64, 16, 4, 2, 1, 4>;
using Fp64Small = TensorShape<double, 64, 64, 16, 2, 2, 1, 3>;

}  // namespace gemm
}  // namespace plumb
