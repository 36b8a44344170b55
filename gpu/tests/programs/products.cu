// cuBLAS and cuBLASLt from host code, beside loops of its own. With an argument another stream writes A while the product reads it.
#include <cublasLt.h>
#include <cublas_v2.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cmath>
#include <cstdio>
#include <vector>

__global__ void fill(float* a, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[i] = static_cast<float>(i % 7) - 3;
}

namespace {

constexpr int kM = 5, kN = 4, kK = 6, kLd = 8;
using Matrix = std::vector<float>;

float entry(const Matrix& x, int i, int j, bool transposed) {
  return x[transposed ? i * kLd + j : j * kLd + i];
}

Matrix wanted(const Matrix& a, bool ta, const Matrix& b, bool tb, const Matrix& c, float alpha, float beta) {
  Matrix out = c;
  for (int j = 0; j < kN; ++j) {
    for (int i = 0; i < kM; ++i) {
      float sum = 0;
      for (int l = 0; l < kK; ++l) sum += entry(a, i, l, ta) * entry(b, l, j, tb);
      out[j * kLd + i] = alpha * sum + beta * c[j * kLd + i];
    }
  }
  return out;
}

int differences(const Matrix& got, const Matrix& want, const char* what) {
  int bad = 0;
  for (std::size_t i = 0; i < want.size(); ++i) bad += got[i] != want[i];
  if (bad > 0) std::printf("%s: %d of %zu numbers differ\n", what, bad, want.size());
  return bad;
}

struct Device {
  float* p;
  explicit Device(const Matrix& x) {
    cudaMalloc(&p, x.size() * sizeof(float));
    cudaMemcpy(p, x.data(), x.size() * sizeof(float), cudaMemcpyHostToDevice);
  }
  ~Device() { cudaFree(p); }
  Matrix back(std::size_t n) const {
    Matrix x(n);
    cudaMemcpy(x.data(), p, n * sizeof(float), cudaMemcpyDeviceToHost);
    return x;
  }
};

Matrix numbers(int first) {
  Matrix x(kLd * kLd);
  for (std::size_t i = 0; i < x.size(); ++i)
    x[i] = static_cast<float>((first + 5 * static_cast<int>(i)) % 11) - 5;
  return x;
}

int products(cublasHandle_t h) {
  const Matrix a = numbers(1), b = numbers(2), c = numbers(3);
  const float alpha = 2, beta = -1;
  int bad = 0;
  for (const bool ta : {false, true}) {
    for (const bool tb : {false, true}) {
      const Device da(a), db(b), dc(c);
      const auto opa = ta ? CUBLAS_OP_T : CUBLAS_OP_N, opb = tb ? CUBLAS_OP_T : CUBLAS_OP_N;
      if (cublasSgemm(h, opa, opb, kM, kN, kK, &alpha, da.p, kLd, db.p, kLd, &beta, dc.p, kLd) !=
          CUBLAS_STATUS_SUCCESS)
        return 1;
      bad += differences(dc.back(c.size()), wanted(a, ta, b, tb, c, alpha, beta), "cublasSgemm");
    }
  }
  return bad;
}

int vectors(cublasHandle_t h) {
  const Matrix x = numbers(1), y = numbers(4);
  const Device dx(x), dy(y);
  const float alpha = 3, beta = 2;
  float dot = 0, want_dot = 0;
  int largest = 0, bad = 0;
  Matrix want = y;
  for (int i = 0; i < 8; ++i) want_dot += x[i] * y[2 * i], want[2 * i] += 3 * x[i];
  cublasSdot(h, 8, dx.p, 1, dy.p, 2, &dot);
  float same = 0;
  cublasDotEx(h, 8, dx.p, CUDA_R_32F, 1, dy.p, CUDA_R_32F, 2, &same, CUDA_R_32F, CUDA_R_32F);
  bad += same != dot ? 1 : 0;
  cublasSaxpy(h, 8, &alpha, dx.p, 1, dy.p, 2);
  cublasIsamax(h, 8, dx.p, 1, &largest);
  int first = 0;
  for (int i = 1; i < 8; ++i) first = std::fabs(x[i]) > std::fabs(x[first]) ? i : first;
  bad += differences(dy.back(y.size()), want, "cublasSaxpy");
  if (dot != want_dot || largest != first + 1) ++bad, std::printf("cublasSdot %g for %g\n", dot, want_dot);
  const Device da(numbers(2)), dz(y);
  Matrix product = y;
  for (int i = 0; i < kM; ++i) {
    float sum = 0;
    for (int j = 0; j < kN; ++j) sum += numbers(2)[j * kLd + i] * x[j];
    product[2 * i] = alpha * sum + beta * y[2 * i];
  }
  cublasSgemv(h, CUBLAS_OP_N, kM, kN, &alpha, da.p, kLd, dx.p, 1, &beta, dz.p, 2);
  return bad + differences(dz.back(y.size()), product, "cublasSgemv");
}

// C = 2 A^T - 3 B; and op(A) X = B or X op(A) = B undone by the product of op(A), a triangle of small numbers with ones as its diagonal.
int sums_and_solves(cublasHandle_t h) {
  const Matrix a = numbers(1), b = numbers(2), x = numbers(3);
  const Device da(a), db(b), dc(b);
  const float two = 2, minus_three = -3, half = 0.5f;
  cublasSgeam(h, CUBLAS_OP_T, CUBLAS_OP_N, kM, kN, &two, da.p, kLd, &minus_three, db.p, kLd, dc.p, kLd);
  Matrix want = b;
  for (int j = 0; j < kN; ++j)
    for (int i = 0; i < kM; ++i) want[j * kLd + i] = 2 * entry(a, i, j, true) - 3 * entry(b, i, j, false);
  int bad = differences(dc.back(b.size()), want, "cublasSgeam");
  for (int way = 0; way < 8; ++way) {
    const bool left = (way & 1) != 0, upper = (way & 2) != 0, flipped = (way & 4) != 0;
    const int order = left ? kM : kN;
    const auto of_a = [&](int i, int j) {  // of op(A)
      const int row = flipped ? j : i, col = flipped ? i : j;
      return i == j ? 1 : (upper ? row < col : row > col) ? a[col * kLd + row] : 0;
    };
    Matrix from = x;
    for (int j = 0; j < kN; ++j) {
      for (int i = 0; i < kM; ++i) {
        float sum = 0;
        for (int l = 0; l < order; ++l)
          sum += left ? of_a(i, l) * x[j * kLd + l] : x[l * kLd + i] * of_a(l, j);
        from[j * kLd + i] = 2 * sum;
      }
    }
    const Device dx(from);
    cublasStrsm(h, left ? CUBLAS_SIDE_LEFT : CUBLAS_SIDE_RIGHT,
                upper ? CUBLAS_FILL_MODE_UPPER : CUBLAS_FILL_MODE_LOWER, flipped ? CUBLAS_OP_T : CUBLAS_OP_N,
                CUBLAS_DIAG_UNIT, kM, kN, &half, da.p, kLd, dx.p, kLd);
    bad += differences(dx.back(x.size()), x, "cublasStrsm");
  }
  return bad;
}

int halves(cublasHandle_t h) {
  __half *a, *b;
  cudaMallocManaged(&a, 4 * sizeof *a);
  cudaMallocManaged(&b, 4 * sizeof *b);
  for (int i = 0; i < 4; ++i)
    a[i] = __float2half(0.5f * static_cast<float>(i)), b[i] = __float2half(i == 0 || i == 3 ? 1.0f : 0.0f);
  const Matrix c(4, 7.0f);
  const Device dc(c);
  const float alpha = 1, beta = 0;
  if (cublasGemmEx(h, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 2, &alpha, a, CUDA_R_16F, 2, b, CUDA_R_16F, 2, &beta,
                   dc.p, CUDA_R_32F, 2, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT) != CUBLAS_STATUS_SUCCESS)
    return 1;
  return differences(dc.back(4), {0, 0.5f, 1, 1.5f}, "cublasGemmEx");
}

// Two products of half precision, by a list of matrices: in half as a whole, and with sums in fp32.
int half_batches(cublasHandle_t h) {
  __half* m;
  const __half** lists;
  __half* host_lists[6];
  cudaMallocManaged(&m, 6 * 4 * sizeof(__half));
  cudaMallocManaged(&lists, 6 * sizeof(__half*));
  for (int i = 0; i < 24; ++i) m[i] = __float2half(static_cast<float>(i % 5 - 2));
  for (int i = 0; i < 6; ++i) lists[i] = host_lists[i] = m + 4 * i;
  int bad = 0;
  for (const bool in_half : {true, false}) {
    const __half one = __float2half(1.0f), none = __float2half(0.0f);
    const float alpha = 1, beta = 0;
    const auto s = in_half ? cublasHgemmBatched(h, CUBLAS_OP_N, CUBLAS_OP_T, 2, 2, 2, &one, lists, 2,
                                                lists + 2, 2, &none, const_cast<__half**>(lists + 4), 2, 2)
                           : cublasGemmBatchedEx(h, CUBLAS_OP_N, CUBLAS_OP_T, 2, 2, 2, &alpha,
                                                 reinterpret_cast<const void**>(lists), CUDA_R_16F, 2,
                                                 reinterpret_cast<const void**>(lists + 2), CUDA_R_16F, 2,
                                                 &beta, (void**)(lists + 4), CUDA_R_16F, 2, 2,
                                                 CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
    cudaDeviceSynchronize();
    for (int i = 0; i < 8; ++i) {
      const __half *a = host_lists[i / 4], *b = host_lists[2 + i / 4], *c = host_lists[4 + i / 4];
      const int row = i % 2, col = i / 2 % 2;
      const float sum =
          __half2float(a[row]) * __half2float(b[col]) + __half2float(a[2 + row]) * __half2float(b[2 + col]);
      bad += s != CUBLAS_STATUS_SUCCESS || __half2float(c[2 * col + row]) != sum;
    }
    for (int i = 16; i < 24; ++i) m[i] = __float2half(99.0f);
  }
  if (bad > 0) std::printf("batches of half precision: %d numbers differ\n", bad);
  return bad;
}

int with_bias() {
  const Matrix a = numbers(1), b = numbers(2), c = numbers(3), bias = numbers(6);
  const Device da(a), db(b), dc(c), dbias(bias);
  const float alpha = 1, beta = 0;
  cublasLtHandle_t h;
  cublasLtMatmulDescOpaque_t own;  // the program's own, as the next two
  cublasLtMatmulDesc_t desc = &own;
  cublasLtMatrixLayoutOpaque_t own_a;
  cublasLtMatrixLayout_t la = &own_a, lb, lc;
  cublasLtMatmulPreferenceOpaque_t preference;
  cublasLtCreate(&h);
  cublasLtMatmulDescInit(desc, CUBLAS_COMPUTE_32F, CUDA_R_32F);
  cublasLtMatmulPreferenceInit(&preference);
  const cublasOperation_t transposed = CUBLAS_OP_T;
  const cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_RELU_BIAS;
  cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_TRANSA, &transposed, sizeof transposed);
  cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, sizeof epilogue);
  cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &dbias.p, sizeof dbias.p);
  cublasLtMatrixLayoutInit(la, CUDA_R_32F, kK, kM, kLd);
  cublasLtMatrixLayoutCreate(&lb, CUDA_R_32F, kK, kN, kLd);
  cublasLtMatrixLayoutCreate(&lc, CUDA_R_32F, kM, kN, kLd);
  if (cublasLtMatmul(h, desc, &alpha, da.p, la, db.p, lb, &beta, dc.p, lc, dc.p, lc, nullptr, nullptr, 0,
                     nullptr) != CUBLAS_STATUS_SUCCESS)
    return 1;
  Matrix want = wanted(a, true, b, false, c, 1, 0);
  for (int j = 0; j < kN; ++j) {
    for (int i = 0; i < kM; ++i) want[j * kLd + i] = std::fmax(want[j * kLd + i] + bias[i], 0.0f);
  }
  return differences(dc.back(c.size()), want, "cublasLtMatmul");
}

}  // namespace

int main(int argc, char**) {
  cublasHandle_t h;
  if (cublasCreate(&h) != CUBLAS_STATUS_SUCCESS) return 3;
  int bad = products(h) + vectors(h) + halves(h) + sums_and_solves(h) + half_batches(h) + with_bias();
  cudaStream_t other;
  cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
  const Device a(numbers(1)), b(numbers(2)), c(numbers(3));
  const float one = 1, none = 0;
  // B is stored as kN rows, of which its leading dimension has fewer: refused, and told on stderr.
  if (cublasSgemm(h, CUBLAS_OP_N, CUBLAS_OP_T, kM, kN, kK, &one, a.p, kLd, b.p, kN - 1, &none, c.p, kLd) !=
      CUBLAS_STATUS_INVALID_VALUE)
    ++bad;
  cublasSgemm(h, CUBLAS_OP_N, CUBLAS_OP_N, kM, kN, kK, &one, a.p, kLd, b.p, kLd, &none, c.p, kLd);
  if (argc == 1) cudaDeviceSynchronize();
  fill<<<1, 32, 0, other>>>(a.p, 20);
  cudaDeviceSynchronize();
  cublasDestroy(h);
  return bad == 0 ? 0 : 2;
}
