// Kernels of gemv whose threads race, each with its right twin: nothing in them opens the window for the fault, as nothing does in
// the wild. gemv_threads.cpp registers the wrong ones; tests judge the twins.
#pragma once
#include <omp.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>
#include <vector>

#include "reference/ops/gemv.hpp"

namespace plumb::gemv_threads {

template <class T>
using P = Gemv::Problem<T>;
template <class T>
using In = Gemv::In<T, Space::host>;
template <class T>
using Out = Gemv::Out<T, Space::host>;

template <class T>
std::int64_t depth_of(const P<T>& p, const In<T>& in) {
  return p.alpha == T(0) ? 0 : in.A.cols;
}

template <class T>
T dot(const P<T>& p, const In<T>& in, std::int64_t i) {
  T sum = 0;
  for (std::int64_t k = 0; k < depth_of(p, in); ++k) sum += in.A(i, k) * in.x[k];
  return sum;
}

template <class T>
void put(const P<T>& p, const Out<T>& out, std::int64_t i, T sum) {
  out.y[i] = p.beta == T(0) ? p.alpha * sum : p.alpha * sum + p.beta * out.y[i];
}

// The threads of a region over columns add to one sum of each row: without its reduction clause.
template <class T, bool Right>
void reduction(const P<T>& p, const In<T>& in, const Out<T>& out, Context&) {
  for (std::int64_t i = 0; i < in.A.rows; ++i) {
    T sum = 0;
    if constexpr (Right) {
#pragma omp parallel for reduction(+ : sum)
      for (std::int64_t k = 0; k < depth_of(p, in); ++k) sum += in.A(i, k) * in.x[k];
    } else {
#pragma omp parallel for
      for (std::int64_t k = 0; k < depth_of(p, in); ++k) sum += in.A(i, k) * in.x[k];
    }
    put(p, out, i, sum);
  }
}

// The partial sums of a row are declared outside of the loop over rows, and not private.
template <class T, bool Right>
void temporary(const P<T>& p, const In<T>& in, const Out<T>& out, Context&) {
  constexpr std::size_t kLanes = 4;
  T shared[kLanes] = {};
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < in.A.rows; ++i) {
    T own[kLanes] = {};
    T* const sums = Right ? own : shared;
    for (std::size_t l = 0; l < kLanes; ++l) sums[l] = 0;
    for (std::int64_t k = 0; k < depth_of(p, in); ++k)
      sums[static_cast<std::size_t>(k) % kLanes] += in.A(i, k) * in.x[k];
    put(p, out, i, (sums[0] + sums[1]) + (sums[2] + sums[3]));
  }
}

// One buffer for the products of a row, for all threads.
template <class T, bool Right>
void buffer(const P<T>& p, const In<T>& in, const Out<T>& out, Context&) {
  const auto depth = static_cast<std::size_t>(depth_of(p, in));
  std::vector<T> shared(depth);
#pragma omp parallel for schedule(dynamic, 4)
  for (std::int64_t i = 0; i < in.A.rows; ++i) {
    std::vector<T> own(Right ? depth : 0);
    std::vector<T>& products = Right ? own : shared;
    for (std::size_t k = 0; k < depth; ++k)
      products[k] = in.A(i, static_cast<std::int64_t>(k)) * in.x[static_cast<std::int64_t>(k)];
    T sum = 0;
    for (std::size_t k = 0; k < depth; ++k) sum += products[k];
    put(p, out, i, sum);
  }
}

// Sums in one loop, results in another that deals the rows out otherwise: the first must not say nowait.
template <class T, bool Right>
void nowait(const P<T>& p, const In<T>& in, const Out<T>& out, Context&) {
  std::vector<T> sums(static_cast<std::size_t>(in.A.rows), T(0));
#pragma omp parallel
  {
#pragma omp for schedule(static) nowait
    for (std::int64_t i = 0; i < in.A.rows; ++i) sums[static_cast<std::size_t>(i)] = dot(p, in, i);
    if constexpr (Right) {
#pragma omp barrier
    }
#pragma omp for schedule(static)
    for (std::int64_t r = 0; r < in.A.rows; ++r) {
      const std::int64_t i = in.A.rows - 1 - r;
      put(p, out, i, sums[static_cast<std::size_t>(i)]);
    }
  }
}

// The first thread that comes makes a table for all; the flag that says so is plain, and set before the table is whole.
template <class T, bool Right>
void first_comer(const P<T>& p, const In<T>& in, const Out<T>& out, Context&) {
  const auto depth = static_cast<std::size_t>(depth_of(p, in));
  std::vector<T> scaled(depth, T(0));
  std::mutex mutex;
  std::atomic<bool> ready{false};
  bool plain = false;
  const auto make = [&] {
    for (std::size_t k = 0; k < depth; ++k) scaled[k] = p.alpha * in.x[static_cast<std::int64_t>(k)];
  };
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < in.A.rows; ++i) {
    if constexpr (Right) {
      if (!ready.load(std::memory_order_acquire)) {
        const std::lock_guard lock(mutex);
        if (!ready.load(std::memory_order_relaxed)) make();
        ready.store(true, std::memory_order_release);
      }
    } else if (!plain) {
      const std::lock_guard lock(mutex);
      if (!plain) {
        plain = true;
        make();
      }
    }
    T sum = 0;
    for (std::size_t k = 0; k < depth; ++k) sum += in.A(i, static_cast<std::int64_t>(k)) * scaled[k];
    out.y[i] = p.beta == T(0) ? sum : sum + p.beta * out.y[i];
  }
}

// Threads over columns add to the elements of y.
template <class T, bool Right>
void increment(const P<T>& p, const In<T>& in, const Out<T>& out, Context&) {
  for (std::int64_t i = 0; i < in.A.rows; ++i) put(p, out, i, T(0));
#pragma omp parallel for schedule(static)
  for (std::int64_t k = 0; k < depth_of(p, in); ++k) {
    const T scaled = p.alpha * in.x[k];
    for (std::int64_t i = 0; i < in.A.rows; ++i) {
      if constexpr (Right) {
#pragma omp atomic
        out.y[i] += in.A(i, k) * scaled;
      } else {
        out.y[i] += in.A(i, k) * scaled;
      }
    }
  }
}

// A running sum over the columns, in their order; wrong: it is added to before the ordered part begins.
template <class T, bool Right>
void ordered(const P<T>& p, const In<T>& in, const Out<T>& out, Context&) {
  for (std::int64_t i = 0; i < in.A.rows; ++i) {
    T sum = 0;
    std::int64_t last = 0;
#pragma omp parallel for ordered schedule(static, 1)
    for (std::int64_t k = 0; k < depth_of(p, in); ++k) {
      const T product = in.A(i, k) * in.x[k];
      if constexpr (!Right) sum += product;
#pragma omp ordered
      {
        if constexpr (Right) sum += product;
        last = k;
      }
    }
    (void)last;
    put(p, out, i, sum);
  }
}

// One thread hands its half of each sum to the other through a flag, which says nothing of the data before it.
template <class T, bool Right>
void published(const P<T>& p, const In<T>& in, const Out<T>& out, Context&) {
  std::vector<T> sums(static_cast<std::size_t>(in.A.rows), T(0));
  std::atomic<std::int64_t> done{0};
  const auto order = Right ? std::memory_order_release : std::memory_order_relaxed;
  std::thread other([&] {
    for (std::int64_t i = 0; i < in.A.rows; ++i) {
      sums[static_cast<std::size_t>(i)] = dot(p, in, i);
      done.store(i + 1, order);
    }
  });
  for (std::int64_t i = 0; i < in.A.rows; ++i) {
    while (done.load(Right ? std::memory_order_acquire : std::memory_order_relaxed) <= i)
      std::this_thread::yield();
    put(p, out, i, sums[static_cast<std::size_t>(i)]);
  }
  other.join();
}

// Threads of the standard library, each with some columns, add to y; wrong: each under a lock of its own.
template <class T, bool Right>
void locks(const P<T>& p, const In<T>& in, const Out<T>& out, Context&) {
  constexpr std::int64_t kThreads = 4;
  for (std::int64_t i = 0; i < in.A.rows; ++i) put(p, out, i, T(0));
  std::vector<std::mutex> mutexes(kThreads);
  std::vector<std::thread> threads;
  const std::int64_t depth = depth_of(p, in);
  for (std::int64_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (std::int64_t i = 0; i < in.A.rows; ++i) {
        const std::lock_guard lock(mutexes[Right ? 0 : static_cast<std::size_t>(t)]);
        for (std::int64_t k = depth * t / kThreads; k < depth * (t + 1) / kThreads; ++k)
          out.y[i] += in.A(i, k) * (p.alpha * in.x[k]);
      }
    });
  }
  for (std::thread& t : threads) t.join();
}

// One thread clears what all add to; wrong: nobody waits for it.
template <class T, bool Right>
void single(const P<T>& p, const In<T>& in, const Out<T>& out, Context&) {
  std::vector<T> sums(static_cast<std::size_t>(in.A.rows), T(1));
#pragma omp parallel
  {
#pragma omp single nowait
    std::fill(sums.begin(), sums.end(), T(0));
    if constexpr (Right) {
#pragma omp barrier
    }
#pragma omp for schedule(static)
    for (std::int64_t i = 0; i < in.A.rows; ++i) sums[static_cast<std::size_t>(i)] += dot(p, in, i);
#pragma omp for schedule(static)
    for (std::int64_t i = 0; i < in.A.rows; ++i) put(p, out, i, sums[static_cast<std::size_t>(i)]);
  }
}

// The last thread to finish adds the parts up, by a counter that is read and written in two steps.
template <class T, bool Right>
void last_adds(const P<T>& p, const In<T>& in, const Out<T>& out, Context&) {
  constexpr int kParts = 4;
  const std::int64_t depth = depth_of(p, in);
  for (std::int64_t i = 0; i < in.A.rows; ++i) put(p, out, i, T(0));
  std::vector<T> parts(static_cast<std::size_t>(kParts * in.A.rows), T(0));
  std::atomic<int> done{0};
#pragma omp parallel for num_threads(kParts) schedule(static, 1)
  for (int s = 0; s < kParts; ++s) {
    for (std::int64_t i = 0; i < in.A.rows; ++i) {
      T sum = 0;
      for (std::int64_t k = depth * s / kParts; k < depth * (s + 1) / kParts; ++k)
        sum += in.A(i, k) * in.x[k];
      parts[static_cast<std::size_t>(s * in.A.rows + i)] = p.alpha * sum;
    }
    int finished = 0;
    if constexpr (Right) {
      finished = ++done;
    } else {
      finished = done.load() + 1;
      done.store(finished);
    }
    if (finished < kParts) continue;
    for (int t = 0; t < kParts; ++t) {
      for (std::int64_t i = 0; i < in.A.rows; ++i)
        out.y[i] += parts[static_cast<std::size_t>(t * in.A.rows + i)];
    }
  }
}

// The threads of a region take shares of the columns, each with a partial y, of which there are eight; wrong: more threads than that
// share them.
template <class T, bool Right>
void eight_parts(const P<T>& p, const In<T>& in, const Out<T>& out, Context&) {
  constexpr int kParts = 8;
  const std::int64_t depth = depth_of(p, in), rows = in.A.rows;
  const int threads = Right ? std::min(omp_get_max_threads(), kParts) : omp_get_max_threads();
  std::vector<T> parts(static_cast<std::size_t>(kParts * rows), T(0));
#pragma omp parallel num_threads(threads)
  {
    const std::int64_t team = omp_get_num_threads(), me = omp_get_thread_num();
    for (std::int64_t i = 0; i < rows; ++i) {
      T sum = 0;
      for (std::int64_t k = depth * me / team; k < depth * (me + 1) / team; ++k) sum += in.A(i, k) * in.x[k];
      parts[static_cast<std::size_t>(me % kParts * rows + i)] = sum;
    }
  }
  for (std::int64_t i = 0; i < rows; ++i) {
    T sum = 0;
    for (std::int64_t t = 0; t < kParts; ++t) sum += parts[static_cast<std::size_t>(t * rows + i)];
    put(p, out, i, sum);
  }
}

}  // namespace plumb::gemv_threads
