// dense_to_csr, rung 2: one warp per row; ballots tell each lane its place.
//
// Change    32 neighbours are read at once, and the bits of a ballot below a lane's own are the entries
//           before its own: columns stay ascending and no lane waits for another.
// Traffic   x twice, coalesced; entries next to each other.
// Fails at  few rows, and rows narrower than a warp; 4 bytes per lane and load leave the memory waiting.
//           Rung 3 answers that.
// Source    M. Harris and M. Garland, "Optimizing Parallel Prefix Operations for the Fermi Architecture",
//           GPU Computing Gems (2011), for ballot and popc as a scan of bits.
#include "gpu/dense_to_csr/warp_per_row.hpp"

namespace plumb {
namespace {

using namespace dense_to_csr;

template <class T>
void run(const Problem<T>&, const In<T>& in, const Out<T>& out, Context& context) {
  run_warp_per_row(in, out, context);
}

PLUMB_REGISTER(DenseToCsr, "02_warp_per_row", run, float, double);

}  // namespace
}  // namespace plumb
