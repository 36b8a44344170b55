// cuSPARSE's sampled products, products of two sparse matrices, and conversions: plain loops in double, rounded once.
#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <utility>

#include "gpu/simt/host/api/sparse/sparse_workspaces.hpp"

namespace plumb::simt {

/// What a product of two sparse matrices keeps between its steps.
struct SparseSquare {
  Entries product;  // by rows; without alpha
};

namespace {

/// C = alpha (op(A) op(B)) + beta C, where C has entries.
struct Sampled {
  SparseCall call;
  DenseMatrix a;
  bool transpose_a;
  DenseMatrix b;
  bool transpose_b;
  SparseMatrix c;
  const void* workspace;
};

void run_sampled(const Sampled& p, double alpha, double beta, const void* stream) {
  Entries entries;
  if (!read_entries(p.call, p.c, false, stream, entries, beta != 0) ||
      !lies_within(p.call, entries, p.c.rows, p.c.cols) || !is_aligned(p.call, p.a) ||
      !is_aligned(p.call, p.b) || !takes_workspace(p.call, {p.c.rows, p.c.count, p.workspace}, stream))
    return;
  std::vector<HostRange> ranges;
  add_whole(ranges, p.a, false);
  add_whole(ranges, p.b, false);
  const auto count = static_cast<std::int64_t>(entries.rows.size());
  ranges.push_back(range_of(p.c.values, 0, count, bytes_of(p.c.type), true));
  if (!touches(p.call, stream, ranges)) return;
  const std::int64_t depth = p.transpose_a ? p.a.rows : p.a.cols;
  for (std::int64_t e = 0; e < count; ++e) {
    const std::int64_t i = entries.rows[static_cast<std::size_t>(e)],
                       j = entries.cols[static_cast<std::size_t>(e)];
    double sum = 0;
    for (std::int64_t k = 0; k < depth; ++k)
      sum += load(p.a.values, p.a.type, p.transpose_a ? p.a.place(k, i) : p.a.place(i, k)) *
             load(p.b.values, p.b.type, p.transpose_b ? p.b.place(j, k) : p.b.place(k, j));
    const double before = beta != 0 ? beta * entries.values[static_cast<std::size_t>(e)] : 0;
    store(p.c.values, p.c.type, e, alpha * sum + before);
  }
}

int queue_sampled(const SparseHandle* handle, const Sampled& p, const Factors& factors) {
  if (bytes_of(p.a.type) == 0 || bytes_of(p.b.type) == 0 || bytes_of(p.c.type) == 0 || p.c.format != kCsr)
    return SparseStatus::kNotSupported;
  const bool fits = (p.transpose_a ? p.a.cols : p.a.rows) == p.c.rows &&
                    (p.transpose_b ? p.b.rows : p.b.cols) == p.c.cols &&
                    (p.transpose_a ? p.a.rows : p.a.cols) == (p.transpose_b ? p.b.cols : p.b.rows);
  if (!fits) return SparseStatus::kInvalidValue;
  return queue_sparse(handle, p.call, factors, [p](double alpha, double beta, const void* stream) {
    run_sampled(p, alpha, beta, stream);
  });
}

/// A B, by rows, with a column of each row once.
Entries product_of(const Entries& a, const Entries& b, std::int64_t rows, std::int64_t depth) {
  std::vector<std::vector<std::pair<std::int64_t, double>>> rows_of_b(static_cast<std::size_t>(depth));
  for (std::size_t i = 0; i < b.values.size(); ++i)
    rows_of_b[static_cast<std::size_t>(b.rows[i])].emplace_back(b.cols[i], b.values[i]);
  std::vector<std::map<std::int64_t, double>> sums(static_cast<std::size_t>(rows));
  for (std::size_t i = 0; i < a.values.size(); ++i)
    for (const auto& [col, value] : rows_of_b[static_cast<std::size_t>(a.cols[i])])
      sums[static_cast<std::size_t>(a.rows[i])][col] += a.values[i] * value;
  Entries out;
  for (std::size_t row = 0; row < sums.size(); ++row) {
    for (const auto& [col, value] : sums[row]) {
      out.rows.push_back(static_cast<std::int64_t>(row));
      out.cols.push_back(col);
      out.values.push_back(value);
    }
  }
  return out;
}

int queue_square(const SparseHandle* handle, const SparseCall& call, const SparseMatrix& a,
                 const SparseMatrix& b, SparseMatrix* c, SparseSquare* keep, const Workspace& space) {
  if (bytes_of(a.type) == 0 || bytes_of(b.type) == 0 || c->format != kCsr) return SparseStatus::kNotSupported;
  if (a.cols != b.rows || c->rows != a.rows || c->cols != b.cols) return SparseStatus::kInvalidValue;
  return queue_sparse(handle, [=](const void* stream) {
    Entries in_a, in_b;
    if (!read_entries(call, a, false, stream, in_a) || !lies_within(call, in_a, a.rows, a.cols) ||
        !read_entries(call, b, false, stream, in_b) || !lies_within(call, in_b, b.rows, b.cols) ||
        !takes_workspace(call, space, stream))
      return;
    keep->product = product_of(in_a, in_b, a.rows, a.cols);
    c->count = static_cast<std::int64_t>(keep->product.values.size());
  });
}

/// A product of two sparse matrices takes a workspace of both.
Workspace workspace_of_square(const SparseMatrix& a, const SparseMatrix& b, const void* at) {
  return {a.rows, a.count + b.count, at};
}

/// A conversion's workspace: how many entries there are is not known before.
Workspace workspace_of_conversion(const DenseMatrix& whole, const void* at) {
  return {whole.rows, whole.cols, at};
}

/// The elements of a whole matrix that are not 0, in the order of `m`.
bool read_nonzeros(const SparseCall& call, const DenseMatrix& from, const SparseMatrix& m, const void* stream,
                   Entries& out) {
  std::vector<HostRange> ranges;
  add_whole(ranges, from, false);
  if (!is_aligned(call, from) || !touches(call, stream, ranges)) return false;
  const bool by_columns = m.format == kCsc;
  for (std::int64_t line = 0; line < (by_columns ? from.cols : from.rows); ++line) {
    for (std::int64_t k = 0; k < (by_columns ? from.rows : from.cols); ++k) {
      const std::int64_t i = by_columns ? k : line, j = by_columns ? line : k;
      const double value = load(from.values, from.type, from.place(i, j));
      if (value == 0) continue;
      out.rows.push_back(i), out.cols.push_back(j), out.values.push_back(value);
    }
  }
  return true;
}

/// Converts a whole matrix: counts its entries, or (`writes`) puts them into the arrays.
int queue_nonzeros(const SparseHandle* handle, const SparseCall& call, const DenseMatrix& from,
                   SparseMatrix* to, bool writes, const void* workspace) {
  if (bytes_of(from.type) == 0 || bytes_of(to->type) == 0 || to->format > kCoo)
    return SparseStatus::kNotSupported;
  if (from.rows != to->rows || from.cols != to->cols) return SparseStatus::kInvalidValue;
  return queue_sparse(handle, [=](const void* stream) {
    Entries entries;
    if (!read_nonzeros(call, from, *to, stream, entries) ||
        !takes_workspace(call, workspace_of_conversion(from, workspace), stream))
      return;
    const auto count = static_cast<std::int64_t>(entries.values.size());
    if (writes && to->count != count)
      return malformed(call,
                       fmt::format("a matrix of {} entries, where {} elements are not 0", to->count, count),
                       "cusparseDenseToSparse_analysis, with the same elements, counts them first");
    to->count = count;
    if (writes) write_entries(call, *to, entries, 1, stream);
  });
}

/// Whether no place has two entries; where one has, a finding has stopped the run.
bool are_unique(const SparseCall& call, const Entries& e) {
  std::set<std::pair<std::int64_t, std::int64_t>> places;
  for (std::size_t i = 0; i < e.rows.size(); ++i) {
    if (places.emplace(e.rows[i], e.cols[i]).second) continue;
    malformed(call, fmt::format("two entries of row {} and column {}", e.rows[i], e.cols[i]),
              "which of the two is the element is undefined");
    return false;
  }
  return true;
}

int queue_whole(const SparseHandle* handle, const SparseCall& call, const SparseMatrix& from,
                const DenseMatrix& to, const void* workspace) {
  if (bytes_of(from.type) == 0 || bytes_of(to.type) == 0) return SparseStatus::kNotSupported;
  if (from.rows != to.rows || from.cols != to.cols) return SparseStatus::kInvalidValue;
  return queue_sparse(handle, [=](const void* stream) {
    Entries entries;
    std::vector<HostRange> ranges;
    add_whole(ranges, to, true);
    if (!read_entries(call, from, false, stream, entries) ||
        !lies_within(call, entries, from.rows, from.cols) || !are_unique(call, entries) ||
        !is_aligned(call, to) || !takes_workspace(call, workspace_of_conversion(to, workspace), stream) ||
        !touches(call, stream, ranges))
      return;
    for (std::int64_t i = 0; i < to.rows; ++i)
      for (std::int64_t j = 0; j < to.cols; ++j) store(to.values, to.type, to.place(i, j), 0);
    for (std::size_t e = 0; e < entries.values.size(); ++e)
      store(to.values, to.type, to.place(entries.rows[e], entries.cols[e]), entries.values[e]);
  });
}

}  // namespace

}  // namespace plumb::simt

using plumb::simt::DenseMatrix;
using plumb::simt::kNotTransposed;
using plumb::simt::SparseHandle;
using plumb::simt::SparseMatrix;
using plumb::simt::SparseSquare;

extern "C" {

// ---- sampled products ----
int cusparseSDDMM(SparseHandle* handle, int op_a, int op_b, const void* alpha, const DenseMatrix* a,
                  const DenseMatrix* b, const void* beta, SparseMatrix* c, cudaDataType_t type, int,
                  const void* workspace) {
  return plumb::simt::queue_sampled(
      handle, {PLUMB_SPARSE_CALL, *a, op_a != kNotTransposed, *b, op_b != kNotTransposed, *c, workspace},
      {alpha, beta, type});
}
int cusparseSDDMM_bufferSize(SparseHandle*, int, int, const void*, const DenseMatrix*, const DenseMatrix*,
                             const void*, const SparseMatrix* c, cudaDataType_t, int, std::size_t* bytes) {
  return plumb::simt::space_of_product(c, bytes);
}
int cusparseSDDMM_preprocess(SparseHandle*, int, int, const void*, const DenseMatrix*, const DenseMatrix*,
                             const void*, SparseMatrix*, cudaDataType_t, int, void*) {
  return plumb::simt::SparseStatus::kSuccess;
}

// ---- products of two sparse matrices ----
int cusparseSpGEMM_createDescr(SparseSquare** kept) { return plumb::simt::make_object(kept, SparseSquare{}); }
int cusparseSpGEMM_destroyDescr(const SparseSquare* kept) { return plumb::simt::delete_object(kept); }
int cusparseSpGEMM_workEstimation(SparseHandle* handle, int, int, const void*, const SparseMatrix* a,
                                  const SparseMatrix* b, const void*, SparseMatrix*, cudaDataType_t, int,
                                  SparseSquare*, std::size_t* bytes, const void* buffer) {
  const plumb::simt::SparseCall call = PLUMB_SPARSE_CALL;
  const plumb::simt::Workspace space = plumb::simt::workspace_of_square(*a, *b, buffer);
  if (buffer == nullptr) return plumb::simt::space_of(space, bytes);
  return plumb::simt::queue_sparse(
      handle, [=](const void* stream) { (void)plumb::simt::takes_workspace(call, space, stream); });
}
/// Without a buffer it says how large one is; with one it multiplies, and the matrix then knows how many entries it has.
int cusparseSpGEMM_compute(SparseHandle* handle, int op_a, int op_b, const void*, const SparseMatrix* a,
                           const SparseMatrix* b, const void*, SparseMatrix* c, cudaDataType_t, int,
                           SparseSquare* kept, std::size_t* bytes, const void* buffer) {
  if (op_a != kNotTransposed || op_b != kNotTransposed) return plumb::simt::SparseStatus::kNotSupported;
  const plumb::simt::Workspace space = plumb::simt::workspace_of_square(*a, *b, buffer);
  if (buffer == nullptr) return plumb::simt::space_of(space, bytes);
  return plumb::simt::queue_square(handle, PLUMB_SPARSE_CALL, *a, *b, c, kept, space);
}
int cusparseSpGEMM_copy(SparseHandle* handle, int, int, const void* alpha, const SparseMatrix*,
                        const SparseMatrix*, const void* beta, SparseMatrix* c, cudaDataType_t type, int,
                        SparseSquare* kept) {
  const plumb::simt::SparseCall call = PLUMB_SPARSE_CALL;
  return plumb::simt::queue_sparse(
      handle, call, {alpha, beta, type}, [=](double factor, double beta_is, const void* stream) {
        if (beta_is != 0) plumb::simt::end_unsupported("cusparseSpGEMM with a beta other than 0", {"", 0});
        plumb::simt::write_entries(call, *c, kept->product, factor, stream);
      });
}

// ---- conversions ----
int cusparseDenseToSparse_bufferSize(SparseHandle*, const DenseMatrix* from, SparseMatrix*, int,
                                     std::size_t* bytes) {
  return plumb::simt::space_of(plumb::simt::workspace_of_conversion(*from, nullptr), bytes);
}
int cusparseDenseToSparse_analysis(SparseHandle* handle, const DenseMatrix* from, SparseMatrix* to, int,
                                   const void* workspace) {
  return plumb::simt::queue_nonzeros(handle, PLUMB_SPARSE_CALL, *from, to, false, workspace);
}
int cusparseDenseToSparse_convert(SparseHandle* handle, const DenseMatrix* from, SparseMatrix* to, int,
                                  const void* workspace) {
  return plumb::simt::queue_nonzeros(handle, PLUMB_SPARSE_CALL, *from, to, true, workspace);
}
int cusparseSparseToDense_bufferSize(SparseHandle*, const SparseMatrix*, DenseMatrix* to, int,
                                     std::size_t* bytes) {
  return plumb::simt::space_of(plumb::simt::workspace_of_conversion(*to, nullptr), bytes);
}
int cusparseSparseToDense(SparseHandle* handle, const SparseMatrix* from, DenseMatrix* to, int,
                          const void* workspace) {
  return plumb::simt::queue_whole(handle, PLUMB_SPARSE_CALL, *from, *to, workspace);
}

}  // extern "C"
