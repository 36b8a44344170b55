// GCN on several devices: rows that another device gathers, packed, so that one copy takes them there.
//
// Change    against copies of all rows: only what is gathered is sent.
// Traffic   per row its width read and written once; what is read comes from the second-level cache where it was just computed.
// Limits    bound by memory.
// Fails at  nothing by design; where all rows are gathered it costs a pass over them that a plain copy would not.
// Source    the definition.
#include "gpu/models/gcn/aggregate.hpp"
#include "gpu/models/gcn/peers.hpp"

namespace plumb {
namespace gcn {

namespace {

constexpr int kThreads = 256;

template <class T>
__global__ void __launch_bounds__(kThreads)
    gcn_pack_rows(const T* from /* (.., ld) */, Index ld, int packs, const std::int32_t* rows /* (count) */,
                  Index count, T* to /* (count, ld) */) {
  const Index at = static_cast<Index>(blockIdx.x) * kThreads + threadIdx.x, row = at / packs;
  if (row >= count) return;
  const Index column = at % packs * Pack<T>::kV;
  *reinterpret_cast<Pack<T>*>(to + row * ld + column) =
      *reinterpret_cast<const Pack<T>*>(from + rows[row] * ld + column);
}

}  // namespace

template <class T>
void pack_rows(const T* from, Index ld, Index width, const std::int32_t* rows, Index count, T* to,
               void* stream) {
  const auto packs = static_cast<int>(width / Pack<T>::kV);
  launch(gcn_pack_rows<T>, (count * packs + kThreads - 1) / kThreads, kThreads, 0, stream, from, ld, packs,
         rows, count, to);
}

template void pack_rows(const float*, Index, Index, const std::int32_t*, Index, float*, void*);
template void pack_rows(const double*, Index, Index, const std::int32_t*, Index, double*, void*);

}  // namespace gcn
}  // namespace plumb
