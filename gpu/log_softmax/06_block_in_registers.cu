// log_softmax, rung 6: wide rows in the registers of a block.
//
// Change    rung 3's idea for rows that a warp cannot hold: 256 to 1,024 threads keep up to 16 elements each,
//           so that rows of up to 16,384 are read once.
// Traffic   compulsory: x once, y once. Wider rows: rung 5's kernel, x twice.
// Limits    fp32 / fp64: log_softmax_block_in_registers 20 to 47 / 32 to 62 registers, 32 to 128 / 64 to 256
//           bytes of static shared memory; log_softmax_online 24 / 28 registers, 64 / 128 bytes of static
//           shared memory, no spills (sm_90, nvcc 13.0, ptxas -v). 8 blocks of 256 threads per SM at 1,024
//           columns; one of 1,024 at 16,384 (fp32 by 16 bytes: 2).
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

const Register<LogSoftmax, float, Space::device> f32{"06_block_in_registers", run<float>};
const Register<LogSoftmax, double, Space::device> f64{"06_block_in_registers", run<double>};

}  // namespace
}  // namespace plumb
