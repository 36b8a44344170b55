// Sparse DNN on the device, tuned, general sparse fp32.
//
// Class     general (A): the index and value of every edge are read and used, any CSR; rows without a
//           non-zero are dropped.
// Narrow    up to 1024 neurons (whole_rows.cu): tiles of 16 rows, filled from the inputs, three layers per
//           launch; the active rows that are left become the tiles of the next launch. When one tile per
//           multiprocessor holds them all, one launch runs all remaining layers.
// Wide      more neurons (staged_inputs.cu): one launch per layer; the active rows are listed after all
//           layers but the first. When hardly a row becomes inactive, one launch runs all remaining layers
//           (steady_state.hpp).
#include "gpu/models/sparse_dnn/staged_inputs.hpp"
#include "gpu/models/sparse_dnn/tuned_loop.hpp"

namespace plumb {
namespace {

using namespace sdnn;

const RegisterSdnnPipeline pipeline{
    {"gpu_general", SdnnStructure::general, Space::device,
     "32 rows per lane over lines in shared memory: up to 1024 neurons whole "
     "rows stay on chip, several layers "
     "per launch; beyond, tiles of neurons stage their inputs",
     [](const SparseDnn&) -> const char* { return no_device(); },
     [](const SparseDnn& net) -> std::unique_ptr<SdnnPlan> {
       return TunedPlan::with<WholeRowNet>(net, staged_kernels);
     },
     10, "gpu_tiled",
     [](const SparseDnn& net, AbsorbingStates states) -> std::unique_ptr<SdnnPlan> {
       return TunedPlan::with<WholeRowNet>(net, staged_kernels, std::move(states));
     },
     [](const SparseDnn& net, const MemoryBound& memory) -> std::unique_ptr<SdnnPlan> {
       return TunedPlan::streamed<WholeRowNet>(net, staged_kernels, memory.for_data());
     },
     [](const SparseDnn& net, const SdnnDeviceUse& use) {
       return tuned_count<WholeRowNet>(net, staged_shape, use);
     }}};

}  // namespace
}  // namespace plumb
