#include "reference/models/sparse_dnn.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "reference/core/error.hpp"

namespace plumb {

namespace {

void validate_csr_shape(const Csr<float>& m, const std::string& what) {
  if (m.rows < 0 || static_cast<std::int64_t>(m.row_ptr.size()) != m.rows + 1 || m.row_ptr.front() != 0 ||
      m.row_ptr.back() != m.nnz() || m.val.size() != m.col.size()) {
    throw Error(fmt::format("{}: row pointers do not fit {} rows and {} entries", what, m.rows, m.nnz()));
  }
  for (std::int64_t i = 0; i < m.rows; ++i) {
    if (m.row_ptr[static_cast<std::size_t>(i)] > m.row_ptr[static_cast<std::size_t>(i) + 1]) {
      throw Error(fmt::format("{}: row pointers fall at row {}", what, i));
    }
  }
  for (std::size_t k = 0; k < m.col.size(); ++k) {
    if (m.col[k] < 0 || m.col[k] >= m.cols) {
      throw Error(fmt::format("{}: column {} of entry {} lies outside 0..{}", what, m.col[k], k, m.cols - 1));
    }
  }
}

}  // namespace

std::int64_t SparseDnn::edges(std::int64_t first, std::int64_t last) const {
  std::int64_t sum = 0;
  for (std::int64_t l = first; l < last; ++l) sum += gather[static_cast<std::size_t>(l)].nnz();
  return sum;
}

Csr<float> transpose(const Csr<float>& matrix) {
  Csr<float> t;
  t.rows = matrix.cols;
  t.cols = matrix.rows;
  t.row_ptr.assign(static_cast<std::size_t>(t.rows) + 1, 0);
  t.col.resize(matrix.col.size());
  t.val.resize(matrix.val.size());
  for (const std::int32_t j : matrix.col) ++t.row_ptr[static_cast<std::size_t>(j) + 1];
  for (std::size_t j = 0; j < static_cast<std::size_t>(t.rows); ++j) t.row_ptr[j + 1] += t.row_ptr[j];
  std::vector<std::int32_t> next(t.row_ptr.begin(), t.row_ptr.end() - 1);
  for (std::int64_t i = 0; i < matrix.rows; ++i) {
    for (std::int32_t k = matrix.row_ptr[i]; k < matrix.row_ptr[i + 1]; ++k) {
      const std::int32_t at = next[matrix.col[k]]++;
      t.col[at] = static_cast<std::int32_t>(i);
      t.val[at] = matrix.val[k];
    }
  }
  return t;
}

float official_bias(std::int64_t neurons) {
  switch (neurons) {
    case 4096:
      return -0.35F;
    case 16384:
      return -0.40F;
    case 65536:
      return -0.45F;
    default:
      return -0.30F;
  }
}

std::int64_t official_category_count(std::int64_t neurons) {
  switch (neurons) {
    case 1024:
      return 1812;
    case 4096:
      return 1801;
    case 16384:
      return 1918;
    case 65536:
      return 1994;
    default:
      return 0;
  }
}

void validate(const SparseDnn& net) {
  if (!std::isfinite(net.bias)) throw Error(fmt::format("sparse DNN: bias is not finite: {}", net.bias));
  if (!(net.cap >= 0)) throw Error(fmt::format("sparse DNN: cap must not be negative: {}", net.cap));
  for (std::int64_t l = 0; l < net.layers(); ++l) {
    const Csr<float>& w = net.gather[static_cast<std::size_t>(l)];
    const std::string what = fmt::format("sparse DNN, layer {}", l + 1);
    if (w.rows != net.neurons || w.cols != net.neurons) {
      throw Error(fmt::format("{}: weights are {} x {}, neurons are {}", what, w.rows, w.cols, net.neurons));
    }
    validate_csr_shape(w, what);
    for (const float v : w.val) {
      if (!std::isfinite(v)) throw Error(fmt::format("{}: a weight is not finite: {}", what, v));
    }
  }
}

void validate_inputs(const SparseDnn& net, const Csr<float>& y) {
  if (y.cols != net.neurons) {
    throw Error(
        fmt::format("sparse DNN: inputs have {} features, the network {} neurons", y.cols, net.neurons));
  }
  validate_csr_shape(y, "sparse DNN, inputs");
}

std::vector<std::int32_t> categories(const Csr<float>& y) {
  std::vector<std::int32_t> ids;
  for (std::int64_t i = 0; i < y.rows; ++i) {
    for (std::int32_t k = y.row_ptr[i]; k < y.row_ptr[i + 1]; ++k) {
      if (y.val[k] != 0) {  // NaN too
        ids.push_back(static_cast<std::int32_t>(i + 1));
        break;
      }
    }
  }
  return ids;
}

Csr<float> slice_rows(const Csr<float>& matrix, std::int64_t first, std::int64_t last) {
  Csr<float> s;
  s.rows = last - first;
  s.cols = matrix.cols;
  const std::int32_t begin = matrix.row_ptr[first], end = matrix.row_ptr[last];
  s.row_ptr.resize(static_cast<std::size_t>(s.rows) + 1);
  for (std::int64_t i = 0; i <= s.rows; ++i) s.row_ptr[i] = matrix.row_ptr[first + i] - begin;
  s.col.assign(matrix.col.begin() + begin, matrix.col.begin() + end);
  s.val.assign(matrix.val.begin() + begin, matrix.val.begin() + end);
  return s;
}

std::vector<const SdnnPipeline*> sdnn_pipelines() {
  std::vector<const SdnnPipeline*> all;
  for (const SdnnPipeline* p = more_sdnn_pipelines; p != nullptr; p = p->next) all.push_back(p);
  std::sort(all.begin(), all.end(), [](const SdnnPipeline* a, const SdnnPipeline* b) {  // not by link order
    return std::pair(-a->preference, std::string_view(a->name)) <
           std::pair(-b->preference, std::string_view(b->name));
  });
  all.insert(all.end(), {&kSdnnCarried, &kSdnnCsrSpmm, &kSdnnDenseHoisted, &kSdnnDenseAlloc, &kSdnnEigen});
  return all;
}

}  // namespace plumb
