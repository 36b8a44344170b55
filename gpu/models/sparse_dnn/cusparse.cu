// Sparse DNN on the device by the vendor's sparse product: Z^T = W^T Y^T in cuSPARSE, one kernel for bias, ReLU,
// cap and life, the living moved together. What a user of libraries writes, and the baseline of the tuned ones.
//
// Class     A: indices and values honoured; rows without a non-zero leave.
// Layout    Y^T row-major (neurons, rows): the library's fast side (CSR_ALG2).
// Traffic   the library's gather, then activations read and written once more for the activation, and again
//           where rows have died.
// Measured  H200, 1024 x 120: 15.5 ms; 4096 x 120: 57.
// Fails at  feature traffic: every product goes through memory three times.
// Source    cuSPARSE library, "cusparseSpMM()".
#include "gpu/models/sparse_dnn/classic.hpp"
#include "gpu/runtime/cusparse.hpp"

namespace plumb {
namespace {

using namespace sdnn;

class CusparseSpmm final : public ClassicPlan {
 public:
  explicit CusparseSpmm(const SparseDnn& net)
      : ClassicPlan(net, Compaction::moved), weights_(net, stream_.get()) {
    PLUMB_CUSPARSE(cusparseCreate(&handle_));
    PLUMB_CUSPARSE(cusparseSetStream(handle_, static_cast<cudaStream_t>(stream_.get())));
  }
  ~CusparseSpmm() override { (void)cusparseDestroy(handle_); }

 private:
  /// Descriptors of one product, destroyed with what was made of them.
  struct Product {
    cusparseSpMatDescr_t w = nullptr;
    cusparseDnMatDescr_t in = nullptr, out = nullptr;
    ~Product() {
      if (out != nullptr) (void)cusparseDestroyDnMat(out);
      if (in != nullptr) (void)cusparseDestroyDnMat(in);
      if (w != nullptr) (void)cusparseDestroySpMat(w);
    }
  };

  Layout layout_of(Index rows) const override {
    return {net_.neurons, std::max<Index>(ceil_div(rows, 32) * 32, 32)};
  }

  void layer(Index l, const Layout& layout, const float* in, const std::int32_t*, Index count, float* out,
             unsigned* alive) override {
    const Index n = net_.neurons, nnz = net_.gather[static_cast<std::size_t>(l)].nnz();
    if (nnz == 0) return;  // nothing lives on, and the library takes no matrix without entries
    Product p;
    const float one = 1, zero = 0;
    PLUMB_CUSPARSE(cusparseCreateCsr(&p.w, n, n, nnz, const_cast<std::int32_t*>(weights_.row_ptr(l)),
                                     const_cast<std::int32_t*>(weights_.col(l)),
                                     const_cast<float*>(weights_.val(l)), CUSPARSE_INDEX_32I,
                                     CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F));
    PLUMB_CUSPARSE(cusparseCreateDnMat(&p.in, n, count, layout.panel, const_cast<float*>(in), CUDA_R_32F,
                                       CUSPARSE_ORDER_ROW));
    PLUMB_CUSPARSE(cusparseCreateDnMat(&p.out, n, count, layout.panel, out, CUDA_R_32F, CUSPARSE_ORDER_ROW));
    std::size_t bytes = 0;
    const auto plain = CUSPARSE_OPERATION_NON_TRANSPOSE;
    PLUMB_CUSPARSE(cusparseSpMM_bufferSize(handle_, plain, plain, &one, p.w, p.in, &zero, p.out, CUDA_R_32F,
                                           CUSPARSE_SPMM_CSR_ALG2, &bytes));
    if (buffer_.size() < static_cast<Index>(bytes) || buffer_.data() == nullptr) {
      stream_.wait();
      buffer_ = DeviceArray<unsigned char>(static_cast<Index>(bytes) + 1, "workspace of cuSPARSE");
    }
    PLUMB_CUSPARSE(cusparseSpMM(handle_, plain, plain, &one, p.w, p.in, &zero, p.out, CUDA_R_32F,
                                CUSPARSE_SPMM_CSR_ALG2, buffer_.data()));
    activate_rows(out, layout, count, net_.bias, net_.cap, alive, stream_.get());
  }

  DeviceWeights weights_;
  cusparseHandle_t handle_ = nullptr;
  DeviceArray<unsigned char> buffer_;
};

const RegisterSdnnPipeline pipeline{
    {"gpu_cusparse", 'A', Space::device,
     "cuSPARSE SpMM W^T Y^T per layer, then one kernel for bias, ReLU and cap, the living moved together",
     [](const SparseDnn&) -> const char* { return no_device(); },
     [](const SparseDnn& net) -> std::unique_ptr<SdnnPlan> { return std::make_unique<CusparseSpmm>(net); },
     2}};

}  // namespace
}  // namespace plumb
