// GCN on a device, one rung per product, nothing fused: with our ladders, and with cuBLAS and cuSPARSE and
// our element-wise rungs. The fused pipeline is compared with these.
#include "gpu/models/gcn/execution.hpp"
#include "reference/ops/skinny_gemm.hpp"
#include "reference/ops/spmm.hpp"

namespace plumb {
namespace gcn {

namespace {

template <class T, Ladder From>
class Composed : public Execution<T> {
 public:
  Composed(const Gcn<T>& net, GcnOrders orders, Peers<T>* peers)
      : Execution<T>(net, std::move(orders), peers) {
    for (Index l = 0; l < this->layers(); ++l) this->add_composed_layer(From, l);
  }
};

template <class Op>
bool linked_in(Ladder ladder) {
  for (const auto* v = variants<Op, float, Space::device>; v != nullptr; v = v->next) {
    if (v->traits.library == (ladder == Ladder::vendor)) return true;
  }
  return false;
}

template <Ladder From>
const char* unsupported() {
  if (!linked_in<Spmm>(From) || !linked_in<SkinnyGemm>(From)) return "its rungs are not linked in";
  return no_device();
}

const RegisterGcnPipeline vendor(
    {"gpu_vendor", Space::device,
     "cuBLAS and cuSPARSE (the fastest algorithm, preprocessed), our element-wise rungs",
     unsupported<Ladder::vendor>, execute<Composed<float, Ladder::vendor>, float>,
     execute<Composed<double, Ladder::vendor>, double>, 0, nullptr, nullptr, nullptr, true});
const RegisterGcnPipeline ours({"gpu_unfused", Space::device,
                                "our fastest rung for every product and element-wise pass, unfused",
                                unsupported<Ladder::ours>, execute<Composed<float, Ladder::ours>, float>,
                                execute<Composed<double, Ladder::ours>, double>, 1});

}  // namespace

}  // namespace gcn
}  // namespace plumb
