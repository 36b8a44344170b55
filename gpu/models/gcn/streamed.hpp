// The GCN within bounded device memory, by the fused kernel and a rung of skinny_gemm: operands of A stay on the device in blocks of columns, all
// else comes in pieces of rows, and goes back, on streams of its own (stream_plan.hpp).
#pragma once
#include <algorithm>

#include "gpu/device/resources.hpp"
#include "gpu/models/gcn/aggregate.hpp"
#include "reference/models/gcn/gcn.hpp"

namespace plumb {
namespace gcn {

/// What copies and kernels wait for, and how wide blocks are: what a test may replace, to see that a mistake there is found.
class CopyRules {
 public:
  CopyRules() = default;
  CopyRules(const CopyRules&) = delete;
  CopyRules& operator=(const CopyRules&) = delete;
  virtual ~CopyRules() = default;

  /// A kernel reads a piece: it is there.
  virtual void wait_arrived(const DeviceEvent& event, void* stream) const { event.wait(stream); }
  /// A copy overwrites a piece: it has been computed.
  virtual void wait_released(const DeviceEvent& event, void* stream) const { event.wait(stream); }
  /// A copy reads rows: they have been computed.
  virtual void wait_computed(const DeviceEvent& event, void* stream) const { event.wait(stream); }
  /// A kernel overwrites rows: they are on the host.
  virtual void wait_stored(const DeviceEvent& event, void* stream) const { event.wait(stream); }
  /// A layer begins whose rows come from the host: they are there.
  virtual void wait_on_host(const DeviceEvent& event, void* stream) const { event.wait(stream); }
  /// Columns of a block that begins with `begin` of `all`.
  [[nodiscard]] virtual Index width(Index begin, Index columns, Index all) const {
    return std::min(columns, all - begin);
  }
};

/// launch_aggregate() with some policy.
template <class T>
using LaunchAggregate = void (*)(const RowsView<T>& a, const T* s, Index ld, int width, const Epilogue<T>& e,
                                 void* stream);

/// Plans, and runs `net` with at most `memory` bytes of device memory. Errors: that is too little.
template <class T>
[[nodiscard]] GcnRun<T> run_streamed(const Gcn<T>& net, GcnOrder order, Index memory,
                                     LaunchAggregate<T> launch, const CopyRules& rules = CopyRules());

}  // namespace gcn
}  // namespace plumb
