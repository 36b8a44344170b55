// cuSPARSE's matrices and vectors, and their products, as plain loops on the host with sums in double. The declarations are the toolkit's
// own (cusparse.h), whose types these functions take as what they are: pointers and integers. Others are not there, and the linker names them.
#include <utility>

#include "gpu/simt/host/api/sparse/sparse_workspaces.hpp"

namespace plumb::simt {

namespace {

constexpr const char *kSpMV = "cusparseSpMV", *kSpMM = "cusparseSpMM";

/// C = alpha op(A) op(B) + beta C.
struct SparseProduct {
  SparseCall call;
  SparseMatrix a;
  bool transpose_a;
  DenseMatrix b;
  bool transpose_b;
  DenseMatrix c;
  const void *alpha, *beta;
  Prepared with;  // its workspace, and what it computes
};

/// What a product reads of op(B): the rows that are `used`, in all columns.
void add_used(std::vector<HostRange>& ranges, const DenseMatrix& m, bool transposed,
              const std::vector<bool>& used, std::int64_t cols) {
  const std::size_t size = bytes_of(m.type);
  const bool along_rows = m.by_columns != transposed;  // a step down the rows is one element
  const auto rows = static_cast<std::int64_t>(used.size());
  const auto place = [&](std::int64_t i, std::int64_t j) {
    return transposed ? m.place(j, i) : m.place(i, j);
  };
  for (std::int64_t i = 0; i < rows;) {
    std::int64_t end = i;
    while (end < rows && used[static_cast<std::size_t>(end)]) ++end;
    for (std::int64_t j = 0; along_rows && j < cols && end > i; ++j)
      ranges.push_back(range_of(m.values, place(i, j), end - i, size, false));
    for (std::int64_t row = i; !along_rows && row < end; ++row)
      ranges.push_back(range_of(m.values, place(row, 0), cols, size, false));
    i = end + 1;
  }
}

void run_product(const SparseProduct& p, double alpha, double beta, const void* stream) {
  Entries entries;
  const std::int64_t depth = p.transpose_a ? p.a.rows : p.a.cols;
  if (!read_entries(p.call, p.a, p.transpose_a, stream, entries) ||
      !lies_within(p.call, entries, p.c.rows, depth) || !is_aligned(p.call, p.b) || !is_aligned(p.call, p.c))
    return;
  Entries stored = entries;
  if (p.transpose_a) std::swap(stored.rows, stored.cols);
  if (!may_use(p.call, p.a, p.with, stored, stream)) return;
  std::vector<bool> used(static_cast<std::size_t>(depth));
  for (const std::int64_t col : entries.cols) used[static_cast<std::size_t>(col)] = true;
  std::vector<HostRange> ranges;
  add_used(ranges, p.b, p.transpose_b, used, p.c.cols);
  if (beta != 0) add_whole(ranges, p.c, false);
  add_whole(ranges, p.c, true);
  if (!touches(p.call, stream, ranges)) return;
  std::vector<double> sums(static_cast<std::size_t>(p.c.rows * p.c.cols));
  for (std::size_t e = 0; e < entries.values.size(); ++e) {
    double* const row = &sums[static_cast<std::size_t>(entries.rows[e] * p.c.cols)];
    const std::int64_t k = entries.cols[e];
    for (std::int64_t j = 0; j < p.c.cols; ++j)
      row[j] +=
          entries.values[e] * load(p.b.values, p.b.type, p.transpose_b ? p.b.place(j, k) : p.b.place(k, j));
  }
  for (std::int64_t i = 0; i < p.c.rows; ++i) {
    for (std::int64_t j = 0; j < p.c.cols; ++j) {
      double value = alpha * sums[static_cast<std::size_t>(i * p.c.cols + j)];
      if (beta != 0) value += beta * load(p.c.values, p.c.type, p.c.place(i, j));
      store(p.c.values, p.c.type, p.c.place(i, j), value);
    }
  }
}

/// Whether the library has the product for these types: those of the elements are one, but for sums of small ones and vectors of
/// doubles.
bool is_of_types(const SparseProduct& p) {
  const cudaDataType_t a = p.a.type, b = p.b.type, c = p.c.type, scalar = p.with.scalar;
  if (b == CUDA_R_64F) return (a == CUDA_R_64F || a == CUDA_R_32F) && c == b && scalar == b;
  if (a != b) return false;
  if (a == CUDA_R_8I) return (c == CUDA_R_32I || c == CUDA_R_32F) && scalar == c;
  return (c == a || c == CUDA_R_32F) && scalar == CUDA_R_32F;
}

/// Whether the algorithm is one for the matrix' format. Of SpMV: cusparseSpMVAlg_t, of SpMM: cusparseSpMMAlg_t; 0 is the default.
bool is_for_format(const SparseProduct& p) {
  const bool coo = p.a.format == kCoo;
  const int algorithm = p.with.algorithm;
  if (algorithm == 0) return true;
  if (p.with.product == kSpMV)
    return coo ? algorithm == 1 || algorithm == 4 : algorithm == 2 || algorithm == 3;
  if (coo) return (algorithm >= 1 && algorithm <= 3) || algorithm == 5;
  constexpr int kOfLongRows = 12;  // CUSPARSE_SPMM_CSR_ALG3
  return algorithm == 4 || algorithm == 6 || (algorithm == kOfLongRows && !p.transpose_a);
}

int queue_product(const SparseHandle* handle, const SparseProduct& p) {
  const std::int64_t rows = p.transpose_a ? p.a.cols : p.a.rows, depth = p.transpose_a ? p.a.rows : p.a.cols;
  const bool fits = p.c.rows == rows && (p.transpose_b ? p.b.cols : p.b.rows) == depth &&
                    (p.transpose_b ? p.b.rows : p.b.cols) == p.c.cols;
  if (!is_of_types(p) || !is_for_format(p)) return SparseStatus::kNotSupported;
  if (!fits || p.beta == nullptr) return SparseStatus::kInvalidValue;
  return queue_sparse(
      handle, p.call, {p.alpha, p.beta, p.with.scalar},
      [p](double alpha, double beta, const void* stream) { run_product(p, alpha, beta, stream); });
}

/// Matrix number `i` of a batch; the one of all products, where there is no batch.
SparseMatrix of_batch(const SparseMatrix& m, int i) {
  SparseMatrix out = m;
  if (m.batches == 1) return out;
  const auto moved = [i](const void* p, std::int64_t step, std::size_t size) {
    return static_cast<const unsigned char*>(p) + i * step * static_cast<std::int64_t>(size);
  };
  out.first = moved(m.first, m.first_step, index_bytes(m.first_type));
  out.second = moved(m.second, m.second_step, index_bytes(m.second_type));
  out.values = const_cast<unsigned char*>(moved(m.values, m.second_step, bytes_of(m.type)));
  return out;
}
DenseMatrix of_batch(const DenseMatrix& m, int i) {
  DenseMatrix out = m;
  if (m.batches > 1)
    out.values =
        static_cast<unsigned char*>(m.values) + i * m.step * static_cast<std::int64_t>(bytes_of(m.type));
  return out;
}

int queue_products(const SparseHandle* handle, const SparseProduct& p) {
  const auto fits = [&](int batches) { return batches == 1 || batches == p.c.batches; };
  if (!fits(p.a.batches) || !fits(p.b.batches)) return SparseStatus::kInvalidValue;
  for (int i = 0; i < p.c.batches; ++i) {
    SparseProduct one = p;
    one.a = of_batch(p.a, i), one.b = of_batch(p.b, i), one.c = of_batch(p.c, i);
    if (const int e = queue_product(handle, one); e != SparseStatus::kSuccess) return e;
  }
  return SparseStatus::kSuccess;
}

int set_pointers(SparseMatrix* m, const void* first, const void* second, void* values) {
  if (m == nullptr) return SparseStatus::kInvalidValue;
  m->first = first, m->second = second, m->values = values;
  return SparseStatus::kSuccess;
}

const char* status_name(int status) {
  switch (status) {
    case SparseStatus::kSuccess:
      return "CUSPARSE_STATUS_SUCCESS";
    case SparseStatus::kNotInitialized:
      return "CUSPARSE_STATUS_NOT_INITIALIZED";
    case SparseStatus::kInvalidValue:
      return "CUSPARSE_STATUS_INVALID_VALUE";
    case SparseStatus::kExecutionFailed:
      return "CUSPARSE_STATUS_EXECUTION_FAILED";
    case SparseStatus::kZeroPivot:
      return "CUSPARSE_STATUS_ZERO_PIVOT";
    case SparseStatus::kNotSupported:
      return "CUSPARSE_STATUS_NOT_SUPPORTED";
    default:
      return "CUSPARSE_STATUS_INTERNAL_ERROR";
  }
}

}  // namespace

}  // namespace plumb::simt

using plumb::simt::DenseMatrix;
using plumb::simt::SparseHandle;
using plumb::simt::SparseKind;
using plumb::simt::SparseMatrix;

extern "C" {

int cusparseCreate(SparseHandle** handle) { return plumb::simt::make_object(handle, SparseHandle{}); }
int cusparseDestroy(SparseHandle* handle) { return plumb::simt::delete_object(handle); }
int cusparseSetStream(SparseHandle* handle, cudaStream_t stream) {
  if (handle == nullptr) return plumb::simt::SparseStatus::kNotInitialized;
  handle->stream = stream;
  return plumb::simt::SparseStatus::kSuccess;
}
int cusparseGetStream(SparseHandle* handle, cudaStream_t* stream) {
  if (handle == nullptr) return plumb::simt::SparseStatus::kNotInitialized;
  *stream = handle->stream;
  return plumb::simt::SparseStatus::kSuccess;
}
int cusparseSetPointerMode(SparseHandle* handle, int mode) {
  if (handle == nullptr) return plumb::simt::SparseStatus::kNotInitialized;
  handle->pointer_mode = mode;
  return plumb::simt::SparseStatus::kSuccess;
}
int cusparseGetPointerMode(SparseHandle* handle, int* mode) {
  if (handle == nullptr) return plumb::simt::SparseStatus::kNotInitialized;
  *mode = handle->pointer_mode;
  return plumb::simt::SparseStatus::kSuccess;
}
int cusparseGetVersion(SparseHandle*, int* version) {
  *version = 12000;
  return plumb::simt::SparseStatus::kSuccess;
}
const char* cusparseGetErrorName(int status) { return plumb::simt::status_name(status); }
const char* cusparseGetErrorString(int status) { return plumb::simt::status_name(status); }

// ---- the old description of a matrix ----
int cusparseCreateMatDescr(SparseKind** kind) { return plumb::simt::make_object(kind, SparseKind{}); }
int cusparseDestroyMatDescr(SparseKind* kind) { return plumb::simt::delete_object(kind); }
#define PLUMB_KIND(Name, member)                          \
  int cusparseSetMat##Name(SparseKind* kind, int value) { \
    kind->member = value;                                 \
    return plumb::simt::SparseStatus::kSuccess;           \
  }                                                       \
  int cusparseGetMat##Name(const SparseKind* kind) { return kind->member; }
PLUMB_KIND(Type, type)
PLUMB_KIND(FillMode, fill)
PLUMB_KIND(DiagType, diagonal)
PLUMB_KIND(IndexBase, base)
#undef PLUMB_KIND

// ---- sparse matrices ----
namespace {
/// Whether a CSR matrix has more entries than places, which the library refuses: repeated ones count.
bool beyond_places(std::int64_t format, std::int64_t rows, std::int64_t cols, std::int64_t count) {
  return format == plumb::simt::kCsr && count > 0 && (rows == 0 || (count - 1) / rows >= cols);
}
}  // namespace
#define PLUMB_BY_OFFSETS(Name, format)                                                                     \
  int cusparseCreate##Name(SparseMatrix** m, std::int64_t rows, std::int64_t cols, std::int64_t count,     \
                           void* first, void* second, void* values, int first_type, int second_type,       \
                           int base, cudaDataType_t type) {                                                \
    if (beyond_places(plumb::simt::format, rows, cols, count))                                             \
      return plumb::simt::SparseStatus::kInvalidValue;                                                     \
    return plumb::simt::make_object(m, SparseMatrix{plumb::simt::format, rows, cols, count, first, second, \
                                                    values, first_type, second_type, base, type});         \
  }
PLUMB_BY_OFFSETS(Csr, kCsr)
PLUMB_BY_OFFSETS(ConstCsr, kCsr)
PLUMB_BY_OFFSETS(Csc, kCsc)
PLUMB_BY_OFFSETS(ConstCsc, kCsc)
#undef PLUMB_BY_OFFSETS
int cusparseCreateCoo(SparseMatrix** m, std::int64_t rows, std::int64_t cols, std::int64_t count, void* first,
                      void* second, void* values, int index_type, int base, cudaDataType_t type) {
  return plumb::simt::make_object(m, SparseMatrix{plumb::simt::kCoo, rows, cols, count, first, second, values,
                                                  index_type, index_type, base, type});
}
int cusparseCreateConstCoo(SparseMatrix** m, std::int64_t rows, std::int64_t cols, std::int64_t count,
                           void* first, void* second, void* values, int index_type, int base,
                           cudaDataType_t type) {
  return cusparseCreateCoo(m, rows, cols, count, first, second, values, index_type, base, type);
}
int cusparseDestroySpMat(const SparseMatrix* m) { return plumb::simt::delete_object(m); }
int cusparseCsrSetPointers(SparseMatrix* m, void* offsets, void* cols, void* values) {
  return plumb::simt::set_pointers(m, offsets, cols, values);
}
int cusparseCscSetPointers(SparseMatrix* m, void* offsets, void* rows, void* values) {
  return plumb::simt::set_pointers(m, offsets, rows, values);
}
int cusparseCooSetPointers(SparseMatrix* m, void* rows, void* cols, void* values) {
  return plumb::simt::set_pointers(m, rows, cols, values);
}
int cusparseSpMatSetValues(SparseMatrix* m, void* values) {
  return plumb::simt::set_pointers(m, m->first, m->second, values);
}
int cusparseSpMatGetValues(SparseMatrix* m, void** values) {
  *values = m->values;
  return plumb::simt::SparseStatus::kSuccess;
}
int cusparseSpMatGetSize(const SparseMatrix* m, std::int64_t* rows, std::int64_t* cols, std::int64_t* count) {
  *rows = m->rows, *cols = m->cols, *count = m->count;
  return plumb::simt::SparseStatus::kSuccess;
}

int cusparseConstSpMatGetValues(SparseMatrix* m, void** values) { return cusparseSpMatGetValues(m, values); }
int cusparseSpMatGetFormat(const SparseMatrix* m, int* format) {
  *format = m->format;
  return plumb::simt::SparseStatus::kSuccess;
}
int cusparseSpMatGetIndexBase(const SparseMatrix* m, int* base) {
  *base = m->base;
  return plumb::simt::SparseStatus::kSuccess;
}
#define PLUMB_BY_OFFSETS(Name)                                                                         \
  int cusparse##Name##Get(const SparseMatrix* m, std::int64_t* rows, std::int64_t* cols,               \
                          std::int64_t* count, const void** first, const void** second, void** values, \
                          int* first_type, int* second_type, int* base, cudaDataType_t* type) {        \
    *rows = m->rows, *cols = m->cols, *count = m->count;                                               \
    *first = m->first, *second = m->second, *values = m->values;                                       \
    *first_type = m->first_type, *second_type = m->second_type, *base = m->base, *type = m->type;      \
    return plumb::simt::SparseStatus::kSuccess;                                                        \
  }
PLUMB_BY_OFFSETS(Csr)
PLUMB_BY_OFFSETS(ConstCsr)
PLUMB_BY_OFFSETS(Csc)
PLUMB_BY_OFFSETS(ConstCsc)
#undef PLUMB_BY_OFFSETS
int cusparseCooGet(const SparseMatrix* m, std::int64_t* rows, std::int64_t* cols, std::int64_t* count,
                   const void** first, const void** second, void** values, int* index_type, int* base,
                   cudaDataType_t* type) {
  int second_type = 0;
  return cusparseCsrGet(m, rows, cols, count, first, second, values, index_type, &second_type, base, type);
}
int cusparseConstCooGet(const SparseMatrix* m, std::int64_t* rows, std::int64_t* cols, std::int64_t* count,
                        const void** first, const void** second, void** values, int* index_type, int* base,
                        cudaDataType_t* type) {
  return cusparseCooGet(m, rows, cols, count, first, second, values, index_type, base, type);
}
int cusparseCsrSetStridedBatch(SparseMatrix* m, int batches, std::int64_t offsets_step,
                               std::int64_t entries_step) {
  if (batches < 1) return plumb::simt::SparseStatus::kInvalidValue;
  m->batches = batches, m->first_step = offsets_step, m->second_step = entries_step;
  return plumb::simt::SparseStatus::kSuccess;
}
int cusparseCooSetStridedBatch(SparseMatrix* m, int batches, std::int64_t step) {
  return cusparseCsrSetStridedBatch(m, batches, step, step);
}
int cusparseSpMatGetStridedBatch(const SparseMatrix* m, int* batches) {
  *batches = m->batches;
  return plumb::simt::SparseStatus::kSuccess;
}

int cusparseSpMatSetAttribute(SparseMatrix* m, int attribute, const void* value, std::size_t bytes) {
  if (m == nullptr || value == nullptr || bytes != sizeof(int) || attribute > 1)
    return plumb::simt::SparseStatus::kInvalidValue;
  (attribute == 0 ? m->fill : m->diagonal) = *static_cast<const int*>(value);
  return plumb::simt::SparseStatus::kSuccess;
}
int cusparseSpMatGetAttribute(const SparseMatrix* m, int attribute, void* value, std::size_t bytes) {
  if (m == nullptr || value == nullptr || bytes != sizeof(int) || attribute > 1)
    return plumb::simt::SparseStatus::kInvalidValue;
  *static_cast<int*>(value) = attribute == 0 ? m->fill : m->diagonal;
  return plumb::simt::SparseStatus::kSuccess;
}

// ---- vectors, and matrices that are stored whole ----
int cusparseCreateDnVec(DenseMatrix** v, std::int64_t size, void* values, cudaDataType_t type) {
  return plumb::simt::make_object(v, DenseMatrix{size, 1, size, values, type, true});
}
int cusparseCreateConstDnVec(DenseMatrix** v, std::int64_t size, void* values, cudaDataType_t type) {
  return cusparseCreateDnVec(v, size, values, type);
}
int cusparseDestroyDnVec(const DenseMatrix* v) { return plumb::simt::delete_object(v); }
int cusparseDnVecSetValues(DenseMatrix* v, void* values) {
  v->values = values;
  return plumb::simt::SparseStatus::kSuccess;
}
int cusparseDnVecGetValues(DenseMatrix* v, void** values) {
  *values = v->values;
  return plumb::simt::SparseStatus::kSuccess;
}
int cusparseCreateDnMat(DenseMatrix** m, std::int64_t rows, std::int64_t cols, std::int64_t stride,
                        void* values, cudaDataType_t type, int order) {
  const bool by_columns = order == plumb::simt::kColumnOrder;
  if (stride < (by_columns ? rows : cols)) return plumb::simt::SparseStatus::kInvalidValue;
  return plumb::simt::make_object(m, DenseMatrix{rows, cols, stride, values, type, by_columns});
}
int cusparseCreateConstDnMat(DenseMatrix** m, std::int64_t rows, std::int64_t cols, std::int64_t stride,
                             void* values, cudaDataType_t type, int order) {
  return cusparseCreateDnMat(m, rows, cols, stride, values, type, order);
}
int cusparseDestroyDnMat(const DenseMatrix* m) { return plumb::simt::delete_object(m); }
int cusparseDnMatSetValues(DenseMatrix* m, void* values) { return cusparseDnVecSetValues(m, values); }
int cusparseDnMatGetValues(DenseMatrix* m, void** values) { return cusparseDnVecGetValues(m, values); }
int cusparseConstDnVecGetValues(DenseMatrix* v, void** values) { return cusparseDnVecGetValues(v, values); }
int cusparseConstDnMatGetValues(DenseMatrix* m, void** values) { return cusparseDnVecGetValues(m, values); }
int cusparseDnVecGet(const DenseMatrix* v, std::int64_t* size, void** values, cudaDataType_t* type) {
  *size = v->rows, *values = v->values, *type = v->type;
  return plumb::simt::SparseStatus::kSuccess;
}
int cusparseConstDnVecGet(const DenseMatrix* v, std::int64_t* size, void** values, cudaDataType_t* type) {
  return cusparseDnVecGet(v, size, values, type);
}
int cusparseDnMatGet(const DenseMatrix* m, std::int64_t* rows, std::int64_t* cols, std::int64_t* stride,
                     void** values, cudaDataType_t* type, int* order) {
  *rows = m->rows, *cols = m->cols, *stride = m->stride, *values = m->values, *type = m->type;
  *order = m->by_columns ? plumb::simt::kColumnOrder : plumb::simt::kRowOrder;
  return plumb::simt::SparseStatus::kSuccess;
}
int cusparseConstDnMatGet(const DenseMatrix* m, std::int64_t* rows, std::int64_t* cols, std::int64_t* stride,
                          void** values, cudaDataType_t* type, int* order) {
  return cusparseDnMatGet(m, rows, cols, stride, values, type, order);
}
int cusparseDnMatSetStridedBatch(DenseMatrix* m, int batches, std::int64_t step) {
  if (batches < 1) return plumb::simt::SparseStatus::kInvalidValue;
  m->batches = batches, m->step = step;
  return plumb::simt::SparseStatus::kSuccess;
}
int cusparseDnMatGetStridedBatch(const DenseMatrix* m, int* batches, std::int64_t* step) {
  *batches = m->batches, *step = m->step;
  return plumb::simt::SparseStatus::kSuccess;
}

// ---- products ----
int cusparseSpMV(SparseHandle* handle, int op, const void* alpha, const SparseMatrix* a, const DenseMatrix* x,
                 const void* beta, DenseMatrix* y, cudaDataType_t scalar, int algorithm,
                 const void* workspace) {
  return plumb::simt::queue_product(handle, {PLUMB_SPARSE_CALL,
                                             *a,
                                             op != plumb::simt::kNotTransposed,
                                             *x,
                                             false,
                                             *y,
                                             alpha,
                                             beta,
                                             {workspace, plumb::simt::kSpMV, op, algorithm, scalar}});
}
int cusparseSpMV_bufferSize(SparseHandle*, int, const void*, const SparseMatrix* a, const DenseMatrix*,
                            const void*, DenseMatrix*, cudaDataType_t, int, std::size_t* bytes) {
  return plumb::simt::space_of_product(a, bytes);
}
int cusparseSpMV_preprocess(SparseHandle* handle, int op, const void*, SparseMatrix* a, const DenseMatrix*,
                            const void*, DenseMatrix*, cudaDataType_t scalar, int algorithm,
                            const void* workspace) {
  return plumb::simt::prepare(handle, PLUMB_SPARSE_CALL, a,
                              {workspace, plumb::simt::kSpMV, op, algorithm, scalar});
}
int cusparseSpMM(SparseHandle* handle, int op_a, int op_b, const void* alpha, const SparseMatrix* a,
                 const DenseMatrix* b, const void* beta, DenseMatrix* c, cudaDataType_t scalar, int algorithm,
                 const void* workspace) {
  return plumb::simt::queue_products(handle, {PLUMB_SPARSE_CALL,
                                              *a,
                                              op_a != plumb::simt::kNotTransposed,
                                              *b,
                                              op_b != plumb::simt::kNotTransposed,
                                              *c,
                                              alpha,
                                              beta,
                                              {workspace, plumb::simt::kSpMM, op_a, algorithm, scalar}});
}
int cusparseSpMM_bufferSize(SparseHandle*, int, int, const void*, const SparseMatrix* a, const DenseMatrix*,
                            const void*, DenseMatrix*, cudaDataType_t, int, std::size_t* bytes) {
  return plumb::simt::space_of_product(a, bytes);
}
int cusparseSpMM_preprocess(SparseHandle* handle, int op_a, int, const void*, SparseMatrix* a,
                            const DenseMatrix*, const void*, DenseMatrix*, cudaDataType_t scalar,
                            int algorithm, const void* workspace) {
  return plumb::simt::prepare(handle, PLUMB_SPARSE_CALL, a,
                              {workspace, plumb::simt::kSpMM, op_a, algorithm, scalar});
}

}  // extern "C"
