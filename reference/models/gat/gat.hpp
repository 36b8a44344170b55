// GAT: the forward pass of a graph attention network of any number of layers and heads, and the reference that judges each of its layers.
#pragma once
#include <cstdint>
#include <functional>
#include <vector>

#include "reference/core/dtype.hpp"
#include "reference/core/matrix.hpp"
#include "reference/models/gcn/judge.hpp"

namespace plumb {

/// One layer of `heads` heads of the same width: H = X W, for each head k and vertex i
///   p_ij = softmax over the entries (i, j) of A of leaky_relu(target_k . H_i,k + source_k . H_j,k), of slope 0.2
///   y_i,k = sum_j p_ij H_j,k
/// The heads stand beside each other, or are averaged where the bias has the width of one; then the bias is added.
template <class T>
struct GatLayerOf {
  std::int64_t heads = 1;
  Dense<T> w;                           // (inputs, heads * width)
  std::vector<T> source, target, bias;  // (heads * width); bias: that, (width), or empty
  [[nodiscard]] std::int64_t width() const { return w.cols / heads; }
  [[nodiscard]] bool averages() const {
    return heads > 1 && static_cast<std::int64_t>(bias.size()) == width();
  }
  [[nodiscard]] std::int64_t outputs() const { return averages() ? width() : w.cols; }
};

enum class GatActivation : std::uint8_t { elu, relu };  // behind every layer but the last

/// Answer LogSoftmax(Z) by rows, Z the last layer's.
///
/// Shapes    A (n, n), whose values are not read; X (n, F), dense or CSR; layers chain.
/// Layout    CSR: columns may be unsorted. A row without entries gives the bias alone.
/// Values    finite.
/// Bound     by the rules of formulas (Compute, docs/formulas.md), each layer on the values that the run had before it.
/// Errors    validate() refuses shapes that do not fit.
/// Source    Velickovic et al., "Graph attention networks", ICLR 2018.
template <class T>
struct Gat {
  Csr<T> a;
  bool sparse_features = false;  // which of the two holds X
  Csr<T> x_sparse;
  Dense<T> x_dense;
  std::vector<GatLayerOf<T>> layers;
  GatActivation activation = GatActivation::elu;
  [[nodiscard]] std::int64_t vertices() const { return a.rows; }
  [[nodiscard]] std::int64_t features() const { return sparse_features ? x_sparse.cols : x_dense.cols; }
};

template <class T>
void validate(const Gat<T>& net);
/// fp64 rounded to fp32, or as it is.
template <class T>
[[nodiscard]] Gat<T> convert(const Gat<double>& net);
/// Multiplications of one inference.
template <class T>
[[nodiscard]] double gat_products(const Gat<T>& net);

template <class T>
struct GatRun {
  std::vector<Dense<T>> outputs;  // of each layer, behind its activation
  Dense<T> log_softmax;
  double seconds = 0;
};
/// On the host, rows by threads.
template <class T>
[[nodiscard]] GatRun<T> run_gat(const Gat<T>& net);

/// Each layer of a run on the values that it had before it, LogSoftmax on its logits, and with these the logits of the whole network, whose
/// bound is carried through all layers. `progress` may be empty.
template <class T>
[[nodiscard]] GcnJudgement judge_gat(const Gat<T>& net, const GatRun<T>& run,
                                     const std::function<void(const char*)>& progress = {});

}  // namespace plumb
