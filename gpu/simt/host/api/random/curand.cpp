// cuRAND's host calls, computed on the host: XORWOW and Philox, with the numbers of curand_kernel.h. Other generators end the program with
// exit code 3. The declarations are the toolkit's (curand.h), whose types these functions take as what they are: pointers and integers.
// Others are not there, and the linker names them.
#include <cmath>
#include <cstring>
#include <random>

#include "gpu/simt/host/api/random/random_words.hpp"
#include "gpu/simt/host/api/runtime/operations.hpp"
#include "gpu/simt/state.hpp"

namespace plumb::simt {

namespace {

// curandStatus_t, curandRngType_t
constexpr int kSuccess = 0, kNotInitialized = 101, kTypeError = 103, kOutOfRange = 104, kNotMultiple = 105,
              kLaunchFailure = 201;
constexpr int kDefault = 100, kXorwow = 101, kPhilox = 161, kQuasi = 200;

}  // namespace

struct RandomGenerator {
  bool on_host = false;  // of curandCreateGeneratorHost: it writes the host's memory, at once
  cudaStream_t stream = nullptr;
  RandomWords words;
};

namespace {

int create(RandomGenerator** generator, int type, bool on_host, const char* call) {
  if (generator == nullptr) return kOutOfRange;
  RandomGenerator made{on_host, nullptr,
                       RandomWords(type == kPhilox ? WordSource::philox : WordSource::xorwow)};
  if (type != kDefault && type != kXorwow && type != kPhilox) {
    begin_by_itself();
    end_unsupported("a generator of cuRAND other than XORWOW and Philox", {call, 0});
    return kTypeError;
  }
  *generator = new RandomGenerator(std::move(made));
  return kSuccess;
}

// Numbers made now, in the order of the generator's calls, and stored when the stream's turn has come.
template <class T>
int store_numbers(RandomGenerator& g, const char* call, const void* pc, T* to, std::vector<T> numbers) {
  const std::size_t bytes = numbers.size() * sizeof(T);
  if (g.on_host) {
    std::memcpy(to, numbers.data(), bytes);
    return kSuccess;
  }
  begin_by_itself();
  const auto lock = enter_engine();
  auto operation = [=, kept = std::move(numbers)](const void* stream) {
    host_ranges(call, const_cast<void*>(stream), {"", 0}, {{to, bytes, true}}, pc);
    if (!current().run.is_stopped) std::memcpy(to, kept.data(), bytes);
  };
  return queue(g.stream, cudaGraphNodeTypeKernel, std::move(operation)) == cudaSuccess ? kSuccess
                                                                                       : kLaunchFailure;
}

/// words_each: what a number takes at most.
template <class T, class Make>
int generate(RandomGenerator* g, const char* call, const void* pc, T* to, std::size_t count,
             std::uint64_t words_each, Make make) {
  if (g == nullptr) return kNotInitialized;
  if (count == 0) return kSuccess;
  std::vector<T> numbers(count);
  for (T& x : numbers) x = make(g->words.next_lane(1, words_each));
  return store_numbers(*g, call, pc, to, std::move(numbers));
}

// Normal numbers come in pairs (Box and Muller), each of one lane.
template <class T, class Change>
int generate_pairs(RandomGenerator* g, const char* call, const void* pc, T* to, std::size_t count, T mean,
                   T deviation, Change change) {
  if (g == nullptr) return kNotInitialized;
  if (count % 2 != 0) return kNotMultiple;
  if (count == 0) return kSuccess;
  std::vector<T> numbers(count);
  for (std::size_t i = 0; i < count; i += 2) {
    T pair[2];
    normal_pair(g->words.next_lane(2, sizeof(T) / sizeof(std::uint32_t)), pair);
    for (std::size_t k = 0; k < 2; ++k) numbers[i + k] = change(mean + pair[k] * deviation);
  }
  return store_numbers(*g, call, pc, to, std::move(numbers));
}

}  // namespace

}  // namespace plumb::simt

using Generator = plumb::simt::RandomGenerator*;
using plumb::simt::Lane;
#define PLUMB_CALLER __func__, __builtin_return_address(0)

extern "C" {

int curandCreateGenerator(Generator* g, int type) { return plumb::simt::create(g, type, false, __func__); }
int curandCreateGeneratorHost(Generator* g, int type) { return plumb::simt::create(g, type, true, __func__); }
int curandDestroyGenerator(Generator g) {
  delete g;
  return g == nullptr ? plumb::simt::kNotInitialized : plumb::simt::kSuccess;
}
int curandGetVersion(int* version) {
  *version = 10300;
  return plumb::simt::kSuccess;
}
int curandSetStream(Generator g, cudaStream_t stream) {
  if (g == nullptr) return plumb::simt::kNotInitialized;
  g->stream = stream;
  return plumb::simt::kSuccess;
}
int curandSetPseudoRandomGeneratorSeed(Generator g, unsigned long long seed) {
  if (g == nullptr) return plumb::simt::kNotInitialized;
  g->words.set_seed(seed);
  return plumb::simt::kSuccess;
}
int curandSetGeneratorOffset(Generator g, unsigned long long offset) {
  if (g == nullptr) return plumb::simt::kNotInitialized;
  g->words.set_offset(offset);
  return plumb::simt::kSuccess;
}
int curandSetGeneratorOrdering(Generator g, int ordering) {
  if (g == nullptr) return plumb::simt::kNotInitialized;
  return ordering < plumb::simt::kQuasi ? plumb::simt::kSuccess : plumb::simt::kOutOfRange;
}
int curandGenerateSeeds(Generator g) {
  return g == nullptr ? plumb::simt::kNotInitialized : plumb::simt::kSuccess;
}

int curandGenerate(Generator g, unsigned* to, std::size_t count) {
  return plumb::simt::generate(g, PLUMB_CALLER, to, count, 1, [](Lane lane) { return lane.word(); });
}
int curandGenerateUniform(Generator g, float* to, std::size_t count) {
  return plumb::simt::generate(g, PLUMB_CALLER, to, count, 1, &plumb::simt::uniform);
}
int curandGenerateUniformDouble(Generator g, double* to, std::size_t count) {
  return plumb::simt::generate(g, PLUMB_CALLER, to, count, 2, &plumb::simt::uniform_double);
}
int curandGenerateNormal(Generator g, float* to, std::size_t count, float mean, float deviation) {
  return plumb::simt::generate_pairs(g, PLUMB_CALLER, to, count, mean, deviation, [](float x) { return x; });
}
int curandGenerateNormalDouble(Generator g, double* to, std::size_t count, double mean, double deviation) {
  return plumb::simt::generate_pairs(g, PLUMB_CALLER, to, count, mean, deviation, [](double x) { return x; });
}
int curandGenerateLogNormal(Generator g, float* to, std::size_t count, float mean, float deviation) {
  return plumb::simt::generate_pairs(g, PLUMB_CALLER, to, count, mean, deviation,
                                     [](float x) { return std::exp(x); });
}
int curandGenerateLogNormalDouble(Generator g, double* to, std::size_t count, double mean, double deviation) {
  return plumb::simt::generate_pairs(g, PLUMB_CALLER, to, count, mean, deviation,
                                     [](double x) { return std::exp(x); });
}
int curandGeneratePoisson(Generator g, unsigned* to, std::size_t count, double lambda) {
  if (!(lambda > 0)) return plumb::simt::kOutOfRange;
  constexpr std::uint64_t kWords = 4096;  // where lambda is large, the distribution rejects some
  std::poisson_distribution<unsigned> distribution(lambda);
  return plumb::simt::generate(g, PLUMB_CALLER, to, count, kWords,
                               [&](Lane lane) { return distribution(lane); });
}

}  // extern "C"
#undef PLUMB_CALLER
