// GCN: A's entries in the order in which the fused kernel reads them, moved on the device.
//
// Change    against the host, which writes arrays of that order, with random places, and copies those: A is copied as it is.
// Traffic   A read once and written once; of short rows, a lane for each, writes of a warp are whole lines.
// Limits    bound by memory; it runs once per graph.
// Fails at  nothing by design; lanes of a slice read rows apart from each other, of which lines are used by later quads.
// Source    the definition.
#include "gpu/models/gcn/place_rows.hpp"

#include "gpu/device/kernel.hpp"

namespace plumb {
namespace gcn {

namespace {

constexpr int kWarpsOfBlock = 8;

/// A warp for each part, then one for each slice.
template <class T>
__global__ void __launch_bounds__(32 * kWarpsOfBlock)
    gcn_place_entries(EntrySource<T> a, PlannedRows rows, EntryTarget<T> to) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const Index task = static_cast<Index>(blockIdx.x) * kWarpsOfBlock + threadIdx.x / 32;
  if (task < rows.parts) {
    place_part(a, rows, task, lane, 32, to);
  } else if ((task - rows.parts) * kSlice < rows.slots) {
    place_slot(a, rows, (task - rows.parts) * kSlice + lane, to);
  }
}
static_assert(kSlice == 32, "a lane for each row of a slice");

}  // namespace

template <class T>
void place_entries(const EntrySource<T>& a, const PlannedRows& rows, const EntryTarget<T>& to, void* stream) {
  const Index warps = rows.parts + (rows.slots + kSlice - 1) / kSlice;
  launch(gcn_place_entries<T>, (warps + kWarpsOfBlock - 1) / kWarpsOfBlock, 32 * kWarpsOfBlock, 0, stream, a,
         rows, to);
}

template void place_entries(const EntrySource<float>&, const PlannedRows&, const EntryTarget<float>&, void*);
template void place_entries(const EntrySource<double>&, const PlannedRows&, const EntryTarget<double>&,
                            void*);

}  // namespace gcn
}  // namespace plumb
