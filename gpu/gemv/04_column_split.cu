// gemv, rung 4: wide rows are split over several blocks.
//
// Change    a block per row and per piece of its columns, as many pieces as fill the chip; pieces are added
//           by a second kernel, in order, so the result is reproducible. Where there are rows enough, one
//           piece, and one kernel.
// Traffic   compulsory bytes, coalesced, plus one number per piece.
// Limits    fp32 / fp64: gemv_column_split 34 / 32 registers, 32 / 64 bytes of static shared memory;
//           gemv_add_pieces 30 registers, no spills (sm_90, nvcc 13.0, ptxas -v). 6 / 8 blocks of 256 per SM.
// Fails at  millions of narrow rows, which get a block each: rung 3 is the one for them. Needs bases and ld
//           in multiples of 16 bytes.
// Source    split-k, as in the gemm ladders of CUTLASS.
#include <cstdio>

#include "gpu/gemv/vector_loads.hpp"

namespace plumb {
namespace {

using namespace gemv;

constexpr int kThreads = 256;
constexpr Index kLeastPiece = 4096;  // columns: below, a second kernel costs more than the piece saves
constexpr int kBlocksPerMultiprocessor = 4;

// Block number row * pieces + piece. With one piece y is finished here, else the piece's sum is left in
// `partial`.
template <class T>
__global__ void __launch_bounds__(kThreads)
    gemv_column_split(Problem<T> p, In<T> in, Out<T> out, Index pieces, Index piece_columns,
                      T* partial /* (rows, pieces) */) {
  __shared__ T scratch[kThreads / 32];
  const Index i = blockIdx.x / pieces, piece = blockIdx.x % pieces;
  const Index cols = columns(p, in);
  const Index begin = piece * piece_columns < cols ? piece * piece_columns : 0;
  const Index end =
      piece * piece_columns < cols ? (begin + piece_columns < cols ? begin + piece_columns : cols) : 0;
  const T share =
      dot_share(in.A.data + i * in.A.ld, in.x.data, begin, end, static_cast<int>(threadIdx.x), kThreads);
  const T sum = sum_block<kThreads>(share, scratch);
  if (threadIdx.x != 0) return;
  if (pieces == 1)
    finish_row(p, out.y.data, i, sum);
  else
    partial[i * pieces + piece] = sum;
}

template <class T>
__global__ void __launch_bounds__(kThreads)
    gemv_add_pieces(Problem<T> p, Out<T> out, Index pieces, const T* partial /* (rows, pieces) */) {
  const Index i = (static_cast<Index>(blockIdx.x) * kThreads + threadIdx.x) / 32;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  if (i >= out.y.size) return;  // whole warps
  T sum = T(0);
  for (Index piece = lane; piece < pieces; piece += 32) sum += partial[i * pieces + piece];
  sum = sum_lanes(sum);
  if (lane == 0) finish_row(p, out.y.data, i, sum);
}

template <class T>
void run(const Problem<T>& p, const In<T>& in, const Out<T>& out, Context& context) {
  const Index rows = in.A.rows, cols = in.A.cols;
  if (rows == 0) return;
  Index pieces = static_cast<Index>(kBlocksPerMultiprocessor) * device_multiprocessors() / rows;
  const Index most = cols / kLeastPiece;
  if (pieces > most) pieces = most;
  if (pieces < 1) pieces = 1;
  // whole vectors, so that every piece starts on a 16-byte boundary
  const Index piece_columns = ceil_div(ceil_div(cols, pieces), Vector<T>::kLanes) * Vector<T>::kLanes;
  char text[80];
  std::snprintf(text, sizeof text, "%lld pieces of %lld columns per row", static_cast<long long>(pieces),
                static_cast<long long>(piece_columns));
  context.explain(text);
  T* partial = pieces == 1
                   ? nullptr
                   : static_cast<T*>(context.workspace(rows * pieces * static_cast<Index>(sizeof(T))));
  launch(gemv_column_split<T>, rows * pieces, kThreads, 0, context.stream, p, in, out, pieces, piece_columns,
         partial);
  if (pieces > 1) {
    launch(gemv_add_pieces<T>, ceil_div(rows, kThreads / 32), kThreads, 0, context.stream, p, out, pieces,
           partial);
  }
}

const Register<Gemv, float, Space::device> f32{"04_column_split", run<float>, Traits{}.align(16)};
const Register<Gemv, double, Space::device> f64{"04_column_split", run<double>, Traits{}.align(16)};

}  // namespace
}  // namespace plumb
