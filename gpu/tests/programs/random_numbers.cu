// cuRAND's host calls give the numbers that curand_kernel.h's states give: XORWOW's 4096 in turn, of Philox' 65536 four each in turn, as the
// toolkit's own library does. "others" asks for a generator that the executor does not have.
#include <curand.h>
#include <curand_kernel.h>
#include <dlfcn.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <vector>

__global__ void doubled(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 2 * in[i];
}
// The number of each place, by its own state.
__global__ void xorwow(const unsigned* places, unsigned* out, float* uniform, double* uniforms, int n) {
  const int i = threadIdx.x;
  if (i >= n) return;
  curandState state;
  curand_init(41, places[i] % 4096, places[i] / 4096, &state);
  curandState again = state;
  out[i] = curand(&state);
  uniform[i] = curand_uniform(&again);
  curand_init(41, places[i] % 4096, places[i] / 4096 * 2, &state);
  uniforms[i] = curand_uniform_double(&state);
}
__global__ void philox(unsigned* out, unsigned first, int n) {
  for (int i = 0; i < n; ++i) {
    const unsigned place = first + i, quad = place / 4;
    curandStatePhilox4_32_10_t state;
    curand_init(41, quad % 65536, quad / 65536 * 4, &state);
    for (unsigned word = 0; word <= place % 4; ++word) out[i] = curand(&state);
  }
}

namespace {

constexpr int kCount = 20000;
constexpr unsigned kPlaces[] = {0, 1, 31, 4095, 4096, 8191, 12345, kCount - 1};
constexpr int kPlaceCount = sizeof kPlaces / sizeof kPlaces[0];

template <class T>
T* device(int n) {
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
curandGenerator_t generator(curandRngType_t type) {
  curandGenerator_t g;
  if (curandCreateGenerator(&g, type) != CURAND_STATUS_SUCCESS) return nullptr;
  curandSetPseudoRandomGeneratorSeed(g, 41);
  return g;
}

bool xorwow_is_right() {
  unsigned *places = device<unsigned>(kPlaceCount), *words = device<unsigned>(kCount),
           *wanted = device<unsigned>(kPlaceCount);
  float *uniform = device<float>(kCount), *want_uniform = device<float>(kPlaceCount);
  double *uniforms = device<double>(kCount), *want_uniforms = device<double>(kPlaceCount);
  cudaMemcpy(places, kPlaces, sizeof kPlaces, cudaMemcpyHostToDevice);
  curandGenerator_t g = generator(CURAND_RNG_PSEUDO_DEFAULT);
  curandGenerate(g, words, kCount);
  curandSetPseudoRandomGeneratorSeed(g, 41);
  curandGenerateUniform(g, uniform, 4097);  // in two calls, and with an offset
  curandSetGeneratorOffset(g, 4097);
  curandGenerateUniform(g, uniform + 4097, kCount - 4097);
  curandSetGeneratorOffset(g, 0);
  curandGenerateUniformDouble(g, uniforms, kCount);
  curandDestroyGenerator(g);
  xorwow<<<1, 32>>>(places, wanted, want_uniform, want_uniforms, kPlaceCount);
  const auto got = fetched(words, kCount), want = fetched(wanted, kPlaceCount);
  const auto got_uniform = fetched(uniform, kCount), want_u = fetched(want_uniform, kPlaceCount);
  const auto got_uniforms = fetched(uniforms, kCount), want_d = fetched(want_uniforms, kPlaceCount);
  for (int i = 0; i < kPlaceCount; ++i) {
    const unsigned at = kPlaces[i];
    if (got[at] != want[i] || got_uniform[at] != want_u[i] || got_uniforms[at] != want_d[i]) {
      std::printf("xorwow %u: %u, %g, %g, want %u, %g, %g\n", at, got[at], got_uniform[at], got_uniforms[at],
                  want[i], want_u[i], want_d[i]);
      return false;
    }
  }
  return true;
}

bool philox_is_right() {
  constexpr int kFew = 50;
  unsigned *words = device<unsigned>(kFew), *wanted = device<unsigned>(kFew);
  curandGenerator_t g = generator(CURAND_RNG_PSEUDO_PHILOX4_32_10);
  for (const unsigned first : {0u, 3u, 4 * 65536u - 20}) {
    curandSetGeneratorOffset(g, first);
    curandGenerate(g, words, kFew);
    philox<<<1, 1>>>(wanted, first, kFew);
    if (fetched(words, kFew) != fetched(wanted, kFew)) return std::printf("philox at %u\n", first), false;
  }
  return true;
}

bool normal_is_right() {
  float* x = device<float>(kCount);
  curandGenerator_t g = generator(CURAND_RNG_PSEUDO_XORWOW);
  if (curandGenerateNormal(g, x, kCount - 1, 0, 1) != CURAND_STATUS_LENGTH_NOT_MULTIPLE) return false;
  curandGenerateNormal(g, x, kCount, 3, 2);
  double sum = 0, squares = 0;
  for (const float v : fetched(x, kCount)) sum += v, squares += (v - 3.0) * (v - 3.0);
  std::printf("mean %g, mean square %g\n", sum / kCount, squares / kCount);
  return std::fabs(sum / kCount - 3) < 0.1 && std::fabs(squares / kCount - 4) < 0.2;
}

// Words, and what is made of one and of two of them, of the generators that are not the library's: the same as its.
template <class T>
bool is_the_librarys(void* library, curandRngType_t type, const char* call,
                     curandStatus_t (*here)(curandGenerator_t, T*, size_t)) {
  const auto found = [&](const char* name) { return dlsym(library, name); };
  curandGenerator_t theirs;
  reinterpret_cast<int (*)(curandGenerator_t*, int)>(found("curandCreateGeneratorHost"))(&theirs, type);
  reinterpret_cast<int (*)(curandGenerator_t, unsigned long long)>(
      found("curandSetPseudoRandomGeneratorSeed"))(theirs, 41);
  std::vector<T> wanted(kCount);
  reinterpret_cast<int (*)(curandGenerator_t, T*, size_t)>(found(call))(theirs, wanted.data(), kCount);
  T* got = device<T>(kCount);
  here(generator(type), got, kCount);
  if (fetched(got, kCount) == wanted) return true;
  std::printf("%s of type %d differs\n", call, type);
  return false;
}
bool own_are_the_librarys(const char* file) {
  void* const library = dlopen(file, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
  if (library == nullptr) return false;
  bool right = true;
  for (const curandRngType_t type : {CURAND_RNG_PSEUDO_XORWOW, CURAND_RNG_PSEUDO_PHILOX4_32_10}) {
    right = is_the_librarys(library, type, "curandGenerate", &curandGenerate) && right;
    right = is_the_librarys(library, type, "curandGenerateUniform", &curandGenerateUniform) && right;
    right =
        is_the_librarys(library, type, "curandGenerateUniformDouble", &curandGenerateUniformDouble) && right;
  }
  return right;
}

void take_early() {
  cudaStream_t one, other;
  cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
  float *in = device<float>(kCount), *out = device<float>(kCount);
  curandGenerator_t g = generator(CURAND_RNG_PSEUDO_DEFAULT);
  curandSetStream(g, one);
  curandGenerateUniform(g, in, kCount);
  doubled<<<kCount / 32, 32, 0, other>>>(in, out, kCount);
  cudaDeviceSynchronize();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::strcmp(argv[1], "early") == 0) return take_early(), 0;
  if (argc > 2) return own_are_the_librarys(argv[2]) ? 0 : 5;
  if (argc > 1) return generator(CURAND_RNG_PSEUDO_MRG32K3A) == nullptr ? 4 : 5;
  return xorwow_is_right() && philox_is_right() && normal_is_right() ? 0 : 3;
}
