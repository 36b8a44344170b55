// cuSPARSE's matrices and vectors, and their products, as plain loops on the host with sums in double. The declarations are the toolkit's
// own (cusparse.h), whose types these functions take as what they are: pointers and integers. Others are not there, and the linker names them.
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "gpu/simt/host/api/numbers.hpp"
#include "gpu/simt/host/api/operations.hpp"
#include "gpu/simt/state.hpp"

namespace plumb::simt {

// cusparseStatus_t, cusparseFormat_t, cusparseIndexType_t, cusparseOrder_t, cusparseOperation_t
constexpr int kSuccess = 0, kNotInitialized = 1, kInvalidValue = 3, kExecutionFailed = 6, kNotSupported = 10;
constexpr int kCsr = 1, kCsc = 2, kCoo = 3;
constexpr int kIndexOf64Bits = 3;
constexpr int kColumnOrder = 1;
constexpr int kNotTransposed = 0;

struct SparseHandle {
  cudaStream_t stream = nullptr;
  int pointer_mode = 0;
};
/// The old description of a matrix, which says nothing of its elements.
struct SparseKind {
  int type = 0, fill = 0, diagonal = 0, base = 0;
};
struct SparseMatrix {
  int format;
  std::int64_t rows, cols, count;
  /// Row offsets and columns, column offsets and rows, or rows and columns.
  const void *first, *second;
  void* values;
  int first_type, second_type, base;
  cudaDataType_t type;
};
/// A vector is a matrix of one column.
struct DenseMatrix {
  std::int64_t rows, cols, stride;
  void* values;
  cudaDataType_t type;
  bool by_columns;
  std::int64_t place(std::int64_t i, std::int64_t j) const {
    return by_columns ? j * stride + i : i * stride + j;
  }
};

namespace {

/// C = alpha op(A) op(B) + beta C.
struct SparseProduct {
  const char* call;
  const void* pc;
  SparseMatrix a;
  bool transpose_a;
  DenseMatrix b;
  bool transpose_b;
  DenseMatrix c;
  const void *alpha, *beta;
  cudaDataType_t scalar;
};

/// op(A), entry by entry.
struct Entries {
  std::vector<std::int64_t> rows, cols;
  std::vector<double> values;
};

std::size_t index_bytes(int type) { return type == kIndexOf64Bits ? 8 : 4; }

std::int64_t index_at(const void* p, int type, std::int64_t i) {
  std::int64_t wide = 0;
  std::int32_t narrow = 0;
  const std::size_t bytes = index_bytes(type);
  std::memcpy(type == kIndexOf64Bits ? static_cast<void*>(&wide) : &narrow,
              static_cast<const unsigned char*>(p) + static_cast<std::size_t>(i) * bytes, bytes);
  return type == kIndexOf64Bits ? wide : narrow;
}

HostRange range_of(const void* p, std::int64_t first, std::int64_t count, std::size_t size, bool writes) {
  return {static_cast<const unsigned char*>(p) + first * static_cast<std::int64_t>(size),
          static_cast<std::size_t>(count) * size, writes};
}

/// Says what the call does next. False: a finding has stopped the run.
bool touches(const SparseProduct& p, const void* stream, const std::vector<HostRange>& ranges) {
  host_ranges(p.call, const_cast<void*>(stream), {"", 0}, ranges, p.pc);
  return !current().run.is_stopped;
}

/// A matrix that is none ends the run: a device would read anywhere.
void malformed(const SparseProduct& p, const char* what) {
  note(FindingKind::trap, std::string(p.call) + " is given " + what, nullptr, locate(p.pc));
  current().run.is_stopped = true;
}

/// The first index of each entry: where it is given by offsets, the line that they put it in.
bool read_lines(const SparseProduct& p, const void* stream, std::vector<std::int64_t>& lines) {
  const SparseMatrix& a = p.a;
  const std::size_t size = index_bytes(a.first_type);
  const std::int64_t of = a.format == kCsr ? a.rows : a.cols;
  const std::int64_t count = a.format == kCoo ? a.count : of + 1;
  if (!touches(p, stream, {range_of(a.first, 0, count, size, false)})) return false;
  for (std::int64_t i = 0; a.format == kCoo && i < count; ++i)
    lines.push_back(index_at(a.first, a.first_type, i) - a.base);
  for (std::int64_t i = 0; a.format != kCoo && i < of; ++i) {
    const std::int64_t begin = index_at(a.first, a.first_type, i) - a.base;
    const std::int64_t end = index_at(a.first, a.first_type, i + 1) - a.base;
    if (begin != static_cast<std::int64_t>(lines.size()) || end < begin || end > a.count) {
      malformed(p, "offsets that do not rise from 0 to the number of entries");
      return false;
    }
    lines.insert(lines.end(), static_cast<std::size_t>(end - begin), i);
  }
  return true;
}

bool read_entries(const SparseProduct& p, const void* stream, Entries& out) {
  const SparseMatrix& a = p.a;
  std::vector<std::int64_t> lines;
  if (!read_lines(p, stream, lines)) return false;
  const auto count = static_cast<std::int64_t>(lines.size());
  if (!touches(p, stream,
               {range_of(a.second, 0, count, index_bytes(a.second_type), false),
                range_of(a.values, 0, count, bytes_of(a.type), false)}))
    return false;
  std::vector<std::int64_t> others;
  for (std::int64_t i = 0; i < count; ++i) {
    others.push_back(index_at(a.second, a.second_type, i) - a.base);
    out.values.push_back(load(a.values, a.type, i));
  }
  const bool lines_are_rows = (a.format != kCsc) != p.transpose_a;
  out.rows = std::move(lines), out.cols = std::move(others);
  if (!lines_are_rows) std::swap(out.rows, out.cols);
  return true;
}

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

void add_whole(std::vector<HostRange>& ranges, const DenseMatrix& m, bool writes) {
  const std::int64_t lines = m.by_columns ? m.cols : m.rows, length = m.by_columns ? m.rows : m.cols;
  for (std::int64_t k = 0; k < lines; ++k)
    ranges.push_back(range_of(m.values, k * m.stride, length, bytes_of(m.type), writes));
}

void run_product(const SparseProduct& p, double alpha, double beta, const void* stream) {
  Entries entries;
  if (!read_entries(p, stream, entries)) return;
  const std::int64_t depth = p.transpose_a ? p.a.rows : p.a.cols;
  std::vector<bool> used(static_cast<std::size_t>(depth));
  for (std::size_t i = 0; i < entries.values.size(); ++i) {
    if (entries.rows[i] < 0 || entries.rows[i] >= p.c.rows || entries.cols[i] < 0 || entries.cols[i] >= depth)
      return malformed(p, "an index outside of its matrix");
    used[static_cast<std::size_t>(entries.cols[i])] = true;
  }
  std::vector<HostRange> ranges;
  add_used(ranges, p.b, p.transpose_b, used, p.c.cols);
  if (beta != 0) add_whole(ranges, p.c, false);
  add_whole(ranges, p.c, true);
  if (!touches(p, stream, ranges)) return;
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

int queue_product(SparseHandle* handle, const SparseProduct& p) {
  if (handle == nullptr) return kNotInitialized;
  const bool offered = bytes_of(p.a.type) != 0 && bytes_of(p.b.type) != 0 && bytes_of(p.c.type) != 0 &&
                       (p.scalar == CUDA_R_32F || p.scalar == CUDA_R_64F || p.scalar == CUDA_R_32I);
  if (!offered) return kNotSupported;
  const std::int64_t rows = p.transpose_a ? p.a.cols : p.a.rows, depth = p.transpose_a ? p.a.rows : p.a.cols;
  const bool fits = p.c.rows == rows && (p.transpose_b ? p.b.cols : p.b.rows) == depth &&
                    (p.transpose_b ? p.b.rows : p.b.cols) == p.c.cols;
  if (!fits || p.alpha == nullptr || p.beta == nullptr) return kInvalidValue;
  begin_by_itself();
  const auto lock = enter_engine();
  const bool later = is_plain_device(p.alpha);  // read when its turn has come
  const double alpha = later ? 0 : load(p.alpha, p.scalar, 0), beta = later ? 0 : load(p.beta, p.scalar, 0);
  const cudaError_t e = queue(handle->stream, cudaGraphNodeTypeKernel, [=](const void* stream) {
    if (!later) return run_product(p, alpha, beta, stream);
    const std::size_t size = bytes_of(p.scalar);
    if (touches(p, stream, {{p.alpha, size, false}, {p.beta, size, false}}))
      run_product(p, load(p.alpha, p.scalar, 0), load(p.beta, p.scalar, 0), stream);
  });
  return e == cudaSuccess ? kSuccess : kExecutionFailed;
}

template <class T>
int make(T** out, const T& value) {
  if (out == nullptr) return kInvalidValue;
  *out = new T(value);
  return kSuccess;
}
template <class T>
int destroy(const T* object) {
  delete object;
  return kSuccess;
}
/// Working space that nobody uses; not 0, which some programs take for a failure.
int no_space(std::size_t* bytes) {
  if (bytes == nullptr) return kInvalidValue;
  *bytes = 16;
  return kSuccess;
}
int set_pointers(SparseMatrix* m, const void* first, const void* second, void* values) {
  if (m == nullptr) return kInvalidValue;
  m->first = first, m->second = second, m->values = values;
  return kSuccess;
}

const char* status_name(int status) {
  switch (status) {
    case kSuccess:
      return "CUSPARSE_STATUS_SUCCESS";
    case kNotInitialized:
      return "CUSPARSE_STATUS_NOT_INITIALIZED";
    case kInvalidValue:
      return "CUSPARSE_STATUS_INVALID_VALUE";
    case kExecutionFailed:
      return "CUSPARSE_STATUS_EXECUTION_FAILED";
    case kNotSupported:
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
#define PLUMB_CALLER __func__, __builtin_return_address(0)

extern "C" {

int cusparseCreate(SparseHandle** handle) { return plumb::simt::make(handle, SparseHandle{}); }
int cusparseDestroy(SparseHandle* handle) { return plumb::simt::destroy(handle); }
int cusparseSetStream(SparseHandle* handle, cudaStream_t stream) {
  if (handle == nullptr) return plumb::simt::kNotInitialized;
  handle->stream = stream;
  return plumb::simt::kSuccess;
}
int cusparseGetStream(SparseHandle* handle, cudaStream_t* stream) {
  if (handle == nullptr) return plumb::simt::kNotInitialized;
  *stream = handle->stream;
  return plumb::simt::kSuccess;
}
int cusparseSetPointerMode(SparseHandle* handle, int mode) {
  if (handle == nullptr) return plumb::simt::kNotInitialized;
  handle->pointer_mode = mode;
  return plumb::simt::kSuccess;
}
int cusparseGetPointerMode(SparseHandle* handle, int* mode) {
  if (handle == nullptr) return plumb::simt::kNotInitialized;
  *mode = handle->pointer_mode;
  return plumb::simt::kSuccess;
}
int cusparseGetVersion(SparseHandle*, int* version) {
  *version = 12000;
  return plumb::simt::kSuccess;
}
const char* cusparseGetErrorName(int status) { return plumb::simt::status_name(status); }
const char* cusparseGetErrorString(int status) { return plumb::simt::status_name(status); }

// ---- the old description of a matrix ----
int cusparseCreateMatDescr(SparseKind** kind) { return plumb::simt::make(kind, SparseKind{}); }
int cusparseDestroyMatDescr(SparseKind* kind) { return plumb::simt::destroy(kind); }
#define PLUMB_KIND(Name, member)                          \
  int cusparseSetMat##Name(SparseKind* kind, int value) { \
    kind->member = value;                                 \
    return plumb::simt::kSuccess;                         \
  }                                                       \
  int cusparseGetMat##Name(const SparseKind* kind) { return kind->member; }
PLUMB_KIND(Type, type)
PLUMB_KIND(FillMode, fill)
PLUMB_KIND(DiagType, diagonal)
PLUMB_KIND(IndexBase, base)
#undef PLUMB_KIND

// ---- sparse matrices ----
#define PLUMB_BY_OFFSETS(Name, format)                                                                      \
  int cusparseCreate##Name(SparseMatrix** m, std::int64_t rows, std::int64_t cols, std::int64_t count,      \
                           void* first, void* second, void* values, int first_type, int second_type,        \
                           int base, cudaDataType_t type) {                                                 \
    return plumb::simt::make(m, SparseMatrix{plumb::simt::format, rows, cols, count, first, second, values, \
                                             first_type, second_type, base, type});                         \
  }
PLUMB_BY_OFFSETS(Csr, kCsr)
PLUMB_BY_OFFSETS(ConstCsr, kCsr)
PLUMB_BY_OFFSETS(Csc, kCsc)
PLUMB_BY_OFFSETS(ConstCsc, kCsc)
#undef PLUMB_BY_OFFSETS
int cusparseCreateCoo(SparseMatrix** m, std::int64_t rows, std::int64_t cols, std::int64_t count, void* first,
                      void* second, void* values, int index_type, int base, cudaDataType_t type) {
  return plumb::simt::make(m, SparseMatrix{plumb::simt::kCoo, rows, cols, count, first, second, values,
                                           index_type, index_type, base, type});
}
int cusparseCreateConstCoo(SparseMatrix** m, std::int64_t rows, std::int64_t cols, std::int64_t count,
                           void* first, void* second, void* values, int index_type, int base,
                           cudaDataType_t type) {
  return cusparseCreateCoo(m, rows, cols, count, first, second, values, index_type, base, type);
}
int cusparseDestroySpMat(const SparseMatrix* m) { return plumb::simt::destroy(m); }
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
  return plumb::simt::kSuccess;
}
int cusparseSpMatGetSize(const SparseMatrix* m, std::int64_t* rows, std::int64_t* cols, std::int64_t* count) {
  *rows = m->rows, *cols = m->cols, *count = m->count;
  return plumb::simt::kSuccess;
}

// ---- vectors, and matrices that are stored whole ----
int cusparseCreateDnVec(DenseMatrix** v, std::int64_t size, void* values, cudaDataType_t type) {
  return plumb::simt::make(v, DenseMatrix{size, 1, size, values, type, true});
}
int cusparseCreateConstDnVec(DenseMatrix** v, std::int64_t size, void* values, cudaDataType_t type) {
  return cusparseCreateDnVec(v, size, values, type);
}
int cusparseDestroyDnVec(const DenseMatrix* v) { return plumb::simt::destroy(v); }
int cusparseDnVecSetValues(DenseMatrix* v, void* values) {
  v->values = values;
  return plumb::simt::kSuccess;
}
int cusparseDnVecGetValues(DenseMatrix* v, void** values) {
  *values = v->values;
  return plumb::simt::kSuccess;
}
int cusparseCreateDnMat(DenseMatrix** m, std::int64_t rows, std::int64_t cols, std::int64_t stride,
                        void* values, cudaDataType_t type, int order) {
  const bool by_columns = order == plumb::simt::kColumnOrder;
  if (stride < (by_columns ? rows : cols)) return plumb::simt::kInvalidValue;
  return plumb::simt::make(m, DenseMatrix{rows, cols, stride, values, type, by_columns});
}
int cusparseCreateConstDnMat(DenseMatrix** m, std::int64_t rows, std::int64_t cols, std::int64_t stride,
                             void* values, cudaDataType_t type, int order) {
  return cusparseCreateDnMat(m, rows, cols, stride, values, type, order);
}
int cusparseDestroyDnMat(const DenseMatrix* m) { return plumb::simt::destroy(m); }
int cusparseDnMatSetValues(DenseMatrix* m, void* values) { return cusparseDnVecSetValues(m, values); }
int cusparseDnMatGetValues(DenseMatrix* m, void** values) { return cusparseDnVecGetValues(m, values); }

// ---- products ----
int cusparseSpMV(SparseHandle* handle, int op, const void* alpha, const SparseMatrix* a, const DenseMatrix* x,
                 const void* beta, DenseMatrix* y, cudaDataType_t scalar, int, void*) {
  return plumb::simt::queue_product(
      handle, {PLUMB_CALLER, *a, op != plumb::simt::kNotTransposed, *x, false, *y, alpha, beta, scalar});
}
int cusparseSpMV_bufferSize(SparseHandle*, int, const void*, const SparseMatrix*, const DenseMatrix*,
                            const void*, DenseMatrix*, cudaDataType_t, int, std::size_t* bytes) {
  return plumb::simt::no_space(bytes);
}
int cusparseSpMV_preprocess(SparseHandle*, int, const void*, const SparseMatrix*, const DenseMatrix*,
                            const void*, DenseMatrix*, cudaDataType_t, int, void*) {
  return plumb::simt::kSuccess;
}
int cusparseSpMM(SparseHandle* handle, int op_a, int op_b, const void* alpha, const SparseMatrix* a,
                 const DenseMatrix* b, const void* beta, DenseMatrix* c, cudaDataType_t scalar, int, void*) {
  return plumb::simt::queue_product(handle, {PLUMB_CALLER, *a, op_a != plumb::simt::kNotTransposed, *b,
                                             op_b != plumb::simt::kNotTransposed, *c, alpha, beta, scalar});
}
int cusparseSpMM_bufferSize(SparseHandle*, int, int, const void*, const SparseMatrix*, const DenseMatrix*,
                            const void*, DenseMatrix*, cudaDataType_t, int, std::size_t* bytes) {
  return plumb::simt::no_space(bytes);
}
int cusparseSpMM_preprocess(SparseHandle*, int, int, const void*, const SparseMatrix*, const DenseMatrix*,
                            const void*, DenseMatrix*, cudaDataType_t, int, void*) {
  return plumb::simt::kSuccess;
}

}  // extern "C"
#undef PLUMB_CALLER
