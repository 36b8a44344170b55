// The kernels behind roofs.hpp. Each does one thing as fast as the chip allows; sums are stored only under a condition that
// never holds and that the compiler cannot know, so that nothing is optimised away and nothing else is written.
#include "gpu/runtime/roofs.hpp"

#include "gpu/device/kernel.hpp"
#include "gpu/device/resources.hpp"
#include "gpu/runtime/handles.hpp"

namespace plumb {
namespace {

constexpr int kThreads = 256;
constexpr int kChains = 16;   // independent fma chains: the latency of 4 at up to 4 a cycle
constexpr int kSteps = 4096;  // of each chain
constexpr unsigned kNever = 0x9e3779b9u;

__global__ void __launch_bounds__(kThreads) roof_nothing() {}

// 16-byte loads past L1, eight in flight per thread; `rounds` passes over the words.
__global__ void __launch_bounds__(kThreads)
    roof_read(const uint4* from, long long words, int rounds, unsigned* sink) {
  constexpr int kFlight = 8;
  const long long stride = static_cast<long long>(gridDim.x) * kThreads;
  const long long first = static_cast<long long>(blockIdx.x) * kThreads + threadIdx.x;
  unsigned sum = 0;
  for (int r = 0; r < rounds; ++r) {
    long long i = first;
    for (; i + (kFlight - 1) * stride < words; i += kFlight * stride) {
      uint4 v[kFlight];
#pragma unroll
      for (int k = 0; k < kFlight; ++k) v[k] = __ldcg(from + i + k * stride);
#pragma unroll
      for (int k = 0; k < kFlight; ++k) sum += v[k].x ^ v[k].y ^ v[k].z ^ v[k].w;
    }
    for (; i < words; i += stride) {
      const uint4 v = __ldcg(from + i);
      sum += v.x ^ v.y ^ v.z ^ v.w;
    }
  }
  if (sum == kNever) *sink = sum;
}

__global__ void __launch_bounds__(kThreads) roof_copy(const uint4* from, uint4* to, long long words) {
  constexpr int kFlight = 4;
  const long long stride = static_cast<long long>(gridDim.x) * kThreads;
  long long i = static_cast<long long>(blockIdx.x) * kThreads + threadIdx.x;
  for (; i + (kFlight - 1) * stride < words; i += kFlight * stride) {
    uint4 v[kFlight];
#pragma unroll
    for (int k = 0; k < kFlight; ++k) v[k] = __ldcs(from + i + k * stride);
#pragma unroll
    for (int k = 0; k < kFlight; ++k) __stcs(to + i + k * stride, v[k]);
  }
  for (; i < words; i += stride) to[i] = from[i];
}

// Eight lanes fetch a row of 128 bytes; rows by a linear congruential walk, four in flight.
__global__ void __launch_bounds__(kThreads)
    roof_gather(const uint4* from, unsigned rows, int steps, unsigned* sink) {
  constexpr int kFlight = 4, kLanes = 8;
  const unsigned group = (blockIdx.x * kThreads + threadIdx.x) / kLanes, lane = threadIdx.x % kLanes;
  unsigned state = group * 747796405u + 2891336453u, sum = 0;
  for (int s = 0; s < steps; s += kFlight) {
    uint4 v[kFlight];
#pragma unroll
    for (int k = 0; k < kFlight; ++k) {
      state = state * 1664525u + 1013904223u;
      const auto row = static_cast<unsigned>((static_cast<unsigned long long>(state) * rows) >> 32);
      v[k] = __ldcg(from + static_cast<long long>(row) * kLanes + lane);
    }
#pragma unroll
    for (int k = 0; k < kFlight; ++k) sum += v[k].x ^ v[k].y ^ v[k].z ^ v[k].w;
  }
  if (sum == kNever) *sink = sum;
}

template <class T>
__global__ void __launch_bounds__(kThreads) roof_fma(T a, T b, unsigned* sink) {
  T x[kChains];
#pragma unroll
  for (int k = 0; k < kChains; ++k) x[k] = static_cast<T>(threadIdx.x + k);
  for (int s = 0; s < kSteps; ++s) {
#pragma unroll
    for (int k = 0; k < kChains; ++k) x[k] = x[k] * a + b;
  }
  T sum = 0;
#pragma unroll
  for (int k = 0; k < kChains; ++k) sum += x[k];
  if (sum == static_cast<T>(-1)) *sink = 1;
}

constexpr int kTiles = 4;  // independent accumulator tiles of a warp

__global__ void __launch_bounds__(kThreads) roof_mma_tf32(float start, unsigned* sink) {
  float c[kTiles][4];
  const unsigned a[4] = {to_tf32(start), to_tf32(start * 2), to_tf32(start * 3), to_tf32(start * 4)};
  const unsigned b[2] = {to_tf32(start), to_tf32(-start)};
#pragma unroll
  for (int t = 0; t < kTiles; ++t) {
#pragma unroll
    for (int k = 0; k < 4; ++k) c[t][k] = start;
  }
  for (int s = 0; s < kSteps; ++s) {
#pragma unroll
    for (int t = 0; t < kTiles; ++t) mma_m16n8k8_tf32(c[t], a, b);
  }
  float sum = 0;
#pragma unroll
  for (int t = 0; t < kTiles; ++t) sum += c[t][0] + c[t][1] + c[t][2] + c[t][3];
  if (sum == -1) *sink = 1;
}

// The largest fp64 shape of the chip: m16n8k16 from sm_90 on, m8n8k4 before.
template <int kTiles>
__global__ void __launch_bounds__(kThreads) roof_mma_f64(double start, unsigned* sink) {
  double sum = 0;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  double c[kTiles][4], a[8];
#pragma unroll
  for (int k = 0; k < 8; ++k) a[k] = start * (k + 1);
  const double b[4] = {start, -start, start, -start};
#pragma unroll
  for (int t = 0; t < kTiles; ++t) {
#pragma unroll
    for (int k = 0; k < 4; ++k) c[t][k] = start;
  }
  for (int s = 0; s < kSteps / 8; ++s) {
#pragma unroll
    for (int t = 0; t < kTiles; ++t) mma_m16n8k16_f64(c[t], a, b);
  }
#pragma unroll
  for (int t = 0; t < kTiles; ++t) sum += c[t][0] + c[t][1] + c[t][2] + c[t][3];
#else
  double c[kTiles][2];
  const double a[1] = {start}, b[1] = {-start};
#pragma unroll
  for (int t = 0; t < kTiles; ++t) c[t][0] = c[t][1] = start;
  for (int s = 0; s < kSteps; ++s) {
#pragma unroll
    for (int t = 0; t < kTiles; ++t) mma_m8n8k4_f64(c[t], a, b);
  }
#pragma unroll
  for (int t = 0; t < kTiles; ++t) sum += c[t][0] + c[t][1];
#endif
  if (sum == -1) *sink = 1;
}

// Both shapes do the same work per launch: kSteps / 8 of 16 x 8 x 16, or kSteps of 8 x 8 x 4.
double flop_of_mma_f64(int sm, int tiles) {
  return sm >= 90 ? 2.0 * 16 * 8 * 16 * (kSteps / 8) * tiles
                  : 2.0 * 8 * 8 * 4 * static_cast<double>(kSteps) * tiles;
}

__global__ void roof_hold(long long nanoseconds) {
  unsigned long long start = 0, now = 0;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(start));
  do {
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
  } while (static_cast<long long>(now - start) < nanoseconds);
}

// The best of several: a roof is what can be reached, not what is usual.
template <class Work>
double best_seconds(void* stream, Work&& work) {
  const UniqueEvent begin = make_event(), end = make_event();
  auto* s = static_cast<cudaStream_t>(stream);
  double best = 1e30;
  for (int r = 0; r < 12; ++r) {
    hold_stream(20, stream);
    PLUMB_CUDA(cudaEventRecord(begin.get(), s));
    work();
    PLUMB_CUDA(cudaEventRecord(end.get(), s));
    const double seconds = elapsed_ms(begin, end) / 1000.0;
    if (r >= 2 && seconds < best) best = seconds;
  }
  return best;
}

}  // namespace

void read_through(const void* from, std::int64_t bytes, unsigned* sink, void* stream) {
  launch(roof_read, 8 * device_multiprocessors(), kThreads, 0, stream, static_cast<const uint4*>(from),
         static_cast<long long>(bytes / 16), 1, sink);
}

void hold_stream(int microseconds, void* stream) {
  launch(roof_hold, 1, 1, 0, stream, 1000LL * microseconds);
}

namespace {

constexpr std::int64_t kBytes = std::int64_t{512} << 20;

// What the kernels of a measurement are given.
struct Bench {
  void* stream;
  int blocks;
  unsigned* sink;
};

void measure_memory(DeviceRoofs& roofs, const Bench& on, const std::byte* from, std::byte* to) {
  constexpr std::int64_t kGatherBytes = std::int64_t{18} << 20;
  constexpr int kRounds = 32, kGathers = 512;
  const auto* words = reinterpret_cast<const uint4*>(from);
  auto* target = reinterpret_cast<uint4*>(to);
  roofs.read = kBytes / best_seconds(on.stream, [&] { read_through(from, kBytes, on.sink, on.stream); });
  const double by_kernel = best_seconds(on.stream, [&] {
    launch(roof_copy, on.blocks, kThreads, 0, on.stream, words, target, static_cast<long long>(kBytes / 16));
  });
  const double by_library =
      best_seconds(on.stream, [&] { device_copy(to, from, static_cast<std::size_t>(kBytes), on.stream); });
  roofs.copy = 2.0 * kBytes / (by_kernel < by_library ? by_kernel : by_library);
  const std::int64_t resident = device_l2_bytes() / 3 / 16 * 16;
  roofs.l2_read = static_cast<double>(resident) * kRounds / best_seconds(on.stream, [&] {
                    launch(roof_read, on.blocks, kThreads, 0, on.stream, words,
                           static_cast<long long>(resident / 16), kRounds, on.sink);
                  });
  roofs.l2_gather = static_cast<double>(on.blocks) * kThreads * 16 * kGathers / best_seconds(on.stream, [&] {
                      launch(roof_gather, on.blocks, kThreads, 0, on.stream, words,
                             static_cast<unsigned>(kGatherBytes / 128), kGathers, on.sink);
                    });
}

void measure_arithmetic(DeviceRoofs& roofs, const Bench& on) {
  const double lanes = static_cast<double>(on.blocks) * kThreads, warps = lanes / 32;
  const double chained = 2.0 * lanes * kChains * kSteps;
  roofs.fp32 = chained / best_seconds(on.stream, [&] {
                 launch(roof_fma<float>, on.blocks, kThreads, 0, on.stream, 0.5f, 0.25f, on.sink);
               });
  roofs.fp64 = chained / best_seconds(on.stream, [&] {
                 launch(roof_fma<double>, on.blocks, kThreads, 0, on.stream, 0.5, 0.25, on.sink);
               });
  const int sm = device_sm() / 10 * 10;
  // how many accumulators hide the latency best differs between chips
  const auto mma_f64 = [&](void (*kernel)(double, unsigned*), int tiles) {
    const double rate = warps * flop_of_mma_f64(sm, tiles) / best_seconds(on.stream, [&] {
                          launch(kernel, on.blocks, kThreads, 0, on.stream, 0.5, on.sink);
                        });
    if (rate > roofs.fp64_tensor) roofs.fp64_tensor = rate;
  };
  mma_f64(roof_mma_f64<2>, 2);
  mma_f64(roof_mma_f64<4>, 4);
  mma_f64(roof_mma_f64<8>, 8);
  roofs.tf32_tensor = warps * 2.0 * 16 * 8 * 8 * kSteps * kTiles / best_seconds(on.stream, [&] {
                        launch(roof_mma_tf32, on.blocks, kThreads, 0, on.stream, 0.5f, on.sink);
                      });
}

}  // namespace

DeviceRoofs measure_device_roofs() {
  const DeviceStream stream;
  const DeviceArray<std::byte> from(kBytes, "a buffer to measure with"),
      to(kBytes, "a buffer to measure with");
  const DeviceArray<unsigned> sink(1, "a sink of sums");
  device_fill(from.data(), 0x5a, static_cast<std::size_t>(kBytes), stream.get());
  const Bench on{stream.get(), 8 * device_multiprocessors(), sink.data()};
  DeviceRoofs roofs;
  measure_memory(roofs, on, from.data(), to.data());
  measure_arithmetic(roofs, on);
  roofs.empty_launch = best_seconds(on.stream, [&] { launch(roof_nothing, 1, 32, 0, on.stream); });
  stream.wait();
  return roofs;
}

}  // namespace plumb
