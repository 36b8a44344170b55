// The loop of a child process: requests come, runs are made, replies go.
#include "verify/engine/process/child.hpp"

#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <omp.h>

#include "reference/core/exhaustion.hpp"
#include "verify/engine/operator/operators.hpp"
#include "verify/engine/operator/resources.hpp"
#include "verify/engine/process/confinement.hpp"
#include "verify/engine/process/plugin_host.hpp"
#include "verify/engine/process/simt_device.hpp"
#include "verify/engine/process/wire.hpp"

namespace plumb {
namespace {

// Address space for images. The image of every run lies at one address: a kernel that caches by address meets new data there. What lies
// before and behind it cannot be touched: an index that has become negative in 16 bits, and is only read, shows by a crash.
class ImageWindow {
 public:
  ImageWindow() {
    // as much as any image may need, or half of what `ulimit -v` leaves
    const std::int64_t half = address_space_left() / 2 / kPage * kPage;
    bytes_ = std::min(kWindowBytes, std::max(half, kPage));
    void* const window = mmap(nullptr, static_cast<std::size_t>(kBefore + bytes_), PROT_NONE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (window == MAP_FAILED)
      missing_ = fmt::format("out of address space: {}", std::strerror(errno));
    else
      at_ = static_cast<std::byte*>(window) + kBefore;
  }

  // Why an image of so many bytes cannot be mapped, or "".
  [[nodiscard]] std::string why_not(std::int64_t bytes) const {
    if (!missing_.empty() || whole_pages(bytes) <= bytes_) return missing_;
    return fmt::format("out of address space: an image of {} MiB, {} MiB are left{}",
                       whole_pages(bytes) >> 20, bytes_ >> 20, memory_limit_text());
  }

  // Maps the judge's image. Returns why it cannot, or "".
  [[nodiscard]] std::string open(std::int64_t bytes) {
    const auto pages = static_cast<std::size_t>(whole_pages(bytes));
    if (mmap(at_, pages, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, kImage, 0) != MAP_FAILED) return {};
    return fmt::format("cannot map an image of {} bytes: {}", pages, std::strerror(errno));
  }

  // Out of reach until the next run: a thread that still writes when its variant has returned is a crash.
  void close(std::int64_t bytes) {
    (void)mmap(at_, static_cast<std::size_t>(whole_pages(bytes)), PROT_NONE,
               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  }

  [[nodiscard]] std::byte* image() const { return at_; }

 private:
  static constexpr std::int64_t kPage = 4096;
  static constexpr std::int64_t kBefore = std::int64_t{1} << 20;  // 32,768 elements of 32 bytes
  static std::int64_t whole_pages(std::int64_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }

  std::byte* at_ = nullptr;
  std::int64_t bytes_ = 0;
  std::string missing_;
};

RunReply failed(RunReply::Status status, std::string text) {
  RunReply reply;
  reply.status = status;
  reply.text = std::move(text);
  return reply;
}

class Child {
 public:
  RunReply answer(const RunRequest& request) {
    if (request.call.op == kWaitForThreads) return wait_for_threads(request);
    if (request.call.op == kMissingResources) {
      const std::string missing = window_.why_not(0);
      return failed(RunReply::Status::no_resource,
                    missing.empty() ? missing_resources(omp_get_max_threads()) : missing);
    }
    if (request.call.op == kListPlugin) {
      const std::string broken = backend_of(request.call.device);
      confine(request.call.device != Device::gpu);
      const bool can_run = broken.empty() && backends_[request.call.device]->why_not().empty();
      return can_run ? describe_plugin(request.call.plugin) : RunReply{};  // else a run says why
    }
    if (request.call.op == kListVariants) {
      RunReply reply;
      reply.findings = describe_variants();
      return reply;
    }
    return run(request);
  }

 private:
  static RunReply wait_for_threads(const RunRequest& request) {
    for (int tries = 0; tries < 1000 && count_threads() > request.call.image_bytes; ++tries) usleep(2000);
    return {};
  }

  RunReply run(const RunRequest& request) {
    std::string missing = window_.why_not(request.call.image_bytes);
    if (missing.empty() && !confined_) missing = missing_resources(omp_get_max_threads());
    if (missing.empty()) missing = window_.open(request.call.image_bytes);
    if (!missing.empty()) return failed(RunReply::Status::no_resource, missing);
    RunReply reply = run_confined(request);
    window_.close(request.call.image_bytes);
    if (has_children() && reply.status == RunReply::Status::ok) {
      reply.status = RunReply::Status::error;
      reply.text = "left a process running after it had returned";
    }
    return reply;
  }

  RunReply run_confined(const RunRequest& request) {
    const std::string broken = backend_of(request.call.device);
    confine(request.call.device != Device::gpu);
    if (!broken.empty()) return failed(RunReply::Status::error, broken);
    return serve(request, find_operator(request.call.op), window_.image(), *backends_[request.call.device]);
  }

  // Has a device's backend made, before this process is confined: a driver may start a helper with rights of its own. Returns what is wrong
  // with a device that is there and does not answer, or "".
  [[nodiscard]] std::string backend_of(Device device) {
    std::unique_ptr<Backend>& backend = backends_[device];
    try {
      if (!backend) backend = make_backend(device);
    } catch (const std::exception& e) { return e.what(); }
    return {};
  }

  void confine(bool no_devices) {
    if (confined_) return;
    confine_worker(no_devices);
    prctl(PR_SET_PDEATHSIG, SIGKILL);  // a change of rights may have cleared it
    confined_ = true;
  }

  ImageWindow window_;
  std::map<Device, std::unique_ptr<Backend>> backends_;
  bool confined_ = false;
};

}  // namespace

int worker_main() {
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // it ends with the judge
  Child child;
  Message message;
  while (message.receive(kWire)) {
    const RunRequest request = decode_request(message);
    RunReply reply = child.answer(request);
    reply.threads = count_threads();
    reply.sequence = request.sequence;
    if (!encode(reply).send(kWire)) {
      std::fprintf(stderr, "cannot answer: the control socket to the judge is closed\n");
      return 1;
    }
  }
  return 0;
}

}  // namespace plumb
