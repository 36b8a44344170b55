// The sums of a GPU's tensor cores beside those that the CPU executor computes (reference/arithmetic/tensor_step.hpp), bit by bit. A program of its
// own, built by name for sm_90a:
//
//     nvcc -std=c++17 -O3 -arch=sm_90a -Xcompiler -march=native -I. -o tensor_core_bits tools/lab/tensor_core_bits.cu
//     tensor_core_bits [TILES [SEED [SHOWN]]]
//
// Per instruction, TILES (1000000) tiles are drawn in eight kinds of data; the differing elements of each kind are counted, and the first SHOWN
// (3) of each are printed as one line with all operands in hexadecimal. Exit 0: all bits equal; 1: some differ; 2: usage, or a failed call.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "reference/arithmetic/tensor_step.hpp"

namespace {

using plumb::Format;
using plumb::TensorInstruction;

constexpr int kRowBytes = 32;  // of an operand along K, at most; K is contiguous in both
constexpr int kBatch = 1 << 15;

void must(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "error: %s: %s\n", what, cudaGetErrorString(error));
  std::exit(2);
}

// ---- kernels: tiles of A (m, bytes), B (n, bytes) and sums (m, n) in words of 32 bits, an f16 sum in the lower half ----

struct Tiles {
  const unsigned* a;
  const unsigned* b;
  unsigned* c;
  int count;
};

#define MMA_WORDS(name, words, ...)                                                                     \
  struct name {                                                                                         \
    static constexpr int kWords = words;                                                                \
    static __device__ void multiply(unsigned (&c)[4], const unsigned (&a)[4], const unsigned (&b)[2]) { \
      __VA_ARGS__;                                                                                      \
    }                                                                                                   \
  };
#define MMA_LONG(name, text)                                                                               \
  MMA_WORDS(name, 8,                                                                                       \
            asm volatile("mma.sync.aligned." text " {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};" \
                         : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])                                  \
                         : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1])))
#define MMA_SHORT(name, text)                                                                     \
  MMA_WORDS(name, 4,                                                                              \
            asm volatile("mma.sync.aligned." text " {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};" \
                         : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])                         \
                         : "r"(a[0]), "r"(a[1]), "r"(b[0])))
// f16 sums: two in a register
#define MMA_HALVES(name, words, ...)                                                                  \
  MMA_WORDS(name, words, unsigned x = c[0] | c[1] << 16; unsigned y = c[2] | c[3] << 16; __VA_ARGS__; \
            c[0] = x & 0xffffu; c[1] = x >> 16; c[2] = y & 0xffffu; c[3] = y >> 16)
#define MMA_HALVES_LONG(name, text)                                                             \
  MMA_HALVES(name, 8,                                                                           \
             asm volatile("mma.sync.aligned." text " {%0,%1}, {%2,%3,%4,%5}, {%6,%7}, {%0,%1};" \
                          : "+r"(x), "+r"(y)                                                    \
                          : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1])))
#define MMA_HALVES_SHORT(name, text)                                                   \
  MMA_HALVES(name, 4,                                                                  \
             asm volatile("mma.sync.aligned." text " {%0,%1}, {%2,%3}, {%4}, {%0,%1};" \
                          : "+r"(x), "+r"(y)                                           \
                          : "r"(a[0]), "r"(a[1]), "r"(b[0])))

MMA_LONG(F16, "m16n8k16.row.col.f32.f16.f16.f32")
MMA_SHORT(F16Short, "m16n8k8.row.col.f32.f16.f16.f32")
MMA_HALVES_LONG(F16Halves, "m16n8k16.row.col.f16.f16.f16.f16")
MMA_HALVES_SHORT(F16HalvesShort, "m16n8k8.row.col.f16.f16.f16.f16")
MMA_LONG(Bf16, "m16n8k16.row.col.f32.bf16.bf16.f32")
MMA_SHORT(Bf16Short, "m16n8k8.row.col.f32.bf16.bf16.f32")
MMA_LONG(Tf32, "m16n8k8.row.col.f32.tf32.tf32.f32")
MMA_SHORT(Tf32Short, "m16n8k4.row.col.f32.tf32.tf32.f32")
MMA_LONG(E4m3, "m16n8k32.row.col.f32.e4m3.e4m3.f32")
MMA_LONG(E5m2, "m16n8k32.row.col.f32.e5m2.e5m2.f32")
MMA_LONG(E4m3E5m2, "m16n8k32.row.col.f32.e4m3.e5m2.f32")
MMA_SHORT(E4m3Short, "m16n8k16.row.col.f32.e4m3.e4m3.f32")
MMA_HALVES_LONG(E4m3Halves, "m16n8k32.row.col.f16.e4m3.e4m3.f16")
MMA_HALVES_LONG(E5m2Halves, "m16n8k32.row.col.f16.e5m2.e5m2.f16")

template <class I>
__global__ void multiply_by_warps(Tiles t) {
  const int lane = threadIdx.x % 32, g = lane / 4, q = lane % 4;
  const int warp = static_cast<int>((blockIdx.x * blockDim.x + threadIdx.x) / 32);
  if (warp >= t.count) return;
  const unsigned* const a_of = t.a + static_cast<std::size_t>(warp) * 16 * I::kWords;
  const unsigned* const b_of = t.b + static_cast<std::size_t>(warp) * 8 * I::kWords;
  unsigned* const c_of = t.c + static_cast<std::size_t>(warp) * 16 * 8;
  unsigned a[4] = {}, b[2] = {}, c[4];
  for (int r = 0; r < I::kWords / 2; ++r) a[r] = a_of[(g + r % 2 * 8) * I::kWords + q + r / 2 * 4];
  for (int r = 0; r < I::kWords / 4; ++r) b[r] = b_of[g * I::kWords + q + r * 4];
  for (int i = 0; i < 4; ++i) c[i] = c_of[(g + i / 2 * 8) * 8 + q * 2 + i % 2];
  I::multiply(c, a, b);
  for (int i = 0; i < 4; ++i) c_of[(g + i / 2 * 8) * 8 + q * 2 + i % 2] = c[i];
}

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
#define WGMMA_ASM(...) asm volatile(__VA_ARGS__)
#else
#define WGMMA_ASM(...) (void)0  // not sm_90a, which -arch asks for
#endif
#define WGMMA_FLOAT(name, text, flags)                                                              \
  struct name {                                                                                     \
    static __device__ void multiply(unsigned (&c)[4], unsigned long long a, unsigned long long b) { \
      float f[4];                                                                                   \
      for (int i = 0; i < 4; ++i) f[i] = __uint_as_float(c[i]);                                     \
      WGMMA_ASM(                                                                                    \
          "wgmma.fence.sync.aligned;\n"                                                             \
          "wgmma.mma_async.sync.aligned." text " {%0,%1,%2,%3}, %4, %5, 1, 1, 1" flags              \
          ";\n"                                                                                     \
          "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n"                    \
          : "+f"(f[0]), "+f"(f[1]), "+f"(f[2]), "+f"(f[3])                                          \
          : "l"(a), "l"(b)                                                                          \
          : "memory");                                                                              \
      for (int i = 0; i < 4; ++i) c[i] = __float_as_uint(f[i]);                                     \
    }                                                                                               \
  };
#define WGMMA_HALVES(name, text, flags)                                                             \
  struct name {                                                                                     \
    static __device__ void multiply(unsigned (&c)[4], unsigned long long a, unsigned long long b) { \
      unsigned x = c[0] | c[1] << 16, y = c[2] | c[3] << 16;                                        \
      WGMMA_ASM(                                                                                    \
          "wgmma.fence.sync.aligned;\n"                                                             \
          "wgmma.mma_async.sync.aligned." text " {%0,%1}, %2, %3, 1, 1, 1" flags                    \
          ";\n"                                                                                     \
          "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n"                    \
          : "+r"(x), "+r"(y)                                                                        \
          : "l"(a), "l"(b)                                                                          \
          : "memory");                                                                              \
      c[0] = x & 0xffffu, c[1] = x >> 16, c[2] = y & 0xffffu, c[3] = y >> 16;                       \
    }                                                                                               \
  };
WGMMA_FLOAT(GroupF16, "m64n8k16.f32.f16.f16", ", 0, 0")
WGMMA_HALVES(GroupF16Halves, "m64n8k16.f16.f16.f16", ", 0, 0")
WGMMA_FLOAT(GroupBf16, "m64n8k16.f32.bf16.bf16", ", 0, 0")
WGMMA_FLOAT(GroupTf32, "m64n8k8.f32.tf32.tf32", "")
WGMMA_FLOAT(GroupE4m3, "m64n8k32.f32.e4m3.e4m3", "")
WGMMA_FLOAT(GroupE5m2, "m64n8k32.f32.e5m2.e5m2", "")
WGMMA_FLOAT(GroupE5m2E4m3, "m64n8k32.f32.e5m2.e4m3", "")
WGMMA_HALVES(GroupE4m3Halves, "m64n8k32.f16.e4m3.e4m3", "")
WGMMA_HALVES(GroupE5m2Halves, "m64n8k32.f16.e5m2.e5m2", "")

// Cores of 8 rows by 16 bytes, the two along K one behind the other.
__device__ unsigned long long described(const void* shared) {
  const auto at = static_cast<unsigned long long>(__cvta_generic_to_shared(shared));
  return (at & 0x3ffff) >> 4 | 128ull >> 4 << 16 | 256ull >> 4 << 32;
}

template <class I>
__global__ void multiply_by_groups(Tiles t) {
  __shared__ __align__(128) unsigned a[64 * 8];
  __shared__ __align__(128) unsigned b[8 * 8];
  const int lane = threadIdx.x % 32, g = lane / 4, q = lane % 4, warp = threadIdx.x / 32;
  for (int tile = blockIdx.x; tile < t.count; tile += gridDim.x) {
    const unsigned* const a_of = t.a + static_cast<std::size_t>(tile) * 64 * 8;
    const unsigned* const b_of = t.b + static_cast<std::size_t>(tile) * 8 * 8;
    unsigned* const c_of = t.c + static_cast<std::size_t>(tile) * 64 * 8;
    __syncthreads();
    for (int i = threadIdx.x; i < 64 * 8; i += blockDim.x) {
      const int row = i / 8, word = i % 8, to = (row / 8 * 2 + word / 4) * 32 + row % 8 * 4 + word % 4;
      a[to] = a_of[i];
      if (i < 64) b[to] = b_of[i];
    }
    asm volatile("fence.proxy.async;" ::: "memory");
    __syncthreads();
    unsigned c[4];
    unsigned* place[4];
    for (int i = 0; i < 4; ++i) {
      place[i] = c_of + (warp * 16 + g + i / 2 * 8) * 8 + q * 2 + i % 2;
      c[i] = *place[i];
    }
    I::multiply(c, described(a), described(b));
    for (int i = 0; i < 4; ++i) *place[i] = c[i];
  }
}

template <class T>
struct Stored {
  using type = T;
};
template <>
struct Stored<nvcuda::wmma::precision::tf32> {
  using type = float;
};

template <class T, class C, int K>
__global__ void multiply_by_wmma(Tiles t) {
  using namespace nvcuda::wmma;
  __shared__ C sums[4][256];
  const int tile = static_cast<int>((blockIdx.x * blockDim.x + threadIdx.x) / 32), lane = threadIdx.x % 32;
  if (tile >= t.count) return;
  C* const c = sums[threadIdx.x / 32];
  unsigned* const c_of = t.c + static_cast<std::size_t>(tile) * 256;
  for (int i = lane; i < 256; i += 32) std::memcpy(&c[i], &c_of[i], sizeof(C));
  __syncwarp();
  fragment<matrix_a, 16, 16, K, T, row_major> fa;
  fragment<matrix_b, 16, 16, K, T, col_major> fb;
  fragment<accumulator, 16, 16, K, C> fc;
  using S = typename Stored<T>::type;
  load_matrix_sync(fa, reinterpret_cast<const S*>(t.a + static_cast<std::size_t>(tile) * 128), K);
  load_matrix_sync(fb, reinterpret_cast<const S*>(t.b + static_cast<std::size_t>(tile) * 128), K);
  load_matrix_sync(fc, c, 16, mem_row_major);
  mma_sync(fc, fa, fb, fc);
  store_matrix_sync(c, fc, 16, mem_row_major);
  __syncwarp();
  for (int i = lane; i < 256; i += 32) {
    unsigned word = 0;
    std::memcpy(&word, &c[i], sizeof(C));
    c_of[i] = word;
  }
}

// ---- instructions ----

struct Instruction {
  const char* name;
  TensorInstruction kind;
  Format a, b, sums;
  int rows, columns, bytes;  // bytes along K
  void (*launch)(const Tiles&);
};

template <class I>
void by_warps(const Tiles& t) {
  multiply_by_warps<I><<<(t.count + 3) / 4, 128>>>(t);
}
template <class I>
void by_groups(const Tiles& t) {
  multiply_by_groups<I><<<1056, 128>>>(t);
}
template <class T, class C, int K>
void by_wmma(const Tiles& t) {
  multiply_by_wmma<T, C, K><<<(t.count + 3) / 4, 128>>>(t);
}

constexpr auto kMma = TensorInstruction::mma, kWmma = TensorInstruction::wmma,
               kWgmma = TensorInstruction::wgmma;
constexpr Format kF16 = Format::f16, kBf16 = Format::bf16, kTf32 = Format::tf32, kE4m3 = Format::e4m3,
                 kE5m2 = Format::e5m2, kF32 = Format::f32;
const Instruction kInstructions[] = {
    {"mma.m16n8k16.f32.f16", kMma, kF16, kF16, kF32, 16, 8, 32, by_warps<F16>},
    {"mma.m16n8k8.f32.f16", kMma, kF16, kF16, kF32, 16, 8, 16, by_warps<F16Short>},
    {"mma.m16n8k16.f16.f16", kMma, kF16, kF16, kF16, 16, 8, 32, by_warps<F16Halves>},
    {"mma.m16n8k8.f16.f16", kMma, kF16, kF16, kF16, 16, 8, 16, by_warps<F16HalvesShort>},
    {"mma.m16n8k16.f32.bf16", kMma, kBf16, kBf16, kF32, 16, 8, 32, by_warps<Bf16>},
    {"mma.m16n8k8.f32.bf16", kMma, kBf16, kBf16, kF32, 16, 8, 16, by_warps<Bf16Short>},
    {"mma.m16n8k8.f32.tf32", kMma, kTf32, kTf32, kF32, 16, 8, 32, by_warps<Tf32>},
    {"mma.m16n8k4.f32.tf32", kMma, kTf32, kTf32, kF32, 16, 8, 16, by_warps<Tf32Short>},
    {"mma.m16n8k32.f32.e4m3", kMma, kE4m3, kE4m3, kF32, 16, 8, 32, by_warps<E4m3>},
    {"mma.m16n8k32.f32.e5m2", kMma, kE5m2, kE5m2, kF32, 16, 8, 32, by_warps<E5m2>},
    {"mma.m16n8k32.f32.e4m3.e5m2", kMma, kE4m3, kE5m2, kF32, 16, 8, 32, by_warps<E4m3E5m2>},
    {"mma.m16n8k16.f32.e4m3", kMma, kE4m3, kE4m3, kF32, 16, 8, 16, by_warps<E4m3Short>},
    {"mma.m16n8k32.f16.e4m3", kMma, kE4m3, kE4m3, kF16, 16, 8, 32, by_warps<E4m3Halves>},
    {"mma.m16n8k32.f16.e5m2", kMma, kE5m2, kE5m2, kF16, 16, 8, 32, by_warps<E5m2Halves>},
    {"wmma.m16n16k16.f32.f16", kWmma, kF16, kF16, kF32, 16, 16, 32, by_wmma<__half, float, 16>},
    {"wmma.m16n16k16.f16.f16", kWmma, kF16, kF16, kF16, 16, 16, 32, by_wmma<__half, __half, 16>},
    {"wmma.m16n16k16.f32.bf16", kWmma, kBf16, kBf16, kF32, 16, 16, 32, by_wmma<__nv_bfloat16, float, 16>},
    {"wmma.m16n16k8.f32.tf32", kWmma, kTf32, kTf32, kF32, 16, 16, 32,
     by_wmma<nvcuda::wmma::precision::tf32, float, 8>},
    {"wgmma.m64n8k16.f32.f16", kWgmma, kF16, kF16, kF32, 64, 8, 32, by_groups<GroupF16>},
    {"wgmma.m64n8k16.f16.f16", kWgmma, kF16, kF16, kF16, 64, 8, 32, by_groups<GroupF16Halves>},
    {"wgmma.m64n8k16.f32.bf16", kWgmma, kBf16, kBf16, kF32, 64, 8, 32, by_groups<GroupBf16>},
    {"wgmma.m64n8k8.f32.tf32", kWgmma, kTf32, kTf32, kF32, 64, 8, 32, by_groups<GroupTf32>},
    {"wgmma.m64n8k32.f32.e4m3", kWgmma, kE4m3, kE4m3, kF32, 64, 8, 32, by_groups<GroupE4m3>},
    {"wgmma.m64n8k32.f32.e5m2", kWgmma, kE5m2, kE5m2, kF32, 64, 8, 32, by_groups<GroupE5m2>},
    {"wgmma.m64n8k32.f32.e5m2.e4m3", kWgmma, kE5m2, kE4m3, kF32, 64, 8, 32, by_groups<GroupE5m2E4m3>},
    {"wgmma.m64n8k32.f16.e4m3", kWgmma, kE4m3, kE4m3, kF16, 64, 8, 32, by_groups<GroupE4m3Halves>},
    {"wgmma.m64n8k32.f16.e5m2", kWgmma, kE5m2, kE5m2, kF16, 64, 8, 32, by_groups<GroupE5m2Halves>},
};

// ---- data ----

struct Random {
  std::uint64_t state;
  std::uint32_t next() {  // splitmix64
    std::uint64_t z = state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return static_cast<std::uint32_t>((z ^ z >> 31) >> 16);
  }
  double unit() { return next() * 0x1p-32; }
  int below(int n) { return static_cast<int>(unit() * n); }
};

struct Coding {
  int fraction, exponent;  // bits
  bool infinite;
  int width() const { return 1 + fraction + exponent; }
  int bias() const { return (1 << (exponent - 1)) - 1; }
};
Coding coding(Format f) {
  switch (f) {
    case Format::f32:
      return {23, 8, true};
    case Format::tf32:
      return {10, 8, true};
    case Format::bf16:
      return {7, 8, true};
    case Format::e4m3:
      return {3, 4, false};
    case Format::e5m2:
      return {2, 5, true};
    default:
      return {10, 5, true};
  }
}

constexpr const char* kKinds[] = {"positive", "zero-mean", "wide", "cancelling",
                                  "special",  "tiny",      "huge", "any-bits"};
constexpr int kKindCount = 8;

// A finite number of random fraction, sign and an exponent in [low, high], held to the format's.
std::uint32_t number(Random& r, const Coding& c, int low, int high, bool positive) {
  const int last = (1 << c.exponent) - (c.infinite ? 2 : 1);
  const int field = std::min(std::max(low + r.below(high - low + 1) + c.bias(), 0), last);
  std::uint32_t code = static_cast<std::uint32_t>(field) << c.fraction | (r.next() >> (32 - c.fraction));
  if (!c.infinite && code == (1u << (c.fraction + c.exponent)) - 1) --code;
  const std::uint32_t sign = !positive && (r.next() & 1u) != 0 ? 1u << (c.fraction + c.exponent) : 0;
  return code | sign;
}

std::uint32_t special(Random& r, const Coding& c) {
  const std::uint32_t sign = (r.next() & 1u) << (c.fraction + c.exponent);
  const std::uint32_t last = ((1u << c.exponent) - 1) << c.fraction;
  switch (r.below(7)) {
    case 0:
      return sign;
    case 1:
      return sign | last;  // infinity; of e4m3 a number
    case 2:
      return sign | last | (1u + r.next() % ((1u << c.fraction) - 1));  // NaN; of e4m3 mostly a number
    case 3:
      return sign | 1u;
    case 4:
      return sign | ((1u << c.fraction) - 1);
    case 5:
      return sign | 1u << c.fraction;
    default:
      return sign | (last - 1);
  }
}

std::uint32_t draw(Random& r, int kind, const Coding& c, bool of_sum) {
  const int most = c.bias();
  switch (kind) {
    case 0:
      return number(r, c, -6, 0, true);
    case 1:
      return number(r, c, of_sum ? -8 : -5, of_sum ? 2 : 0, false);
    case 2:
      return number(r, c, -std::min(most, 14), std::min(most, 14), false);
    case 3:  // few exponents, much cancellation; the sum of the size of one product
      return of_sum ? number(r, c, -1, 1, false) : number(r, c, -1, 0, false);
    case 4:
      return r.below(of_sum ? 4 : 24) == 0 ? special(r, c) : number(r, c, -3, 3, false);
    case 5: {  // products around the smallest sums
      const bool wide_exponents = c.exponent == 8;
      if (r.below(8) == 0) return special(r, c) & ~(((1u << c.exponent) - 1) << c.fraction);
      if (of_sum)
        return r.below(2) == 0 ? 0u : number(r, c, wide_exponents ? -135 : -most - 4, -most + 2, false);
      return wide_exponents ? number(r, c, -90, -50, false) : number(r, c, -most - 2, -most + 6, false);
    }
    case 6:
      return of_sum ? number(r, c, most - 3, most, false)
                    : number(r, c, c.exponent == 8 ? 56 : most / 2 - 2, c.exponent == 8 ? 64 : most / 2 + 2,
                             false);
    default:
      return (r.next() & ((1u << (c.width() - 1)) - 1)) | (r.next() & 1u) << (c.width() - 1);
  }
}

int bytes_of(Format f) { return plumb::facts(f).bytes; }

// Codes of `count` elements; those of tf32 are fp32 words, whose lower 13 bits are random.
void fill(Random& r, int kind, Format f, int count, unsigned char* to) {
  const Coding c = coding(f);
  for (int i = 0; i < count; ++i) {
    std::uint32_t code = draw(r, kind, c, false);
    if (f == Format::tf32) code = code << 13 | (r.next() & 0x1fffu);
    std::memcpy(to + i * bytes_of(f), &code, static_cast<std::size_t>(bytes_of(f)));
  }
}

std::uint32_t code_at(Format f, const unsigned char* row, int k) {
  std::uint32_t code = 0;
  std::memcpy(&code, row + k * bytes_of(f), static_cast<std::size_t>(bytes_of(f)));
  return code;
}

// ---- comparison ----

struct Findings {
  long long compared[kKindCount] = {}, differ[kKindCount] = {};
  std::vector<std::string> lines[kKindCount];
};

struct Batch {
  std::vector<unsigned char> a, b;
  std::vector<unsigned> before, after;
};

std::uint32_t model(const plumb::TensorCore& core, const Instruction& in, const plumb::TensorTerm* a,
                    const plumb::TensorTerm* b, int depth, std::uint32_t before) {
  const bool half = in.sums == Format::f16;
  const float c = half ? plumb::widen<plumb::Half>(static_cast<unsigned short>(before))
                       : plumb::detail::float_of_bits(before);
  const float sum = plumb::tensor_dot(core, in.sums, a, b, depth, c);
  return half ? plumb::narrow<plumb::Half>(static_cast<double>(sum)) : plumb::detail::bits_of_float(sum);
}

std::string hex_of(Format f, const unsigned char* row, int depth) {
  std::string out;
  char text[16];
  for (int k = 0; k < depth; ++k) {
    std::snprintf(text, sizeof text, "%s%x", k == 0 ? "" : ",", code_at(f, row, k));
    out += text;
  }
  return out;
}

void compare(const Instruction& in, const Batch& batch, int first, int last, int first_tile, int shown,
             Findings& out) {
  const int chip = 90;
  const plumb::TensorCore& core = plumb::tensor_core(chip, in.kind, bytes_of(in.a));
  const int depth = in.bytes / bytes_of(in.a);
  std::vector<plumb::TensorTerm> a(static_cast<std::size_t>(in.rows * depth)),
      b(static_cast<std::size_t>(in.columns * depth));
  const auto split = [&](Format f, const unsigned char* from, int rows, std::vector<plumb::TensorTerm>& to) {
    for (int row = 0; row < rows; ++row) {
      for (int k = 0; k < depth; ++k)
        to[static_cast<std::size_t>(row * depth + plumb::tensor_place(core, k, depth))] =
            plumb::tensor_term(core, f, code_at(f, from + row * in.bytes, k));
    }
  };
  for (int tile = first; tile < last; ++tile) {
    const unsigned char* const a_of = batch.a.data() + static_cast<std::size_t>(tile) * in.rows * in.bytes;
    const unsigned char* const b_of = batch.b.data() + static_cast<std::size_t>(tile) * in.columns * in.bytes;
    const std::size_t at = static_cast<std::size_t>(tile) * in.rows * in.columns;
    split(in.a, a_of, in.rows, a);
    split(in.b, b_of, in.columns, b);
    const int kind = (first_tile + tile) % kKindCount;
    for (int i = 0; i < in.rows * in.columns; ++i) {
      const int row = i / in.columns, column = i % in.columns;
      const std::uint32_t before = batch.before[at + i], gpu = batch.after[at + i];
      const std::uint32_t ours = model(core, in, &a[static_cast<std::size_t>(row * depth)],
                                       &b[static_cast<std::size_t>(column * depth)], depth, before);
      ++out.compared[kind];
      if (ours == gpu) continue;
      ++out.differ[kind];
      if (static_cast<int>(out.lines[kind].size()) >= shown) continue;
      char text[160];
      std::snprintf(text, sizeof text, "diff %s kind=%s c=%x gpu=%x model=%x", in.name, kKinds[kind], before,
                    gpu, ours);
      out.lines[kind].push_back(std::string(text) + " a=" + hex_of(in.a, a_of + row * in.bytes, depth) +
                                " b=" + hex_of(in.b, b_of + column * in.bytes, depth));
    }
  }
}

template <class Work>
void by_threads(int count, const Work& work) {
  const int threads = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  std::vector<std::thread> all;
  for (int t = 0; t < threads; ++t)
    all.emplace_back([&, t] {
      work(t, static_cast<int>(1LL * count * t / threads), static_cast<int>(1LL * count * (t + 1) / threads));
    });
  for (std::thread& t : all) t.join();
}

void draw_batch(const Instruction& in, Batch& batch, int tiles, int first_tile, std::uint64_t seed) {
  batch.a.resize(static_cast<std::size_t>(tiles) * in.rows * in.bytes);
  batch.b.resize(static_cast<std::size_t>(tiles) * in.columns * in.bytes);
  batch.before.resize(static_cast<std::size_t>(tiles) * in.rows * in.columns);
  batch.after.resize(batch.before.size());
  by_threads(tiles, [&](int, int first, int last) {
    for (int tile = first; tile < last; ++tile) {
      Random r{seed * 1000003u + static_cast<std::uint64_t>(first_tile + tile) * 0x100000001b3u};
      const int kind = (first_tile + tile) % kKindCount;
      fill(r, kind, in.a, in.rows * in.bytes / bytes_of(in.a),
           batch.a.data() + static_cast<std::size_t>(tile) * in.rows * in.bytes);
      fill(r, kind, in.b, in.columns * in.bytes / bytes_of(in.b),
           batch.b.data() + static_cast<std::size_t>(tile) * in.columns * in.bytes);
      const std::size_t at = static_cast<std::size_t>(tile) * in.rows * in.columns;
      const bool zeros = tile / kKindCount % 4 == 0;  // the first step of a longer sum
      for (int i = 0; i < in.rows * in.columns; ++i)
        batch.before[at + i] = zeros ? 0 : draw(r, kind, coding(in.sums), true);
    }
  });
}

void on_gpu(const Instruction& in, Batch& batch, int tiles) {
  static unsigned* device[3] = {};
  constexpr std::size_t kBytes[3] = {std::size_t{kBatch} * 64 * kRowBytes,
                                     std::size_t{kBatch} * 16 * kRowBytes, std::size_t{kBatch} * 64 * 8 * 4};
  for (int i = 0; i < 3; ++i) {
    if (device[i] == nullptr) must(cudaMalloc(&device[i], kBytes[i]), "cudaMalloc");
  }
  must(cudaMemcpy(device[0], batch.a.data(), batch.a.size(), cudaMemcpyHostToDevice), "cudaMemcpy of A");
  must(cudaMemcpy(device[1], batch.b.data(), batch.b.size(), cudaMemcpyHostToDevice), "cudaMemcpy of B");
  must(cudaMemcpy(device[2], batch.before.data(), batch.before.size() * 4, cudaMemcpyHostToDevice),
       "cudaMemcpy of C");
  in.launch({device[0], device[1], device[2], tiles});
  must(cudaGetLastError(), in.name);
  must(cudaMemcpy(batch.after.data(), device[2], batch.after.size() * 4, cudaMemcpyDeviceToHost),
       "cudaMemcpy of the sums");
}

bool all_equal(const Instruction& in, int tiles, std::uint64_t seed, int shown) {
  std::vector<Findings> found(std::max(1u, std::thread::hardware_concurrency()));
  Batch batch;
  for (int first_tile = 0; first_tile < tiles; first_tile += kBatch) {
    const int count = std::min(kBatch, tiles - first_tile);
    draw_batch(in, batch, count, first_tile, seed);
    on_gpu(in, batch, count);
    by_threads(count, [&](int t, int first, int last) {
      compare(in, batch, first, last, first_tile, shown, found[static_cast<std::size_t>(t)]);
    });
  }
  long long compared = 0, differ = 0;
  std::string by_kind;
  for (int kind = 0; kind < kKindCount; ++kind) {
    long long of_kind = 0, differ_of_kind = 0;
    for (const Findings& f : found) of_kind += f.compared[kind], differ_of_kind += f.differ[kind];
    compared += of_kind, differ += differ_of_kind;
    if (differ_of_kind > 0)
      by_kind += std::string(" ") + kKinds[kind] + " " + std::to_string(differ_of_kind) + " of " +
                 std::to_string(of_kind) + ";";
  }
  std::printf("%-30s %9d tiles, %11lld elements: %lld differ%s%s\n", in.name, tiles, compared, differ,
              differ > 0 ? ":" : "", by_kind.c_str());
  for (int kind = 0; kind < kKindCount; ++kind) {
    int lines = 0;
    for (const Findings& f : found) {
      for (const std::string& line : f.lines[kind]) {
        if (lines++ < shown) std::printf("%s\n", line.c_str());
      }
    }
  }
  std::fflush(stdout);
  return differ == 0;
}

}  // namespace

int main(int count, char** words) {
  const long tiles = count > 1 ? std::atol(words[1]) : 1000000;
  const long seed = count > 2 ? std::atol(words[2]) : 1;
  const long shown = count > 3 ? std::atol(words[3]) : 3;
  if (count > 4 || tiles <= 0 || tiles > 100000000 || shown < 0) {
    std::fprintf(stderr, "usage: tensor_core_bits [TILES [SEED [SHOWN]]]\n");
    return 2;
  }
  cudaDeviceProp device;
  must(cudaGetDeviceProperties(&device, 0), "cudaGetDeviceProperties");
  std::printf("%s, sm_%d%d; seed %ld\n", device.name, device.major, device.minor, seed);
  bool equal = true;
  for (const Instruction& in : kInstructions)
    equal =
        all_equal(in, static_cast<int>(tiles), static_cast<std::uint64_t>(seed), static_cast<int>(shown)) &&
        equal;
  std::printf("%s\n", equal ? "all bits equal" : "some bits differ");
  return equal ? 0 : 1;
}
