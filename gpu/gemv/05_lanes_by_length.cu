// gemv, rung 5: as many lanes for a row as its length has loads for, at any alignment.
//
// Change    rung 3 with groups of 1 to 32 lanes: a row of 8 elements is two lanes' work, not a warp's. Where rows do not lie on 16 bytes,
//           elements one at a time, eight in flight.
// Traffic   compulsory bytes; a warp's loads are neighbours where rows follow each other.
// Fails at  few, wide rows, as rung 3.
// Source    the vector kernels of CUSP, which choose lanes by the mean row (Bell and Garland, SC'09).
#include "gpu/gemv/lanes.hpp"

namespace plumb {
namespace {

using namespace gemv;

template <class V, class T>
void run_as(const Problem<T>& p, const In<T>& in, const Out<T>& out, Context& context) {
  run_lanes<V>(lanes_of<V>(in.A.cols, 1), p, in, out, context);
}

template <class T>
void run(const Problem<T>& p, const In<T>& in, const Out<T>& out, Context& context) {
  if (on_vectors(in))
    run_as<Vector<T>>(p, in, out, context);
  else
    run_as<Vector<T, 1>>(p, in, out, context);
}

PLUMB_REGISTER(Gemv, "05_lanes_by_length", run, float, double);

}  // namespace
}  // namespace plumb
