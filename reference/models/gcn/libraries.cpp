// GCN by library calls, one per product, nothing fused: what the fused pipeline is compared with.
#include <algorithm>
#include <cstdint>

#include <Eigen/SparseCore>

#include "reference/core/error.hpp"
#include "reference/core/openblas.hpp"
#include "reference/models/gcn/gcn.hpp"
#include "reference/models/gcn/parts.hpp"

extern "C" {
#include <cblas.h>
}

namespace plumb {

namespace {

using gcn::make_dense;

void library_gemm(std::int64_t m, std::int64_t n, std::int64_t k, const float* a, const float* b, float* c) {
  cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, static_cast<blasint>(m), static_cast<blasint>(n),
              static_cast<blasint>(k), 1.0F, a, static_cast<blasint>(k), b, static_cast<blasint>(n), 0.0F, c,
              static_cast<blasint>(n));
}
void library_gemm(std::int64_t m, std::int64_t n, std::int64_t k, const double* a, const double* b,
                  double* c) {
  cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, static_cast<blasint>(m), static_cast<blasint>(n),
              static_cast<blasint>(k), 1.0, a, static_cast<blasint>(k), b, static_cast<blasint>(n), 0.0, c,
              static_cast<blasint>(n));
}

/// Dense products by OpenBLAS, in blocks of rows.
struct BlasProducts {
  static constexpr std::int64_t kBlock = 512;

  template <class T>
  static Dense<T> dense(const Dense<T>& x, const Dense<T>& w) {
    Dense<T> y = make_dense<T>(x.rows, w.cols);
    if (w.rows == 0 || w.cols == 0) return y;
#pragma omp parallel for schedule(static) num_threads(openblas_callers())
    for (std::int64_t i = 0; i < x.rows; i += kBlock) {
      library_gemm(std::min(kBlock, x.rows - i), w.cols, w.rows, x.data.data() + i * w.rows, w.data.data(),
                   y.data.data() + i * w.cols);
    }
    return y;
  }
  /// OpenBLAS has no sparse product.
  template <class T>
  static Dense<T> sparse(const Csr<T>& x, const Dense<T>& w) {
    Dense<T> y = make_dense<T>(x.rows, w.cols);
#pragma omp parallel for schedule(dynamic, 64)
    for (std::int64_t i = 0; i < x.rows; ++i) {
      T* const row = y.data.data() + i * w.cols;
      for (std::int32_t k = x.row_ptr[i]; k < x.row_ptr[i + 1]; ++k) {
        const T value = x.val[k];
        const T* const from = w.data.data() + x.col[k] * w.cols;
#pragma omp simd
        for (std::int64_t j = 0; j < w.cols; ++j) row[j] += value * from[j];
      }
    }
    return y;
  }
  /// (A X) W in blocks of rows: A X is as large as a dense X.
  template <class T>
  static Dense<T> chain(const Csr<T>& a, const Csr<T>& x, const Dense<T>& w) {
    Dense<T> y = make_dense<T>(a.rows, w.cols);
    if (w.rows == 0 || w.cols == 0) return y;
#pragma omp parallel num_threads(openblas_callers())
    {
      std::vector<T> block(static_cast<std::size_t>(kBlock * w.rows));
#pragma omp for schedule(dynamic, 1)
      for (std::int64_t first = 0; first < a.rows; first += kBlock) {
        const std::int64_t m = std::min(kBlock, a.rows - first);
        for (std::int64_t i = 0; i < m; ++i) gcn::gather(a, first + i, x, block.data() + i * w.rows);
        library_gemm(m, w.cols, w.rows, block.data(), w.data.data(), y.data.data() + first * w.cols);
      }
    }
    return y;
  }
};

/// Every product by Eigen.
struct EigenProducts {
  template <class T>
  using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  template <class T>
  using ConstMap = Eigen::Map<const Matrix<T>>;
  template <class T>
  using SparseMap = Eigen::Map<const Eigen::SparseMatrix<T, Eigen::RowMajor, std::int32_t>>;

  template <class T>
  static Dense<T> dense(const Dense<T>& x, const Dense<T>& w) {
    Dense<T> y = make_dense<T>(x.rows, w.cols);
    Eigen::Map<Matrix<T>>(y.data.data(), y.rows, y.cols).noalias() =
        ConstMap<T>(x.data.data(), x.rows, x.cols) * ConstMap<T>(w.data.data(), w.rows, w.cols);
    return y;
  }
  template <class T>
  static Dense<T> sparse(const Csr<T>& x, const Dense<T>& w) {
    Dense<T> y = make_dense<T>(x.rows, w.cols);
    Eigen::Map<Matrix<T>>(y.data.data(), y.rows, y.cols).noalias() =
        map_of(x) * ConstMap<T>(w.data.data(), w.rows, w.cols);
    return y;
  }
  template <class T>
  static Dense<T> chain(const Csr<T>& a, const Csr<T>& x, const Dense<T>& w) {
    const Eigen::SparseMatrix<T, Eigen::RowMajor, std::int32_t> ax = map_of(a) * map_of(x);
    Dense<T> y = make_dense<T>(a.rows, w.cols);
    Eigen::Map<Matrix<T>>(y.data.data(), y.rows, y.cols).noalias() =
        ax * ConstMap<T>(w.data.data(), w.rows, w.cols);
    return y;
  }

 private:
  template <class T>
  static SparseMap<T> map_of(const Csr<T>& m) {
    return {m.rows, m.cols, m.nnz(), m.row_ptr.data(), m.col.data(), m.val.data()};
  }
};

template <class Products, class T>
GcnRun<T> run_products(const Gcn<T>& net, GcnOrder order) {
  GcnRun<T> run;
  gcn::StepClock clock(run.steps);
  Dense<T> h;
  for (std::size_t l = 0; l < net.weights.size(); ++l) {
    const Dense<T>& w = net.weights[l];
    const std::string number = std::to_string(l + 1), input = l == 0 ? "X" : "H";
    const bool sparse = l == 0 && net.sparse_features;
    const GcnOrder chosen =
        order == GcnOrder::by_cost ? cheaper_order(net, static_cast<std::int64_t>(l)) : order;
    const Dense<T>& x = l == 0 ? net.x_dense : h;
    Dense<T> z;
    if (chosen == GcnOrder::transform_first) {
      z = sparse ? Products::sparse(net.x_sparse, w) : Products::dense(x, w);
      clock.step(input + " W" + number);
      z = Products::sparse(net.a, z);
      clock.step("A S" + number);
    } else {
      z = sparse ? Products::chain(net.a, net.x_sparse, w) : Products::dense(Products::sparse(net.a, x), w);
      clock.step("(A " + input + ") W" + number);
    }
    const bool last = l + 1 == net.weights.size();
    const std::vector<T>& b = net.biases[l];
    for (std::int64_t i = 0; i < z.rows; ++i) {
      T* const row = z.data.data() + i * z.cols;
      for (std::int64_t j = 0; j < z.cols; ++j) {
        const T value = b.empty() ? row[j] : row[j] + b[static_cast<std::size_t>(j)];
        row[j] = last ? value : gcn::relu(value);
      }
    }
    clock.step(last ? "bias" : "bias, ReLU");
    h = std::move(z);
    if (!last) run.hidden.push_back(h);
  }
  run.logits = std::move(h);
  run.log_softmax = make_dense<T>(run.logits.rows, run.logits.cols);
  for (std::int64_t i = 0; i < run.logits.rows; ++i) {
    gcn::log_softmax_row(run.logits.data.data() + i * run.logits.cols,
                         run.log_softmax.data.data() + i * run.logits.cols, run.logits.cols);
  }
  clock.step("LogSoftmax");
  run.seconds = clock.total();
  return run;
}

const char* everywhere() { return nullptr; }

}  // namespace

const GcnPipeline kGcnOpenBlas = {
    "openblas",
    Space::host,
    "dense products by OpenBLAS, sparse ones by plain OpenMP, one call per product",
    everywhere,
    run_products<BlasProducts, float>,
    run_products<BlasProducts, double>,
    0,
    nullptr,
    nullptr,
    nullptr,
    true};
const GcnPipeline kGcnEigen = {"eigen",
                               Space::host,
                               "every product by Eigen",
                               everywhere,
                               run_products<EigenProducts, float>,
                               run_products<EigenProducts, double>,
                               0,
                               nullptr,
                               nullptr,
                               nullptr,
                               true};

}  // namespace plumb
