// GCN on a device, fused: two or three kernels. aggregate.hpp describes the kernel and has its figures.
#include "gpu/models/gcn/devices.hpp"
#include "gpu/models/gcn/fused.hpp"
#include "gpu/models/gcn/stream_plan.hpp"
#include "gpu/models/gcn/streamed.hpp"

namespace plumb {
namespace gcn {

namespace {

template <class T>
GcnRun<T> within(const Gcn<T>& net, GcnOrder order, std::int64_t memory) {
  return run_streamed<T>(net, order, memory, launch_aggregate<T, Unmodified>);
}

template <class T>
GcnDeviceMemory memory_within(const Gcn<T>& net, GcnOrder order, std::int64_t memory) {
  const StreamPlan plan = plan_stream(net, ColumnScales<T>(net.scales), order, memory);
  return {{{"weights", plan.fixed},
           {"operands", plan.operands[0] + plan.operands[1]},
           {"a", plan.a},
           {"inputs", plan.inputs},
           {"hidden", plan.out},
           {"answer", plan.answer},
           {"workspace", plan.partial + plan.arrived}},
          plan.pieces(),
          plan.holds_a};
}

const RegisterGcnPipeline fused({"gpu_fused", Space::device,
                                 "bias, ReLU, the next product and LogSoftmax on the row just summed",
                                 no_device, execute<Fused<float>, float>, execute<Fused<double>, double>, 2,
                                 nullptr, execute_on_devices<Fused<float>, float>,
                                 execute_on_devices<Fused<double>, double>, false, within<float>,
                                 within<double>, memory_within<float>, memory_within<double>});

}  // namespace

}  // namespace gcn
}  // namespace plumb
