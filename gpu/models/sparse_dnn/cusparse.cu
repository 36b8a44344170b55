// requires: cusparse
// Sparse DNN on the device by the vendor's sparse product: Z^T = W^T Y^T in cuSPARSE, then one kernel for
// bias, ReLU, cap and the bits of active rows; active rows are moved together. This is what a user of
// libraries writes, and the baseline of the tuned pipelines.
//
// Class     general (A): indices and values are read; rows without a non-zero are dropped.
// Layout    Y^T row-major (neurons, rows): the library's fast side (CSR_ALG2).
// Traffic   the library's gather, then activations read and written once more for the activation, and again
//           where rows are inactive.
// Fails at  feature traffic: every product goes through memory three times.
// Source    cuSPARSE library, "cusparseSpMM()".
#include "gpu/models/sparse_dnn/layer_by_layer.hpp"
#include "gpu/runtime/cusparse.hpp"

namespace plumb {
namespace {

using namespace sdnn;

class CusparseSpmm final : public LayerByLayerPlan {
 public:
  explicit CusparseSpmm(const SparseDnn& net)
      : LayerByLayerPlan(net, Compaction::moved),
        weights_(net, stream_.get()),
        handle_(make_cusparse(stream_.get())) {}

 private:
  Layout layout_of(Index rows) const override {
    return {net_.neurons, std::max<Index>(ceil_div(rows, 32) * 32, 32)};
  }

  void layer(Index l, const Layout& layout, const float* in, const std::int32_t*, Index count, float* out,
             unsigned* active_bits) override {
    const Index n = net_.neurons, nnz = net_.gather[static_cast<std::size_t>(l)].nnz();
    if (nnz == 0) return;  // no active row, and the library takes no matrix without entries
    const float one = 1, zero = 0;
    const CusparseSpMat w = describe_csr(n, n, nnz, weights_.row_ptr(l), weights_.col(l), weights_.val(l));
    const CusparseDnMat from = describe_dense(n, count, layout.panel, in);
    const CusparseDnMat to = describe_dense(n, count, layout.panel, out);
    std::size_t bytes = 0;
    const auto plain = CUSPARSE_OPERATION_NON_TRANSPOSE;
    PLUMB_CUSPARSE(cusparseSpMM_bufferSize(handle_.get(), plain, plain, &one, w.get(), from.get(), &zero,
                                           to.get(), CUDA_R_32F, CUSPARSE_SPMM_CSR_ALG2, &bytes));
    if (buffer_.size() < static_cast<Index>(bytes) || buffer_.data() == nullptr) {
      stream_.wait();
      buffer_ = DeviceArray<unsigned char>(static_cast<Index>(bytes) + 1, "workspace of cuSPARSE");
    }
    PLUMB_CUSPARSE(cusparseSpMM(handle_.get(), plain, plain, &one, w.get(), from.get(), &zero, to.get(),
                                CUDA_R_32F, CUSPARSE_SPMM_CSR_ALG2, buffer_.data()));
    activate_rows(out, layout, count, net_.bias, net_.cap, active_bits, stream_.get());
  }

  DeviceWeights weights_;
  CusparseHandle handle_;
  DeviceArray<unsigned char> buffer_;
};

/// Repeated entries count.
const char* unsupported(const SparseDnn& net) {
  if (const char* const why = no_device(); why != nullptr) return why;
  for (const auto& w : net.gather) {
    if (w.nnz() > net.neurons * net.neurons) return "cuSPARSE takes no layer with more entries than places";
  }
  return nullptr;
}

const RegisterSdnnPipeline pipeline{
    {"gpu_cusparse", SdnnStructure::general, Space::device,
     "cuSPARSE SpMM W^T Y^T per layer, then one kernel for bias, ReLU and cap, the active rows moved "
     "together",
     unsupported,
     [](const SparseDnn& net) -> std::unique_ptr<SdnnPlan> { return std::make_unique<CusparseSpmm>(net); },
     2}};

}  // namespace
}  // namespace plumb
