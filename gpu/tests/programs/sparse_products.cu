// cuSPARSE's products and conversions, whose numbers are small integers and so exact: matrices by rows, by columns and entry by entry, transposed or not,
// vectors and matrices. "early" multiplies while a kernel writes x; "outside" has a column that the matrix does not have.
#include <cusparse.h>

#include <cstdio>
#include <cstring>
#include <vector>

__global__ void fill(float* x, int n) {
  const int i = threadIdx.x;
  if (i < n) x[i] = static_cast<float>(i % 5 - 2);
}

namespace {

constexpr int kRows = 7, kCols = 9, kWidth = 3;

// Every (i, j) with (i + 2 j) % 3 == 0, but none in row 4.
struct Matrix {
  std::vector<int> offsets{0}, rows, cols;
  std::vector<float> values;
  float at[kRows][kCols] = {};
  explicit Matrix(int base) {
    for (int i = 0; i < kRows; ++i) {
      for (int j = 0; j < kCols; ++j) {
        if ((i + 2 * j) % 3 != 0 || i == 4) continue;
        at[i][j] = static_cast<float>(i - j);
        rows.push_back(i + base), cols.push_back(j + base), values.push_back(at[i][j]);
      }
      offsets.push_back(static_cast<int>(values.size()));
    }
    for (int& offset : offsets) offset += base;
  }
};

template <class T>
T* device(const std::vector<T>& from) {
  T* p;
  cudaMalloc(&p, from.size() * sizeof(T));
  cudaMemcpy(p, from.data(), from.size() * sizeof(T), cudaMemcpyHostToDevice);
  return p;
}
std::vector<float> fetched(const float* p, int n) {
  std::vector<float> out(n);
  cudaMemcpy(out.data(), p, n * sizeof(float), cudaMemcpyDeviceToHost);
  return out;
}
std::vector<float> numbers(int n) {
  std::vector<float> out(n);
  for (int i = 0; i < n; ++i) out[i] = static_cast<float>(i % 7 - 3);
  return out;
}

cusparseSpMatDescr_t by_rows(const Matrix& m, cusparseIndexBase_t base) {
  cusparseSpMatDescr_t out;
  cusparseCreateCsr(&out, kRows, kCols, m.values.size(), device(m.offsets), device(m.cols), device(m.values),
                    CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, base, CUDA_R_32F);
  return out;
}
// The transpose by columns: the same arrays.
cusparseSpMatDescr_t transposed(const Matrix& m) {
  cusparseSpMatDescr_t out;
  cusparseCreateCsc(&out, kCols, kRows, m.values.size(), device(m.offsets), device(m.cols), device(m.values),
                    CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F);
  return out;
}
cusparseSpMatDescr_t by_entries(const Matrix& m) {
  cusparseSpMatDescr_t out;
  cusparseCreateCoo(&out, kRows, kCols, m.values.size(), device(m.rows), device(m.cols), device(m.values),
                    CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F);
  return out;
}

// y = 2 op(A) x + 3 y
bool vector_is_right(cusparseHandle_t handle, const Matrix& m, cusparseSpMatDescr_t a, cusparseOperation_t op,
                     bool flipped) {
  const int rows = flipped ? kCols : kRows, cols = flipped ? kRows : kCols;
  std::vector<float> x = numbers(cols), y = numbers(rows);
  cusparseDnVecDescr_t vx, vy;
  float* const to = device(y);
  cusparseCreateDnVec(&vx, cols, device(x), CUDA_R_32F);
  cusparseCreateDnVec(&vy, rows, to, CUDA_R_32F);
  const float alpha = 2, beta = 3;
  size_t bytes = 0;
  cusparseSpMV_bufferSize(handle, op, &alpha, a, vx, &beta, vy, CUDA_R_32F, CUSPARSE_SPMV_ALG_DEFAULT,
                          &bytes);
  void* space;
  cudaMalloc(&space, bytes);
  if (cusparseSpMV(handle, op, &alpha, a, vx, &beta, vy, CUDA_R_32F, CUSPARSE_SPMV_ALG_DEFAULT, space) !=
      CUSPARSE_STATUS_SUCCESS)
    return false;
  const std::vector<float> got = fetched(to, rows);
  for (int i = 0; i < rows; ++i) {
    float sum = 0;
    for (int j = 0; j < cols; ++j) sum += (flipped ? m.at[j][i] : m.at[i][j]) * x[j];
    if (got[i] != 2 * sum + 3 * y[i]) return false;
  }
  return true;
}

// C = A op(B), each of the two by rows or by columns, with room between the lines
bool matrix_is_right(cusparseHandle_t handle, const Matrix& m, cusparseSpMatDescr_t a, cusparseOperation_t op,
                     cusparseOrder_t order) {
  const bool flipped = op != CUSPARSE_OPERATION_NON_TRANSPOSE, by_columns = order == CUSPARSE_ORDER_COL;
  const int rows = flipped ? kWidth : kCols, cols = flipped ? kCols : kWidth;
  const int stride = (by_columns ? rows : cols) + 2, wide = (by_columns ? kRows : kWidth) + 1;
  const std::vector<float> b = numbers(stride * (by_columns ? cols : rows));
  float* const to = device(std::vector<float>(wide * (by_columns ? kWidth : kRows)));
  cusparseDnMatDescr_t mb, mc;
  cusparseCreateDnMat(&mb, rows, cols, stride, device(b), CUDA_R_32F, order);
  cusparseCreateDnMat(&mc, kRows, kWidth, wide, to, CUDA_R_32F, order);
  const float alpha = 1, beta = 0;
  if (cusparseSpMM(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, op, &alpha, a, mb, &beta, mc, CUDA_R_32F,
                   CUSPARSE_SPMM_ALG_DEFAULT, nullptr) != CUSPARSE_STATUS_SUCCESS)
    return false;
  const std::vector<float> got = fetched(to, wide * (by_columns ? kWidth : kRows));
  for (int i = 0; i < kRows; ++i) {
    for (int j = 0; j < kWidth; ++j) {
      float sum = 0;
      for (int k = 0; k < kCols; ++k) {
        const int row = flipped ? j : k, col = flipped ? k : j;
        sum += m.at[i][k] * b[by_columns ? col * stride + row : row * stride + col];
      }
      if (got[by_columns ? j * wide + i : i * wide + j] != sum) return false;
    }
  }
  return true;
}

bool products_are_right(cusparseHandle_t handle) {
  const Matrix m(0), from_one(1);
  const auto plain = CUSPARSE_OPERATION_NON_TRANSPOSE, flip = CUSPARSE_OPERATION_TRANSPOSE;
  bool right = vector_is_right(handle, m, by_rows(m, CUSPARSE_INDEX_BASE_ZERO), plain, false) &&
               vector_is_right(handle, m, by_rows(from_one, CUSPARSE_INDEX_BASE_ONE), flip, true) &&
               vector_is_right(handle, m, by_entries(m), plain, false) &&
               vector_is_right(handle, m, transposed(m), plain, true) &&
               vector_is_right(handle, m, transposed(m), flip, false);
  for (const auto order : {CUSPARSE_ORDER_COL, CUSPARSE_ORDER_ROW}) {
    for (const auto op : {plain, flip}) right = right && matrix_is_right(handle, m, by_entries(m), op, order);
  }
  return right;
}

// The places of A hold 2 P Q + A, with P of kRows x kWidth and Q of kWidth x kCols, both by rows.
bool sampled_is_right(cusparseHandle_t handle, const Matrix& m) {
  const std::vector<float> p = numbers(kRows * kWidth), q = numbers(kWidth * kCols);
  cusparseDnMatDescr_t mp, mq;
  cusparseCreateDnMat(&mp, kRows, kWidth, kWidth, device(p), CUDA_R_32F, CUSPARSE_ORDER_ROW);
  cusparseCreateDnMat(&mq, kWidth, kCols, kCols, device(q), CUDA_R_32F, CUSPARSE_ORDER_ROW);
  const auto plain = CUSPARSE_OPERATION_NON_TRANSPOSE;
  const float alpha = 2, beta = 1;
  cusparseSpMatDescr_t c = by_rows(m, CUSPARSE_INDEX_BASE_ZERO);
  if (cusparseSDDMM(handle, plain, plain, &alpha, mp, mq, &beta, c, CUDA_R_32F, CUSPARSE_SDDMM_ALG_DEFAULT,
                    nullptr) != CUSPARSE_STATUS_SUCCESS)
    return false;
  void* values;
  cusparseSpMatGetValues(c, &values);
  const std::vector<float> got = fetched(static_cast<float*>(values), static_cast<int>(m.values.size()));
  for (std::size_t e = 0; e < got.size(); ++e) {
    float sum = 0;
    for (int k = 0; k < kWidth; ++k) sum += p[m.rows[e] * kWidth + k] * q[k * kCols + m.cols[e]];
    if (got[e] != 2 * sum + m.values[e]) return false;
  }
  return true;
}

// A matrix of no entries by rows, and arrays for as many as it has come to have.
cusparseSpMatDescr_t empty(int rows, int cols, int** offsets) {
  cusparseSpMatDescr_t out;
  cudaMalloc(offsets, (rows + 1) * sizeof(int));
  cusparseCreateCsr(&out, rows, cols, 0, *offsets, nullptr, nullptr, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                    CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F);
  return out;
}
void make_room(cusparseSpMatDescr_t m, int* offsets) {
  int64_t rows, cols, count;
  cusparseSpMatGetSize(m, &rows, &cols, &count);
  int* to_cols;
  float* to_values;
  cudaMalloc(&to_cols, count * sizeof(int));
  cudaMalloc(&to_values, count * sizeof(float));
  cusparseCsrSetPointers(m, offsets, to_cols, to_values);
}
std::vector<float> whole(cusparseHandle_t handle, cusparseSpMatDescr_t m, int rows, int cols) {
  float* to;
  cudaMalloc(&to, rows * cols * sizeof(float));
  cusparseDnMatDescr_t out;
  cusparseCreateDnMat(&out, rows, cols, cols, to, CUDA_R_32F, CUSPARSE_ORDER_ROW);
  cusparseSparseToDense(handle, m, out, CUSPARSE_SPARSETODENSE_ALG_DEFAULT, nullptr);
  return fetched(to, rows * cols);
}

// A to a whole matrix and back; and A times A's transpose, whole.
bool conversions_are_right(cusparseHandle_t handle, const Matrix& m) {
  const std::vector<float> at(&m.at[0][0], &m.at[0][0] + kRows * kCols);
  if (whole(handle, by_entries(m), kRows, kCols) != at) return false;
  cusparseDnMatDescr_t from;
  cusparseCreateDnMat(&from, kRows, kCols, kCols, device(at), CUDA_R_32F, CUSPARSE_ORDER_ROW);
  int* offsets;
  cusparseSpMatDescr_t back = empty(kRows, kCols, &offsets);
  cusparseDenseToSparse_analysis(handle, from, back, CUSPARSE_DENSETOSPARSE_ALG_DEFAULT, nullptr);
  make_room(back, offsets);
  cusparseDenseToSparse_convert(handle, from, back, CUSPARSE_DENSETOSPARSE_ALG_DEFAULT, nullptr);
  return whole(handle, back, kRows, kCols) == at;
}

bool square_is_right(cusparseHandle_t handle, const Matrix& m) {
  const auto plain = CUSPARSE_OPERATION_NON_TRANSPOSE;
  const float alpha = 3, beta = 0;
  cusparseSpGEMMDescr_t kept;
  cusparseSpGEMM_createDescr(&kept);
  const cusparseSpMatDescr_t a = by_rows(m, CUSPARSE_INDEX_BASE_ZERO), b = transposed(m);
  int* offsets;
  const cusparseSpMatDescr_t c = empty(kRows, kRows, &offsets);
  size_t bytes = 0;
  cusparseSpGEMM_compute(handle, plain, plain, &alpha, a, b, &beta, c, CUDA_R_32F, CUSPARSE_SPGEMM_DEFAULT,
                         kept, &bytes, nullptr);
  void* buffer;
  cudaMalloc(&buffer, bytes);
  cusparseSpGEMM_compute(handle, plain, plain, &alpha, a, b, &beta, c, CUDA_R_32F, CUSPARSE_SPGEMM_DEFAULT,
                         kept, &bytes, buffer);
  make_room(c, offsets);
  cusparseSpGEMM_copy(handle, plain, plain, &alpha, a, b, &beta, c, CUDA_R_32F, CUSPARSE_SPGEMM_DEFAULT,
                      kept);
  const std::vector<float> got = whole(handle, c, kRows, kRows);
  for (int i = 0; i < kRows; ++i) {
    for (int j = 0; j < kRows; ++j) {
      float sum = 0;
      for (int k = 0; k < kCols; ++k) sum += m.at[i][k] * m.at[j][k];
      if (got[i * kRows + j] != 3 * sum) return false;
    }
  }
  return true;
}

// x is filled in a stream of its own, which nobody waits for.
void multiply_early(cusparseHandle_t handle, bool outside) {
  Matrix m(0);
  if (outside) m.cols[2] = kCols;
  float *x, *y;
  cudaMalloc(&x, kCols * sizeof(float));
  cudaMalloc(&y, kRows * sizeof(float));
  cudaStream_t stream;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  fill<<<1, 32, 0, stream>>>(x, kCols);
  if (outside) cudaStreamSynchronize(stream);
  cusparseDnVecDescr_t vx, vy;
  cusparseCreateDnVec(&vx, kCols, x, CUDA_R_32F);
  cusparseCreateDnVec(&vy, kRows, y, CUDA_R_32F);
  const float alpha = 1, beta = 0;
  cusparseSpMV(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &alpha, by_rows(m, CUSPARSE_INDEX_BASE_ZERO), vx,
               &beta, vy, CUDA_R_32F, CUSPARSE_SPMV_ALG_DEFAULT, nullptr);
  cudaDeviceSynchronize();
}

}  // namespace

int main(int argc, char** argv) {
  cusparseHandle_t handle;
  cusparseCreate(&handle);
  if (argc > 1) {
    multiply_early(handle, std::strcmp(argv[1], "outside") == 0);
    return 0;
  }
  const Matrix m(0);
  const bool right = products_are_right(handle) && sampled_is_right(handle, m) &&
                     conversions_are_right(handle, m) && square_is_right(handle, m);
  std::printf("products are %s\n", right ? "right" : "wrong");
  cusparseDestroy(handle);
  return right ? 0 : 1;
}
