// What instrumented code of the host does by itself to memory that the device knows. Device memory it may not touch at all. Memory of both
// (pinned, managed, registered) it may touch in order: after it has waited for the work in flight that conflicts. Work runs when it is
// queued, and everything queued later comes after what the host did before: so the host's accesses leave no marks, and are only compared
// with those that work has left.
#include <fmt/core.h>

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

}  // namespace

void host_access(unsigned char* at, std::size_t bytes, Access kind, Location location) {
  if (!among_arrays(at) || current().run.host_functions > 0) return;
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
