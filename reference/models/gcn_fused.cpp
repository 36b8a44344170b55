// GCN, the host's fast pipeline: three passes over rows, and nothing between them goes to memory that the
// next pass does not read.
//
// Change    fused: bias, ReLU and the next layer's H W run on the row just summed, LogSoftmax on the row of
//           logits.
// Traffic   X once; per edge one row of X W1 (or of X) and one of H W2 (or of H); H, logits and the answer
//           written once.
// Limits    widths of 8 to 64 fit a few vectors; rows are dealt out dynamically, as degrees follow a power
//           law.
// Fails at  a vertex that holds most edges: its row is one thread's work.
#include <algorithm>
#include <cstdint>

#include "reference/models/gcn.hpp"
#include "reference/models/gcn_parts.hpp"

namespace plumb {

namespace {

using gcn::make_dense;

/// sum[0..width) = sum over row i of A of val * S[col].
template <class T>
void gather(const Csr<T>& a, std::int64_t i, const Dense<T>& s, T* sum) {
  const std::int64_t width = s.cols;
  std::fill_n(sum, width, T(0));
  for (std::int32_t k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) {
    const T value = a.val[k];
    const T* const row = s.data.data() + a.col[k] * width;
#pragma omp simd
    for (std::int64_t j = 0; j < width; ++j) sum[j] += value * row[j];
  }
}

/// The same of a sparse S.
template <class T>
void gather(const Csr<T>& a, std::int64_t i, const Csr<T>& s, T* sum) {
  std::fill_n(sum, s.cols, T(0));
  for (std::int32_t k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) {
    const T value = a.val[k];
    for (std::int32_t e = s.row_ptr[a.col[k]]; e < s.row_ptr[a.col[k] + 1]; ++e)
      sum[s.col[e]] += value * s.val[e];
  }
}

/// y[0..w.cols) = x[0..w.rows) W.
template <class T>
void times(const T* x, const Dense<T>& w, T* y) {
  std::fill_n(y, w.cols, T(0));
  for (std::int64_t k = 0; k < w.rows; ++k) {
    const T value = x[k];
    const T* const row = w.data.data() + k * w.cols;
#pragma omp simd
    for (std::int64_t j = 0; j < w.cols; ++j) y[j] += value * row[j];
  }
}

/// S = X W, the rows of X dense or sparse.
template <class T>
Dense<T> transform(const Gcn<T>& net) {
  const Dense<T>& w = net.weights[0];
  Dense<T> s = make_dense<T>(net.vertices(), w.cols);
#pragma omp parallel for schedule(dynamic, 64)
  for (std::int64_t i = 0; i < net.vertices(); ++i) {
    T* const row = s.data.data() + i * w.cols;
    if (!net.sparse_features) {
      times(net.x_dense.data.data() + i * w.rows, w, row);
      continue;
    }
    for (std::int32_t e = net.x_sparse.row_ptr[i]; e < net.x_sparse.row_ptr[i + 1]; ++e) {
      const T value = net.x_sparse.val[e];
      const T* const from = w.data.data() + net.x_sparse.col[e] * w.cols;
#pragma omp simd
      for (std::int64_t j = 0; j < w.cols; ++j) row[j] += value * from[j];
    }
  }
  return s;
}

template <class T>
GcnRun<T> run_fused(const Gcn<T>& net, GcnOrder order) {
  GcnRun<T> run;
  gcn::StepClock clock(run.steps);
  const std::int64_t n = net.vertices();
  const bool two = net.weights.size() == 2;
  const auto chosen = [&](std::int64_t l) {
    return order == GcnOrder::by_cost ? cheaper_order(net, l) : order;
  };
  const GcnOrder first = chosen(0), second = two ? chosen(1) : first;
  const Dense<T>& w1 = net.weights[0];
  const Dense<T>& w_last = net.weights.back();
  const std::vector<T>& b1 = net.biases[0];
  const std::vector<T>& b_last = net.biases.back();

  Dense<T> s1, s2;
  if (first == GcnOrder::transform_first) {
    s1 = transform(net);
    clock.step("X W1");
  }
  run.logits = make_dense<T>(n, w_last.cols);
  run.log_softmax = make_dense<T>(n, w_last.cols);
  if (two) {
    run.hidden = make_dense<T>(n, w1.cols);
    if (second == GcnOrder::transform_first) s2 = make_dense<T>(n, w_last.cols);
  }
  const auto finish = [&](std::int64_t i) {  // bias and LogSoftmax of a row of logits
    T* const z = run.logits.data.data() + i * w_last.cols;
    if (!b_last.empty()) {
      for (std::int64_t j = 0; j < w_last.cols; ++j) z[j] += b_last[static_cast<std::size_t>(j)];
    }
    gcn::log_softmax_row(z, run.log_softmax.data.data() + i * w_last.cols, w_last.cols);
  };

#pragma omp parallel
  {
    std::vector<T> gathered(static_cast<std::size_t>(net.features()));
#pragma omp for schedule(dynamic, 64)
    for (std::int64_t i = 0; i < n; ++i) {
      T* const z = two ? run.hidden.data.data() + i * w1.cols : run.logits.data.data() + i * w_last.cols;
      if (first == GcnOrder::transform_first) {
        gather(net.a, i, s1, z);
      } else {
        if (net.sparse_features) {
          gather(net.a, i, net.x_sparse, gathered.data());
        } else {
          gather(net.a, i, net.x_dense, gathered.data());
        }
        times(gathered.data(), w1, z);
      }
      if (!two) {
        finish(i);
        continue;
      }
      for (std::int64_t j = 0; j < w1.cols; ++j)
        z[j] = gcn::relu(b1.empty() ? z[j] : z[j] + b1[static_cast<std::size_t>(j)]);
      if (second == GcnOrder::transform_first) times(z, w_last, s2.data.data() + i * w_last.cols);
    }
  }
  std::string name = first == GcnOrder::transform_first ? "A S1" : "(A X) W1";
  name += !two ? ", LogSoftmax" : second == GcnOrder::transform_first ? ", ReLU, H W2" : ", ReLU";
  clock.step(std::move(name));
  if (two) {
#pragma omp parallel
    {
      std::vector<T> gathered(static_cast<std::size_t>(w1.cols));
#pragma omp for schedule(dynamic, 64)
      for (std::int64_t i = 0; i < n; ++i) {
        T* const z = run.logits.data.data() + i * w_last.cols;
        if (second == GcnOrder::transform_first) {
          gather(net.a, i, s2, z);
        } else {
          gather(net.a, i, run.hidden, gathered.data());
          times(gathered.data(), w_last, z);
        }
        finish(i);
      }
    }
    clock.step(second == GcnOrder::transform_first ? "A S2, LogSoftmax" : "(A H) W2, LogSoftmax");
  }
  run.seconds = clock.total();
  return run;
}

}  // namespace

const GcnPipeline kGcnFused = {"fused",
                               Space::host,
                               "three fused passes over rows, OpenMP",
                               []() -> const char* { return nullptr; },
                               run_fused<float>,
                               run_fused<double>};

}  // namespace plumb
