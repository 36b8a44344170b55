// cuBLAS on the host: plain loops, sums in double. Each call is work in the handle's stream, whose reads and writes the race check sees.
#include "gpu/simt/host/api/blas/cublas.hpp"

#include <cmath>
#include <cstdio>
#include <cstring>
#include <vector>

#include "gpu/simt/host/api/blas/cublas_calls.hpp"
#include "gpu/simt/host/api/runtime/numbers.hpp"
#include "gpu/simt/state.hpp"

struct cublasContext {
  cudaStream_t stream = nullptr;
  cublasPointerMode_t mode = CUBLAS_POINTER_MODE_HOST;
};

namespace plumb::simt {

namespace {

const void* element(const BlasMatrix& matrix, const void* const* list, int number) {
  if (list != nullptr) return list[number];
  const long long first = number * matrix.batch * static_cast<long long>(bytes_of(matrix.type));
  return static_cast<const unsigned char*>(matrix.data) + first;
}

void add_ranges(std::vector<HostRange>& ranges, const void* data, const BlasMatrix& matrix, long long rows,
                long long cols, bool writes) {
  const std::size_t size = bytes_of(matrix.type);
  const auto column = static_cast<std::size_t>(rows) * size;
  if (matrix.stride == rows) return ranges.push_back({data, column * static_cast<std::size_t>(cols), writes});
  for (long long j = 0; j < cols; ++j)
    ranges.push_back(
        {static_cast<const unsigned char*>(data) + static_cast<std::size_t>(j * matrix.stride) * size, column,
         writes});
}

// op(M) as rows of `depth` numbers, so that a product is one of rows.
std::vector<double> rows_of(const void* data, const BlasMatrix& matrix, bool rows_are_columns, long long rows,
                            long long depth) {
  std::vector<double> out(static_cast<std::size_t>(rows * depth));
  for (long long i = 0; i < rows; ++i) {
    for (long long l = 0; l < depth; ++l)
      out[static_cast<std::size_t>(i * depth + l)] =
          load(data, matrix.type, rows_are_columns ? i * matrix.stride + l : l * matrix.stride + i);
  }
  return out;
}

double activated(BlasProduct::Activation activation, double x) {
  if (activation == BlasProduct::Activation::relu) return x < 0 ? 0 : x;
  if (activation == BlasProduct::Activation::gelu)
    return 0.5 * x * (1 + std::tanh(0.79788456080286535588 * (x + 0.044715 * x * x * x)));
  return x;
}

void multiply(const BlasProduct& p, int number, double alpha, double beta) {
  const void* const from = element(p.c, p.d_list, number);
  void* const to = const_cast<void*>(element(p.d, p.d_list, number));
  const std::vector<double> a = rows_of(element(p.a, p.a_list, number), p.a, p.transpose_a, p.m, p.k);
  const std::vector<double> b = rows_of(element(p.b, p.b_list, number), p.b, !p.transpose_b, p.n, p.k);
  for (long long j = 0; j < p.n; ++j) {
    for (long long i = 0; i < p.m; ++i) {
      const double *x = &a[static_cast<std::size_t>(i * p.k)], *y = &b[static_cast<std::size_t>(j * p.k)];
      double sum = 0;
      for (long long l = 0; l < p.k; ++l) sum += x[l] * y[l];
      sum *= alpha;
      if (beta != 0) sum += beta * load(from, p.c.type, j * p.c.stride + i);
      if (p.bias != nullptr) sum += load(p.bias, p.d.type, i);
      store(to, p.d.type, j * p.d.stride + i, activated(p.activation, sum));
    }
  }
}

void run_product(const BlasProduct& p, double alpha, double beta, const void* stream, Here here) {
  std::vector<HostRange> ranges;
  for (int i = 0; i < p.count; ++i) {
    add_ranges(ranges, element(p.a, p.a_list, i), p.a, p.transpose_a ? p.k : p.m, p.transpose_a ? p.m : p.k,
               false);
    add_ranges(ranges, element(p.b, p.b_list, i), p.b, p.transpose_b ? p.n : p.k, p.transpose_b ? p.k : p.n,
               false);
    if (beta != 0) add_ranges(ranges, element(p.c, p.d_list, i), p.c, p.m, p.n, false);
    add_ranges(ranges, element(p.d, p.d_list, i), p.d, p.m, p.n, true);
  }
  if (p.bias != nullptr)
    ranges.push_back({p.bias, static_cast<std::size_t>(p.m) * bytes_of(p.d.type), false});
  if (!touches(p.what, stream, here, ranges)) return;
  for (int i = 0; i < p.count && !current().run.is_stopped; ++i) multiply(p, i, alpha, beta);
}

// Whether a column of the matrix, as it is stored, has that many rows. Where it has not, a program is told, as by cuBLAS: its status
// says no more than that something is wrong.
bool holds_rows(const BlasProduct& p, const char* name, const BlasMatrix& matrix, long long rows, Here here) {
  if (matrix.stride >= rows) return true;
  if (runs_by_itself()) {
    std::fprintf(
        stderr,
        "%s answers CUBLAS_STATUS_INVALID_VALUE: %s has %lld rows, and its leading dimension is %lld\n",
        p.what, name, rows, static_cast<long long>(matrix.stride));
    if (here.line > 0) std::fprintf(stderr, "  at %s:%d\n", here.file, here.line);
  }
  return false;
}

bool fits(const BlasMatrix& matrix) { return matrix.stride > 0 && bytes_of(matrix.type) != 0; }

// How far x(i) lies from the first element: a vector with a negative step begins at its end.
long long place_in(int i, int n, int step) {
  return step >= 0 ? static_cast<long long>(i) * step : static_cast<long long>(i - n + 1) * step;
}

double reduced(const BlasVectors& v) {
  double out = 0, best = 0;
  for (int i = 0; i < v.n; ++i) {
    const double x = load(v.x, v.type, place_in(i, v.n, v.incx));
    if (v.what == Level1::dot) out += x * load(v.y, v.type, place_in(i, v.n, v.incy));
    if (v.what == Level1::nrm2) out += x * x;
    if (v.what == Level1::asum) out += std::fabs(x);
    const bool better = v.what == Level1::iamax ? std::fabs(x) > best : std::fabs(x) < best;
    if ((v.what == Level1::iamax || v.what == Level1::iamin) && (i == 0 || better)) {
      best = std::fabs(x);
      out = i + 1;
    }
  }
  return v.what == Level1::nrm2 ? std::sqrt(out) : out;
}

void run_vectors(const BlasVectors& v, double alpha, const void* stream, Here here) {
  const bool writes_x = v.what == Level1::scal || v.what == Level1::swap;
  const bool writes_y = v.what == Level1::axpy || v.what == Level1::copy || v.what == Level1::swap;
  const std::size_t size = bytes_of(v.type);
  std::vector<HostRange> ranges;
  const auto add = [&](const void* p, int step, bool reads, bool writes) {
    for (int i = 0; i < v.n && p != nullptr; ++i) {
      const void* at =
          static_cast<const unsigned char*>(p) + place_in(i, v.n, step) * static_cast<long long>(size);
      const bool whole = step == 1;
      if (reads) ranges.push_back({at, whole ? size * static_cast<std::size_t>(v.n) : size, false});
      if (writes) ranges.push_back({at, whole ? size * static_cast<std::size_t>(v.n) : size, true});
      if (whole) break;
    }
  };
  add(v.x, v.incx, true, writes_x);
  add(v.y, v.incy, v.what != Level1::copy, writes_y);
  const bool index = v.what == Level1::iamax || v.what == Level1::iamin;
  if (v.out != nullptr) ranges.push_back({v.out, index ? 4 : size, true});
  if (!touches("cuBLAS", stream, here, ranges)) return;
  if (v.out != nullptr) return store(v.out, index ? CUDA_R_32I : v.type, 0, reduced(v));
  for (int i = 0; i < v.n; ++i) {
    const long long at_x = place_in(i, v.n, v.incx), at_y = place_in(i, v.n, v.incy);
    const double x = load(v.x, v.type, at_x), y = v.y != nullptr ? load(v.y, v.type, at_y) : 0;
    if (writes_x) store(const_cast<void*>(v.x), v.type, at_x, v.what == Level1::swap ? y : alpha * x);
    if (writes_y) store(const_cast<void*>(v.y), v.type, at_y, v.what == Level1::axpy ? alpha * x + y : x);
  }
}

}  // namespace

bool touches(const char* what, const void* stream, Here here, const std::vector<HostRange>& ranges) {
  host_ranges(what, const_cast<void*>(stream), here, ranges);
  return !current().run.is_stopped;
}

cublasStatus_t blas_product(const BlasProduct& product, cudaStream_t stream, Here here) {
  const BlasProduct& p = product;
  if (p.m < 0 || p.n < 0 || p.k < 0 || p.count < 0) return CUBLAS_STATUS_INVALID_VALUE;
  if (!fits(p.a) || !fits(p.b) || !fits(p.c) || !fits(p.d) || bytes_of(p.scalar) == 0)
    return CUBLAS_STATUS_NOT_SUPPORTED;
  if (!holds_rows(p, "A", p.a, p.transpose_a ? p.k : p.m, here) ||
      !holds_rows(p, "B", p.b, p.transpose_b ? p.n : p.k, here) || !holds_rows(p, "C", p.d, p.m, here))
    return CUBLAS_STATUS_INVALID_VALUE;
  if (p.m == 0 || p.n == 0 || p.count == 0) return CUBLAS_STATUS_SUCCESS;
  begin_by_itself();
  const auto lock = enter_engine();
  if (is_plain_device(p.alpha)) {  // read when its turn has come
    return status_of(queue(stream, cudaGraphNodeTypeKernel, [p, here](const void* key) {
      run_product(p, load(p.alpha, p.scalar, 0), load(p.beta, p.scalar, 0), key, here);
    }));
  }
  const double alpha = load(p.alpha, p.scalar, 0), beta = load(p.beta, p.scalar, 0);
  return status_of(queue(stream, cudaGraphNodeTypeKernel, [p, alpha, beta, here](const void* key) {
    run_product(p, alpha, beta, key, here);
  }));
}

cublasStatus_t blas_gemm(cublasHandle_t handle, BlasProduct product, Here here) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  return blas_product(product, handle->stream, here);
}

cublasStatus_t blas_vectors(cublasHandle_t handle, const BlasVectors& vectors, Here here) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  begin_by_itself();
  const auto lock = enter_engine();
  const bool later = vectors.alpha != nullptr && is_plain_device(vectors.alpha);
  const double alpha = vectors.alpha == nullptr || later ? 0 : load(vectors.alpha, vectors.type, 0);
  const cudaError_t e = queue(handle->stream, cudaGraphNodeTypeKernel, [=](const void* key) {
    run_vectors(vectors, later ? load(vectors.alpha, vectors.type, 0) : alpha, key, here);
  });
  // A result in the host's memory is waited for.
  const bool waits = vectors.out != nullptr && handle->mode == CUBLAS_POINTER_MODE_HOST;
  return status_of(e == cudaSuccess && waits ? wait_for(handle->stream) : e);
}

}  // namespace plumb::simt

cublasStatus_t cublasCreate(cublasHandle_t* handle) {
  *handle = new cublasContext;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasDestroy(cublasHandle_t handle) {
  delete handle;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  handle->stream = stream;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasGetStream(cublasHandle_t handle, cudaStream_t* stream) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  *stream = handle->stream;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetPointerMode(cublasHandle_t handle, cublasPointerMode_t mode) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  handle->mode = mode;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasGetPointerMode(cublasHandle_t handle, cublasPointerMode_t* mode) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  *mode = handle->mode;
  return CUBLAS_STATUS_SUCCESS;
}
const char* cublasGetStatusName(cublasStatus_t status) {
  switch (status) {
    case CUBLAS_STATUS_SUCCESS:
      return "CUBLAS_STATUS_SUCCESS";
    case CUBLAS_STATUS_NOT_INITIALIZED:
      return "CUBLAS_STATUS_NOT_INITIALIZED";
    case CUBLAS_STATUS_ALLOC_FAILED:
      return "CUBLAS_STATUS_ALLOC_FAILED";
    case CUBLAS_STATUS_INVALID_VALUE:
      return "CUBLAS_STATUS_INVALID_VALUE";
    case CUBLAS_STATUS_EXECUTION_FAILED:
      return "CUBLAS_STATUS_EXECUTION_FAILED";
    case CUBLAS_STATUS_NOT_SUPPORTED:
      return "CUBLAS_STATUS_NOT_SUPPORTED";
    default:
      return "CUBLAS_STATUS_INTERNAL_ERROR";
  }
}
cublasStatus_t cublasSetMatrix(int rows, int cols, int bytes, const void* a, int lda, void* b, int ldb,
                               plumb::simt::Here here) {
  if (rows < 0 || cols < 0 || bytes <= 0 || lda < rows || ldb < rows) return CUBLAS_STATUS_INVALID_VALUE;
  const auto size = static_cast<std::size_t>(bytes);
  return plumb::simt::status_of(cudaMemcpy2D(
      b, static_cast<std::size_t>(ldb) * size, a, static_cast<std::size_t>(lda) * size,
      static_cast<std::size_t>(rows) * size, static_cast<std::size_t>(cols), cudaMemcpyDefault, here));
}
