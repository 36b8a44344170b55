// Sparse DNN on the device, tuned, general sparse fp32.
//
// Class     general (A): every edge's own index and value are read and used, any CSR; rows without a non-zero
//           leave.
// Narrow    up to 1024 neurons (whole_rows.cu): tiles of 16 rows, straight from the inputs, three layers per
//           launch, whose survivors are the next one's tiles; once a tile per multiprocessor holds them all,
//           one launch for all layers left.
// Wide      more neurons (staged_inputs.cu): a launch per layer, the active rows listed after all but the
//           first; once hardly any die, one launch for all layers left (steady_state.hpp).
// Measured  H200, 120 layers, loop on the host clock: 2.82 / 10.5 / 42.1 ms at 1024 / 4096 / 16,384 neurons;
//           shared memory alone would take 1.65 / 6.7 / 28. 65,536: 177 ms in an earlier session.
#include "gpu/models/sparse_dnn/staged_inputs.hpp"
#include "gpu/models/sparse_dnn/tuned_loop.hpp"

namespace plumb {
namespace {

using namespace sdnn;

const RegisterSdnnPipeline pipeline{{"gpu_general", SdnnStructure::general, Space::device,
                                     "32 rows per lane over lines in shared memory: up to 1024 neurons whole "
                                     "rows stay on chip, several layers "
                                     "per launch; beyond, tiles of neurons stage their inputs",
                                     [](const SparseDnn&) -> const char* { return no_device(); },
                                     [](const SparseDnn& net) -> std::unique_ptr<SdnnPlan> {
                                       return TunedPlan::with<WholeRowNet>(net, staged_kernels);
                                     },
                                     10, "gpu_tiled"}};

}  // namespace
}  // namespace plumb
