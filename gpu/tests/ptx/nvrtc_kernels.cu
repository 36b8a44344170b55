// Kernels of the corpus that NVRTC compiles (nvrtc_kernels.py): no header is at hand, as for CuPy's RawKernel.

extern "C" __global__ void axpy(const float* x, float* y, int n, float a) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    y[i] = a * x[i] + y[i];
}

// A sum by shuffles within warps and by shared memory between them.
extern "C" __global__ void total(const float* x, float* o, int n) {
  extern __shared__ float of_warps[];
  float v = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) v += x[i];
  for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffffu, v, d);
  if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = v;  // shared
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int w = 1; w < blockDim.x / 32; ++w) v += of_warps[w];  // shared
    atomicAdd(o, v);
  }
}

extern "C" __global__ void matmul(const float* a, const float* b, float* c, int n) {
  __shared__ float sa[16][16], sb[16][17];
  const int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < n; k += 16) {
    sa[threadIdx.y][threadIdx.x] = a[row * n + k + threadIdx.x];    // shared
    sb[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * n + col];  // shared
    __syncthreads();
    for (int j = 0; j < 16; ++j) sum += sa[threadIdx.y][j] * sb[j][threadIdx.x];  // shared
    __syncthreads();
  }
  c[row * n + col] = sum;
}

extern "C" __global__ void histogram(const int* x, int* o, int n) {
  __shared__ int bins[64];
  if (threadIdx.x < 64) bins[threadIdx.x] = 0;  // shared
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(&bins[x[i]], 1);  // shared
  __syncthreads();
  if (threadIdx.x < 64) atomicAdd(&o[threadIdx.x], bins[threadIdx.x]);  // shared
}

extern "C" __global__ void scan(const float* x, float* o) {
  __shared__ float s[2][128];
  const int t = threadIdx.x;
  int from = 0;
  s[0][t] = x[blockIdx.x * 128 + t];  // shared
  for (int d = 1; d < 128; d *= 2) {
    __syncthreads();
    s[1 - from][t] = s[from][t] + (t >= d ? s[from][t - d] : 0.0f);  // shared
    from = 1 - from;
  }
  o[blockIdx.x * 128 + t] = s[from][t];  // shared
}

// The block that leaves last adds what all have written.
extern "C" __global__ void last_block(const float* x, float* part, float* o, int* left) {
  __shared__ float s[64];
  __shared__ bool is_last;
  s[threadIdx.x] = x[blockIdx.x * 64 + threadIdx.x];  // shared
  for (int d = 32; d > 0; d /= 2) {
    __syncthreads();
    if (threadIdx.x < d) s[threadIdx.x] += s[threadIdx.x + d];  // shared
  }
  if (threadIdx.x == 0) {
    part[blockIdx.x] = s[0];  // shared
    __threadfence();
    is_last = atomicAdd(left, 1) == gridDim.x - 1;  // shared
  }
  __syncthreads();
  if (is_last) {  // shared
    __threadfence();
    if (threadIdx.x < gridDim.x) atomicAdd(o, part[threadIdx.x]);
  }
}

__device__ void copy16(unsigned to, const float* from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");  // shared
}

// Rows come by asynchronous copies, one ahead.
extern "C" __global__ void copied_ahead(const float* x, float* o) {
  __shared__ __align__(16) float rows[2][64];
  const int t = threadIdx.x;
  const auto bring = [&](int row) {
    const unsigned to = (unsigned)__cvta_generic_to_shared(&rows[row % 2][4 * t]);
    if (t < 16) copy16(to, x + row * 64 + 4 * t);
    asm volatile("cp.async.commit_group;" ::: "memory");
  };
  bring(0);
  bring(1);
  for (int row = 0; row < 4; ++row) {
    if (row + 1 < 4)
      asm volatile("cp.async.wait_group 1;" ::: "memory");
    else
      asm volatile("cp.async.wait_group 0;" ::: "memory");
    __syncthreads();
    o[row * 64 + t] = rows[row % 2][63 - t];  // shared
    if (row + 2 < 4) {
      __syncthreads();
      bring(row + 2);
    }
  }
}
