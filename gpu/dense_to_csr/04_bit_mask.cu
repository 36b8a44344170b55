// dense_to_csr, rung 4: counting leaves a bit per element, so that filling reads only entries.
//
// Change    the ballots of rung 2 are kept: 1/32 of x in fp32, 1/64 in fp64. The second pass goes over words,
//           skips empty ones and loads the elements whose bit is set.
// Traffic   x once, the mask once each way, and again the sectors of x that hold an entry: few where one
//           element in a hundred counts, nearly all where one in four does.
// Fails at  dense x, which is read twice after all; few rows. Rung 5 answers both.
// Source    bitmaps as in Zhu et al., "Sparse Tensor Core" (MICRO 2019), and kin.
#include "gpu/dense_to_csr/bit_mask.hpp"

namespace plumb {
namespace {

using namespace dense_to_csr;

template <class T>
void run(const Problem<T>&, const In<T>& in, const Out<T>& out, Context& context) {
  run_bit_mask(in, out, context);
}

PLUMB_REGISTER(DenseToCsr, "04_bit_mask", run, float, double);

}  // namespace
}  // namespace plumb
