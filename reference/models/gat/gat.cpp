// GAT on the host: validation and the forward pass.
#include "reference/models/gat/gat.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "reference/core/csr.hpp"
#include "reference/core/error.hpp"

namespace plumb {

namespace gat {
namespace {

constexpr double kSlope = 0.2;

template <class T>
Dense<T> zeros(std::int64_t rows, std::int64_t cols) {
  return {rows, cols, std::vector<T>(static_cast<std::size_t>(rows * cols))};
}

/// X W of one row; `entry(f)` calls f(column, value) for those of X that are not 0.
template <class T, class Entries>
void transform_row(const Dense<T>& w, Entries&& entries, T* out) {
  entries([&](std::int64_t k, T x) {
    const T* const row = w.data.data() + k * w.cols;
    for (std::int64_t j = 0; j < w.cols; ++j) out[j] += x * row[j];
  });
}

template <class T>
Dense<T> transform(const Gat<T>& net, std::size_t l, const Dense<T>& before) {
  const Dense<T>& w = net.layers[l].w;
  Dense<T> h = zeros<T>(net.vertices(), w.cols);
  const bool sparse = l == 0 && net.sparse_features;
  const Dense<T>& x = l == 0 ? net.x_dense : before;
#pragma omp parallel for schedule(dynamic, 64)
  for (std::int64_t i = 0; i < h.rows; ++i) {
    T* const out = h.data.data() + i * h.cols;
    if (sparse) {
      transform_row(
          w,
          [&](auto&& f) {
            for (std::int32_t e = net.x_sparse.row_ptr[i]; e < net.x_sparse.row_ptr[i + 1]; ++e)
              f(net.x_sparse.col[e], net.x_sparse.val[e]);
          },
          out);
    } else {
      transform_row(
          w,
          [&](auto&& f) {
            for (std::int64_t k = 0; k < x.cols; ++k) f(k, x.data[i * x.cols + k]);
          },
          out);
    }
  }
  return h;
}

/// (n, heads): of each vertex and head the product of its features with the head's numbers.
template <class T>
Dense<T> scores(const GatLayerOf<T>& layer, const Dense<T>& h, const std::vector<T>& by) {
  Dense<T> s = zeros<T>(h.rows, layer.heads);
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < h.rows; ++i) {
    for (std::int64_t c = 0; c < h.cols; ++c)
      s.data[i * layer.heads + c / layer.width()] += h.data[i * h.cols + c] * by[c];
  }
  return s;
}

/// One head of one row: its mean of features, weighted by the softmax of its scores. `p`: as many as the row has entries.
template <class T>
void attend(const Csr<T>& a, const GatLayerOf<T>& layer, const Dense<T>& h, const Dense<T>& s,
            const Dense<T>& t, std::int64_t i, std::int64_t k, std::vector<T>& p, T* out) {
  const std::int32_t begin = a.row_ptr[i], end = a.row_ptr[i + 1];
  T most = -std::numeric_limits<T>::infinity(), weight = 0;
  for (std::int32_t e = begin; e < end; ++e) {
    const T x = t.data[i * layer.heads + k] + s.data[a.col[e] * layer.heads + k];
    p[e - begin] = x < 0 ? static_cast<T>(kSlope) * x : x;
    most = std::max(most, p[e - begin]);
  }
  for (std::int32_t e = begin; e < end; ++e) {
    const T share = std::exp(p[e - begin] - most);
    const T* const from = h.data.data() + a.col[e] * h.cols + k * layer.width();
    weight += share;
    for (std::int64_t j = 0; j < layer.width(); ++j) out[j] += share * from[j];
  }
  for (std::int64_t j = 0; begin < end && j < layer.width(); ++j) out[j] /= weight;
}

/// What becomes of the heads of one row, (heads * width): averaged, with the bias, behind the activation unless it is the last layer's.
template <class T>
void finish_row(const Gat<T>& net, std::size_t l, const T* heads, T* out) {
  const GatLayerOf<T>& layer = net.layers[l];
  for (std::int64_t j = 0; j < layer.outputs(); ++j) {
    T y = heads[j];
    if (layer.averages()) {
      for (std::int64_t k = 1; k < layer.heads; ++k) y += heads[k * layer.width() + j];
      y /= static_cast<T>(layer.heads);
    }
    if (!layer.bias.empty()) y += layer.bias[j];
    const bool last = l + 1 == net.layers.size();
    out[j] = last || y > 0 ? y : net.activation == GatActivation::relu ? T(0) : std::expm1(y);
  }
}

template <class T>
Dense<T> run_layer(const Gat<T>& net, std::size_t l, const Dense<T>& before) {
  const GatLayerOf<T>& layer = net.layers[l];
  const Dense<T> h = transform(net, l, before);
  const Dense<T> s = scores(layer, h, layer.source), t = scores(layer, h, layer.target);
  Dense<T> y = zeros<T>(net.vertices(), layer.outputs());
#pragma omp parallel
  {
    std::vector<T> heads, p;
#pragma omp for schedule(dynamic, 64)
    for (std::int64_t i = 0; i < y.rows; ++i) {
      heads.assign(static_cast<std::size_t>(h.cols), T(0));
      p.resize(static_cast<std::size_t>(net.a.row_ptr[i + 1] - net.a.row_ptr[i]));
      for (std::int64_t k = 0; k < layer.heads; ++k)
        attend(net.a, layer, h, s, t, i, k, p, heads.data() + k * layer.width());
      finish_row(net, l, heads.data(), y.data.data() + i * y.cols);
    }
  }
  return y;
}

template <class T>
Dense<T> log_softmax_of(const Dense<T>& z) {
  Dense<T> y = z;
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < z.rows; ++i) {
    T* const row = y.data.data() + i * z.cols;
    const T most = z.cols > 0 ? *std::max_element(row, row + z.cols) : T(0);
    T sum = 0;
    for (std::int64_t j = 0; j < z.cols; ++j) row[j] -= most, sum += std::exp(row[j]);
    for (std::int64_t j = 0; j < z.cols; ++j) row[j] -= std::log(sum);
  }
  return y;
}

template <class To, class From>
std::vector<To> as(const std::vector<From>& v) {
  return {v.begin(), v.end()};
}

}  // namespace
}  // namespace gat

template <class T>
void validate(const Gat<T>& net) {
  validate_csr(net.a.view(), "A");
  if (net.a.rows != net.a.cols) throw Error(fmt::format("gat: A is {} x {}", net.a.rows, net.a.cols));
  if (net.sparse_features) validate_csr(net.x_sparse.view(), "X");
  const std::int64_t rows = net.sparse_features ? net.x_sparse.rows : net.x_dense.rows;
  if (rows != net.a.rows) throw Error(fmt::format("gat: {} vertices, and X has {} rows", net.a.rows, rows));
  if (net.layers.empty()) throw Error("gat: there is no layer");
  std::int64_t inputs = net.features();
  for (std::size_t l = 0; l < net.layers.size(); ++l) {
    const GatLayerOf<T>& layer = net.layers[l];
    const auto fits = [&](const std::vector<T>& v) {
      return static_cast<std::int64_t>(v.size()) == layer.w.cols;
    };
    if (layer.w.rows != inputs)
      throw Error(fmt::format("gat: layer {} has {} inputs, and its W {} rows", l + 1, inputs, layer.w.rows));
    if (layer.heads < 1 || layer.w.cols % layer.heads != 0 || !fits(layer.source) || !fits(layer.target) ||
        !(layer.bias.empty() || fits(layer.bias) || layer.averages()))
      throw Error(fmt::format("gat: layer {}: {} outputs, {} heads, att_src {}, att_dst {}, bias {}", l + 1,
                              layer.w.cols, layer.heads, layer.source.size(), layer.target.size(),
                              layer.bias.size()));
    inputs = layer.outputs();
  }
}

template <class T>
Gat<T> convert(const Gat<double>& net) {
  Gat<T> to;
  to.a = {net.a.rows, net.a.cols, net.a.row_ptr, net.a.col, gat::as<T>(net.a.val)};
  to.sparse_features = net.sparse_features, to.activation = net.activation;
  to.x_sparse = {net.x_sparse.rows, net.x_sparse.cols, net.x_sparse.row_ptr, net.x_sparse.col,
                 gat::as<T>(net.x_sparse.val)};
  to.x_dense = {net.x_dense.rows, net.x_dense.cols, gat::as<T>(net.x_dense.data)};
  for (const GatLayerOf<double>& l : net.layers)
    to.layers.push_back({l.heads,
                         {l.w.rows, l.w.cols, gat::as<T>(l.w.data)},
                         gat::as<T>(l.source),
                         gat::as<T>(l.target),
                         gat::as<T>(l.bias)});
  return to;
}

template <class T>
double gat_products(const Gat<T>& net) {
  double products = 0, entries = static_cast<double>(net.vertices()) * static_cast<double>(net.features());
  if (net.sparse_features) entries = static_cast<double>(net.x_sparse.nnz());
  for (const GatLayerOf<T>& layer : net.layers) {
    const auto cols = static_cast<double>(layer.w.cols);
    products +=
        entries * cols + (2 * static_cast<double>(net.vertices()) + static_cast<double>(net.a.nnz())) * cols;
    entries = static_cast<double>(net.vertices()) * static_cast<double>(layer.outputs());
  }
  return products;
}

template <class T>
GatRun<T> run_gat(const Gat<T>& net) {
  const auto begin = std::chrono::steady_clock::now();
  GatRun<T> run;
  for (std::size_t l = 0; l < net.layers.size(); ++l)
    run.outputs.push_back(gat::run_layer(net, l, l == 0 ? net.x_dense : run.outputs.back()));
  run.log_softmax = gat::log_softmax_of(run.outputs.back());
  run.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return run;
}

#define PLUMB_INSTANTIATE(T)                      \
  template void validate<T>(const Gat<T>&);       \
  template Gat<T> convert<T>(const Gat<double>&); \
  template double gat_products<T>(const Gat<T>&); \
  template GatRun<T> run_gat<T>(const Gat<T>&);
PLUMB_INSTANTIATE(float)
PLUMB_INSTANTIATE(double)
#undef PLUMB_INSTANTIATE

}  // namespace plumb
