// cuSPARSE's matrices as the executor keeps them, and how a call reads and writes them.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "gpu/simt/host/api/runtime/numbers.hpp"
#include "gpu/simt/host/api/runtime/operations.hpp"
#include "gpu/simt/memory/memory.hpp"

namespace plumb::simt {

/// Of cusparseStatus_t. A type of its own: other libraries' names for theirs are the same.
struct SparseStatus {
  static constexpr int kSuccess = 0, kNotInitialized = 1, kInvalidValue = 3, kExecutionFailed = 6,
                       kZeroPivot = 9, kNotSupported = 10;
};
// cusparseFormat_t, cusparseIndexType_t, cusparseOrder_t, cusparseOperation_t
constexpr int kCsr = 1, kCsc = 2, kCoo = 3;
constexpr int kIndexOf32Bits = 2, kIndexOf64Bits = 3;
constexpr int kColumnOrder = 1, kRowOrder = 2;
constexpr int kNotTransposed = 0;
constexpr int kResultOnHost = 0;  // of cusparsePointerMode_t

struct SparseHandle {
  cudaStream_t stream = nullptr;
  int pointer_mode = 0;
};
/// What cusparseSpMV_preprocess or cusparseSpMM_preprocess has left in a matrix' active workspace: products with that workspace take
/// these arguments and no others. `workspace` is null where there is none.
struct Prepared {
  const void* workspace = nullptr;
  const char* product = "";
  int operation = 0, algorithm = 0;
  cudaDataType_t scalar{};
};
struct SparseMatrix {
  int format;
  std::int64_t rows, cols, count;
  /// Row offsets and columns, column offsets and rows, or rows and columns.
  const void *first, *second;
  void* values;
  int first_type, second_type, base;
  cudaDataType_t type;
  int fill = 0, diagonal = 0;  // of a triangular solve: cusparseFillMode_t, cusparseDiagType_t
  int batches = 1;
  std::int64_t first_step = 0,
               second_step = 0;  // elements of the first array, and of the others, to the next matrix
  bool any_order = false;        // rows of entries need not rise: what a sort is given
  Prepared prepared = {};
};
/// The old description of a matrix, which says nothing of its elements.
struct SparseKind {
  int type = 0, fill = 0, diagonal = 0, base = 0;
};
/// A vector is a matrix of one column.
struct DenseMatrix {
  std::int64_t rows, cols, stride;
  void* values;
  cudaDataType_t type;
  bool by_columns;
  int batches = 1;
  std::int64_t step = 0;  // elements to the next matrix
  std::int64_t place(std::int64_t i, std::int64_t j) const {
    return by_columns ? j * stride + i : i * stride + j;
  }
};
/// A call: its name, and where it stands in the program.
struct SparseCall {
  const char* name;
  const void* pc;
};
/// The function that it stands in, as a SparseCall: one of cuSPARSE's, which the program has called.
#define PLUMB_SPARSE_CALL \
  { __func__, __builtin_return_address(0) }
/// A matrix, or its transpose, entry by entry. In the order in which the matrix has them.
struct Entries {
  std::vector<std::int64_t> rows, cols;
  std::vector<double> values;
};

template <class T>
int make_object(T** out, const T& value) {
  if (out == nullptr) return SparseStatus::kInvalidValue;
  *out = new T(value);
  return SparseStatus::kSuccess;
}
template <class T>
int delete_object(const T* object) {
  delete object;
  return SparseStatus::kSuccess;
}

std::size_t index_bytes(int type);
std::int64_t index_at(const void* p, int type, std::int64_t i);
void set_index(void* p, int type, std::int64_t i, std::int64_t value);
HostRange range_of(const void* p, std::int64_t first, std::int64_t count, std::size_t size, bool writes);
/// All of a matrix that is stored whole.
void add_whole(std::vector<HostRange>& ranges, const DenseMatrix& m, bool writes);

/// Says what the call does next. False: a finding has stopped the run.
bool touches(const SparseCall& call, const void* stream, const std::vector<HostRange>& ranges);
/// A matrix that is none, or that the library does not take, ends the run: a device would read anywhere, or answer something else.
void malformed(const SparseCall& call, const std::string& what, const char* hint = "");
/// Whether the arrays lie at multiples of their elements' sizes; where not, a finding has stopped the run.
bool is_aligned(const SparseCall& call, const SparseMatrix& m);
bool is_aligned(const SparseCall& call, const DenseMatrix& m);
/// The entries of `a` or of its transpose, without their values where `values` is false. False: a finding has stopped the run.
bool read_entries(const SparseCall& call, const SparseMatrix& a, bool transposed, const void* stream,
                  Entries& out, bool values = true);
/// The first index of each entry, which rise: where it is given by offsets, the line that they put it in. False: a finding has stopped the run.
bool read_lines(const SparseCall& call, const SparseMatrix& a, const void* stream,
                std::vector<std::int64_t>& lines);
/// Writes entries, which stand in the order of the matrix' format, into its arrays; values are left alone where it has none.
void write_entries(const SparseCall& call, const SparseMatrix& m, const Entries& e, double alpha,
                   const void* stream);
/// Whether all indices lie in a matrix of that size; where not, a finding has stopped the run.
bool lies_within(const SparseCall& call, const Entries& entries, std::int64_t rows, std::int64_t cols);

/// Queues work to the handle's stream, which gets the two factors: where they lie on the device, they are read when its turn has come.
struct Factors {
  const void *alpha, *beta;  // beta may be null: 0
  cudaDataType_t type;
};
using SparseWork = std::function<void(double alpha, double beta, const void* stream)>;
int queue_sparse(const SparseHandle* handle, const SparseCall& call, const Factors& factors, SparseWork work);
/// The same without factors.
int queue_sparse(const SparseHandle* handle, std::function<void(const void* stream)> work);
/// A result in the host's memory is waited for; one on the device is not.
int wait_for_result(const SparseHandle* handle);

}  // namespace plumb::simt
