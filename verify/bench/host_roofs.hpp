// Highest rates of the host's cores; `most`: seconds of a measurement, where its usual time is longer. Those of memory throw
// std::bad_alloc where there is none. Apart from roofs.cpp because it is compiled for speed and selects instructions at run time.
#pragma once
#include <cstdint>

namespace plumb {

/// Bytes per second that all OpenMP threads read, each going over its own `bytes_per_thread` again and again. `shared`: they meet in
/// one memory and are timed together; else each has its own, and their best are added.
[[nodiscard]] double host_read_rate(std::int64_t bytes_per_thread, bool shared, double most);
/// Bytes per second copied by all threads between buffers of `bytes`, both directions counted.
[[nodiscard]] double host_copy_rate(std::int64_t bytes, double most);
/// flop/s of all threads in fused multiply-adds (2 each); in the widest vectors this processor has.
[[nodiscard]] double host_fma_rate_f32(double most);
[[nodiscard]] double host_fma_rate_f64(double most);
/// "AVX-512", "AVX2 and FMA", or "baseline".
[[nodiscard]] const char* host_vector_unit();

}  // namespace plumb
