// The runtime's tests. Those that need no device always run; the others say so where there is none.
#include <cuda_runtime_api.h>
#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "gpu/device/launch_limits.hpp"
#include "gpu/device/memory.hpp"
#include "gpu/runtime/check.hpp"
#include "gpu/runtime/cudnn.hpp"
#include "gpu/runtime/device_info.hpp"
#include "gpu/runtime/disturb.hpp"
#include "gpu/runtime/handles.hpp"
#include "gpu/runtime/launch_hook.hpp"
#include "gpu/runtime/poison.hpp"
#include "reference/core/error.hpp"

namespace plumb {
namespace {

bool device_here() {
  const std::string reason = device_unavailable();
  if (!reason.empty()) MESSAGE("not run: " << reason);
  return reason.empty();
}

struct Counted {
  using Handle = int;
  static inline int destroyed = 0;
  static cudaError_t destroy(int) {
    ++destroyed;
    return cudaSuccess;
  }
};

std::string message_of(cudaError_t status) {
  try {
    check_cuda(status, "cudaMalloc(&p, n)", "some/file.cpp", 17);
  } catch (const Error& e) { return e.what(); }
  return {};
}

}  // namespace

TEST_CASE("a failed call is reported with its place, its name, and the error's name and text") {
  const std::string said = message_of(cudaErrorInvalidValue);
  CHECK(said.rfind("some/file.cpp:17: cudaMalloc(&p, n): cudaErrorInvalidValue: ", 0) == 0);
  CHECK(message_of(cudaSuccess).empty());
}

TEST_CASE("a handle is destroyed once, by its last owner") {
  Counted::destroyed = 0;
  {
    UniqueHandle<Counted> a(1), b(2);
    UniqueHandle<Counted> c(std::move(a));
    CHECK(a.get() == 0);
    CHECK(c.get() == 1);
    b = std::move(c);  // b's own handle is destroyed with c
    CHECK(b.get() == 1);
    CHECK(Counted::destroyed == 0);
  }
  CHECK(Counted::destroyed == 2);
}

TEST_CASE("a device is described in one line") {
  DeviceInfo d;
  d.name = "NVIDIA Example";
  d.sm = 90, d.multiprocessors = 132, d.memory_bytes = std::int64_t{3} << 30, d.l2_bytes = 60 << 20,
  d.clock_mhz = 1980;
  d.driver_version = 12080, d.runtime_version = 13000;
  CHECK(describe(d) ==
        "NVIDIA Example, sm_90, 132 SMs, 3.0 GiB, L2 60 MiB, 1980 MHz, driver CUDA 12.8, runtime 13.0");
}

TEST_CASE("where no kernel can run, the reason is one line and asking for the device throws it") {
  const std::string reason = device_unavailable();
  if (reason.empty()) {
    CHECK(device_info().multiprocessors > 0);
    return;
  }
  CHECK(reason.find('\n') == std::string::npos);
  CHECK_THROWS_WITH_AS((void)device_info(), reason.c_str(), Error);
  CHECK_THROWS_AS(DeviceArray<float>(4, "a test"), Error);
  CHECK_THROWS_AS(DeviceStream(), Error);
}

TEST_CASE(
    "static shared memory counts when more than 48 KiB are asked for, and both are named in a refusal") {
  using namespace launching;
  CHECK_FALSE(must_ask_for_shared_memory(0, 48 * 1024));
  CHECK(must_ask_for_shared_memory(0, 48 * 1024 + 1));
  CHECK(must_ask_for_shared_memory(33 * 1024, 24 * 1024));  // neither part alone exceeds it
  CHECK_FALSE(must_ask_for_shared_memory(33 * 1024, 15 * 1024));
  CHECK_FALSE(must_ask_for_shared_memory(48 * 1024, 0));
  CHECK(shared_memory_refusal(33 * 1024, 194 * 1024, 227 * 1024).empty());
  CHECK(shared_memory_refusal(33 * 1024, 194 * 1024 + 1, 227 * 1024) ==
        "33792 bytes of static and 198657 of dynamic shared memory, but the device gives a block 232448");
}

TEST_CASE("data written to a device are read back, in stream order") {
  if (!device_here()) return;
  const DeviceStream stream;
  const DeviceArray<int> buffer(3, "a test"), copy(3, "a test");
  const std::vector<int> sent = {1, 2, 3};
  device_write(buffer.data(), sent.data(), sizeof(int) * 3, stream.get());
  device_copy(copy.data(), buffer.data(), sizeof(int) * 3, stream.get());
  std::vector<int> back(3);
  device_read(back.data(), copy.data(), sizeof(int) * 3, stream.get());
  CHECK(back == sent);
}

TEST_CASE("poison reaches every word, and one changed word is counted") {
  if (!device_here()) return;
  const DeviceStream stream;
  const std::int64_t bytes = 8 * 100003;
  const DeviceArray<std::uint64_t> buffer(bytes / 8, "a test");
  const DeviceArray<unsigned long long> count(1, "a test");
  const std::uint64_t bits = 0x7ff5f1ce7fb5f1ceull, other = 1;
  fill_pattern(buffer.data(), bits, bytes, stream.get());
  const auto mismatches = [&] {
    device_fill(count.data(), 0, 8, stream.get());
    count_mismatches(buffer.data(), bits, bytes, count.data(), stream.get());
    unsigned long long n = 0;
    device_read(&n, count.data(), 8, stream.get());
    return n;
  };
  CHECK(mismatches() == 0);
  device_write(buffer.data() + 100002, &other, 8, stream.get());
  CHECK(mismatches() == 1);
}

TEST_CASE("a disturbed launch gives the same result, and the launch seam is restored afterwards") {
  if (!device_here()) return;
  Disturbance disturbance;
  const std::int64_t bytes = 8 * 1000;
  const DeviceArray<std::uint64_t> buffer(bytes / 8, "a test");
  std::vector<cudaStream_t> streams;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    disturbance.begin(seed);
    disturbance.start();
    CHECK((launch_hook != nullptr));
    streams.push_back(disturbance.stream());
    fill_pattern(buffer.data(), seed, bytes, disturbance.stream());
    disturbance.end();
    CHECK((launch_hook == nullptr));
    std::uint64_t last = 0;
    device_read(&last, buffer.data() + bytes / 8 - 1, 8, disturbance.stream());
    CHECK(last == seed);
  }
  std::sort(streams.begin(), streams.end());
  CHECK(std::unique(streams.begin(), streams.end()) - streams.begin() > 1);
}

TEST_CASE("two recorded events lie in order") {
  if (!device_here()) return;
  const DeviceStream owned;
  auto* const stream = static_cast<cudaStream_t>(owned.get());
  const UniqueEvent begin = make_event(), end = make_event();
  PLUMB_CUDA(cudaEventRecord(begin.get(), stream));
  PLUMB_CUDA(cudaEventRecord(end.get(), stream));
  CHECK(elapsed_ms(begin, end) >= 0);
}

TEST_CASE("a cuDNN that is not there, or is none, says so in the loader's words") {
  const cudnn::Library absent = cudnn::open("/nowhere/libcudnn.so.9");
  CHECK(absent.loaded == nullptr);
  CHECK(absent.why_not.find("PLUMB_CUDNN") != std::string::npos);
  CHECK(absent.why_not.find("/nowhere/libcudnn.so.9") != std::string::npos);
  CHECK(cudnn::open("libm.so.6").why_not == "cuDNN has no cudnnCreate");
}

}  // namespace plumb
