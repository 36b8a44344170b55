// log_softmax, rung 3: the row in registers, by as many lanes as it needs.
//
// Change    x is read once and kept: 1 to 32 lanes per row by its width, up to 32 elements each (fp64 too:
//           frameworks read three times there). 16-byte pieces where rows are made of them, neighbouring
//           lanes taking neighbouring pieces; elements otherwise.
// Traffic   compulsory: x once, y once.
// Fails at  rows beyond 1,024 elements, which take rung 2's three passes within the same kernel: rung 4 takes
//           a block for those.
// Source    PyTorch's persistent softmax has the same idea; ours holds fp64 as well.
#include "gpu/log_softmax/row_in_registers.hpp"
#include "gpu/log_softmax/warp_per_row.hpp"

namespace plumb {
namespace {

using namespace log_softmax;

template <class T>
void run(const Problem<T>&, const In<T>& in, const Out<T>& out, Context& context) {
  if (in.x.cols <= kMostOfLanes)
    run_row_in_registers(in, out, context);
  else
    run_warp_per_row(in, out, context);
}

PLUMB_REGISTER(LogSoftmax, "03_row_in_registers", run, float, double, f16, bf16, f16_f32, bf16_f32);

}  // namespace
}  // namespace plumb
