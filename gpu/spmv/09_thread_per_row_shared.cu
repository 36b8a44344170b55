// spmv, rung 9: one thread per row, entries staged through shared memory.
//
// Change    rung 1 with its loads repaired: the block reads the entries of its 256 rows coalesced, 2048 at a
//           time, and each thread then walks its own row in shared memory.
// Traffic   compulsory bytes, coalesced.
// Fails at  a long row among short ones: its thread walks the whole chunk alone while 255 wait; rows whose
//           lengths share a factor with 32 conflict in shared memory's banks.
// Source    the staging of Greathouse and Daga, SC'14, on the row partition of Bell and Garland, SC'09.
#include "gpu/spmv/common.hpp"

namespace plumb {
namespace {

using namespace spmv;

constexpr int kThreads = 256;
constexpr int kChunk = 2048;

template <class T>
__global__ void __launch_bounds__(kThreads) spmv_thread_per_row_shared(Problem<T> p, In<T> in, Out<T> out) {
  __shared__ T staged[kChunk];
  const Index first = static_cast<Index>(blockIdx.x) * kThreads;
  const Index last = first + kThreads < in.A.rows ? first + kThreads : in.A.rows;
  const Index i = first + static_cast<Index>(threadIdx.x);
  const bool mine = i < last;
  const Index begin = in.A.row_ptr[first], end = in.A.row_ptr[last];
  Index k = mine ? in.A.row_ptr[i] : end;  // the next entry of this thread's row
  const Index row_end = mine ? in.A.row_ptr[i + 1] : end;
  T sum = T(0);
  for (Index chunk = begin; chunk < end; chunk += kChunk) {
    const Index chunk_end = chunk + kChunk < end ? chunk + kChunk : end;
    stage_products<kThreads>(in, chunk, static_cast<int>(chunk_end - chunk), staged);
    __syncthreads();
    const Index stop = row_end < chunk_end ? row_end : chunk_end;
    for (; k < stop; ++k) sum += staged[k - chunk];
    __syncthreads();  // the next chunk overwrites what this one's readers read
  }
  if (mine) finish_row(p, out.y.data, i, sum);
}

template <class T>
void run(const Problem<T>& p, const In<T>& in, const Out<T>& out, Context& context) {
  launch(spmv_thread_per_row_shared<T>, ceil_div(in.A.rows, kThreads), kThreads, 0, context.stream, p, in,
         out);
}

PLUMB_REGISTER(Spmv, "09_thread_per_row_shared", run, float, double);

}  // namespace
}  // namespace plumb
