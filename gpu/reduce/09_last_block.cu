// reduce, rung 9: one launch; the last block to finish folds the partial results.
//
// Change    a counter tells a block that all others have stored theirs; it reads them in their own order, so
//           the answer is reproducible though the launch is one.
// Traffic   as rung 7.
// Fails at  nothing by size; the counter must be zero at the start, which costs a 4-byte fill.
// Source    CUDA samples, "threadFenceReduction"; CUDA C++ Programming Guide, "Memory Fence Functions".
#include "gpu/reduce/last_block.hpp"

namespace plumb {
namespace {

using namespace reduce;

template <class T>
void run(const Problem<T>& p, const In<T>& in, const Out<T>& out, Context& context) {
  const Index blocks = pass_blocks(in.x.size, kPackOf<in_t<T>>);
  unsigned* finished = new_count(context);
  if (p.kind == Reduce::Kind::sum)
    run_last_block<Sum>(blocks, finished, in, out, context);
  else
    run_last_block<Max>(blocks, finished, in, out, context);
}

PLUMB_REGISTER(Reduce, "09_last_block", run, float, double, f16, bf16, f16_f32, bf16_f32);

}  // namespace
}  // namespace plumb
