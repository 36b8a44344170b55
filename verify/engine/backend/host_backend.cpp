// The host: variants use the image in place; workspaces have pages of their own, with guards around them.
#include <sys/mman.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <deque>
#include <fstream>

#include <fmt/format.h>
#include <omp.h>

#include "reference/core/error.hpp"
#include "reference/core/exhaustion.hpp"
#include "reference/core/resource_error.hpp"
#include "reference/core/threads.hpp"
#include "verify/engine/backend/backend.hpp"
#include "verify/engine/backend/collisions.hpp"
#include "verify/engine/backend/workspaces.hpp"

namespace plumb {
namespace {

// `wanted` OpenMP threads where the system has twice as many to give, `usual` ones elsewhere.
int threads_to_have(int wanted, int usual) {
  static int most = 0, asked = 0;
  if (memory_is_limited()) return std::min(wanted, usual);
  if (2 * wanted > asked) asked = 2 * wanted, most = startable_threads(asked);
  return most >= 2 * wanted ? wanted : usual;
}

// Of a disturbed run: more than cores.
int disturbed_threads(int usual) { return threads_to_have(usual + std::clamp(usual, 2, 8), usual); }

class HostBackend final : public Backend {
 public:
  std::string describe() const override {
    return fmt::format("host, {} cores", sysconf(_SC_NPROCESSORS_ONLN));
  }
  std::byte* upload(std::byte* image, std::int64_t) override { return image_ = image; }
  void download(std::byte*, std::int64_t) override { end_disturbance(); }

  void disturb(std::uint64_t seed, bool one_thread) override {
    if (seed == 0 || collide_threads == nullptr) return;
    note_usual();
    // a region may have fewer threads than could be had: a caller's limit, or a caller that is in a region itself. Here half of the runs
    // with one thread are told of several
    const bool unknowingly = one_thread && seed / 2 % 2 == 0;
    if (unknowingly) omp_set_max_active_levels(0);
    omp_set_num_threads(one_thread && !unknowingly ? 1 : disturbed_threads(usual_threads_));
    collide_threads(seed);
  }

  void use_threads(int threads) override {
    note_usual();
    if (threads == kOneUnawares)
      omp_set_max_active_levels(0);
    else
      omp_set_num_threads(threads_to_have(threads, usual_threads_));
  }

  void* workspace(std::int64_t bytes, Poison poison) override {
    if (bytes < 0) throw Error(fmt::format("a workspace of {} bytes was asked for", bytes));
    // a page out of reach sees reads, guards see the place of a write: each kind of poison has one of them
    const bool unreadable = poison == Poison::sentinel_a;
    const std::int64_t behind = unreadable ? 0 : kGuardBytes;
    Block& block = blocks_.emplace_back(
        static_cast<std::size_t>((kGuardBytes + bytes + behind + 255) / 256 * 256), unreadable);
    if (block.memory == nullptr) {
      const std::string what = fmt::format("out of memory: a workspace of {} bytes", bytes);
      blocks_.pop_back();
      if (memory_is_limited()) throw ResourceError(what + memory_limit_text());
      throw Error(what);
    }
    const std::uint64_t bits = poison_bits(poison, 8);
    for (std::size_t i = 0; i + 8 <= block.whole; i += 8) std::memcpy(block.memory + i, &bits, 8);
    block.bytes = bytes, block.bits = bits;
    return block.memory + kGuardBytes;
  }

  std::string release_workspace() override {
    end_disturbance();  // where the run threw
    std::string wrong;
    for (const Block& block : blocks_) {
      const auto damaged = [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) {
          if (block.memory[i] != static_cast<std::byte>(block.bits >> (8 * (i % 8)))) return true;
        }
        return false;
      };
      if (damaged(0, kGuardBytes))
        wrong = fmt::format("wrote before the start of a workspace of {} bytes", block.bytes);
      if (damaged(kGuardBytes + block.bytes, static_cast<std::int64_t>(block.whole))) {
        wrong = fmt::format("wrote past the end of a workspace of {} bytes", block.bytes);
      }
    }
    blocks_.clear();
    return wrong;
  }

  void keep(const std::vector<ByteRange>& ranges) override {
    kept_.clear();
    for (const ByteRange& r : ranges)
      kept_.push_back({r.offset, {image_ + r.offset, image_ + r.offset + r.bytes}});
  }

  void begin_sample(bool cold) override {
    for (const Kept& k : kept_) std::memcpy(image_ + k.offset, k.bytes.data(), k.bytes.size());
    if (cold) empty_caches();
    start_ = std::chrono::steady_clock::now();
  }

  double end_sample() override {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  // A run may be disturbed and have another number of threads: what was usual is what held before both.
  void note_usual() {
    if (usual_threads_ == 0)
      usual_threads_ = omp_get_max_threads(), usual_levels_ = omp_get_max_active_levels();
  }
  void end_disturbance() {
    if (usual_threads_ == 0) return;
    if (collide_threads != nullptr) collide_threads(0);
    omp_set_num_threads(usual_threads_), omp_set_max_active_levels(usual_levels_);
    usual_threads_ = 0;
  }

  // Four times the last level, read and written by every thread, so that nothing of a case is left in any core's cache.
  void empty_caches() {
    if (flush_.empty()) flush_.assign(static_cast<std::size_t>(4 * last_level_cache_bytes() / 8), 1);
    std::uint64_t* const words = flush_.data();
    const auto count = static_cast<std::int64_t>(flush_.size());
#pragma omp parallel for schedule(static)
    for (std::int64_t i = 0; i < count; i += 8) ++words[i];
  }

  struct Kept {
    std::int64_t offset;
    std::vector<std::byte> bytes;
  };
  // `whole` bytes, a multiple of 256, aligned to as many. Where it is `unreadable` behind them, no access there goes unseen: the
  // child ends by a signal.
  // Pages of its own, and one behind them that is out of reach. `unreadable`: the workspace ends there.
  struct Block {
    Block(std::size_t size, bool unreadable) : whole(size) {
      const std::size_t pages = (whole + kPage - 1) / kPage * kPage;
      mapped = {map_workspace(pages + kPage), pages + kPage};
      if (mapped.first == nullptr) return;
      (void)mprotect(mapped.first + pages, kPage, PROT_NONE);
      memory = unreadable ? mapped.first + pages - whole : mapped.first;
    }
    ~Block() {
      if (mapped.first != nullptr) close_workspace(mapped.first, mapped.second, memory + kGuardBytes, bytes);
    }
    Block(const Block&) = delete;
    Block& operator=(const Block&) = delete;

    static constexpr std::size_t kPage = 4096;
    std::pair<std::byte*, std::size_t> mapped{nullptr, 0};
    std::byte* memory = nullptr;
    std::int64_t bytes = 0;
    std::size_t whole;
    std::uint64_t bits = 0;
  };
  std::deque<Block> blocks_;
  std::byte* image_ = nullptr;
  int usual_threads_ = 0;  // of OpenMP; 0: the run has them
  int usual_levels_ = 0;
  std::vector<Kept> kept_;
  std::vector<std::uint64_t> flush_;
  std::chrono::steady_clock::time_point start_;
};

class MissingBackend final : public Backend {
 public:
  explicit MissingBackend(std::string reason) : reason_(std::move(reason)) {}
  Reason why_not() const override { return reason_; }
  std::string describe() const override { return reason_; }
  std::byte* upload(std::byte*, std::int64_t) override { throw Error(reason_); }
  void download(std::byte*, std::int64_t) override { throw Error(reason_); }
  void* workspace(std::int64_t, Poison) override { throw Error(reason_); }
  std::string release_workspace() override { return {}; }

 private:
  std::string reason_;
};

}  // namespace

bool holds_only(const ArrayInfo& a, Poison poison) {
  const auto bytes = static_cast<std::size_t>(a.element_bytes());
  const std::uint64_t want = poison_bits(poison, static_cast<int>(bytes));
  const auto* from = static_cast<const std::byte*>(a.data);
  for (std::int64_t i = 0; i < a.rows; ++i) {
    for (std::int64_t j = 0; j < a.cols; ++j) {
      std::uint64_t have = 0;
      std::memcpy(&have, from + (i * a.ld + j) * a.element_bytes(), bytes);
      if (have != want) return false;
    }
  }
  return true;
}

void* Backend::place(const ArrayInfo&, const std::byte*, Poison) {
  throw Error(fmt::format("arrays are not placed apart on this device: {}", describe()));
}
void Backend::keep(const std::vector<ByteRange>&) {
  throw Error(fmt::format("nothing is timed on this device: {}", describe()));
}
void Backend::begin_sample(bool) {
  throw Error(fmt::format("nothing is timed on this device: {}", describe()));
}
double Backend::end_sample() { throw Error(fmt::format("nothing is timed on this device: {}", describe())); }

std::int64_t last_level_cache_bytes() {
  // the largest of cpu0's caches as the kernel lists them ("32768K"); sysconf knows nothing of it on some processors
  std::int64_t largest = 0;
  for (int i = 0; i < 8; ++i) {
    std::ifstream file(fmt::format("/sys/devices/system/cpu/cpu0/cache/index{}/size", i));
    std::int64_t size = 0;
    char unit = 0;
    if (!(file >> size)) continue;
    file >> unit;
    largest = std::max(largest, unit == 'K' ? size << 10 : unit == 'M' ? size << 20 : size);
  }
  if (largest == 0) largest = sysconf(_SC_LEVEL3_CACHE_SIZE);
  return largest > 0 ? largest : std::int64_t{32} << 20;
}

std::unique_ptr<Backend> make_apart_backend() {
  return make_gpu_apart_backend != nullptr ? make_gpu_apart_backend() : make_backend(Device::gpu);
}

std::unique_ptr<Backend> make_backend(Device device) {
  switch (device) {
    case Device::cpu:
      return std::make_unique<HostBackend>();
    case Device::gpu:
      if (make_gpu_backend != nullptr) return make_gpu_backend();
      return std::make_unique<MissingBackend>(
          "this build has no GPU side (where nvcc is installed, PLUMB_PRESET=gpu builds one)");
    case Device::simt:
      if (make_simt_backend != nullptr) return make_simt_backend();
      return std::make_unique<MissingBackend>("the CPU executor runs in a worker of its own");
  }
  return nullptr;
}

}  // namespace plumb
