// Sparse DNN: any pipeline on a network with a bias for each neuron. Pipelines know one bias for all neurons,
// and drop rows of zeros.
//
// Idea      one neuron more, which is the same constant in every row and layer: it feeds itself, and its edge
//           to neuron j weighs biases[l][j] / constant. The network's one bias is 0. No row is zeros, so none
//           is dropped. The constant is a power of two: quotient and product are exact, and the sum of a
//           neuron has the terms that its bound counts.
// Traffic   an edge more per neuron with a bias, and every row in every layer. The weights are held twice.
// Fails at  networks whose rows become zeros: with `bias` in place of `biases` they would be dropped.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "reference/core/error.hpp"
#include "reference/models/sparse_dnn/absorbing.hpp"
#include "reference/models/sparse_dnn/sparse_dnn.hpp"
#include "reference/models/sparse_dnn/streamed.hpp"

namespace plumb {

namespace {

/// A layer (neurons + 1, neurons + 1). A constant of 0 needs no edge: a cap of 0 makes every value 0.
Csr<float> with_constant_neuron(const Csr<float>& gather, const std::vector<float>& biases, float constant) {
  Csr<float> w;
  w.rows = w.cols = gather.rows + 1;
  w.col.reserve(gather.col.size() + biases.size() + 1);
  w.val.reserve(w.col.capacity());
  for (std::size_t j = 0; j < biases.size(); ++j) {
    w.col.insert(w.col.end(), gather.col.begin() + gather.row_ptr[j],
                 gather.col.begin() + gather.row_ptr[j + 1]);
    w.val.insert(w.val.end(), gather.val.begin() + gather.row_ptr[j],
                 gather.val.begin() + gather.row_ptr[j + 1]);
    if (biases[j] != 0 && constant > 0) {
      w.col.push_back(static_cast<std::int32_t>(gather.rows));
      w.val.push_back(biases[j] / constant);
    }
    w.row_ptr.push_back(static_cast<std::int32_t>(w.col.size()));
  }
  w.col.push_back(static_cast<std::int32_t>(gather.rows));
  w.val.push_back(1);
  w.row_ptr.push_back(static_cast<std::int32_t>(w.col.size()));
  return w;
}

SparseDnn held_with_constant_neuron(const SparseDnn& net, float constant) {
  SparseDnn more{net.neurons + 1, 0, net.cap, {}};
  for (std::size_t l = 0; l < net.gather.size(); ++l)
    more.gather.push_back(with_constant_neuron(net.gather[l], net.biases[l], constant));
  return more;
}

/// The same, layers made one by one. The network must outlive it.
class ConstantNeuronLayers final : public CsrSource {
 public:
  ConstantNeuronLayers(const SparseDnn& net, float constant) : net_(net), constant_(constant) {}
  [[nodiscard]] std::int64_t size() const override { return net_.layers(); }
  [[nodiscard]] std::int64_t entries(std::int64_t l) const override {
    const std::vector<float>& biases = net_.biases[static_cast<std::size_t>(l)];
    const auto zeros = std::count(biases.begin(), biases.end(), 0.0F);
    const std::int64_t edges = constant_ > 0 ? static_cast<std::int64_t>(biases.size()) - zeros : 0;
    return net_.edges(l, l + 1) + edges + 1;
  }
  [[nodiscard]] Csr<float> make(std::int64_t l) const override {
    return with_constant_neuron(*net_.layer(l), net_.biases[static_cast<std::size_t>(l)], constant_);
  }
  [[nodiscard]] std::int64_t held_bytes() const override { return net_.held_bytes(); }

 private:
  const SparseDnn& net_;
  float constant_;
};

SparseDnn streamed_with_constant_neuron(const SparseDnn& net, float constant) {
  SparseDnn more{net.neurons + 1, 0, net.cap, {}};
  more.source = std::make_shared<ConstantNeuronLayers>(net, constant);
  return more;
}

/// The rows of y with the constant behind each.
Csr<float> with_constant(const Csr<float>& y, float constant) {
  if (y.nnz() + y.rows > std::numeric_limits<std::int32_t>::max())
    throw Error("sparse DNN: the inputs have more than 2^31 - 1 non-zeros: run fewer inputs at a time");
  Csr<float> more;
  more.rows = y.rows;
  more.cols = y.cols + 1;
  more.col.reserve(static_cast<std::size_t>(y.nnz() + y.rows));
  more.val.reserve(more.col.capacity());
  for (std::size_t r = 0; r < static_cast<std::size_t>(y.rows); ++r) {
    more.col.insert(more.col.end(), y.col.begin() + y.row_ptr[r], y.col.begin() + y.row_ptr[r + 1]);
    more.val.insert(more.val.end(), y.val.begin() + y.row_ptr[r], y.val.begin() + y.row_ptr[r + 1]);
    more.col.push_back(static_cast<std::int32_t>(y.cols));
    more.val.push_back(constant);
    more.row_ptr.push_back(static_cast<std::int32_t>(more.col.size()));
  }
  return more;
}

/// The rows of a source with the constant behind each. The source must outlive it.
class RowsWithConstant final : public RowSource {
 public:
  RowsWithConstant(const RowSource& y, float constant) : y_(y), constant_(constant) {}
  [[nodiscard]] std::int64_t rows() const override { return y_.rows(); }
  [[nodiscard]] std::int64_t cols() const override { return y_.cols() + 1; }
  [[nodiscard]] std::int64_t entries(std::int64_t first, std::int64_t last) const override {
    return y_.entries(first, last) + last - first;
  }
  [[nodiscard]] Csr<float> make(std::int64_t first, std::int64_t last) const override {
    return with_constant(y_.make(first, last), constant_);
  }
  [[nodiscard]] std::int64_t held_bytes() const override { return y_.held_bytes(); }

 private:
  const RowSource& y_;
  float constant_;
};

/// Takes the last column away, in place.
void drop_last_column(Csr<float>& y) {
  const auto last = static_cast<std::int32_t>(--y.cols);
  std::size_t kept = 0, begin = 0;
  for (std::size_t r = 0; r < static_cast<std::size_t>(y.rows); ++r) {
    const auto end = static_cast<std::size_t>(y.row_ptr[r + 1]);
    for (std::size_t k = begin; k < end; ++k) {
      if (y.col[k] == last) continue;
      y.col[kept] = y.col[k];
      y.val[kept++] = y.val[k];
    }
    begin = end;
    y.row_ptr[r + 1] = static_cast<std::int32_t>(kept);
  }
  y.col.resize(kept);
  y.val.resize(kept);
}

class BiasesPlan final : public SdnnPlan {
 public:
  /// with(network, constant): the network with the constant neuron; make(that): the plan for it.
  template <class With, class Make>
  BiasesPlan(const SparseDnn& net, const With& with, const Make& make)
      : constant_(constant_neuron_value(net.cap)), net_(with(net, constant_)), plan_(make(net_)) {}

  SdnnRun run(const Csr<float>& y, std::int64_t first, std::int64_t last) override {
    return run_rows(HeldRows(y), first, last);
  }
  SdnnRun run_rows(const RowSource& y, std::int64_t first, std::int64_t last) override {
    SdnnRun result = plan_->run_rows(RowsWithConstant(y, constant_), first, last);
    drop_last_column(result.y);
    result.active.back() = static_cast<std::int64_t>(categories(result.y).size());
    return result;
  }

 private:
  float constant_;
  SparseDnn net_;  // before the plan, which refers to it
  std::unique_ptr<SdnnPlan> plan_;
};

void require_held_layers(const SparseDnn& net) {
  if (net.source != nullptr)
    throw Error("sparse DNN: layers that are made one by one need a plan with bounded memory");
}

}  // namespace

float constant_neuron_value(float cap) {
  if (cap >= 1) return 1;
  return cap > 0 ? std::ldexp(1.0F, std::ilogb(cap)) : 0;
}

const char* SdnnPipeline::unsupported(const SparseDnn& net) const {
  const char* const why = one_bias_unsupported(net);
  if (net.biases.empty() || why != nullptr) return why;
  return one_bias_unsupported({net.neurons + 1, 0, net.cap, {}});  // by its size
}

std::unique_ptr<SdnnPlan> SdnnPipeline::plan(const SparseDnn& net) const {
  require_held_layers(net);
  if (net.biases.empty()) return one_bias_plan(net);
  return std::make_unique<BiasesPlan>(net, held_with_constant_neuron, one_bias_plan);
}

SdnnDeviceCount SdnnPipeline::device_count(const SparseDnn& net, const SdnnDeviceUse& use) const {
  if (net.biases.empty()) return one_bias_device_count(net, use);
  const SparseDnn with_constant = streamed_with_constant_neuron(net, constant_neuron_value(net.cap));
  return [count = one_bias_device_count(with_constant, use)](const Csr<float>& y) {
    Csr<float> more = empty_rows(y.rows, y.cols + 1);
    for (std::size_t i = 0; i < more.row_ptr.size(); ++i)
      more.row_ptr[i] = y.row_ptr[i] + static_cast<std::int32_t>(i);
    return count(more);
  };
}

std::unique_ptr<SdnnPlan> SdnnPipeline::plan_streamed(const SparseDnn& net, const MemoryBound& memory) const {
  if (net.biases.empty()) return one_bias_streamed_plan(net, memory);
  return std::make_unique<BiasesPlan>(
      net, streamed_with_constant_neuron,
      [&](const SparseDnn& with_constant) { return one_bias_streamed_plan(with_constant, memory); });
}

std::unique_ptr<SdnnPlan> SdnnPipeline::plan_absorbing(const SparseDnn& net, AbsorbingStates states) const {
  require_held_layers(net);
  if (net.biases.empty()) return one_bias_absorbing_plan(net, std::move(states));
  return std::make_unique<BiasesPlan>(net, held_with_constant_neuron, [&](const SparseDnn& with_constant) {
    return one_bias_absorbing_plan(with_constant, std::move(states));
  });
}

}  // namespace plumb
