// cuSPARSE's calls that take a matrix as arrays, and batches of products. The numbers are small integers and so exact.
#include <cusparse.h>

#include <cstdio>
#include <vector>

namespace {

int failures = 0;
void expect(bool good, const char* what, int line) {
  if (good) return;
  std::printf("sparse_arrays.cu:%d: not %s\n", line, what);
  ++failures;
}
#define EXPECT(condition) expect(condition, #condition, __LINE__)
#define OK(call) EXPECT((call) == CUSPARSE_STATUS_SUCCESS)

using Floats = std::vector<float>;
using Ints = std::vector<int>;

template <class T>
T* device(const std::vector<T>& from) {
  T* p;
  cudaMalloc(&p, from.size() * sizeof(T));
  cudaMemcpy(p, from.data(), from.size() * sizeof(T), cudaMemcpyHostToDevice);
  return p;
}
template <class T>
T* room(int n) {
  T* p;
  cudaMalloc(&p, n * sizeof(T));
  return p;
}
template <class T>
std::vector<T> fetched(const T* p, int n) {
  std::vector<T> out(n);
  cudaMemcpy(out.data(), p, n * sizeof(T), cudaMemcpyDeviceToHost);
  return out;
}

cusparseMatDescr_t from_one() {
  cusparseMatDescr_t out;
  cusparseCreateMatDescr(&out);
  cusparseSetMatIndexBase(out, CUSPARSE_INDEX_BASE_ONE);
  return out;
}

// 3 x 4, by rows from one: {0 7 0 8; 0 0 0 0; 5 0 6 0}
const Ints kOffsets = {1, 3, 3, 5}, kColumns = {2, 4, 1, 3}, kRows = {1, 1, 3, 3};
const Floats kValues = {7, 8, 5, 6};

void conversions(cusparseHandle_t handle) {
  int *const offsets = device(kOffsets), *const columns = device(kColumns);
  float *values = device(kValues), *to_values = room<float>(4);
  int *to_offsets = room<int>(5), *to_rows = room<int>(4);
  OK(cusparseCsr2cscEx2(handle, 3, 4, 4, values, offsets, columns, to_values, to_offsets, to_rows, CUDA_R_32F,
                        CUSPARSE_ACTION_NUMERIC, CUSPARSE_INDEX_BASE_ONE, CUSPARSE_CSR2CSC_ALG_DEFAULT,
                        nullptr));
  EXPECT(fetched(to_offsets, 5) == Ints({1, 2, 3, 4, 5}));
  EXPECT(fetched(to_rows, 4) == Ints({3, 1, 3, 1}));
  EXPECT(fetched(to_values, 4) == Floats({5, 7, 6, 8}));
  int* const rows = room<int>(4);
  OK(cusparseXcsr2coo(handle, offsets, 4, 3, rows, CUSPARSE_INDEX_BASE_ONE));
  EXPECT(fetched(rows, 4) == kRows);
  OK(cusparseXcoo2csr(handle, rows, 4, 3, to_offsets, CUSPARSE_INDEX_BASE_ONE));
  EXPECT(fetched(to_offsets, 4) == kOffsets);
  int* const each = room<int>(4);
  int total = 0;
  float* const whole = device<float>({0, 0, 5, 7, 0, 0, 0, 0, 6, 8, 0, 0});
  OK(cusparseSnnz(handle, CUSPARSE_DIRECTION_ROW, 3, 4, from_one(), whole, 3, each, &total));
  EXPECT(total == 4 && fetched(each, 3) == Ints({2, 0, 2}));
  OK(cusparseSnnz(handle, CUSPARSE_DIRECTION_COLUMN, 3, 4, from_one(), whole, 3, each, &total));
  EXPECT(total == 4 && fetched(each, 4) == Ints({1, 1, 1, 1}));
}

void sorting(cusparseHandle_t handle) {
  int* const order = room<int>(4);
  OK(cusparseCreateIdentityPermutation(handle, 4, order));
  int* const columns = device<int>({4, 2, 3, 1});
  OK(cusparseXcsrsort(handle, 3, 4, 4, from_one(), device(kOffsets), columns, order, nullptr));
  EXPECT(fetched(columns, 4) == kColumns && fetched(order, 4) == Ints({1, 0, 3, 2}));
  int *const rows = device<int>({2, 0, 2, 0}), *const beside = device<int>({2, 3, 0, 1});
  OK(cusparseXcoosortByRow(handle, 3, 4, 4, rows, beside, order, nullptr));
  EXPECT(fetched(rows, 4) == Ints({0, 0, 2, 2}) && fetched(beside, 4) == Ints({1, 3, 0, 2}));
  EXPECT(fetched(order, 4) == Ints({2, 0, 3, 1}));
  OK(cusparseXcoosortByColumn(handle, 3, 4, 4, rows, beside, nullptr, nullptr));
  EXPECT(fetched(rows, 4) == Ints({2, 0, 2, 0}) && fetched(beside, 4) == Ints({0, 1, 2, 3}));
}

// 2 A + 3 B, where B has one place of A's and one of its own.
void sums(cusparseHandle_t handle) {
  int *const offsets_a = device(kOffsets), *const columns_a = device(kColumns), *total = room<int>(1);
  int *const offsets_b = device<int>({1, 2, 3, 3}), *const columns_b = device<int>({2, 1});
  float *const a = device(kValues), *const b = device<float>({1, 4});
  int* const offsets = room<int>(4);
  cusparseSetPointerMode(handle, CUSPARSE_POINTER_MODE_DEVICE);
  OK(cusparseXcsrgeam2Nnz(handle, 3, 4, from_one(), 4, offsets_a, columns_a, from_one(), 2, offsets_b,
                          columns_b, from_one(), offsets, total, nullptr));
  cusparseSetPointerMode(handle, CUSPARSE_POINTER_MODE_HOST);
  EXPECT(fetched(total, 1) == Ints({5}) && fetched(offsets, 4) == Ints({1, 3, 4, 6}));
  const float two = 2, three = 3;
  int* const columns = room<int>(5);
  float* const values = room<float>(5);
  OK(cusparseScsrgeam2(handle, 3, 4, &two, from_one(), 4, a, offsets_a, columns_a, &three, from_one(), 2, b,
                       offsets_b, columns_b, from_one(), values, offsets, columns, nullptr));
  EXPECT(fetched(columns, 5) == Ints({2, 4, 1, 1, 3}) && fetched(values, 5) == Floats({17, 16, 12, 10, 12}));
}

// Two products with one pattern: the values of the second matrix are twice those of the first.
void batches(cusparseHandle_t handle) {
  cusparseSpMatDescr_t a;
  cusparseDnMatDescr_t b, c;
  Ints columns = kColumns;
  columns.insert(columns.end(), kColumns.begin(), kColumns.end());
  EXPECT(cusparseCreateCsr(&a, 3, 1, 4, device(kOffsets), device(columns), room<float>(4), CUSPARSE_INDEX_32I,
                           CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ONE,
                           CUDA_R_32F) == CUSPARSE_STATUS_INVALID_VALUE);  // more entries than places
  OK(cusparseCreateCsr(&a, 3, 4, 4, device(kOffsets), device(columns),
                       device<float>({7, 8, 5, 6, 14, 16, 10, 12}), CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                       CUSPARSE_INDEX_BASE_ONE, CUDA_R_32F));
  OK(cusparseCsrSetStridedBatch(a, 2, 0, 4));
  float* const out = room<float>(8);
  OK(cusparseCreateDnMat(&b, 4, 1, 4, device<float>({1, 2, 3, 4}), CUDA_R_32F, CUSPARSE_ORDER_COL));
  OK(cusparseCreateDnMat(&c, 3, 1, 3, out, CUDA_R_32F, CUSPARSE_ORDER_COL));
  OK(cusparseDnMatSetStridedBatch(c, 2, 5));
  const float one = 1, none = 0;
  const auto plain = CUSPARSE_OPERATION_NON_TRANSPOSE;
  OK(cusparseSpMM(handle, plain, plain, &one, a, b, &none, c, CUDA_R_32F, CUSPARSE_SPMM_ALG_DEFAULT,
                  nullptr));
  EXPECT(fetched(out, 3) == Floats({46, 0, 23}) && fetched(out + 5, 3) == Floats({92, 0, 46}));
}

}  // namespace

int main() {
  cusparseHandle_t handle;
  cusparseCreate(&handle);
  conversions(handle);
  sorting(handle);
  sums(handle);
  batches(handle);
  cusparseDestroy(handle);
  return failures == 0 ? 0 : 1;
}
