// spmv, rung 7: CSR-Stream ("line"): blocks of whole rows, staged through shared memory.
//
// Change    the block, not the row, reads the entries: products of about a thousand neighbouring entries go
//           to shared memory fully coalesced whatever the row lengths; then 1 to 32 lanes per row sum them
//           there, and a whole warp those of a row that has more than 16 for each of these lanes. What a row
//           ends with, its place in row_ptr and its y, is copied beside the products: read afterwards, each
//           was a wait for memory of its own (8 M rows of one entry or none, beta 1, fp32, H100: 89 us, now
//           63; cuSPARSE 64). Tiles of 2048 by 256 threads take as long on large matrices, and longer on small.
// Traffic   compulsory bytes, coalesced, plus one 16-byte break point per 1024 entries and rows.
// Fails at  a giant row: it stays in one block. Rung 8 answers that.
// Source    Greathouse and Daga, "Efficient sparse matrix-vector multiplication on GPUs using the CSR storage
//           format", SC'14. There the host packs rows greedily; here row i goes to tile (row_ptr[i] + i) /
//           1024, found by a search on the device.
#include "gpu/spmv/kernels/stream.hpp"

namespace plumb {
namespace {

using namespace spmv;

template <class T>
void* prepare(const Problem<T>&, const In<T>& in, const Out<T>&, Context& context) {
  return const_cast<StreamStart*>(prepare_stream(in, context));
}

template <class T>
void run(const Problem<T>& p, const In<T>& in, const Out<T>& out, Context& context) {
  run_stream(static_cast<const StreamStart*>(context.plan), p, in, out, context);
}

PLUMB_REGISTER_WITH(Spmv, "07_stream", (run<T>, {}, nullptr, prepare<T>), float, double, f16, bf16, f16_f32,
                    bf16_f32);

}  // namespace
}  // namespace plumb
