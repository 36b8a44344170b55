// What cuSPARSE's page asks of a matrix: each argument breaks one thing, and is told; without one, all calls are right and silent.
#include <cusparse.h>

#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

namespace {

template <class T>
T* device(const std::vector<T>& from, int behind = 0) {
  T* p;
  cudaMalloc(&p, (from.size() + 1) * sizeof(T));
  p = reinterpret_cast<T*>(reinterpret_cast<char*>(p) + behind);
  cudaMemcpy(p, from.data(), from.size() * sizeof(T), cudaMemcpyHostToDevice);
  return p;
}

constexpr cusparseOperation_t kPlain = CUSPARSE_OPERATION_NON_TRANSPOSE;

// The lower triangle of ones, 3 x 3: A (1, 1, 1) = (1, 2, 3).
struct Triangle {
  std::vector<int> rows{0, 1, 1, 2, 2, 2}, cols{0, 0, 1, 0, 1, 2}, offsets{0, 1, 3, 6};
  int base = 0, behind = 0;

  cusparseSpMatDescr_t by_entries() const {
    cusparseSpMatDescr_t out;
    cusparseCreateCoo(&out, 3, 3, 6, device(rows), device(cols), device(std::vector<float>(6, 1.f), behind),
                      CUSPARSE_INDEX_32I, static_cast<cusparseIndexBase_t>(base), CUDA_R_32F);
    return out;
  }
  cusparseSpMatDescr_t by_rows() const {
    cusparseSpMatDescr_t out;
    cusparseCreateCsr(&out, 3, 3, 6, device(offsets), device(cols),
                      device(std::vector<float>(6, 1.f), behind), CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                      static_cast<cusparseIndexBase_t>(base), CUDA_R_32F);
    return out;
  }
};

// y = A x; `breaks`: what is wrong with the workspace or the call.
struct Multiplication {
  cusparseHandle_t handle;
  cusparseSpMatDescr_t a;
  std::string breaks;

  bool is_right() const {
    cusparseDnVecDescr_t x, y;
    float* const to = device(std::vector<float>(3));
    cusparseCreateDnVec(&x, 3, device(std::vector<float>(3, 1.f)), CUDA_R_32F);
    cusparseCreateDnVec(&y, 3, to, CUDA_R_32F);
    const float one = 1, zero = 0;
    size_t bytes = 0;
    cusparseSpMV_bufferSize(handle, kPlain, &one, a, x, &zero, y, CUDA_R_32F, CUSPARSE_SPMV_ALG_DEFAULT,
                            &bytes);
    void* space;
    cudaMalloc(&space, breaks == "space" ? bytes - 8 : bytes);
#if CUSPARSE_VERSION >= 12400
    if (breaks.empty() || breaks == "overwritten" || breaks == "operation")
      cusparseSpMV_preprocess(handle, kPlain, &one, a, x, &zero, y, CUDA_R_32F, CUSPARSE_SPMV_ALG_DEFAULT,
                              space);
    if (breaks == "overwritten") cudaMemset(space, 0, bytes);
#endif
    const auto operation = breaks == "operation" ? CUSPARSE_OPERATION_TRANSPOSE : kPlain;
    const auto algorithm = breaks == "algorithm" ? CUSPARSE_SPMV_COO_ALG1 : CUSPARSE_SPMV_ALG_DEFAULT;
    const auto type = breaks == "type" ? CUDA_R_64F : CUDA_R_32F;
    const cusparseStatus_t status =
        cusparseSpMV(handle, operation, &one, a, x, &zero, y, type, algorithm, space);
    if (status != CUSPARSE_STATUS_SUCCESS) std::printf("%s\n", cusparseGetErrorName(status));
    float got[3] = {};
    cudaMemcpy(got, to, sizeof got, cudaMemcpyDeviceToHost);
    return got[0] == 1 && got[1] == 2 && got[2] == 3;
  }
};

// A B for B of two columns of ones.
bool matrix_is_right(cusparseHandle_t handle, cusparseSpMatDescr_t a) {
  cusparseDnMatDescr_t b, c;
  float* const to = device(std::vector<float>(6));
  cusparseCreateDnMat(&b, 3, 2, 3, device(std::vector<float>(6, 1.f)), CUDA_R_32F, CUSPARSE_ORDER_COL);
  cusparseCreateDnMat(&c, 3, 2, 3, to, CUDA_R_32F, CUSPARSE_ORDER_COL);
  const float one = 1, zero = 0;
  size_t bytes = 0;
  cusparseSpMM_bufferSize(handle, kPlain, kPlain, &one, a, b, &zero, c, CUDA_R_32F, CUSPARSE_SPMM_ALG_DEFAULT,
                          &bytes);
  void* space;
  cudaMalloc(&space, bytes);
  cusparseSpMM(handle, kPlain, kPlain, &one, a, b, &zero, c, CUDA_R_32F, CUSPARSE_SPMM_ALG_DEFAULT, space);
  float got[6] = {};
  cudaMemcpy(got, to, sizeof got, cudaMemcpyDeviceToHost);
  return got[0] == 1 && got[2] == 3 && got[4] == 2;
}

bool offsets_are_right(cusparseHandle_t handle, const Triangle& m) {
  int* const to = device(std::vector<int>(4));
  cusparseXcoo2csr(handle, device(m.rows), 6, 3, to, static_cast<cusparseIndexBase_t>(m.base));
  int got[4] = {};
  cudaMemcpy(got, to, sizeof got, cudaMemcpyDeviceToHost);
  return got[1] == 1 && got[2] == 3 && got[3] == 6;
}

// The triangle to a whole matrix and back, counted first where `counts`. `lacks`: bytes of the workspace.
bool conversions_are_right(cusparseHandle_t handle, const Triangle& m, bool counts, size_t lacks = 0) {
  cusparseDnMatDescr_t whole;
  float* const elements = device(std::vector<float>(9, 2.f));
  cusparseCreateDnMat(&whole, 3, 3, 3, elements, CUDA_R_32F, CUSPARSE_ORDER_ROW);
  const cusparseSpMatDescr_t entries = m.by_entries();
  size_t bytes = 0;
  cusparseSparseToDense_bufferSize(handle, entries, whole, CUSPARSE_SPARSETODENSE_ALG_DEFAULT, &bytes);
  void* space;
  cudaMalloc(&space, bytes - lacks);
  cusparseSparseToDense(handle, entries, whole, CUSPARSE_SPARSETODENSE_ALG_DEFAULT, space);
  cusparseSpMatDescr_t back;
  int* const cols = device(std::vector<int>(6));
  cusparseCreateCsr(&back, 3, 3, 0, device(std::vector<int>(4)), cols, device(std::vector<float>(6)),
                    CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F);
  if (counts) cusparseDenseToSparse_analysis(handle, whole, back, CUSPARSE_DENSETOSPARSE_ALG_DEFAULT, space);
  cusparseDenseToSparse_convert(handle, whole, back, CUSPARSE_DENSETOSPARSE_ALG_DEFAULT, space);
  int got[6] = {};
  cudaMemcpy(got, cols, sizeof got, cudaMemcpyDeviceToHost);
  return got[0] == 0 && got[2] == 1 && got[5] == 2;
}

}  // namespace

int main(int argc, char** argv) {
  std::string breaks;
  for (int i = 1; i < argc; ++i) breaks += (i > 1 ? " " : "") + std::string(argv[i]);
  const auto does = [&](const char* what) { return breaks.find(what) != std::string::npos; };
  cusparseHandle_t handle;
  cusparseCreate(&handle);
  Triangle m;
  if (does("columns")) m.rows = {0, 1, 2, 1, 2, 2}, m.cols = {0, 0, 0, 1, 1, 2};
  if (does("base")) m.base = 1;
  if (does("short")) m.offsets = {0, 1, 3, 5};
  if (does("falling")) m.offsets = {0, 3, 1, 6};
  if (does("outside")) m.rows[5] = 3;
  if (does("aligned")) m.behind = 2;
  if (does("twice")) m.cols[5] = 1;
  bool right = true;
  if (does("spmm")) {
    right = matrix_is_right(handle, m.by_entries());
  } else if (does("coo2csr")) {
    right = offsets_are_right(handle, m);
  } else if (does("conversion")) {
    right = conversions_are_right(handle, m, !does("uncounted"), does("space") ? 8 : 0);
  } else if (does("csr") || breaks.empty()) {
    const std::string of_call = breaks.substr(0, breaks.find(' '));
    right = Multiplication{handle, m.by_rows(), of_call}.is_right();
  }
  if (does("spmv") || breaks.empty()) right = right && Multiplication{handle, m.by_entries(), ""}.is_right();
  if (breaks.empty())
    right = right && matrix_is_right(handle, m.by_entries()) && offsets_are_right(handle, m) &&
            conversions_are_right(handle, m, true);
  cusparseDestroy(handle);
  std::printf("products are %s\n", right ? "right" : "wrong");
  return right ? 0 : 1;
}
