// What instrumented code of the host does by itself to memory that the device knows. Device memory it may not touch at all. Memory of both
// (pinned, managed, registered) it may touch in order: after it has waited for the work in flight that conflicts. Work runs when it is
// queued, and everything queued later comes after what the host did before: so the host's accesses leave no marks, and are only compared
// with those that work has left.
//
// A function that a stream calls comes in that stream's order, and may run long after the call that queued it. What it writes to memory that
// copies read is kept, with the place in its stream: a copy that reads it must come after that.
#include <fmt/core.h>

#include <algorithm>

#include "gpu/simt/host/api/runtime/operations.hpp"
#include "gpu/simt/state.hpp"

namespace plumb::simt {

namespace {

// Whether the host has not waited for the work that left the mark.
bool in_flight(const Mark& mark) { return mark.block != 0 && !launch_known(mark.block, host_knowledge()); }

// The host saw what work in flight published: with system scope it may go on by that alone, as with mapped memory.
void take_up(const Mark& mark) {
  const int launch = launch_of(mark.block);
  const auto stream =
      static_cast<std::size_t>(current().schedule.launches[static_cast<std::size_t>(launch)].stream);
  std::vector<int> more(stream + 1);
  more[stream] = launch + 1;
  add_knowledge(host_key(), more);
}

template <class F>
void for_each_mark(const Cell& cell, F&& f) {
  const Marks marks = unpack(cell);
  f(marks.write);
  current().race.lists.for_each(marks.more, [&](const Mark& mark) {
    f(mark);
    return true;
  });
  f(marks.other);
}

void report(const Array& array, std::size_t offset, bool writes, const Mark& then, Location location) {
  const int launch = launch_of(then.block);
  RawFinding* f = note(
      FindingKind::race,
      fmt::format("'{}' at byte {} is {} by the host here and {} there by work that the host has "
                  "not waited for",
                  array.name, offset, writes ? "written" : "read", then.writes != 0 ? "written" : "read"),
      nullptr, location, then.location);
  if (f == nullptr) return;
  f->launch = -1;
  f->other_launch = launch;
  f->finding.kernel = "host code";
  f->finding.thread.host = true;
  f->finding.has_other = true;
  f->finding.other_thread = thread_of(then, launch);
  f->finding.array = array.name;
  f->finding.offset = static_cast<std::int64_t>(offset);
  f->finding.hint =
      "cudaStreamSynchronize, or an event waited for by the host, before this line would order them";
}

void report_device_memory(const Array& array, std::size_t offset, bool writes, Location location) {
  RawFinding* f = note(FindingKind::device_memory_on_host,
                       fmt::format("'{}' at byte {} is {} by host code, which cannot reach device memory",
                                   array.name, offset, writes ? "written" : "read"),
                       nullptr, location);
  current().run.is_stopped = true;
  if (f == nullptr) return;
  f->launch = -1;
  f->finding.kernel = "host code";
  f->finding.thread.host = true;
  f->finding.array = array.name;
  f->finding.offset = static_cast<std::int64_t>(offset);
  f->finding.hint = "cudaMemcpy brings it to the host";
}

/// Bytes that a function of a stream wrote, one run after another.
struct WrittenByFunction {
  const unsigned char *begin, *end;
  int launch;  // that stands for the function
  Location location;
};
constexpr std::size_t kWritesKept = 4096;
std::deque<WrittenByFunction>& written_by_functions() {
  static auto& all = *new std::deque<WrittenByFunction>;  // outlives the program's own statics
  return all;
}

bool is_known(int launch, const std::vector<int>& knows) {
  const auto stream =
      static_cast<std::size_t>(current().schedule.launches[static_cast<std::size_t>(launch)].stream);
  return stream < knows.size() && knows[stream] > launch;
}

void host_function_wrote(const unsigned char* at, std::size_t bytes, Location location) {
  const HostFunction& function = current().run.host_function;
  if (at < function.frame && at > __builtin_frame_address(0)) return;  // variables of its own
  const auto lock = try_enter_engine();
  if (!lock.owns_lock()) return;
  auto& all = written_by_functions();
  if (!all.empty() && all.back().launch == function.launch && all.back().end == at) {
    all.back().end += bytes;
    return;
  }
  if (all.size() == kWritesKept) all.pop_front();
  all.push_back({at, at + bytes, function.launch, location});
}

}  // namespace

void begin_host_function(const void* stream) {
  if (!checking()) return;
  host_ranges("a host function", const_cast<void*>(stream), Here{"", 0}, {});
  current().run.host_function = {current().schedule.number,
                                 static_cast<const unsigned char*>(__builtin_frame_address(0)), false};
}

void end_host_function() {
  HostFunction& function = current().run.host_function;
  if (function.signals) {  // who takes that up knows what the function did
    const Launch& launch = current().schedule.launches[static_cast<std::size_t>(function.launch)];
    std::vector<int> more(static_cast<std::size_t>(launch.stream) + 1);
    more.back() = function.launch + 1;
    add_knowledge(host_key(), more);
  }
  function = {};
}

void forget_host_functions() { written_by_functions().clear(); }

void check_copy_source(const void* from, std::size_t bytes, const void* stream, bool staged, Here here) {
  if (written_by_functions().empty() || !checking()) return;
  const auto* const at = static_cast<const unsigned char*>(from);
  const std::vector<int> knows = staged ? host_knowledge() : knowledge_of(stream);
  auto& all = written_by_functions();
  const auto number = static_cast<int>(current().schedule.launches.size());
  const auto early = std::find_if(all.begin(), all.end(), [&](const WrittenByFunction& w) {
    return w.begin < at + bytes && at < w.end && w.launch < number && !is_known(w.launch, knows);
  });
  if (early == all.end()) return;
  const std::string name =
      name_of_stream(current().schedule.launches[static_cast<std::size_t>(early->launch)].stream);
  RawFinding* f =
      note(FindingKind::race,
           fmt::format("the source of the copy here is written there by a function that {} calls, and {}",
                       name.empty() ? "a stream" : name,
                       staged ? "pageable memory may be staged when the copy is queued, before that"
                              : "nothing orders the two"),
           nullptr, locate(here), early->location);
  all.erase(early);
  if (f == nullptr) return;
  f->launch = -1;
  f->finding.kernel = "host code";
  f->other_launch = f->launch;
  f->finding.has_other = true;
  f->finding.other_thread.host = true;
  f->finding.hint = staged
                        ? "the host must wait for the stream before it queues the copy; a copy out of pinned "
                          "memory is read in the order of its stream"
                        : "an event, waited for by the copy's stream, would order them";
}

void host_access(unsigned char* at, std::size_t bytes, Access kind, Location location) {
  HostFunction& function = current().run.host_function;
  if (function.launch >= 0 && is_write(kind)) {
    kind == Access::write ? host_function_wrote(at, bytes, location) : void(function.signals = true);
  }
  if (!among_arrays(at)) return;
  const auto lock = try_enter_engine();
  if (!lock.owns_lock()) return;  // another of the host's threads has a kernel under way
  run_postponed();
  Array* const array = array_of(at);
  if (array == nullptr) return;
  const auto offset = static_cast<std::size_t>(at - array->base);
  const bool writes = is_write(kind);
  if (array->device_only) return report_device_memory(*array, offset, writes, location);
  if (array->shadow == nullptr) return;  // no work has touched it
  const bool strong = kind != Access::read && kind != Access::write;
  const std::size_t granule = array->shadow->granule();
  bool reported = false;
  for (std::size_t i = offset / granule * granule; i < std::min(offset + bytes, array->bytes); i += granule) {
    for_each_mark(*array->shadow->at(i), [&](const Mark& mark) {
      if (reported || !in_flight(mark)) return;
      if (strong) {
        if (mark.writes != 0 && (mark.strength != kPlain || mark.is_volatile != 0)) take_up(mark);
      } else if (writes || mark.writes != 0) {
        report(*array, offset, writes, mark, location);
        reported = true;
      }
    });
  }
}

}  // namespace plumb::simt
