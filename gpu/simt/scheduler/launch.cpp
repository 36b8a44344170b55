// Launches: what a device refuses, and a launch from its order to its end.
#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "gpu/device/launch_limits.hpp"
#include "gpu/simt/scheduler/index_variables.hpp"
#include "gpu/simt/scheduler/progress.hpp"
#include "gpu/simt/scheduler/unset_trial.hpp"
#include "gpu/simt/state.hpp"

namespace plumb::simt {

namespace {

std::size_t dynamic_allowed(const LaunchOrder& order) {
  if (order.kernel == nullptr) return current().schedule.most_dynamic_allowed;
  const auto it = current().schedule.dynamic_allowed.find(order.kernel);
  return it != current().schedule.dynamic_allowed.end() ? it->second : 0;
}

// Opens the launch. False: a device refuses it, or it is too large for the executor.
bool begin_launch(const LaunchOrder& order) {
  Launch& launch = open_launch(order.stream, order.programmatic);
  launch.kernel = order.name;
  launch.kernel_address = order.kernel;
  launch.grid = order.grid;
  launch.block = order.block;
  launch.here = order.here;
  current().schedule.by_seam = order.by_seam;
  const int multiprocessors =
      runs_by_itself() ? current().run.options.multiprocessors : current().run.chip->multiprocessors;
  current().schedule.shape = {
      order.grid,        order.block,    order.dynamic_shared, 0, dynamic_allowed(order),
      order.cooperative, multiprocessors};
  const uint3 c = order.cluster;
  current().schedule.shape.large_clusters = current().schedule.large_clusters;
  if (c.x != 0) {
    current().schedule.shape.cluster = c;
    current().schedule.shape.cluster_said = true;
  }
  if (refuse_launch()) return false;
  const std::uint64_t total = std::uint64_t{order.grid.x} * order.grid.y * order.grid.z;
  const std::uint64_t threads = std::uint64_t{order.block.x} * order.block.y * order.block.z;
  current().run.counters.threads +=
      static_cast<std::int64_t>(std::min(total, std::uint64_t{1} << 40) * threads);
  if (current().run.options.max_threads > 0 &&
      current().run.counters.threads > current().run.options.max_threads) {
    current().run.is_stopped = true;
    return false;
  }
  if (total > 0x7fffffffu - current().schedule.next_block_id) {
    run_short(fmt::format("numbers for the blocks of a run: {} are more than 2147483647", total));
    return false;
  }
  launch.blocks = static_cast<std::uint32_t>(total);
  current().schedule.next_block_id += launch.blocks;
  ++current().run.counters.launches;
  return true;
}

}  // namespace

uint3 running_thread{0, 0, 0};
uint3 running_block{0, 0, 0};
uint3 running_block_extent{1, 1, 1};
uint3 running_grid_extent{1, 1, 1};

// Whether a device refuses the launch under way; noted, and the run stopped, where it does.
bool refuse_launch() {
  LaunchShape& shape = current().schedule.shape;
  if (current().schedule.by_seam &&
      launching::must_ask_for_shared_memory(shape.static_shared, shape.dynamic_shared))
    shape.dynamic_allowed = shape.dynamic_shared;
  const Refusal why = why_refused(shape, *current().run.chip);
  if (!why.text.empty()) refuse(why.error, why.text);
  current().run.refusal = why;
  return !why.text.empty();
}

void refuse(LaunchError error, const std::string& text) {
  current().run.refusal = {error, text};
  note(FindingKind::bad_launch, "a device refuses " + text, nullptr, locate(launch_under_way().here));
  current().run.is_stopped = true;
}

void must_be_chip(int first, const char* instruction, Here here) {
  const int chip = current().run.chip->chip;
  if (chip < first)
    trap(fmt::format("{} on sm_{}: sm_{} was the first to have it", instruction, chip, first).c_str(), here);
}

void refuse_block(unsigned most_threads) {
  refuse(LaunchError::invalid_value,
         fmt::format("a block of {} threads: the kernel's __launch_bounds__ allows {}",
                     show(running_block_extent), most_threads));
  stop();
}

void refuse_other_block(dim3 required) {
  refuse(LaunchError::invalid_value, fmt::format("a block of {} threads: the kernel's .reqntid is {}",
                                                 show(running_block_extent), show(required)));
  stop();
}

void run_launch(const LaunchOrder& order) {
  begin_by_itself();
  const auto lock = enter_engine();
  if (current().run.is_stopped) {
    end_if_stopped();
    ++current().run.skipped;
    return;
  }
  enter_stream(order.stream);
  if (begin_launch(order)) {
    current().schedule.body = order.body;
    current().schedule.closure = order.closure;
    current().schedule.short_of.clear();
    current().schedule.idle = 0;
    running_block_extent = order.block;
    running_grid_extent = order.grid;
    current().schedule.cooperative = order.cooperative;
    const LaunchProgress progress_told(launch_under_way());
    begin_unset_trial();
    run_blocks(launch_under_way(), order.cooperative);
    if (current().schedule.begins_anew) {
      current().schedule.begins_anew = current().run.is_stopped = false;
      run_blocks(launch_under_way(), order.cooperative);
    }
    current().schedule.thread = nullptr;
    finish_trials();
    run_nested(order.stream);
  }
  if (!current().run.is_stopped) return;
  if (!current().run.shortage.empty()) current().schedule.pool.clear();  // what follows may need the memory
  report_now();  // the program may abort on the error it is told
  // A device that refuses a launch is as good as before: the program is told and goes on.
  if (!current().run.refusal.text.empty() && runs_by_itself()) current().run.is_stopped = false;
  end_if_stopped();
}

void launch_packed(const void* kernel, void (*invoke)(const void*, void**), void** args, LaunchOrder order) {
  if (current().schedule.thread != nullptr)
    not_offered("a kernel that launches a kernel through the seam", order.here);
  struct Call {
    const void* kernel;
    void (*invoke)(const void*, void**);
    void** args;
  } call{kernel, invoke, args};
  order.body = [](void* c) {
    const auto* what = static_cast<const Call*>(c);
    what->invoke(what->kernel, what->args);
  };
  order.closure = &call;
  run_launch(order);
}

namespace {

// Whether a device might refuse a launch for what it asks: how much shared memory its kernel declares is known when it runs.
bool may_be_refused(dim3 grid, dim3 block, std::size_t dynamic_shared) {
  const ChipLimits& chip = *current().run.chip;
  LaunchShape shape;
  shape.grid = grid, shape.block = block, shape.dynamic_shared = dynamic_shared;
  shape.static_shared = chip.shared_default;
  shape.dynamic_allowed = current().schedule.most_dynamic_allowed;
  return !why_refused(shape, chip).text.empty();
}

}  // namespace

void launch_written(const char* name, dim3 grid, dim3 block, std::size_t shared_bytes, void* stream,
                    void (*body)(void*), void* closure, std::size_t closure_bytes, Here here) {
  const auto launch = [=](void* in_stream, void* arguments) {
    const auto lock = enter_engine();
    current().schedule.params_low = static_cast<const unsigned char*>(arguments);
    current().schedule.params_high = current().schedule.params_low + closure_bytes;
    LaunchOrder order{name,  nullptr, grid, block, shared_bytes, in_stream,
                      false, false,   here, body,  arguments};
    run_launch(order);
    current().schedule.params_low = current().schedule.params_high = nullptr;
  };
  const bool nested = current().schedule.thread != nullptr;
  bool postponed = false;
  if (!nested) {
    begin_by_itself();
    stream = launch_key(stream);
    if (!is_captured(stream)) {
      postponed = may_be_postponed(stream, closure, closure_bytes);
      if (!postponed) return launch(stream, closure);
    }
  }
  // Arguments of a kernel are bytes, and kept for later.
  const std::size_t bytes = (closure_bytes + 63) / 64 * 64;
  const std::shared_ptr<void> kept(std::aligned_alloc(64, bytes), &std::free);
  std::memcpy(kept.get(), closure, closure_bytes);
  const auto later = [launch, kept](void* in_stream) { launch(in_stream, kept.get()); };
  if (postponed)
    return postpone(
        stream, [later, stream] { later(stream); }, may_be_refused(grid, block, shared_bytes));
  nested ? launch_nested(stream, later) : capture_launch(stream, later);
}

}  // namespace plumb::simt
