#include "reference/models/gcn/gcn.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "reference/arithmetic/fp.hpp"
#include "reference/core/csr.hpp"
#include "reference/core/error.hpp"

namespace plumb {

namespace {

template <class T>
void refuse_fault(const Csr<T>& m, const char* name) {
  if (const std::string fault = csr_fault(m); !fault.empty())
    throw Error(fmt::format("gcn: {}: {}", name, fault));
}

template <class T>
void validate_dense_of(const Dense<T>& m, const char* name) {
  if (static_cast<std::int64_t>(m.data.size()) != m.rows * m.cols) {
    throw Error(fmt::format("gcn: {}: {} values for {} x {}", name, m.data.size(), m.rows, m.cols));
  }
}

}  // namespace

template <class T>
void validate(const Gcn<T>& net) {
  refuse_fault(net.a, "A");
  if (net.a.rows != net.a.cols)
    throw Error(fmt::format("gcn: A is {} x {}, not square", net.a.rows, net.a.cols));
  if (net.sparse_features) {
    refuse_fault(net.x_sparse, "X");
  } else {
    validate_dense_of(net.x_dense, "X");
  }
  if (!net.scales.empty() && static_cast<std::int64_t>(net.scales.size()) != net.a.rows)
    throw Error(fmt::format("gcn: {} scales, A has {} rows", net.scales.size(), net.a.rows));
  const std::int64_t x_rows = net.sparse_features ? net.x_sparse.rows : net.x_dense.rows;
  if (x_rows != net.a.rows) throw Error(fmt::format("gcn: X has {} rows, A {}", x_rows, net.a.rows));
  if (net.weights.empty()) throw Error("gcn: no weights, at least those of one layer are needed");
  if (net.biases.size() != net.weights.size())
    throw Error("gcn: one bias, if only an empty one, belongs to each weight matrix");
  std::int64_t width = net.features();
  for (std::size_t l = 0; l < net.weights.size(); ++l) {
    const Dense<T>& w = net.weights[l];
    validate_dense_of(w, "W");
    if (w.rows != width)
      throw Error(fmt::format("gcn: W{} has {} rows, its input {} columns", l + 1, w.rows, width));
    if (!net.biases[l].empty() && static_cast<std::int64_t>(net.biases[l].size()) != w.cols) {
      throw Error(fmt::format("gcn: b{} has {} elements, W{} {} columns", l + 1, net.biases[l].size(), l + 1,
                              w.cols));
    }
    width = w.cols;
  }
}

std::vector<double> degree_scales(const Csr<double>& a) {
  constexpr double kMost = 8 * kUnit<double>;
  std::vector<double> scales;
  scales.reserve(static_cast<std::size_t>(a.rows));
  for (std::int64_t i = 0; i < a.rows; ++i) {
    const std::int32_t degree = a.row_ptr[i + 1] - a.row_ptr[i];
    scales.push_back(degree > 0 ? 1 / std::sqrt(static_cast<double>(degree)) : 0);
  }
  for (std::int64_t i = 0; i < a.rows; ++i) {
    for (std::int32_t k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) {
      const double of_degrees = scales[i] * scales[a.col[k]];
      if (!(std::fabs(a.val[k] - of_degrees) <= kMost * of_degrees)) return {};
    }
  }
  return scales;
}

void set_scales(Gcn<double>& net) {
  // Rows of fewer entries are read faster than scaled: Cora's, of five, take 3 % longer by degrees.
  constexpr std::int64_t kFewestPerRow = 8;
  if (net.a.nnz() >= kFewestPerRow * net.vertices()) net.scales = degree_scales(net.a);
}

template <class T>
double gcn_products(const Gcn<T>& net, std::int64_t l, GcnOrder order) {
  const auto n = static_cast<double>(net.vertices()), edges = static_cast<double>(net.a.nnz());
  const Dense<T>& w = net.weights[static_cast<std::size_t>(l)];
  const auto in = static_cast<double>(w.rows), out = static_cast<double>(w.cols);
  const bool sparse = l == 0 && net.sparse_features;
  const double x_entries = sparse ? static_cast<double>(net.x_sparse.nnz()) : n * in;
  const double transform = x_entries * out + edges * out;
  double aggregate = edges * in + n * in * out;
  if (sparse) {  // A X row by row: every edge brings the entries of its row of X; the sum is dense
    double brought = 0;
    for (const std::int32_t j : net.a.col) brought += net.x_sparse.row_ptr[j + 1] - net.x_sparse.row_ptr[j];
    aggregate = brought + n * in * out;
  }
  if (order == GcnOrder::by_cost) return transform <= aggregate ? transform : aggregate;
  return order == GcnOrder::transform_first ? transform : aggregate;
}

template <class T>
GcnOrder cheaper_order(const Gcn<T>& net, std::int64_t l) {
  return gcn_products(net, l, GcnOrder::transform_first) <= gcn_products(net, l, GcnOrder::aggregate_first)
             ? GcnOrder::transform_first
             : GcnOrder::aggregate_first;
}

const char* to_string(GcnOrder order) {
  return order == GcnOrder::transform_first   ? "A (X W)"
         : order == GcnOrder::aggregate_first ? "(A X) W"
                                              : "by cost";
}

std::vector<const GcnPipeline*> gcn_pipelines() {
  std::vector<const GcnPipeline*> all;
  for (const GcnPipeline* p = more_gcn_pipelines; p != nullptr; p = p->next) all.push_back(p);
  all.insert(all.end(), {&kGcnFused, &kGcnOpenBlas, &kGcnEigen});
  std::stable_sort(all.begin(), all.end(),
                   [](const GcnPipeline* a, const GcnPipeline* b) { return a->preference > b->preference; });
  return all;
}

template <class T>
GcnVerdict judge_matrix(const Dense<T>& got, const Dense<double>& want, const Dense<double>& bound) {
  if (got.rows != want.rows || got.cols != want.cols || bound.rows != want.rows || bound.cols != want.cols) {
    throw Error(fmt::format("gcn: the answer is {} x {}, expected is {} x {}", got.rows, got.cols, want.rows,
                            want.cols));
  }
  GcnVerdict verdict;
  verdict.compared = want.rows * want.cols;
  double sum = 0;
  for (std::int64_t at = 0; at < verdict.compared; ++at) {
    const double g = static_cast<double>(got.data[at]), w = want.data[at], b = bound.data[at];
    const double error = std::fabs(g - w);
    double ratio = error == 0 ? 0 : error / b;
    bool good = error <= b;
    if (!std::isfinite(w)) {
      good = std::isnan(w) ? std::isnan(g) : g == w;
      ratio = 0;
    }
    if (!good) {
      ++verdict.misses;
      const std::int64_t row = at / want.cols;
      if (verdict.missed_rows.empty() || verdict.missed_rows.back() != row)
        verdict.missed_rows.push_back(row);
      if (!(ratio > 1)) ratio = std::numeric_limits<double>::infinity();
    }
    sum += ratio;
    if (verdict.row < 0 || ratio > verdict.worst) {
      verdict.worst = ratio;
      verdict.row = at / want.cols;
      verdict.col = at % want.cols;
      verdict.got = g;
      verdict.want = w;
      verdict.bound = b;
    }
  }
  verdict.mean = verdict.compared > 0 ? sum / static_cast<double>(verdict.compared) : 0;
  return verdict;
}

template <class T>
std::int64_t count_right(const Dense<T>& logits, const std::vector<std::int32_t>& labels,
                         const std::vector<std::int32_t>& vertices) {
  std::int64_t right = 0;
  for (const std::int32_t v : vertices) {
    const T* const row = logits.data.data() + v * logits.cols;
    std::int64_t best = 0;
    bool nan = false;
    for (std::int64_t j = 0; j < logits.cols; ++j) {
      nan |= std::isnan(row[j]);
      if (row[j] > row[best]) best = j;
    }
    right += !nan && logits.cols > 0 && best == labels[static_cast<std::size_t>(v)];
  }
  return right;
}

template <class T>
T max_row_sum(const Dense<T>& matrix) {
  T best = -std::numeric_limits<T>::infinity();
  for (std::int64_t i = 0; i < matrix.rows; ++i) {
    T sum = 0;
    for (std::int64_t j = 0; j < matrix.cols; ++j) sum += matrix.data[i * matrix.cols + j];
    best = !(sum <= best) ? sum : best;  // NaN is not passed over
    if (std::isnan(sum)) return sum;
  }
  return best;
}

template <class To, class From>
Gcn<To> convert(const Gcn<From>& net) {
  const auto rounded = [&](const std::vector<From>& v) {
    std::vector<To> out;
    out.reserve(v.size());
    for (const From x : v) out.push_back(static_cast<To>(x));
    return out;
  };
  Gcn<To> out;
  out.a = {net.a.rows, net.a.cols, net.a.row_ptr, net.a.col, rounded(net.a.val)};
  out.sparse_features = net.sparse_features;
  out.x_sparse = {net.x_sparse.rows, net.x_sparse.cols, net.x_sparse.row_ptr, net.x_sparse.col,
                  rounded(net.x_sparse.val)};
  out.x_dense = {net.x_dense.rows, net.x_dense.cols, rounded(net.x_dense.data)};
  out.scales = rounded(net.scales);
  for (const Dense<From>& w : net.weights) out.weights.push_back({w.rows, w.cols, rounded(w.data)});
  for (const std::vector<From>& b : net.biases) out.biases.push_back(rounded(b));
  return out;
}

#define PLUMB_GCN_FOR(T)                                                                            \
  template void validate<T>(const Gcn<T>&);                                                         \
  template double gcn_products<T>(const Gcn<T>&, std::int64_t, GcnOrder);                           \
  template GcnOrder cheaper_order<T>(const Gcn<T>&, std::int64_t);                                  \
  template GcnVerdict judge_matrix<T>(const Dense<T>&, const Dense<double>&, const Dense<double>&); \
  template std::int64_t count_right<T>(const Dense<T>&, const std::vector<std::int32_t>&,           \
                                       const std::vector<std::int32_t>&);                           \
  template T max_row_sum<T>(const Dense<T>&);
PLUMB_GCN_FOR(float)
PLUMB_GCN_FOR(double)
template Gcn<double> convert<double, float>(const Gcn<float>&);
template Gcn<float> convert<float, double>(const Gcn<double>&);
template Gcn<double> convert<double, double>(const Gcn<double>&);
template Gcn<float> convert<float, float>(const Gcn<float>&);

}  // namespace plumb
