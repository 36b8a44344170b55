// requires: cublas
// Sparse DNN on the device, dense: one sgemm of the vendor per layer; weights are made dense inside the loop.
// The classical pipeline, once with its memory allocated and freed in the loop, as it was first written, and
// once with the memory hoisted.
//
// Class     general (A): indices and values are read; rows without a non-zero are dropped.
// Traffic   N^2 weights written and read per layer, and 2 N^2 flop per row where 64 N count.
// Limits    the library's; pedantic fp32, since TF32 misses the official answer.
// Fails at  sparsity: 31 of 32 products are with 0 at 1024 neurons. NaN spreads over its row: 0 NaN is NaN.
#include "gpu/models/sparse_dnn/add_entries.hpp"
#include "gpu/models/sparse_dnn/layer_by_layer.hpp"
#include "gpu/runtime/cublas.hpp"

namespace plumb {
namespace {

using namespace sdnn;

constexpr Index kMostNeurons = 16384;

// A warp per neuron; repeated columns add up.
__global__ void __launch_bounds__(kThreads)
    sdnn_densify(const std::int32_t* row_ptr, const std::int32_t* col, const float* val, Index neurons,
                 float* dense /* (neurons, neurons), zero */) {
  const Index j = (static_cast<Index>(blockIdx.x) * kThreads + threadIdx.x) / 32;
  if (j >= neurons) return;  // whole warps
  add_entries(col, val, row_ptr[j], row_ptr[j + 1], 1, dense + j * neurons);
}

class Dense final : public LayerByLayerPlan {
 public:
  Dense(const SparseDnn& net, bool hoisted)
      : LayerByLayerPlan(net, Compaction::moved),
        hoisted_(hoisted),
        weights_(net, stream_.get()),
        context_{stream_.get()},
        cublas_(context_, kOwnMath<float>) {}

 private:
  Layout layout_of(Index) const override { return {net_.neurons, 1}; }
  Index extra_bytes(Index) const override { return 4 * net_.neurons * net_.neurons; }
  void begin(const Layout&, Index) override {
    if (hoisted_ && dense_.data() == nullptr) {
      dense_ = DeviceArray<float>(net_.neurons * net_.neurons, "dense weights");
    }
  }

  void layer(Index l, const Layout& layout, const float* in, const std::int32_t*, Index count, float* out,
             unsigned* active_bits) override {
    const Index n = net_.neurons;
    DeviceArray<float> own, z;
    if (!hoisted_) {  // as in the classical code
      own = DeviceArray<float>(n * n, "dense weights");
      z = DeviceArray<float>(count * n, "dense products");
    }
    float* const dense = hoisted_ ? dense_.data() : own.data();
    float* const product = hoisted_ ? out : z.data();
    device_fill(dense, 0, static_cast<std::size_t>(n * n) * 4, stream_.get());
    launch(sdnn_densify, ceil_div(n, kThreads / 32), kThreads, 0, stream_.get(), weights_.row_ptr(l),
           weights_.col(l), weights_.val(l), n, dense);
    // Row-major Z = Y W is column-major Z^T = W^T Y^T. `dense` holds W^T row-major, which is W column-major.
    const float one = 1, zero = 0;
    PLUMB_CUBLAS(cublasSgemm_64(cublas_.get(), CUBLAS_OP_T, CUBLAS_OP_N, n, count, n, &one, dense, n, in, n,
                                &zero, product, n));
    activate_rows(product, layout, count, net_.bias, net_.cap, active_bits, stream_.get());
    if (!hoisted_) {
      device_copy(out, product, static_cast<std::size_t>(count * n) * 4, stream_.get());
      stream_.wait();  // before the memory is freed
    }
  }

  bool hoisted_;
  DeviceWeights weights_;
  Context context_;
  Cublas cublas_;
  DeviceArray<float> dense_;
};

const char* unsupported(const SparseDnn& net) {
  if (net.neurons > kMostNeurons) return "a dense layer of more than 16384 neurons takes over 1 GiB";
  return no_device();
}

const RegisterSdnnPipeline alloc{
    {"gpu_dense_alloc", SdnnStructure::general, Space::device,
     "one cuBLAS sgemm per layer, weights made dense and memory allocated inside the loop", unsupported,
     [](const SparseDnn& net) -> std::unique_ptr<SdnnPlan> { return std::make_unique<Dense>(net, false); }}};
const RegisterSdnnPipeline hoisted{
    {"gpu_dense_hoisted", SdnnStructure::general, Space::device,
     "one cuBLAS sgemm per layer, weights made dense inside the loop, memory allocated before it",
     unsupported,
     [](const SparseDnn& net) -> std::unique_ptr<SdnnPlan> { return std::make_unique<Dense>(net, true); },
     1}};

}  // namespace
}  // namespace plumb
