// cuSPARSE's incomplete factors of a matrix by rows (ILU and Cholesky without fill) and solves of tridiagonal systems: plain loops in double,
// rounded once.
#include <cmath>
#include <utility>

#include "gpu/simt/host/api/sparse.hpp"

namespace plumb::simt {

/// What an incomplete factor keeps: the first pivot that is 0 or not there, and what stands in for a small one.
struct PivotInfo {
  std::int64_t zero = -1;
  int base = 0;
  bool boosts = false;
  double below = 0, instead = 0;
};

namespace {

constexpr std::int64_t kNone = -1;

/// A matrix by rows, whose columns rise in each row, with the place of each row's diagonal.
struct Rows {
  Entries entries;
  std::vector<std::int64_t> begin, diagonal;
};

/// False: a finding has stopped the run.
bool read_rows(const SparseCall& call, const SparseMatrix& a, const void* stream, Rows& out,
               bool values = true) {
  Entries& e = out.entries;
  if (!read_entries(call, a, false, stream, e, values) || !lies_within(call, e, a.rows, a.cols)) return false;
  out.diagonal.assign(static_cast<std::size_t>(a.rows), kNone);
  out.begin.assign(static_cast<std::size_t>(a.rows) + 1, static_cast<std::int64_t>(e.rows.size()));
  for (std::size_t i = e.rows.size(); i-- > 0;) {
    const auto row = static_cast<std::size_t>(e.rows[i]);
    if (i + 1 < e.rows.size() && e.rows[i + 1] == e.rows[i] && e.cols[i] >= e.cols[i + 1]) {
      malformed(call, "columns of a row that do not rise");
      return false;
    }
    out.begin[row] = static_cast<std::int64_t>(i);
    if (e.cols[i] == e.rows[i]) out.diagonal[row] = static_cast<std::int64_t>(i);
  }
  for (std::size_t row = static_cast<std::size_t>(a.rows); row-- > 0;)  // of rows without entries
    if (out.begin[row] > out.begin[row + 1]) out.begin[row] = out.begin[row + 1];
  return true;
}

/// Row i of A becomes row i of L and U, by the rows above it.
void eliminate_row(Rows& r, std::int64_t i, PivotInfo& info) {
  std::vector<std::int64_t>& cols = r.entries.cols;
  std::vector<double>& values = r.entries.values;
  const std::int64_t end = r.begin[static_cast<std::size_t>(i) + 1];
  for (std::int64_t k = r.begin[static_cast<std::size_t>(i)]; k < end; ++k) {
    const auto row = static_cast<std::size_t>(cols[static_cast<std::size_t>(k)]);
    const std::int64_t pivot = r.diagonal[row];
    if (static_cast<std::int64_t>(row) >= i) break;
    if (pivot == kNone) continue;
    const double factor = values[static_cast<std::size_t>(k)] /= values[static_cast<std::size_t>(pivot)];
    std::int64_t j = k + 1;
    for (std::int64_t above = pivot + 1; above < r.begin[row + 1]; ++above) {
      const std::int64_t col = cols[static_cast<std::size_t>(above)];
      while (j < end && cols[static_cast<std::size_t>(j)] < col) ++j;
      if (j < end && cols[static_cast<std::size_t>(j)] == col)
        values[static_cast<std::size_t>(j)] -= factor * values[static_cast<std::size_t>(above)];
    }
  }
  const std::int64_t place = r.diagonal[static_cast<std::size_t>(i)];
  if (place != kNone && info.boosts && std::fabs(values[static_cast<std::size_t>(place)]) <= info.below)
    values[static_cast<std::size_t>(place)] = info.instead;
  if (info.zero == kNone && (place == kNone || values[static_cast<std::size_t>(place)] == 0)) info.zero = i;
}

/// Row i of A's lower triangle becomes row i of L; what stands above the diagonal is left as it is.
void root_row(Rows& r, std::int64_t i, PivotInfo& info) {
  const std::vector<std::int64_t>& cols = r.entries.cols;
  std::vector<double>& values = r.entries.values;
  const std::int64_t begin = r.begin[static_cast<std::size_t>(i)];
  std::int64_t place = begin;
  for (; place < r.begin[static_cast<std::size_t>(i) + 1]; ++place) {
    const std::int64_t col = cols[static_cast<std::size_t>(place)];
    if (col > i) break;
    const auto row = static_cast<std::size_t>(col);
    double rest = values[static_cast<std::size_t>(place)];
    std::int64_t other = r.begin[row];
    for (std::int64_t k = begin; k < place; ++k) {
      while (other < r.begin[row + 1] &&
             cols[static_cast<std::size_t>(other)] < cols[static_cast<std::size_t>(k)])
        ++other;
      const bool both = other < r.begin[row + 1] &&
                        cols[static_cast<std::size_t>(other)] == cols[static_cast<std::size_t>(k)];
      if (both) rest -= values[static_cast<std::size_t>(k)] * values[static_cast<std::size_t>(other)];
    }
    if (col == i && !(rest > 0) && info.zero == kNone) info.zero = i;
    const std::int64_t pivot = r.diagonal[row];
    if (col == i)
      rest = std::sqrt(rest);
    else if (pivot != kNone)
      rest /= values[static_cast<std::size_t>(pivot)];
    values[static_cast<std::size_t>(place)] = rest;
  }
  if (r.diagonal[static_cast<std::size_t>(i)] == kNone && info.zero == kNone) info.zero = i;
}

struct Factor {
  SparseCall call;
  SparseMatrix a;
  PivotInfo* info;
  bool cholesky;
};
void run_factor(const Factor& f, const void* stream) {
  Rows rows;
  if (!read_rows(f.call, f.a, stream, rows)) return;
  f.info->zero = kNone, f.info->base = f.a.base;
  for (std::int64_t i = 0; i < f.a.rows; ++i)
    f.cholesky ? root_row(rows, i, *f.info) : eliminate_row(rows, i, *f.info);
  const auto count = static_cast<std::int64_t>(rows.entries.values.size());
  if (!touches(f.call, stream, {range_of(f.a.values, 0, count, bytes_of(f.a.type), true)})) return;
  for (std::int64_t i = 0; i < count; ++i)
    store(f.a.values, f.a.type, i, rows.entries.values[static_cast<std::size_t>(i)]);
}
/// Looks for diagonals that are not there.
void run_analysis(const Factor& f, const void* stream) {
  Rows rows;
  if (!read_rows(f.call, f.a, stream, rows, false)) return;
  f.info->zero = kNone, f.info->base = f.a.base;
  for (std::size_t i = 0; i < rows.diagonal.size() && f.info->zero == kNone; ++i)
    if (rows.diagonal[i] == kNone) f.info->zero = static_cast<std::int64_t>(i);
}

int zero_pivot(const SparseHandle* handle, const SparseCall& call, const PivotInfo* info, int* position) {
  const int e = queue_sparse(handle, [=](const void* stream) {
    if (touches(call, stream, {range_of(position, 0, 1, sizeof *position, true)}))
      *position = static_cast<int>(info->zero == kNone ? kNone : info->zero + info->base);
  });
  if (e != SparseStatus::kSuccess) return e;
  if (wait_for(handle->stream) != cudaSuccess) return SparseStatus::kExecutionFailed;
  return info->zero == kNone ? SparseStatus::kSuccess : SparseStatus::kZeroPivot;
}

/// Tridiagonal systems of m unknowns: `sides` right sides, each `side_step` behind the one before it; `systems` of them, each
/// `system_step` behind the one before it.
struct Tridiagonal {
  SparseCall call;
  const void *below, *diagonal, *above;
  void* x;
  cudaDataType_t type;
  std::int64_t m, sides, side_step, systems, system_step;
  bool pivots;
};

/// The elimination of one system, for one right side.
void solve_tridiagonal(std::vector<double> d[3], std::vector<double>& x, bool pivots) {
  std::vector<double>&below = d[0], &diagonal = d[1], &above = d[2];
  std::vector<double> further(x.size(), 0);  // two places right of the diagonal
  for (std::size_t i = 0; i + 1 < x.size(); ++i) {
    if (pivots && std::fabs(below[i + 1]) > std::fabs(diagonal[i])) {
      std::swap(diagonal[i], below[i + 1]), std::swap(above[i], diagonal[i + 1]), std::swap(x[i], x[i + 1]);
      further[i] = std::exchange(above[i + 1], 0.0);
    }
    const double factor = below[i + 1] / diagonal[i];
    diagonal[i + 1] -= factor * above[i];
    above[i + 1] -= factor * further[i];
    x[i + 1] -= factor * x[i];
  }
  for (std::size_t i = x.size(); i-- > 0;) {
    if (i + 1 < x.size()) x[i] -= above[i] * x[i + 1];
    if (i + 2 < x.size()) x[i] -= further[i] * x[i + 2];
    x[i] /= diagonal[i];
  }
}

void run_tridiagonal(const Tridiagonal& t, const void* stream) {
  const std::size_t size = bytes_of(t.type);
  const void* const lines[] = {t.below, t.diagonal, t.above};
  std::vector<HostRange> ranges;
  for (std::int64_t s = 0; s < t.systems; ++s) {
    for (const void* line : lines) ranges.push_back(range_of(line, s * t.system_step, t.m, size, false));
    for (std::int64_t j = 0; j < t.sides; ++j)
      for (const bool writes : {false, true})
        ranges.push_back(range_of(t.x, s * t.system_step + j * t.side_step, t.m, size, writes));
  }
  if (!touches(t.call, stream, ranges)) return;
  const auto part = [&](const void* from, std::int64_t begin) {
    std::vector<double> out;
    for (std::int64_t i = 0; i < t.m; ++i) out.push_back(load(from, t.type, begin + i));
    return out;
  };
  for (std::int64_t s = 0; s < t.systems; ++s) {
    for (std::int64_t j = 0; j < t.sides; ++j) {
      const std::int64_t at = s * t.system_step, x_at = at + j * t.side_step;
      std::vector<double> diagonals[3] = {part(t.below, at), part(t.diagonal, at), part(t.above, at)};
      std::vector<double> x = part(t.x, x_at);
      solve_tridiagonal(diagonals, x, t.pivots);
      for (std::int64_t i = 0; i < t.m; ++i) store(t.x, t.type, x_at + i, x[static_cast<std::size_t>(i)]);
    }
  }
}

}  // namespace

}  // namespace plumb::simt

using plumb::simt::PivotInfo;
using plumb::simt::SparseHandle;
using plumb::simt::SparseKind;
using plumb::simt::SparseStatus;

extern "C" {

// ---- incomplete factors ----
#define PLUMB_FACTOR(name, Name, cholesky)                                                                 \
  int cusparseCreate##Name##Info(PivotInfo** info) { return plumb::simt::make_object(info, PivotInfo{}); } \
  int cusparseDestroy##Name##Info(const PivotInfo* info) { return plumb::simt::delete_object(info); }      \
  int cusparseX##name##_zeroPivot(SparseHandle* handle, const PivotInfo* info, int* position) {            \
    return plumb::simt::zero_pivot(handle, PLUMB_SPARSE_CALL, info, position);                             \
  }                                                                                                        \
  PLUMB_FACTOR_OF(S, name, float, CUDA_R_32F, cholesky)                                                    \
  PLUMB_FACTOR_OF(D, name, double, CUDA_R_64F, cholesky)
#define PLUMB_FACTOR_OF(X, name, T, type, cholesky)                                                          \
  int cusparse##X##name##_bufferSize(SparseHandle*, int, int, const SparseKind*, T*, const int*, const int*, \
                                     PivotInfo*, int* bytes) {                                               \
    *bytes = 16;                                                                                             \
    return SparseStatus::kSuccess;                                                                           \
  }                                                                                                          \
  int cusparse##X##name##_bufferSizeExt(SparseHandle*, int, int, const SparseKind*, T*, const int*,          \
                                        const int*, PivotInfo*, std::size_t* bytes) {                        \
    return plumb::simt::no_space(bytes);                                                                     \
  }                                                                                                          \
  PLUMB_FACTOR_STEP(cusparse##X##name##_analysis, run_analysis, T, type, cholesky)                           \
  PLUMB_FACTOR_STEP(cusparse##X##name, run_factor, T, type, cholesky)
#define PLUMB_FACTOR_STEP(call_name, run, T, type, cholesky)                                            \
  int call_name(SparseHandle* handle, int rows, int count, const SparseKind* kind, T* values,           \
                const int* offsets, const int* columns, PivotInfo* info, int, void*) {                  \
    const plumb::simt::Factor f{                                                                        \
        PLUMB_SPARSE_CALL,                                                                              \
        {plumb::simt::kCsr, rows, rows, count, offsets, columns, values, plumb::simt::kIndexOf32Bits,   \
         plumb::simt::kIndexOf32Bits, kind->base, type},                                                \
        info,                                                                                           \
        cholesky};                                                                                      \
    return plumb::simt::queue_sparse(handle, [=](const void* stream) { plumb::simt::run(f, stream); }); \
  }
PLUMB_FACTOR(csrilu02, Csrilu02, false)
PLUMB_FACTOR(csric02, Csric02, true)
#define PLUMB_BOOST(X, T)                                                                                 \
  int cusparse##X##csrilu02_numericBoost(SparseHandle*, PivotInfo* info, int boosts, const double* below, \
                                         const T* instead) {                                              \
    info->boosts = boosts != 0;                                                                           \
    if (info->boosts) info->below = *below, info->instead = static_cast<double>(*instead);                \
    return SparseStatus::kSuccess;                                                                        \
  }
PLUMB_BOOST(S, float)
PLUMB_BOOST(D, double)
#undef PLUMB_BOOST
#undef PLUMB_FACTOR
#undef PLUMB_FACTOR_OF
#undef PLUMB_FACTOR_STEP

// ---- tridiagonal systems ----
#define PLUMB_TRIDIAGONAL(name, T, type, pivots)                                                            \
  int cusparse##name##_bufferSizeExt(SparseHandle*, int, int, const T*, const T*, const T*, const T*, int,  \
                                     std::size_t* bytes) {                                                  \
    return plumb::simt::no_space(bytes);                                                                    \
  }                                                                                                         \
  int cusparse##name(SparseHandle* handle, int m, int n, const T* below, const T* diagonal, const T* above, \
                     T* b, int stride, void*) {                                                             \
    if (m < 3 || n < 0 || stride < m) return SparseStatus::kInvalidValue;                                   \
    const plumb::simt::Tridiagonal t{                                                                       \
        PLUMB_SPARSE_CALL, below, diagonal, above, b, type, m, n, stride, 1, stride, pivots};               \
    return plumb::simt::queue_sparse(handle,                                                                \
                                     [=](const void* stream) { plumb::simt::run_tridiagonal(t, stream); }); \
  }
#define PLUMB_TRIDIAGONALS(X, T, type)                                                                      \
  PLUMB_TRIDIAGONAL(X##gtsv2, T, type, true)                                                                \
  PLUMB_TRIDIAGONAL(X##gtsv2_nopivot, T, type, false)                                                       \
  int cusparse##X##gtsv2StridedBatch_bufferSizeExt(SparseHandle*, int, const T*, const T*, const T*,        \
                                                   const T*, int, int, std::size_t* bytes) {                \
    return plumb::simt::no_space(bytes);                                                                    \
  }                                                                                                         \
  int cusparse##X##gtsv2StridedBatch(SparseHandle* handle, int m, const T* below, const T* diagonal,        \
                                     const T* above, T* x, int systems, int step, void*) {                  \
    if (m < 3 || systems < 0 || step < m) return SparseStatus::kInvalidValue;                               \
    const plumb::simt::Tridiagonal t{PLUMB_SPARSE_CALL, below, diagonal, above, x, type, m, 1, m,           \
                                     systems,           step,  false};                                      \
    return plumb::simt::queue_sparse(handle,                                                                \
                                     [=](const void* stream) { plumb::simt::run_tridiagonal(t, stream); }); \
  }
PLUMB_TRIDIAGONALS(S, float, CUDA_R_32F)
PLUMB_TRIDIAGONALS(D, double, CUDA_R_64F)
#undef PLUMB_TRIDIAGONALS
#undef PLUMB_TRIDIAGONAL

}  // extern "C"
