// Launches: every kernel, and every fill and copy of device memory that belongs to a variant, goes through here and nowhere else. So
// one place checks errors, names ranges for profilers, and disturbs launches on request. One of the three headers in which kernels meet
// a world: gpu/runtime defines these functions for a GPU, gpu/simt/host/device.cpp for the CPU executor; the program's libraries choose.
// Kernel files include this: C++17, no standard library, cheap for nvcc.
#pragma once

#include <cuda_runtime.h>

namespace plumb {

/// The grid of a launch, and the place in the source that asked for it: an error names the caller's line.
/// Any extent may be 0: the launch then does nothing, as for an empty problem.
struct Grid {
  dim3 extent;
  const char* file;
  int line;
  Grid(dim3 g, const char* f = __builtin_FILE(), int l = __builtin_LINE()) : extent(g), file(f), line(l) {}
  Grid(int x, const char* f = __builtin_FILE(), int l = __builtin_LINE())
      : extent(static_cast<unsigned>(x)), file(f), line(l) {}
  Grid(unsigned x, const char* f = __builtin_FILE(), int l = __builtin_LINE())
      : extent(x), file(f), line(l) {}
  Grid(unsigned x, unsigned y, unsigned z = 1, const char* f = __builtin_FILE(), int l = __builtin_LINE())
      : extent(x, y, z), file(f), line(l) {}
  Grid(long x, const char* f = __builtin_FILE(), int l = __builtin_LINE()) : extent(0), file(f), line(l) {
    narrow(x);
  }
  Grid(long long x, const char* f = __builtin_FILE(), int l = __builtin_LINE())
      : extent(0), file(f), line(l) {
    narrow(x);
  }
  Grid(unsigned long x, const char* f = __builtin_FILE(), int l = __builtin_LINE())
      : extent(0), file(f), line(l) {
    narrow(x > 0x7fffffffUL ? 0x7fffffffffffffffLL : static_cast<long long>(x));
  }

 private:
  void narrow(long long x);  // throws where x is no valid grid extent
};

namespace launching {

/// What the blocks of a launch share. Those of a cooperative one may wait for each other, so all must be resident at once; those of a
/// cluster, `cluster` neighbours along x, reach each other's shared memory. Those of a dependent one may begin beside the launch before.
struct Together {
  bool cooperative = false;
  unsigned cluster = 1;
  bool dependent = false;
};

/// One launch with its arguments packed. `invoke` calls `kernel` with the packed arguments on the calling (simulated) thread; null in
/// builds for a GPU.
void launch_packed(const void* kernel, void (*invoke)(const void* kernel, void** args), Grid grid, dim3 block,
                   std::size_t shared_bytes, void* stream, void** args, Together together);

template <class T>
struct identity {
  using type = T;
};

/// How the launching side calls a kernel by itself: on the CPU executor. A GPU's runtime is given the address alone.
#if defined(PLUMB_SIMT)
template <class... P>
using Invoker = simt::KernelCall<P...>;
#else
template <class...>
struct Invoker {
  static constexpr void (*invoke)(const void*, void**) = nullptr;
};
#endif

template <class... P>
void pack(void (*kernel)(P...), Grid grid, dim3 block, std::size_t shared_bytes, void* stream,
          Together together, typename identity<P>::type... params) {
  void* args[] = {const_cast<void*>(static_cast<const volatile void*>(&params))..., nullptr};
  launch_packed(reinterpret_cast<const void*>(kernel), Invoker<P...>::invoke, grid, block, shared_bytes,
                stream, args, together);
}

}  // namespace launching

/// Launches kernel<<<grid, block, shared_bytes, stream>>>(args...), checked: a refused launch throws Error
/// with the caller's line. Where static and dynamic shared memory together exceed 48 KiB, the kernel's attribute
/// is set first. An empty grid does nothing.
///   launch(gemm_tile<float>, dim3(n / 64, m / 64), 256, 0, ctx.stream, a, b, c);
template <class... P, class... A>
void launch(void (*kernel)(P...), Grid grid, dim3 block, std::size_t shared_bytes, void* stream,
            A&&... args) {
  static_assert(sizeof...(P) == sizeof...(A), "a launch passes exactly the kernel's parameters");
  launching::pack<P...>(kernel, grid, block, shared_bytes, stream, launching::Together{},
                        static_cast<A&&>(args)...);
}

/// As launch(), with all blocks resident at once, so that they may wait for each other (cooperative groups'
/// grid).
template <class... P, class... A>
void launch_cooperative(void (*kernel)(P...), Grid grid, dim3 block, std::size_t shared_bytes, void* stream,
                        A&&... args) {
  static_assert(sizeof...(P) == sizeof...(A), "a launch passes exactly the kernel's parameters");
  launching::pack<P...>(kernel, grid, block, shared_bytes, stream, launching::Together{true, 1, false},
                        static_cast<A&&>(args)...);
}

/// As launch(), in clusters of `cluster` blocks that follow each other along x: at most 8, and the grid's x is a multiple.
template <class... P, class... A>
void launch_clusters(void (*kernel)(P...), Grid grid, unsigned cluster, dim3 block, std::size_t shared_bytes,
                     void* stream, A&&... args) {
  static_assert(sizeof...(P) == sizeof...(A), "a launch passes exactly the kernel's parameters");
  launching::pack<P...>(kernel, grid, block, shared_bytes, stream, launching::Together{false, cluster, false},
                        static_cast<A&&>(args)...);
}

/// As launch(), but the kernel may begin while the launch before it in the stream, its primary, still runs (programmatic dependent launch,
/// compute capability 9.0; else as launch()). It reads what the primary writes behind wait_for_primary(), which one thread at least calls
/// in every launch: dependent_launch.hpp.
template <class... P, class... A>
void launch_dependent(void (*kernel)(P...), Grid grid, dim3 block, std::size_t shared_bytes, void* stream,
                      A&&... args) {
  static_assert(sizeof...(P) == sizeof...(A), "a launch passes exactly the kernel's parameters");
  launching::pack<P...>(kernel, grid, block, shared_bytes, stream, launching::Together{false, 1, true},
                        static_cast<A&&>(args)...);
}

/// Sets `bytes` bytes of device memory to `byte`, in stream order. Errors: throws Error with the caller's
/// line.
void device_fill(void* ptr, int byte, std::size_t bytes, void* stream, const char* file = __builtin_FILE(),
                 int line = __builtin_LINE());

/// Copies `bytes` bytes between non-overlapping device buffers, in stream order. Errors: as device_fill().
void device_copy(void* to, const void* from, std::size_t bytes, void* stream,
                 const char* file = __builtin_FILE(), int line = __builtin_LINE());

/// Multiprocessors of the current device, for grids sized to the chip; small on the CPU executor.
int device_multiprocessors();

}  // namespace plumb
