#include "verify/bench/host_roofs.hpp"

#include <omp.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <memory>
#include <new>
#include <vector>

#include "reference/core/dtype.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace plumb {
namespace {

// Independent chains: enough to cover a latency of 4 or 5 at two a cycle.
constexpr int kChains = 12;

// Each function does `steps` fma on every chain, and returns something that depends on all of them.
template <class T>
double chain_baseline(std::int64_t steps, double a, double b) {
  constexpr int kLanes = 16 / sizeof(T);
  T x[kChains * kLanes];
  for (int k = 0; k < kChains * kLanes; ++k) x[k] = static_cast<T>(k);
  for (std::int64_t s = 0; s < steps; ++s) {
    for (T& v : x) v = v * static_cast<T>(a) + static_cast<T>(b);
  }
  double sum = 0;
  for (const T v : x) sum += v;
  return sum;
}

std::uint64_t read_baseline(const std::uint64_t* p, std::int64_t words) {
  std::uint64_t sum[8] = {};
  for (std::int64_t i = 0; i + 8 <= words; i += 8) {
    for (int k = 0; k < 8; ++k) sum[k] += p[i + k];
  }
  return sum[0] + sum[1] + sum[2] + sum[3] + sum[4] + sum[5] + sum[6] + sum[7];
}

#if defined(__x86_64__)
__attribute__((target("avx512f"))) double chain_avx512_f32(std::int64_t steps, double a, double b) {
  const __m512 va = _mm512_set1_ps(static_cast<float>(a)), vb = _mm512_set1_ps(static_cast<float>(b));
  __m512 x[kChains];
  for (int k = 0; k < kChains; ++k) x[k] = _mm512_set1_ps(static_cast<float>(k));
  for (std::int64_t s = 0; s < steps; ++s) {
#pragma GCC unroll 12
    for (int k = 0; k < kChains; ++k) x[k] = _mm512_fmadd_ps(x[k], va, vb);
  }
  float out[16], sum = 0;
  for (int k = 1; k < kChains; ++k) x[0] = _mm512_add_ps(x[0], x[k]);
  _mm512_storeu_ps(out, x[0]);
  for (const float v : out) sum += v;
  return sum;
}
__attribute__((target("avx512f"))) double chain_avx512_f64(std::int64_t steps, double a, double b) {
  const __m512d va = _mm512_set1_pd(a), vb = _mm512_set1_pd(b);
  __m512d x[kChains];
  for (int k = 0; k < kChains; ++k) x[k] = _mm512_set1_pd(static_cast<double>(k));
  for (std::int64_t s = 0; s < steps; ++s) {
#pragma GCC unroll 12
    for (int k = 0; k < kChains; ++k) x[k] = _mm512_fmadd_pd(x[k], va, vb);
  }
  double out[8], sum = 0;
  for (int k = 1; k < kChains; ++k) x[0] = _mm512_add_pd(x[0], x[k]);
  _mm512_storeu_pd(out, x[0]);
  for (const double v : out) sum += v;
  return sum;
}
__attribute__((target("avx2,fma"))) double chain_avx2_f32(std::int64_t steps, double a, double b) {
  const __m256 va = _mm256_set1_ps(static_cast<float>(a)), vb = _mm256_set1_ps(static_cast<float>(b));
  __m256 x[kChains];
  for (int k = 0; k < kChains; ++k) x[k] = _mm256_set1_ps(static_cast<float>(k));
  for (std::int64_t s = 0; s < steps; ++s) {
#pragma GCC unroll 12
    for (int k = 0; k < kChains; ++k) x[k] = _mm256_fmadd_ps(x[k], va, vb);
  }
  float out[8], sum = 0;
  for (int k = 1; k < kChains; ++k) x[0] = _mm256_add_ps(x[0], x[k]);
  _mm256_storeu_ps(out, x[0]);
  for (const float v : out) sum += v;
  return sum;
}
__attribute__((target("avx2,fma"))) double chain_avx2_f64(std::int64_t steps, double a, double b) {
  const __m256d va = _mm256_set1_pd(a), vb = _mm256_set1_pd(b);
  __m256d x[kChains];
  for (int k = 0; k < kChains; ++k) x[k] = _mm256_set1_pd(static_cast<double>(k));
  for (std::int64_t s = 0; s < steps; ++s) {
#pragma GCC unroll 12
    for (int k = 0; k < kChains; ++k) x[k] = _mm256_fmadd_pd(x[k], va, vb);
  }
  double out[4], sum = 0;
  for (int k = 1; k < kChains; ++k) x[0] = _mm256_add_pd(x[0], x[k]);
  _mm256_storeu_pd(out, x[0]);
  for (const double v : out) sum += v;
  return sum;
}
__attribute__((target("avx512f"))) std::uint64_t read_avx512(const std::uint64_t* p, std::int64_t words) {
  __m512i sum[8];
  for (__m512i& v : sum) v = _mm512_setzero_si512();
  for (std::int64_t i = 0; i + 64 <= words; i += 64) {
#pragma GCC unroll 8
    for (int k = 0; k < 8; ++k) sum[k] = _mm512_xor_si512(sum[k], _mm512_load_si512(p + i + 8 * k));
  }
  for (int k = 1; k < 8; ++k) sum[0] = _mm512_xor_si512(sum[0], sum[k]);
  std::uint64_t out[8], all = 0;
  _mm512_storeu_si512(out, sum[0]);
  for (const std::uint64_t v : out) all ^= v;
  return all;
}
__attribute__((target("avx2"))) std::uint64_t read_avx2(const std::uint64_t* p, std::int64_t words) {
  __m256i sum[8];
  for (__m256i& v : sum) v = _mm256_setzero_si256();
  for (std::int64_t i = 0; i + 32 <= words; i += 32) {
#pragma GCC unroll 8
    for (int k = 0; k < 8; ++k) {
      sum[k] = _mm256_xor_si256(sum[k], _mm256_load_si256(reinterpret_cast<const __m256i*>(p + i + 4 * k)));
    }
  }
  for (int k = 1; k < 8; ++k) sum[0] = _mm256_xor_si256(sum[0], sum[k]);
  std::uint64_t out[4], all = 0;
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), sum[0]);
  for (const std::uint64_t v : out) all ^= v;
  return all;
}
#endif

enum class Unit { baseline, avx2, avx512 };

Unit unit() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) return Unit::avx512;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return Unit::avx2;
#endif
  return Unit::baseline;
}

std::uint64_t read(const std::uint64_t* p, std::int64_t words) {
#if defined(__x86_64__)
  if (unit() == Unit::avx512) return read_avx512(p, words);
  if (unit() == Unit::avx2) return read_avx2(p, words);
#endif
  return read_baseline(p, words);
}

// Results are stored here: the compiler may remove a loop whose result is never read.
volatile double g_sink = 0;

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Rounds of a measurement: a roof is the best rate reached; load from other processes lowers it for milliseconds at a time.
constexpr int kFewestRounds = 15, kFewestHurriedRounds = 5, kMostRounds = 2000;
constexpr double kOwnSeconds = 0.3, kSharedSeconds = 0.8;

// Where a measurement may take less than it would by itself, few rounds do.
int fewest_rounds(double most) { return most < kOwnSeconds ? kFewestHurriedRounds : kFewestRounds; }

// Of the calling thread.
double processor_seconds() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

struct SharedRate {
  double rate = 0;
  bool disturbed = false;  // in the best round a thread had to wait for its core
};

// Rate of `amount` per call of `work(thread, 0)` on all threads at once, of something they share: from the start of the first thread to the end of the last.
template <class Work>
SharedRate shared_rate(double amount, double most, const Work& work) {
  constexpr double kWaited = 0.1;  // share of a thread's time
  const Clock::time_point begin = Clock::now();
  const int threads = omp_get_max_threads();
  const double limit = std::min(kSharedSeconds, most);
  const int fewest = fewest_rounds(most);
  double best = 1e30;
  bool disturbed = false;
  for (int t = 0; t < kMostRounds && (t < fewest || seconds_since(begin) < limit); ++t) {
    Clock::time_point start;
    double sum = 0, waited = 0;
#pragma omp parallel reduction(+ : sum) reduction(max : waited)
    {
#pragma omp barrier
#pragma omp master
      start = Clock::now();
#pragma omp barrier
      const Clock::time_point mine = Clock::now();
      const double processor = processor_seconds();
      sum += work(omp_get_thread_num(), 0);
      waited = 1 - (processor_seconds() - processor) / seconds_since(mine);
    }
    const double seconds = seconds_since(start);
    if (seconds < best) best = seconds, disturbed = waited > kWaited;
    g_sink = sum;
  }
  return {amount * threads / best, disturbed};
}

// The same for something that each core has for itself: the sum of each thread's best rate while the others work too. A round is `parts`
// calls, each timed alone: work(thread, 0) to work(thread, parts - 1).
template <class Work>
double own_rate(double amount, double most, int parts, const Work& work) {
  const Clock::time_point begin = Clock::now();
  const double limit = std::min(kOwnSeconds, most);
  const int fewest = fewest_rounds(most);
  std::vector<double> best(static_cast<std::size_t>(omp_get_max_threads()), 1e30);
  for (int t = 0; t < kMostRounds && (t < fewest || seconds_since(begin) < limit); ++t) {
    double sum = 0;
#pragma omp parallel reduction(+ : sum)
    {
      const int thread = omp_get_thread_num();
      double& mine = best[static_cast<std::size_t>(thread)];
      for (int part = 0; part < parts; ++part) {
        const Clock::time_point start = Clock::now();
        sum += work(thread, part);
        mine = std::min(mine, seconds_since(start));
      }
    }
    g_sink = sum;
  }
  double rate = 0;
  for (const double seconds : best) rate += amount / seconds;
  return rate;
}

// On a shared machine threads rarely run at the same time, and a common time means little; the sum of what each thread
// reached is then the roof, somewhat too high. A thread that has to wait for its core is measured by parts, which end before it
// loses the core again. `work(thread, part, parts)` does one of `parts` equal parts of `amount`.
template <class Work>
double undisturbed_rate(double amount, double most, const Work& work) {
  constexpr double kPart =
      8
      << 20;  // bytes: some half a millisecond; what a cache holds is read again to this amount, and stays whole
  const SharedRate together =
      shared_rate(amount, most, [&](int thread, int part) { return work(thread, part, 1); });
  const int parts = together.disturbed ? std::max(1, static_cast<int>(amount / kPart)) : 1;
  const double apart =
      own_rate(amount / parts, most, parts, [&](int thread, int part) { return work(thread, part, parts); });
  return apart > (together.disturbed ? 1 : 1.5) * together.rate ? apart : together.rate;
}

template <class T>
double fma_rate(double most) {
  double (*chain)(std::int64_t, double, double) = chain_baseline<T>;
  int lanes = 16 / sizeof(T);
#if defined(__x86_64__)
  if (unit() == Unit::avx512)
    chain = of_value_type<T>(chain_avx512_f32, chain_avx512_f64), lanes = 64 / sizeof(T);
  if (unit() == Unit::avx2) chain = of_value_type<T>(chain_avx2_f32, chain_avx2_f64), lanes = 32 / sizeof(T);
#endif
  constexpr std::int64_t kSteps = 1 << 17;
  return own_rate(2.0 * kChains * lanes * static_cast<double>(kSteps), most, 1,
                  [&](int, int) { return chain(kSteps, 0.5, 0.25); });
}

struct Free {
  void operator()(void* p) const { std::free(p); }
};
std::unique_ptr<std::uint64_t, Free> pages(std::int64_t bytes) {
  void* const memory = std::aligned_alloc(4096, static_cast<std::size_t>((bytes + 4095) / 4096 * 4096));
  if (memory == nullptr) throw std::bad_alloc();
  return std::unique_ptr<std::uint64_t, Free>(static_cast<std::uint64_t*>(memory));
}

}  // namespace

double host_read_rate(std::int64_t bytes_per_thread, bool shared, double most) {
  const int threads = omp_get_max_threads();
  const std::int64_t words = bytes_per_thread / 8 / 512 * 512 > 0 ? bytes_per_thread / 8 / 512 * 512 : 512;
  const auto memory = pages(words * 8 * threads);
  std::uint64_t* const p = memory.get();
#pragma omp parallel num_threads(threads)
  std::memset(p + words * omp_get_thread_num(), 1,
              static_cast<std::size_t>(words * 8));  // where the thread reads it
  const std::int64_t rounds = std::max<std::int64_t>(1, (std::int64_t{8} << 20) / (words * 8));
  const auto work = [&](int thread, int part, int parts) {
    const std::int64_t length = words / parts / 512 * 512;
    std::uint64_t sum = 0;
    for (std::int64_t r = 0; r < rounds; ++r) {
      sum += read(p + words * thread + length * part, length);
      asm volatile("" : : "r"(p) : "memory");  // the next round reads again
    }
    return static_cast<double>(sum);
  };
  const auto amount = static_cast<double>(words * 8 * rounds);
  return shared ? undisturbed_rate(amount, most, work)
                : own_rate(amount, most, 1, [&](int thread, int part) { return work(thread, part, 1); });
}

double host_copy_rate(std::int64_t bytes, double most) {
  const int threads = omp_get_max_threads();
  const std::int64_t own = bytes / threads / 4096 * 4096;
  const auto from = pages(own * threads), to = pages(own * threads);
  if (own == 0) return 0;
  auto *source = reinterpret_cast<char*>(from.get()), *target = reinterpret_cast<char*>(to.get());
#pragma omp parallel num_threads(threads)
  {
    std::memset(source + own * omp_get_thread_num(), 1, static_cast<std::size_t>(own));
    std::memset(target + own * omp_get_thread_num(), 2, static_cast<std::size_t>(own));
  }
  return undisturbed_rate(2.0 * static_cast<double>(own), most, [&](int thread, int part, int parts) {
    const std::int64_t length = own / parts, begin = own * thread + length * part;
    std::memcpy(target + begin, source + begin, static_cast<std::size_t>(length));
    asm volatile("" : : "r"(target) : "memory");
    return 0.0;
  });
}

double host_fma_rate_f32(double most) { return fma_rate<float>(most); }
double host_fma_rate_f64(double most) { return fma_rate<double>(most); }

const char* host_vector_unit() {
  return unit() == Unit::avx512 ? "AVX-512" : unit() == Unit::avx2 ? "AVX2 and FMA" : "baseline";
}

}  // namespace plumb
