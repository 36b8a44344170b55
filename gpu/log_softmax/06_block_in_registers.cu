// log_softmax, rung 6: wide rows in the registers of a block.
//
// Change    rung 3's idea for rows that a warp cannot hold: 256 to 1,024 threads keep up to 16 elements each,
//           so that rows of up to 16,384 are read once.
// Traffic   compulsory: x once, y once. Wider rows: rung 5's kernel, x twice.
// Fails at  narrow rows, which leave most of a block idle: rung 3 is for those.
// Source    the ladder's own step.
#include "gpu/log_softmax/block_in_registers.hpp"
#include "gpu/log_softmax/online.hpp"

namespace plumb {
namespace {

using namespace log_softmax;

template <class T>
void run(const Problem<T>&, const In<T>& in, const Out<T>& out, Context& context) {
  if (in.x.cols == 0) return;
  if (in.x.cols <= kMostOfBlock)
    run_block_in_registers(in, out, context);
  else
    run_online(in, out, context);
}

PLUMB_REGISTER(LogSoftmax, "06_block_in_registers", run, float, double, f16, bf16, f16_f32, bf16_f32);

}  // namespace
}  // namespace plumb
