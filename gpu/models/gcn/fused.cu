// GCN on a device, fused: two or three kernels. aggregate.hpp describes the kernel and has its figures.
#include "gpu/models/gcn/devices.hpp"
#include "gpu/models/gcn/fused.hpp"
#include "gpu/models/gcn/streamed.hpp"

namespace plumb {
namespace gcn {

namespace {

template <class T>
GcnRun<T> within(const Gcn<T>& net, GcnOrder order, std::int64_t memory) {
  return run_streamed<T>(net, order, memory, launch_aggregate<T, Unmodified>);
}

const RegisterGcnPipeline fused({"gpu_fused", Space::device,
                                 "bias, ReLU, the next product and LogSoftmax on the row just summed",
                                 no_device, execute<Fused<float>, float>, execute<Fused<double>, double>, 2,
                                 nullptr, execute_on_devices<Fused<float>, float>,
                                 execute_on_devices<Fused<double>, double>, false, within<float>,
                                 within<double>});

}  // namespace

}  // namespace gcn
}  // namespace plumb
