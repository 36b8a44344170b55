// Test kernels that copy, fill and compare any number of bytes: by the C library's functions, by the compiler's own, as structures.
#include <new>

#include "gpu/device/kernel.hpp"
#include "gpu/tests/kernels/simt_kernels.hpp"

namespace {

using plumb::simt_test::Bytes;
using plumb::simt_test::kBytesHeld;

template <int N>
struct Piece {
  unsigned char byte[N];
};

// One such operation of N bytes, or of `some` where N is 0, from byte `at` of `held` on.
template <int N>
__device__ int touch(Bytes how, unsigned char* held, int at, std::size_t some) {
  unsigned char own[kBytesHeld] = {};
  const std::size_t bytes = N > 0 ? N : some;
  int out = 0;
  switch (how) {
    case Bytes::read:
      __builtin_memcpy(own, held + at, bytes);  // <- read
      break;
    case Bytes::written:
      __builtin_memcpy(held + at, own, bytes);  // <- written
      break;
    case Bytes::moved:
      __builtin_memmove(held + at, own, bytes);  // <- moved
      break;
    case Bytes::filled:
      __builtin_memset(held + at, 0, bytes);  // <- filled
      break;
    case Bytes::compared:
      out = __builtin_memcmp(own, held + at, bytes);  // <- compared
      break;
    case Bytes::read_by_function:
      memcpy(own, held + at, bytes);  // <- read by function
      break;
    case Bytes::filled_by_function:
      memset(held + at, 0, bytes);  // <- filled by function
      break;
    case Bytes::compared_by_function:
      out = memcmp(held + at, own, bytes);  // <- compared by function
      break;
    case Bytes::assigned:
      if constexpr (N > 0)
        *reinterpret_cast<Piece<N>*>(held + at) = *reinterpret_cast<Piece<N>*>(own);  // <- assigned
      break;
    case Bytes::placed:
      if constexpr (N > 0) new (held + at) Piece<N>();  // <- placed
      break;
  }
  return out + own[0] + own[bytes - 1];
}

template <int N>
__global__ void bytes_kernel(Bytes how, bool shared, bool filled, unsigned char* global, int* out, int at,
                             int some) {
  __shared__ unsigned char tile[kBytesHeld];
  unsigned char* const held = shared ? tile : global;
  if (filled)
    for (unsigned i = threadIdx.x; i < kBytesHeld; i += blockDim.x)
      held[i] = static_cast<unsigned char>(1 + i);
  __syncthreads();
  if (threadIdx.x == 0) *out = touch<N>(how, held, at, static_cast<std::size_t>(some));
}

template <int N>
bool launched(Bytes how, bool shared, bool filled, unsigned char* global, int* out, int at, int bytes) {
  if (bytes != N) return false;
  plumb::launch(bytes_kernel<N>, 1, 32, 0, nullptr, how, shared, filled, global, out, at, bytes);
  return true;
}

// Five bytes a thread, side by side or one upon the next.
__global__ void five_each_kernel(bool shared, int apart, unsigned char* out) {
  __shared__ unsigned char tile[5 * 32];
  const unsigned char mine[5] = {static_cast<unsigned char>(threadIdx.x), 1, 2, 3, 4};
  unsigned char* const to = (shared ? tile : out) + static_cast<int>(threadIdx.x) * apart;
  __builtin_memcpy(to, mine, sizeof mine);  // <- five each
  __syncthreads();
  if (shared) __builtin_memcpy(out + 5 * threadIdx.x, tile + 5 * threadIdx.x, 5);
}

// What a compiler may reckon when it compiles.
constexpr bool alike(const char* a, const char* b) { return __builtin_memcmp(a, b, 3) == 0; }
static_assert(alike("abc", "abd") == false);

}  // namespace

namespace plumb::simt_test {

void touch_bytes(Bytes how, bool shared, bool filled, unsigned char* global, int* out, int at, int bytes) {
  const auto once = [&](auto... sizes) {
    return (launched<decltype(sizes)::value>(how, shared, filled, global, out, at, bytes) || ...);
  };
  using std::integral_constant;
  if (!once(integral_constant<int, 1>{}, integral_constant<int, 3>{}, integral_constant<int, 4>{},
            integral_constant<int, 5>{}, integral_constant<int, 7>{}, integral_constant<int, 12>{},
            integral_constant<int, 16>{}, integral_constant<int, 33>{}))
    launch(bytes_kernel<0>, 1, 32, 0, nullptr, how, shared, filled, global, out, at, bytes);
}
void five_bytes_each(bool shared, int apart, unsigned char* out) {
  launch(five_each_kernel, 1, 32, 0, nullptr, shared, apart, out);
}

}  // namespace plumb::simt_test
