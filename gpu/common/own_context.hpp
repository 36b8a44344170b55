// The context of a variant that no engine runs: its memory belongs to it. Host code.
#pragma once
#include <vector>

#include "gpu/device/resources.hpp"
#include "reference/core/abi.hpp"

namespace plumb {

/// Workspaces asked for before the first run belong to the plan. Those of a run are kept for the next one, which asks for the same in the
/// same order. All are freed with this.
class OwnContext {
 public:
  explicit OwnContext(void* stream) {
    context_.stream = stream;
    context_.owner = this;
    context_.allocate = [](Context& context, std::int64_t bytes) -> void* {
      return static_cast<OwnContext*>(context.owner)->allocate(bytes);
    };
  }
  OwnContext(const OwnContext&) = delete;
  OwnContext& operator=(const OwnContext&) = delete;

  [[nodiscard]] Context& get() { return context_; }
  /// Before every run.
  void begin_run() { running_ = true, next_ = 0; }

 private:
  using Memory = std::vector<DeviceArray<unsigned char>>;

  void* allocate(std::int64_t bytes) {
    if (!running_) return add(of_plan_, bytes);
    if (next_ == of_runs_.size() || of_runs_[next_].size() < bytes) {
      of_runs_.resize(next_);
      add(of_runs_, bytes);
    }
    return of_runs_[next_++].data();
  }
  static void* add(Memory& memory, std::int64_t bytes) {
    memory.emplace_back(bytes, "workspace of a variant");
    return memory.back().data();
  }

  Context context_;
  bool running_ = false;
  std::size_t next_ = 0;
  Memory of_runs_, of_plan_;
};

}  // namespace plumb
