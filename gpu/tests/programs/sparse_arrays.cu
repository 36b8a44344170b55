// cuSPARSE's sparse vectors, its calls that take a matrix as arrays, and batches of products. The numbers are small integers and so exact,
// but for Cholesky's. "early" gathers while a kernel writes; "outside" has an index that the vector does not have.
#include <cusparse.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <utility>
#include <vector>

__global__ void fill(float* x, int n) {
  const int i = threadIdx.x;
  if (i < n) x[i] = static_cast<float>(i);
}

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
using Doubles = std::vector<double>;
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

// x = (2, 3, 5) at 1, 4 and 0 of six, by indices from one.
struct Pair {
  float *values = device<float>({2, 3, 5}), *whole;
  cusparseSpVecDescr_t x;
  cusparseDnVecDescr_t y;
  explicit Pair(const Floats& of_y) : whole(device(of_y)) {
    OK(cusparseCreateSpVec(&x, 6, 3, device<int>({2, 5, 1}), values, CUSPARSE_INDEX_32I,
                           CUSPARSE_INDEX_BASE_ONE, CUDA_R_32F));
    OK(cusparseCreateDnVec(&y, 6, whole, CUDA_R_32F));
  }
  [[nodiscard]] Floats all() const { return fetched(whole, 6); }
};

void vectors(cusparseHandle_t handle) {
  const float two = 2, three = 3, none = 0;
  Pair sum({1, 2, 3, 4, 5, 6});
  OK(cusparseAxpby(handle, &two, sum.x, &three, sum.y));
  EXPECT(sum.all() == Floats({13, 10, 9, 12, 21, 18}));
  OK(cusparseAxpby(handle, &two, sum.x, &none, sum.y));
  EXPECT(sum.all() == Floats({10, 4, 0, 0, 6, 0}));
  Pair gathered({1, 2, 3, 4, 5, 6});
  OK(cusparseGather(handle, gathered.y, gathered.x));
  EXPECT(fetched(gathered.values, 3) == Floats({2, 5, 1}));
  Pair scattered({1, 2, 3, 4, 5, 6});
  OK(cusparseScatter(handle, scattered.x, scattered.y));
  EXPECT(scattered.all() == Floats({5, 2, 3, 4, 3, 6}));
  Pair turned({1, 2, 3, 4, 5, 6});
  OK(cusparseRot(handle, &two, &three, turned.x, turned.y));
  EXPECT(fetched(turned.values, 3) == Floats({10, 21, 13}));
  EXPECT(turned.all() == Floats({-13, -2, 3, 4, 1, 6}));
  Pair product({1, 2, 3, 4, 5, 6});
  float dot = 0;
  size_t bytes = 0;
  OK(cusparseSpVV_bufferSize(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, product.x, product.y, &dot, CUDA_R_32F,
                             &bytes));
  OK(cusparseSpVV(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, product.x, product.y, &dot, CUDA_R_32F, nullptr));
  EXPECT(dot == 24);
  int64_t size, count;
  void *indices, *values;
  cusparseIndexType_t index;
  cusparseIndexBase_t base;
  cudaDataType type;
  OK(cusparseSpVecGet(product.x, &size, &count, &indices, &values, &index, &base, &type));
  EXPECT(size == 6 && count == 3 && values == product.values && base == CUSPARSE_INDEX_BASE_ONE);
  cusparseDnVecDescr_t shorter;
  OK(cusparseCreateDnVec(&shorter, 5, product.whole, CUDA_R_32F));
  EXPECT(cusparseScatter(handle, product.x, shorter) == CUSPARSE_STATUS_INVALID_VALUE);
  OK(cusparseDestroySpVec(product.x));
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

// A = {2 4 0; 6 13 1; 0 3 8} = {1; 3 1; 0 3 1} {2 4 0; 1 1; 5}, from one.
void elimination(cusparseHandle_t handle) {
  int *const offsets = device<int>({1, 3, 6, 8}), *const columns = device<int>({1, 2, 1, 2, 3, 2, 3});
  double* const values = device<double>({2, 4, 6, 13, 1, 3, 8});
  csrilu02Info_t info;
  OK(cusparseCreateCsrilu02Info(&info));
  int bytes = 0, place = 0;
  OK(cusparseDcsrilu02_bufferSize(handle, 3, 7, from_one(), values, offsets, columns, info, &bytes));
  EXPECT(bytes > 0);
  OK(cusparseDcsrilu02_analysis(handle, 3, 7, from_one(), values, offsets, columns, info,
                                CUSPARSE_SOLVE_POLICY_NO_LEVEL, nullptr));
  OK(cusparseXcsrilu02_zeroPivot(handle, info, &place));
  EXPECT(place == -1);
  OK(cusparseDcsrilu02(handle, 3, 7, from_one(), values, offsets, columns, info,
                       CUSPARSE_SOLVE_POLICY_NO_LEVEL, nullptr));
  EXPECT(fetched(values, 7) == Doubles({2, 4, 3, 1, 1, 3, 5}));
  double* const singular = device<double>({2, 4, 6, 12, 1, 3, 8});
  OK(cusparseDcsrilu02(handle, 3, 7, from_one(), singular, offsets, columns, info,
                       CUSPARSE_SOLVE_POLICY_NO_LEVEL, nullptr));
  EXPECT(cusparseXcsrilu02_zeroPivot(handle, info, &place) == CUSPARSE_STATUS_ZERO_PIVOT && place == 2);
  const double below = 0.5, instead = 1;
  OK(cusparseDcsrilu02_numericBoost(handle, info, 1, const_cast<double*>(&below),
                                    const_cast<double*>(&instead)));
  double* const boosted = device<double>({2, 4, 6, 12, 1, 3, 8});
  OK(cusparseDcsrilu02(handle, 3, 7, from_one(), boosted, offsets, columns, info,
                       CUSPARSE_SOLVE_POLICY_NO_LEVEL, nullptr));
  OK(cusparseXcsrilu02_zeroPivot(handle, info, &place));
  EXPECT(fetched(boosted, 7) == Doubles({2, 4, 3, 1, 1, 3, 5}));
  int *const fewer = device<int>({1, 3, 5, 7}), *const hollow = device<int>({1, 2, 1, 3, 2, 3});
  OK(cusparseDcsrilu02_analysis(handle, 3, 6, from_one(), values, fewer, hollow, info,
                                CUSPARSE_SOLVE_POLICY_NO_LEVEL, nullptr));
  EXPECT(cusparseXcsrilu02_zeroPivot(handle, info, &place) == CUSPARSE_STATUS_ZERO_PIVOT && place == 2);
  OK(cusparseDestroyCsrilu02Info(info));
}

// {4 2 0; 2 5 4; 0 4 8} = L L', L = {2; 1 2; 0 2 2}; what stands above the diagonal stays.
void cholesky(cusparseHandle_t handle) {
  int *const offsets = device<int>({1, 3, 6, 8}), *const columns = device<int>({1, 2, 1, 2, 3, 2, 3});
  float* const values = device<float>({4, 2, 2, 5, 4, 4, 8});
  csric02Info_t info;
  OK(cusparseCreateCsric02Info(&info));
  OK(cusparseScsric02_analysis(handle, 3, 7, from_one(), values, offsets, columns, info,
                               CUSPARSE_SOLVE_POLICY_NO_LEVEL, nullptr));
  OK(cusparseScsric02(handle, 3, 7, from_one(), values, offsets, columns, info,
                      CUSPARSE_SOLVE_POLICY_NO_LEVEL, nullptr));
  EXPECT(fetched(values, 7) == Floats({2, 2, 1, 2, 4, 2, 2}));
  int place = 0;
  OK(cusparseXcsric02_zeroPivot(handle, info, &place));
  float* const negative = device<float>({4, 2, 2, 1, 4, 4, 8});
  OK(cusparseScsric02(handle, 3, 7, from_one(), negative, offsets, columns, info,
                      CUSPARSE_SOLVE_POLICY_NO_LEVEL, nullptr));
  EXPECT(cusparseXcsric02_zeroPivot(handle, info, &place) == CUSPARSE_STATUS_ZERO_PIVOT && place == 2);
}

// Of four unknowns, x = (1, 2, 3, 4) and twice that; with a first pivot of 0 where rows may change places.
void tridiagonal(cusparseHandle_t handle) {
  for (const bool pivots : {true, false}) {
    const Floats below = {0, 1, 2, 1}, diagonal = {pivots ? 0.0f : 3.0f, 2, 4, 1}, above = {2, 1, 1, 0};
    Floats b(10, -1);
    for (int side = 0; side < 2; ++side) {
      for (int i = 0; i < 4; ++i) {
        const auto x = [&](int k) { return static_cast<float>((k + 1) * (side + 1)); };
        b[side * 5 + i] =
            (i > 0 ? below[i] * x(i - 1) : 0) + diagonal[i] * x(i) + (i < 3 ? above[i] * x(i + 1) : 0);
      }
    }
    float* const x = device(b);
    OK((pivots ? cusparseSgtsv2 : cusparseSgtsv2_nopivot)(handle, 4, 2, device(below), device(diagonal),
                                                          device(above), x, 5, nullptr));
    const Floats got = fetched(x, 10);
    for (int side = 0; side < 2; ++side) {
      for (int i = 0; i < 4; ++i) EXPECT(std::fabs(got[side * 5 + i] - (i + 1) * (side + 1)) < 1e-5f);
      EXPECT(got[side * 5 + 4] == -1);
    }
  }
  double* const x = device<double>({3, 10, 8, -1, 6, 20, 16});
  OK(cusparseDgtsv2StridedBatch(handle, 3, device<double>({0, 1, 1, 9, 0, 1, 1}),
                                device<double>({1, 3, 2, 9, 1, 3, 2}), device<double>({1, 1, 0, 9, 1, 1, 0}),
                                x, 2, 4, nullptr));
  EXPECT(fetched(x, 7) == Doubles({1, 2, 3, -1, 2, 4, 6}));
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

void gather_early(cusparseHandle_t handle, bool outside) {
  Pair pair({1, 2, 3, 4, 5, 6});
  if (outside) {
    cusparseSpVecDescr_t x;
    cusparseCreateSpVec(&x, 6, 3, device<int>({2, 6, 1}), pair.values, CUSPARSE_INDEX_32I,
                        CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F);
    cusparseScatter(handle, x, pair.y);
  } else {
    cudaStream_t stream;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    fill<<<1, 32, 0, stream>>>(pair.whole, 6);
    cusparseGather(handle, pair.y, pair.x);
  }
  cudaDeviceSynchronize();
}

}  // namespace

int main(int argc, char** argv) {
  cusparseHandle_t handle;
  cusparseCreate(&handle);
  if (argc > 1) {
    gather_early(handle, std::strcmp(argv[1], "outside") == 0);
    return 0;
  }
  vectors(handle);
  conversions(handle);
  sorting(handle);
  sums(handle);
  elimination(handle);
  cholesky(handle);
  tridiagonal(handle);
  batches(handle);
  cusparseDestroy(handle);
  return failures == 0 ? 0 : 1;
}
