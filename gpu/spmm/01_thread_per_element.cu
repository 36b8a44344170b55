// spmm, rung 1: one thread per element of C.
//
// Change    first rung: the parallel loops are those over rows and columns of C, nothing else.
// Traffic   a warp of 32 columns reads a row of B in one piece; indices and values are read by every one of
//           its threads, from the same address.
// Fails at  widths that are no multiple of 32, whose threads stand idle; long rows, one dependent load after
//           another.
#include "gpu/spmm/element.hpp"

namespace plumb {
namespace {

using namespace spmm;

template <class T>
void run(const Problem<T>&, const In<T>& in, const Out<T>& out, Context& context) {
  run_elements(in, out, context);
}

PLUMB_REGISTER(Spmm, "01_thread_per_element", run, float, double, f16, bf16, f16_f32, bf16_f32);

}  // namespace
}  // namespace plumb
