// GCN, the reference: fp64 sums (compensated, as they are of fp64 terms), the bound carried along. Compiled
// without contraction. One order of products, A (X W), whatever the candidate took: the bound covers both.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "reference/arithmetic/bounded.hpp"
#include "reference/cases/operator.hpp"
#include "reference/models/gcn/gcn.hpp"
#include "reference/models/gcn/parts.hpp"

namespace plumb {

namespace {

using gcn::make_dense;

/// A matrix with what an honest candidate may err by (bound), and the sums over absolute values (magnitude).
struct Carried {
  Dense<double> value, bound, magnitude;
  Carried(std::int64_t rows, std::int64_t cols)
      : value(make_dense<double>(rows, cols)), bound(value), magnitude(value) {}
};

/// Roundings that `terms` products leave, times the magnitude: a candidate sums in any order, and products of a user's network may be
/// few different values.
double rounding(Dtype candidate, double magnitude, std::int64_t terms) {
  return sum_bound({Fill::few, Arithmetic::native, candidate}, 0, magnitude, terms);
}

/// X W of the first layer, X exact but for its input error.
Carried transform_sparse(const Csr<double>& x, const Dense<double>& w, Dtype candidate,
                         const GcnInputError& inputs) {
  Carried y(x.rows, w.cols);
#pragma omp parallel for schedule(dynamic, 64)
  for (std::int64_t i = 0; i < x.rows; ++i) {
    for (std::int64_t j = 0; j < w.cols; ++j) {
      OracleDot<double> dot;
      for (std::int32_t k = x.row_ptr[i]; k < x.row_ptr[i + 1]; ++k)
        dot.add_product(x.val[k], w.data[x.col[k] * w.cols + j]);
      const std::int64_t at = i * w.cols + j;
      y.value.data[at] = dot.value();
      y.magnitude.data[at] = dot.magnitude();
      y.bound.data[at] =
          rounding(candidate, dot.magnitude(), dot.terms()) + (inputs.x + inputs.w) * dot.magnitude();
    }
  }
  return y;
}

Carried transform_dense(const Carried& x, const Dense<double>& w, Dtype candidate,
                        const GcnInputError& inputs) {
  Carried y(x.value.rows, w.cols);
  const std::int64_t inner = w.rows;
#pragma omp parallel for schedule(dynamic, 64)
  for (std::int64_t i = 0; i < x.value.rows; ++i) {
    for (std::int64_t j = 0; j < w.cols; ++j) {
      OracleDot<double> dot;
      double error = 0, magnitude = 0;
      for (std::int64_t k = 0; k < inner; ++k) {
        const double weight = w.data[k * w.cols + j];
        dot.add_product(x.value.data[i * inner + k], weight);
        error += x.bound.data[i * inner + k] * std::fabs(weight);
        magnitude += x.magnitude.data[i * inner + k] * std::fabs(weight);
      }
      const std::int64_t at = i * w.cols + j;
      y.value.data[at] = dot.value();
      y.magnitude.data[at] = magnitude;
      y.bound.data[at] =
          error + rounding(candidate, dot.magnitude() + error, inner) + inputs.w * dot.magnitude();
    }
  }
  return y;
}

/// A Y + bias.
Carried aggregate(const Csr<double>& a, const Carried& y, const std::vector<double>& bias, Dtype candidate,
                  const GcnInputError& inputs) {
  const std::int64_t width = y.value.cols;
  Carried z(a.rows, width);
#pragma omp parallel for schedule(dynamic, 64)
  for (std::int64_t i = 0; i < a.rows; ++i) {
    for (std::int64_t j = 0; j < width; ++j) {
      OracleDot<double> dot;
      double error = 0, magnitude = 0;
      for (std::int32_t k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) {
        const std::int64_t from = a.col[k] * width + j;
        dot.add_product(a.val[k], y.value.data[from]);
        error += std::fabs(a.val[k]) * y.bound.data[from];
        magnitude += std::fabs(a.val[k]) * y.magnitude.data[from];
      }
      if (!bias.empty()) {
        dot.add(bias[static_cast<std::size_t>(j)]);
        magnitude += std::fabs(bias[static_cast<std::size_t>(j)]);
      }
      const std::int64_t at = i * width + j;
      z.value.data[at] = dot.value();
      z.magnitude.data[at] = magnitude;
      // (A X) W rounds sums over A before those over W: in that order magnitudes are those of the whole chain
      z.bound.data[at] =
          error + rounding(candidate, magnitude, dot.terms()) + (inputs.a + inputs.w) * magnitude;
    }
  }
  return z;
}

void apply_relu(Carried& z) {
  for (std::size_t at = 0; at < z.value.data.size(); ++at) {
    double& value = z.value.data[at];
    double& bound = z.bound.data[at];
    if (std::isinf(value)) {  // cut off exactly, or judged by its class; an interval around it would be NaN
      bound = 0;
      if (value < 0) value = z.magnitude.data[at] = 0;
      continue;
    }
    const double high = gcn::relu(value + bound), low = gcn::relu(value - bound), middle = gcn::relu(value);
    value = middle;
    bound = std::max(high - middle, middle - low);  // the interval at the kink; 0 where it surely is cut off
  }
}

/// LogSoftmax of the logits, each anywhere within its bound, by the rules of formulas.
void add_log_softmax(Dtype candidate, GcnReference& reference) {
  const Compute compute(facts(candidate).accumulate);
  const Dense<double>& z = reference.logits;
  reference.log_softmax = make_dense<double>(z.rows, z.cols);
  reference.log_softmax_bound = make_dense<double>(z.rows, z.cols);
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < z.rows; ++i) {
    std::vector<Bounded> row(static_cast<std::size_t>(z.cols)), y(row.size());
    const std::size_t first = static_cast<std::size_t>(i) * row.size();
    for (std::size_t j = 0; j < row.size(); ++j)
      row[j] = {z.data[first + j], 0, reference.logits_bound.data[first + j]};
    compute.log_softmax(row.data(), z.cols, y.data());
    for (std::size_t j = 0; j < row.size(); ++j)
      reference.log_softmax.data[first + j] = y[j].value,
                                         reference.log_softmax_bound.data[first + j] = y[j].error;
  }
}

/// X without error but that of the inputs, where it is dense.
Carried exactly(const Dense<double>& x, double input_error) {
  Carried carried(x.rows, x.cols);
  carried.value = x;
  for (std::size_t at = 0; at < x.data.size(); ++at) {
    carried.magnitude.data[at] = std::fabs(x.data[at]);
    carried.bound.data[at] = input_error * carried.magnitude.data[at];
  }
  return carried;
}

/// Bounds of some hundred layers leave the range of fp64, and Inf times a weight of 0 would be NaN. What is as large as this
/// excuses every finite value of a candidate.
void keep_finite(Dense<double>& m) {
  constexpr double kLargest = 1e200;
  for (double& v : m.data) {
    if (v > kLargest) v = kLargest;
  }
}

/// Layer l (from 0) on x, which is not looked at where X is sparse.
Carried layer_on(const Gcn<double>& net, std::size_t l, const Carried& x, Dtype candidate,
                 const GcnInputError& inputs) {
  const Carried y = l == 0 && net.sparse_features
                        ? transform_sparse(net.x_sparse, net.weights[l], candidate, inputs)
                        : transform_dense(x, net.weights[l], candidate, inputs);
  Carried z = aggregate(net.a, y, net.biases[l], candidate, inputs);
  if (l + 1 < net.weights.size()) apply_relu(z);
  return z;
}

}  // namespace

GcnReference reference_gcn(const Gcn<double>& net, Dtype candidate, const GcnInputError& inputs) {
  validate(net);
  GcnReference reference;
  Carried x = net.sparse_features ? Carried(0, 0) : exactly(net.x_dense, inputs.x);
  for (std::size_t l = 0; l < net.weights.size(); ++l) {
    x = layer_on(net, l, x, candidate, inputs);
    keep_finite(x.bound), keep_finite(x.magnitude);
    if (l + 1 == net.weights.size()) break;
    reference.hidden.push_back(x.value);
    reference.hidden_bound.push_back(x.bound);
  }
  reference.logits = std::move(x.value);
  reference.logits_bound = std::move(x.bound);
  reference.magnitude = std::move(x.magnitude);

  add_log_softmax(candidate, reference);
  return reference;
}

GcnLayerReference reference_layer(const Gcn<double>& net, std::size_t l, const Dense<double>& input,
                                  Dtype candidate, const GcnInputError& inputs) {
  Carried z = layer_on(net, l, exactly(input, 0), candidate, inputs);
  return {std::move(z.value), std::move(z.bound)};
}

}  // namespace plumb
