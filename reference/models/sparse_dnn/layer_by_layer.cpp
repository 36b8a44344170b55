// Sparse DNN, the pipelines that work layer by layer: one library or SpMM call per layer for all active rows, compaction
// between layers. cache_blocked is compared with these. All assume the structure general.
#include <algorithm>
#include <cstring>
#include <memory>

#include <omp.h>
#include <Eigen/SparseCore>

#include "reference/core/csr.hpp"
#include "reference/core/openblas.hpp"
#include "reference/models/sparse_dnn/parts.hpp"
#include "reference/models/sparse_dnn/sparse_dnn.hpp"

extern "C" {
#include <cblas.h>
}

namespace plumb {

namespace {

using sdnn::activate;
using sdnn::AlignedFloats;
using sdnn::now;

constexpr std::int64_t kPanelBytes = std::int64_t{256} << 20;  // activations held at once

const char* any_network(const SparseDnn&) { return nullptr; }

/// Adds one panel's counts and times to the whole run's.
void start_result(SdnnRun& result, std::int64_t layers) {
  result.active.assign(static_cast<std::size_t>(layers) + 1, 0);
  result.layer_seconds.assign(static_cast<std::size_t>(layers), 0.0);
}

std::int64_t panel_rows(const SparseDnn& net) {
  return std::max<std::int64_t>(16, kPanelBytes / (4 * std::max<std::int64_t>(net.neurons, 1)));
}

std::vector<std::int32_t> active_rows(const Csr<float>& y, std::int64_t first, std::int64_t last) {
  std::vector<std::int32_t> id;
  for (std::int64_t i = first; i < last; ++i) {
    const auto begin = y.val.begin() + y.row_ptr[i], end = y.val.begin() + y.row_ptr[i + 1];
    if (std::any_of(begin, end, [](float v) { return v != 0; })) id.push_back(static_cast<std::int32_t>(i));
  }
  return id;
}

// ---- CSR SpMM: Z^T = W^T Y^T, output neurons split among threads by their edges ----

class CsrSpmm final : public SdnnPlan {
 public:
  explicit CsrSpmm(const SparseDnn& net) : net_(net) {
    const int threads = omp_get_max_threads();
    for (const Csr<float>& w :
         net.gather) {  // the first neuron of each thread: equal edges, whatever the degrees
      std::vector<std::int64_t> split;
      for (int t = 0; t <= threads; ++t) {
        const auto edge = static_cast<std::int32_t>(w.nnz() * t / threads);
        split.push_back(t == threads ? w.rows
                                     : std::upper_bound(w.row_ptr.begin(), w.row_ptr.end(), edge) -
                                           w.row_ptr.begin() - 1);
      }
      if (!split.empty()) split.front() = 0;
      splits_.push_back(std::move(split));
    }
  }

  SdnnRun run(const Csr<float>& y, std::int64_t first, std::int64_t last) override {
    const double start = now();
    SdnnRun result;
    start_result(result, last - first);
    std::vector<sdnn::FinishedRows> parts;
    const std::int64_t n = net_.neurons, panel = panel_rows(net_);
    for (std::int64_t begin = 0; begin < y.rows; begin += panel) {
      std::vector<std::int32_t> id = active_rows(y, begin, std::min(y.rows, begin + panel));
      auto rows = static_cast<std::int64_t>(id.size());
      std::int64_t ld = rows;
      AlignedFloats in(n * rows), out(n * rows);
      std::fill_n(in.data(), n * rows, 0.0F);
      for (std::int64_t r = 0; r < rows; ++r) {
        for (std::int32_t k = y.row_ptr[id[r]]; k < y.row_ptr[id[r] + 1]; ++k)
          in.data()[y.col[k] * ld + r] += y.val[k];
      }
      for (std::int64_t l = first; l < last && rows > 0; ++l) {
        const double clock = now();
        result.active[static_cast<std::size_t>(l - first)] += rows;
        std::vector<std::uint8_t> active(static_cast<std::size_t>(rows), 0);
        multiply(l, in.data(), out.data(), ld, rows, active);
        // Active rows are compacted in place: a target is never behind its source.
        std::vector<std::int64_t> keep;
        for (std::int64_t r = 0; r < rows; ++r) {
          if (active[static_cast<std::size_t>(r)] != 0) keep.push_back(r);
        }
        if (static_cast<std::int64_t>(keep.size()) < rows) {
#pragma omp parallel for schedule(static)
          for (std::int64_t j = 0; j < n; ++j) {
            float* const row = out.data() + j * ld;
            for (std::size_t r = 0; r < keep.size(); ++r) row[r] = row[keep[r]];
          }
          for (std::size_t r = 0; r < keep.size(); ++r) id[r] = id[static_cast<std::size_t>(keep[r])];
          rows = static_cast<std::int64_t>(keep.size());
          id.resize(keep.size());
        }
        std::swap(in, out);
        result.layer_seconds[static_cast<std::size_t>(l - first)] += now() - clock;
      }
      result.active.back() += rows;
      sdnn::FinishedRows& done = parts.emplace_back();
      for (std::int64_t r = 0; r < rows; ++r) {
        done.append(id[static_cast<std::size_t>(r)], n,
                    [&](std::int64_t j) { return in.data()[j * ld + r]; });
      }
    }
    result.y = sdnn::build(parts, y.rows, n);
    result.seconds = now() - start;
    return result;
  }

 private:
  static constexpr std::int64_t kLanes = 64;  // rows summed at a time: the sums stay in registers

  void multiply(std::int64_t l, const float* in, float* out, std::int64_t ld, std::int64_t rows,
                std::vector<std::uint8_t>& active) const {
    const Csr<float>& w = net_.gather[static_cast<std::size_t>(l)];
    const std::vector<std::int64_t>& split = splits_[static_cast<std::size_t>(l)];
    const auto pieces = static_cast<std::int64_t>(split.size()) - 1;
#pragma omp parallel
    {
      std::vector<std::uint8_t> seen(active.size(), 0);
#pragma omp for schedule(static, 1)
      for (std::int64_t t = 0; t < pieces; ++t) {
        for (std::int64_t r0 = 0; r0 < rows; r0 += kLanes) {
          const std::int64_t m = std::min(kLanes, rows - r0);
          for (std::int64_t j = split[static_cast<std::size_t>(t)];
               j < split[static_cast<std::size_t>(t) + 1]; ++j) {
            float sum[kLanes] = {};
            for (std::int32_t k = w.row_ptr[j]; k < w.row_ptr[j + 1]; ++k) {
              const float a = w.val[k];
              const float* const b = in + w.col[k] * ld + r0;
              if (m == kLanes) {
                for (std::int64_t r = 0; r < kLanes; ++r) sum[r] += a * b[r];
              } else {
                for (std::int64_t r = 0; r < m; ++r) sum[r] += a * b[r];
              }
            }
            for (std::int64_t r = 0; r < m; ++r) {
              const float v = activate(sum[r], net_.bias, net_.cap);
              out[j * ld + r0 + r] = v;
              seen[static_cast<std::size_t>(r0 + r)] |= v != 0;
            }
          }
        }
      }
#pragma omp critical(plumb_sdnn_active)
      for (std::size_t r = 0; r < active.size(); ++r) active[r] |= seen[r];
    }
  }

  const SparseDnn& net_;
  std::vector<std::vector<std::int64_t>> splits_;  // (layers, threads + 1)
};

// ---- dense: one sgemm per layer and block of rows ----

class DenseLibrary final : public SdnnPlan {
 public:
  DenseLibrary(const SparseDnn& net, bool hoisted) : net_(net), hoisted_(hoisted) {}

  SdnnRun run(const Csr<float>& y, std::int64_t first, std::int64_t last) override {
    const double start = now();
    SdnnRun result;
    start_result(result, last - first);
    std::vector<sdnn::FinishedRows> parts;
    const std::int64_t n = net_.neurons,
                       panel = std::max<std::int64_t>(1, std::min(panel_rows(net_), y.rows));
    auto buffer_in = std::make_unique<AlignedFloats>(panel * n);
    auto buffer_out = hoisted_ ? std::make_unique<AlignedFloats>(panel * n) : nullptr;
    auto weights = hoisted_ ? std::make_unique<AlignedFloats>(n * n) : nullptr;
    for (std::int64_t begin = 0; begin < y.rows; begin += panel) {
      std::vector<std::int32_t> id = active_rows(y, begin, std::min(y.rows, begin + panel));
      std::fill_n(buffer_in->data(), static_cast<std::int64_t>(id.size()) * n, 0.0F);
      for (std::size_t r = 0; r < id.size(); ++r) {
        float* const row = buffer_in->data() + static_cast<std::int64_t>(r) * n;
        for (std::int32_t k = y.row_ptr[id[r]]; k < y.row_ptr[id[r] + 1]; ++k) row[y.col[k]] += y.val[k];
      }
      for (std::int64_t l = first; l < last && !id.empty(); ++l) {
        const double clock = now();
        const auto rows = static_cast<std::int64_t>(id.size());
        result.active[static_cast<std::size_t>(l - first)] += rows;
        if (!hoisted_) {  // as in the usual code: memory is allocated and freed in the loop
          buffer_out = std::make_unique<AlignedFloats>(rows * n);
          weights = std::make_unique<AlignedFloats>(n * n);
        }
        densify(l, weights->data());
        multiply(buffer_in->data(), weights->data(), buffer_out->data(), rows);
        std::size_t kept = 0;
        for (std::int64_t r = 0; r < rows; ++r) {
          float* const row = buffer_out->data() + r * n;
          bool any = false;
          for (std::int64_t j = 0; j < n; ++j) any |= row[j] != 0;
          if (!any) continue;
          if (static_cast<std::int64_t>(kept) != r) {
            std::memcpy(buffer_out->data() + static_cast<std::int64_t>(kept) * n, row,
                        static_cast<std::size_t>(n) * 4);
          }
          id[kept++] = id[static_cast<std::size_t>(r)];
        }
        id.resize(kept);
        std::swap(buffer_in, buffer_out);
        result.layer_seconds[static_cast<std::size_t>(l - first)] += now() - clock;
      }
      result.active.back() += static_cast<std::int64_t>(id.size());
      sdnn::FinishedRows& done = parts.emplace_back();
      for (std::size_t r = 0; r < id.size(); ++r) {
        const float* const row = buffer_in->data() + static_cast<std::int64_t>(r) * n;
        done.append(id[r], n, [&](std::int64_t j) { return row[j]; });
      }
      if (!hoisted_) buffer_in = std::make_unique<AlignedFloats>(panel * n);
    }
    result.y = sdnn::build(parts, y.rows, n);
    result.seconds = now() - start;
    return result;
  }

 private:
  /// W transposed as a dense row-major (neurons, neurons) matrix.
  void densify(std::int64_t l, float* dense) const {
    const Csr<float>& w = net_.gather[static_cast<std::size_t>(l)];
#pragma omp parallel for schedule(static)
    for (std::int64_t j = 0; j < w.rows; ++j) {
      float* const row = dense + j * w.cols;
      std::fill_n(row, w.cols, 0.0F);
      for (std::int32_t k = w.row_ptr[j]; k < w.row_ptr[j + 1]; ++k) row[w.col[k]] += w.val[k];
    }
  }

  void multiply(const float* in, const float* weights, float* out, std::int64_t rows) const {
    const std::int64_t n = net_.neurons;
    constexpr std::int64_t kBlock = 512;
#pragma omp parallel for schedule(dynamic) num_threads(openblas_callers())
    for (std::int64_t r = 0; r < rows; r += kBlock) {
      const std::int64_t m = std::min(kBlock, rows - r);
      cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, static_cast<blasint>(m), static_cast<blasint>(n),
                  static_cast<blasint>(n), 1.0F, in + r * n, static_cast<blasint>(n), weights,
                  static_cast<blasint>(n), 0.0F, out + r * n, static_cast<blasint>(n));
      for (std::int64_t at = r * n; at < (r + m) * n; ++at) out[at] = activate(out[at], net_.bias, net_.cap);
    }
  }

  const SparseDnn& net_;
  bool hoisted_;
};

const char* dense_fits(const SparseDnn& net) {
  return net.neurons <= 16384 ? nullptr : "a dense layer of more than 16384 neurons takes over 1 GiB";
}

// ---- Eigen: sparse times sparse ----

class EigenSparse final : public SdnnPlan {
 public:
  using Matrix = Eigen::SparseMatrix<float, Eigen::RowMajor, std::int32_t>;

  explicit EigenSparse(const SparseDnn& net) : net_(net) {
    for (const Csr<float>& gather : net.gather) {
      const Csr<float> w = transposed(gather);
      std::vector<Eigen::Triplet<float, std::int32_t>> entries;
      entries.reserve(w.col.size());
      for (std::int64_t i = 0; i < w.rows; ++i) {
        for (std::int32_t k = w.row_ptr[i]; k < w.row_ptr[i + 1]; ++k) {
          entries.emplace_back(static_cast<std::int32_t>(i), w.col[k], w.val[k]);
        }
      }
      Matrix& m = weights_.emplace_back(net.neurons, net.neurons);
      m.setFromTriplets(entries.begin(), entries.end());
    }
  }

  SdnnRun run(const Csr<float>& y, std::int64_t first, std::int64_t last) override {
    const double start = now();
    SdnnRun result;
    start_result(result, last - first);
    constexpr std::int64_t kBlock = 256;  // rows per product: Eigen's is serial, so blocks run side by side
    const std::int64_t blocks = (y.rows + kBlock - 1) / kBlock;
    std::vector<sdnn::FinishedRows> parts(static_cast<std::size_t>(blocks));
    const int threads = omp_get_max_threads();
#pragma omp parallel for schedule(dynamic)
    for (std::int64_t b = 0; b < blocks; ++b) {
      std::vector<std::int32_t> id = active_rows(y, b * kBlock, std::min(y.rows, (b + 1) * kBlock));
      Matrix in = rows_of(y, id);
      for (std::int64_t l = first; l < last && !id.empty(); ++l) {
        const double clock = now();
        const auto rows = static_cast<std::int64_t>(id.size());
        in = activated(in * weights_[static_cast<std::size_t>(l)], id);
        const double seconds = (now() - clock) / threads;
#pragma omp critical(plumb_sdnn_eigen)
        {
          result.active[static_cast<std::size_t>(l - first)] += rows;
          result.layer_seconds[static_cast<std::size_t>(l - first)] += seconds;
        }
      }
#pragma omp critical(plumb_sdnn_eigen)
      result.active.back() += static_cast<std::int64_t>(id.size());
      finish(in, id, parts[static_cast<std::size_t>(b)]);
    }
    result.y = sdnn::build(parts, y.rows, net_.neurons);
    result.seconds = now() - start;
    return result;
  }

 private:
  /// The listed rows of y.
  [[nodiscard]] Matrix rows_of(const Csr<float>& y, const std::vector<std::int32_t>& id) const {
    std::vector<Eigen::Triplet<float, std::int32_t>> entries;
    for (std::size_t r = 0; r < id.size(); ++r) {
      for (std::int32_t k = y.row_ptr[id[r]]; k < y.row_ptr[id[r] + 1]; ++k) {
        entries.emplace_back(static_cast<std::int32_t>(r), y.col[k], y.val[k]);
      }
    }
    Matrix rows(static_cast<Eigen::Index>(id.size()), net_.neurons);
    rows.setFromTriplets(entries.begin(), entries.end());
    return rows;
  }

  /// The activations of z; rows without a non-zero are left out, and their ids too.
  [[nodiscard]] Matrix activated(const Matrix& z, std::vector<std::int32_t>& id) const {
    Matrix out(z.rows(), z.cols());
    out.reserve(z.nonZeros());
    std::size_t kept = 0;
    for (Eigen::Index r = 0; r < z.rows(); ++r) {
      bool any = false;
      for (Matrix::InnerIterator it(z, r); it; ++it) {
        const float v = activate(it.value(), net_.bias, net_.cap);
        if (v != 0) {
          if (!any) out.startVec(static_cast<Eigen::Index>(kept));
          out.insertBackByOuterInner(static_cast<Eigen::Index>(kept), it.index()) = v;
          any = true;
        }
      }
      if (any) id[kept++] = id[static_cast<std::size_t>(r)];
    }
    out.finalize();
    id.resize(kept);
    out.conservativeResize(static_cast<Eigen::Index>(kept), out.cols());
    return out;
  }

  /// Appends the rows that are still active to the answer.
  void finish(const Matrix& rows, const std::vector<std::int32_t>& id, sdnn::FinishedRows& done) const {
    for (std::size_t r = 0; r < id.size(); ++r) {
      std::vector<float> row(static_cast<std::size_t>(net_.neurons), 0.0F);
      for (Matrix::InnerIterator it(rows, static_cast<Eigen::Index>(r)); it; ++it) {
        row[static_cast<std::size_t>(it.index())] = it.value();
      }
      done.append(id[r], net_.neurons, [&](std::int64_t j) { return row[static_cast<std::size_t>(j)]; });
    }
  }

  const SparseDnn& net_;
  std::vector<Matrix> weights_;
};

}  // namespace

const SdnnPipeline kSdnnCsrSpmm = {
    "csr_spmm",
    SdnnStructure::general,
    Space::host,
    "one CSR SpMM per layer with fused bias and ReLU, neurons split among threads by their edges",
    any_network,
    [](const SparseDnn& net) -> std::unique_ptr<SdnnPlan> { return std::make_unique<CsrSpmm>(net); }};
const SdnnPipeline kSdnnDenseHoisted = {"dense",
                                        SdnnStructure::general,
                                        Space::host,
                                        "one OpenBLAS sgemm per layer, all memory taken before the loop",
                                        dense_fits,
                                        [](const SparseDnn& net) -> std::unique_ptr<SdnnPlan> {
                                          return std::make_unique<DenseLibrary>(net, true);
                                        }};
const SdnnPipeline kSdnnDenseAlloc = {
    "dense_alloc",
    SdnnStructure::general,
    Space::host,
    "one OpenBLAS sgemm per layer, memory taken and dropped inside the loop",
    dense_fits,
    [](const SparseDnn& net) -> std::unique_ptr<SdnnPlan> {
      return std::make_unique<DenseLibrary>(net, false);
    }};
const SdnnPipeline kSdnnEigen = {
    "eigen",
    SdnnStructure::general,
    Space::host,
    "Eigen's sparse times sparse product per layer and block of rows",
    any_network,
    [](const SparseDnn& net) -> std::unique_ptr<SdnnPlan> { return std::make_unique<EigenSparse>(net); }};

}  // namespace plumb
