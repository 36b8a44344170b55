// GCN on a device, fused: two or three kernels. aggregate.hpp describes the kernel and has its figures.
#include "gpu/models/gcn/devices.hpp"
#include "gpu/models/gcn/fused.hpp"
#include "gpu/models/gcn/streamed.hpp"

namespace plumb {
namespace gcn {

namespace {

const RegisterGcnPipeline fused(
    {"gpu_fused", Space::device, "bias, ReLU, the next product and LogSoftmax on the row just summed",
     no_device, execute<Fused<float>, float>, execute<Fused<double>, double>, 2, nullptr,
     execute_on_devices<Fused<float>, float>, execute_on_devices<Fused<double>, double>, false,
     execute_streamed<Streamed<float>, float>, execute_streamed<Streamed<double>, double>});

}  // namespace

}  // namespace gcn
}  // namespace plumb
