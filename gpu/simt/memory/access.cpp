// Every access of a kernel: to shared memory, to an array or to a variable of the program; in bounds, initialised, and ordered.
#include <fmt/core.h>

#include <new>

#include "gpu/simt/memory/copy_writes.hpp"
#include "gpu/simt/memory/freed.hpp"
#include "gpu/simt/race/touch.hpp"
#include "gpu/simt/state.hpp"

namespace plumb::simt {

Array* array_of(const unsigned char* p) {
  Array* last = current().memory.last_array;
  if (last != nullptr && static_cast<std::size_t>(p - last->base) < last->bytes) return last;
  const auto after = std::upper_bound(current().memory.arrays.begin(), current().memory.arrays.end(), p,
                                      [](const unsigned char* at, const auto& a) { return at < a->base; });
  if (after == current().memory.arrays.begin()) return nullptr;
  Array* a = std::prev(after)->get();
  return static_cast<std::size_t>(p - a->base) < a->bytes ? current().memory.last_array = a : nullptr;
}

namespace {

// Whether a read of `bytes` bytes must find them written. Up to 4 bytes are a number: all of it must be. A structure read whole has
// padding that nobody wrote, and a vector may have components that nobody will use: up to 8 bytes any unwritten word is a finding, above
// only a read of nothing but unwritten words.
bool must_be_written(Shadow& shadow, std::size_t offset, std::size_t bytes) {
  const std::size_t step = shadow.granule();
  const std::size_t word = 4 / step;  // granules of a word
  bool all = true;
  bool any = false;
  for (std::size_t i = 0; i < bytes; i += step * word) {
    bool unwritten = true;
    for (std::size_t j = i; j < i + step * word && j < bytes; j += step) {
      if (shadow.at(offset + j)->initialised()) unwritten = false;
    }
    all = all && unwritten;
    any = any || unwritten;
  }
  current().race.partly_written = any && !all;
  return bytes <= 4 || (bytes <= 8 ? any : all);
}

// Marks all granules of [offset, offset + bytes).
void touch_range(Shadow& shadow, std::size_t offset, std::size_t bytes, const Footprint& print,
                 const Target& target, bool check_initialised) {
  shadow.refine_for(offset, bytes);
  const std::size_t step = shadow.granule();
  current().race.partly_written = false;
  if (bytes == step) {
    print.touch(*shadow.at(offset), target, check_initialised);
    return;
  }
  if (check_initialised && !print.writes()) check_initialised = must_be_written(shadow, offset, bytes);
  Target part = target;
  for (std::size_t i = 0; i < bytes; i += step) {
    part.into = static_cast<std::int64_t>(i);
    part.offset = target.offset + part.into;
    if (print.touch(*shadow.at(offset + i), part, check_initialised)) continue;
    for (; print.writes() && i < bytes; i += step) shadow.at(offset + i)->initialise();
    return;
  }
}

[[noreturn]] void out_of_bounds(const Thread& t, Access kind, Location location, std::size_t bytes,
                                const std::string& where, const std::string& array, std::int64_t offset) {
  RawFinding* f =
      note(FindingKind::out_of_bounds,
           fmt::format("{} of {} bytes{}", is_write(kind) ? "write" : "read", bytes, where), &t, location);
  if (f != nullptr) {
    f->finding.array = array;
    f->finding.offset = offset;
  }
  stop();
}

[[noreturn]] void out_of_shared(const Thread& t, const Block& b, std::size_t off, std::uint16_t id,
                                std::size_t bytes, Access kind, Location location) {
  // Name the piece before it: most overruns leave an array at its end.
  const SharedPiece* piece = id != 0 ? &b.pieces[id - 1u] : nullptr;
  for (const SharedPiece& candidate : b.pieces) {
    if (id == 0 && candidate.end <= off && (piece == nullptr || candidate.end > piece->end))
      piece = &candidate;
  }
  const std::string where = piece != nullptr
                                ? fmt::format(" at byte {} of shared '{}', which has {}", off - piece->begin,
                                              piece->name, piece->end - piece->begin)
                                : " of shared memory that nobody asked for";
  out_of_bounds(t, kind, location, bytes, where, piece != nullptr ? piece->name : "",
                piece != nullptr ? static_cast<std::int64_t>(off) - piece->begin : -1);
}

// To the shared memory of `b`, which is the thread's block or one of its cluster.
void access_shared(Thread& t, Block& b, std::size_t off, std::size_t bytes, Access kind, Location location,
                   Scope scope) {
  const bool reads = needs_value(kind);
  const std::uint16_t id = b.piece_of[off / 4];
  if (id == 0 || off + bytes > b.pieces[id - 1u].end) out_of_shared(t, b, off, id, bytes, kind, location);
  const SharedPiece& piece = b.pieces[id - 1u];
  const Footprint print(t, kind, location, scope, true);
  const std::int64_t at = static_cast<std::int64_t>(off) - piece.begin;
  if (&b != t.block && touches_ended(t, b, print.mark(), piece.name, at)) return;
  if (b.shadow == nullptr) b.shadow = std::make_unique<Shadow>(kArenaBytes);
  touch_range(*b.shadow, off, bytes, print, {piece.name, at, &b}, reads);
}

// An array, or a variable of the device by its name.
Array* find_named(const unsigned char* p) {
  Array* a = array_of(p);
  return a != nullptr ? a : find_variable(p);
}

// The array or program variable that `at` lies in. Null: in neither, and reading there is harmless.
Array* array_at(const Thread& t, unsigned char* at, std::size_t bytes, Access kind, Location location) {
  Array* a = find_named(at);
  if (a == nullptr) {
    for (const auto& segment : current().memory.image) {
      if (static_cast<std::size_t>(at - segment->base) < segment->bytes) a = segment.get();
    }
  }
  if (a == nullptr) {
    if (!is_write(kind)) {
      if (is_argument(at)) return nullptr;
      for (const auto& [low, high] : current().memory.constants) {
        if (at >= low && at < high) return nullptr;
      }
    }
    out_of_bounds(t, kind, location, bytes, nearest_array(at), "", -1);
  }
  return a;
}

// What an access of an array may do wrong beside what its cells say.
void look_further(const Thread& t, Array& a, std::size_t offset, std::size_t bytes, const Mark& now) {
  if (a.allocation >= current().race.known_below) check_allocation(t, a, offset, now);
  if (a.map_reads != nullptr && now.writes != 0) check_map_reads(t, a, offset, bytes, now);
  if (a.copy_writes != nullptr) check_copy_writes(t, a, offset, bytes, now);
}

// False: nothing can be wrong with the access, or it is not looked at.
bool access_global(Thread& t, unsigned char* at, std::size_t bytes, Access kind, Location location,
                   Scope scope) {
  const bool reads = needs_value(kind);
  Array* a = array_at(t, at, bytes, kind, location);
  if (a == nullptr) return false;
  const auto offset = static_cast<std::size_t>(at - a->base);
  if (offset + bytes > a->bytes) {
    out_of_bounds(t, kind, location, bytes,
                  fmt::format(" at byte {} of '{}', which has {}", offset, a->name, a->bytes), a->name,
                  static_cast<std::int64_t>(a->bytes));
  }
  if (!a->writable) {
    if (is_write(kind)) {
      RawFinding* f = note(
          FindingKind::read_only_written,
          fmt::format("'{}' is {} and is written at byte {}", a->name,
                      a->constant ? "__constant__ memory, which kernels only read," : "an input", offset),
          &t, location);
      if (f != nullptr) {
        f->finding.array = a->name;
        f->finding.offset = static_cast<std::int64_t>(offset);
      }
      stop();
    }
    // Nothing can be wrong with reading an input. The host may write constants while a kernel runs.
    if (a->initialised && !a->constant) return false;
  }
  if (a->shadow == nullptr) a->shadow = std::make_unique<Shadow>(a->bytes);
  const Footprint print(t, kind, location, scope, false);
  if (a->needs_a_look(current().race.known_below)) look_further(t, *a, offset, bytes, print.mark());
  touch_range(*a->shadow, offset, bytes, print, {a->name.c_str(), static_cast<std::int64_t>(offset), nullptr},
              reads && !a->initialised);
  return true;
}

}  // namespace

namespace {

void kernel_access(Thread& t, unsigned char* at, std::size_t bytes, Access kind, Location location,
                   Scope scope) {
  if (kind == Access::read) {
    resolve_before_read(location);
  } else {
    resolve_pending();
  }
  current().race.access_at = at;
  current().race.access_bytes = bytes;
  const bool strong = kind != Access::read && kind != Access::write;
  const bool own = static_cast<std::size_t>(at - t.block->arena) < kArenaBytes;
  Block* const home = own ? t.block : holder_of(t, at);
  if (home != nullptr) {
    access_shared(t, *home, static_cast<std::size_t>(at - home->arena), bytes, kind, location, scope);
  } else if (!access_global(t, at, bytes, kind, location, scope)) {
    return;
  }
  if (strong) pass_value(t, at, bytes, kind, scope, home);
  if (kind == Access::read) note_read(t, at, bytes, location);
}

}  // namespace

void access(void* p, std::size_t bytes, Access kind, Location location, Scope scope) {
  Thread* const running = current().schedule.thread;
  auto* const at = static_cast<unsigned char*>(p);
  if (running == nullptr) return host_access(at, bytes, kind, location);
  if (static_cast<std::size_t>(at - running->stack_low) < kStackBytes) {
    if (running->registers != nullptr) touch_registers(*running, at, bytes, is_write(kind), location);
    return;
  }
  ++current().run.counters.accesses;
  try {  // here, and not in fiber_main(): the kernel's functions may be noexcept
    kernel_access(*running, at, bytes, kind, location, scope);
    return;
  } catch (const std::bad_alloc&) { run_short("the shadow of an array"); }
  stop();
}

bool polling(Thread& t) { return (++t.volatile_reads & 3u) == 0; }

void async_started(void* to, const void* from, std::size_t bytes, std::size_t valid, Location location) {
  Thread& t = *current().schedule.thread;
  if (valid > 0) access(const_cast<void*>(from), valid, Access::read, location, Scope::device);
  access(to, bytes, Access::write, location, Scope::device);
  Block& b = home_of(t, to);
  if (b.shadow == nullptr) return;  // it has ended, and nobody had looked at it
  const auto off = static_cast<std::size_t>(static_cast<unsigned char*>(to) - b.arena);
  for (std::size_t i = 0; i < bytes; i += b.shadow->granule()) { b.shadow->at(off + i)->begin_copy(); }
}

void async_landed(Block& b, void* to, std::size_t bytes, Location location, bool taken) {
  if (b.shadow == nullptr) return;
  const auto off = static_cast<std::size_t>(static_cast<unsigned char*>(to) - b.arena);
  for (std::size_t i = 0; i < bytes; i += b.shadow->granule()) {
    Cell& cell = *b.shadow->at(off + i);
    if (!cell.pending()) continue;  // its early use was reported already
    cell.end_copy();
    if (taken) leave_copy(*current().schedule.thread, cell, location);
  }
}

namespace {

// An operation of the host's on what is freed stops the run: what it would read or write is nobody's.
void report_freed(const char* what, const HostRange& r, const FreedArray& freed, Location location) {
  RawFinding* f =
      note(FindingKind::out_of_bounds,
           fmt::format("{} of {} bytes{}", what, r.bytes, show_freed(freed, r.at)), nullptr, location);
  if (f != nullptr) f->finding.array = freed.name;
  current().run.is_stopped = true;
}

// The mark of an operation of the host's over one of its ranges.
void mark_range(const char* what, const HostRange& r, Location location, Thread& t) {
  const auto* const p = static_cast<const unsigned char*>(r.at);
  Array* a = find_named(p);
  const FreedArray* const freed = a == nullptr && r.bytes > 0 ? freed_at(p) : nullptr;
  if (freed != nullptr) return report_freed(what, r, *freed, location);
  if (a == nullptr || r.bytes == 0) return;  // host memory of the program, or memory it did not name
  const auto offset = static_cast<std::size_t>(p - a->base);
  if (offset + r.bytes > a->bytes || (r.writes && !a->writable && !a->constant)) {
    RawFinding* f = note(
        offset + r.bytes > a->bytes ? FindingKind::out_of_bounds : FindingKind::read_only_written,
        fmt::format("{} of {} bytes at byte {} of '{}' ({} bytes)", what, r.bytes, offset, a->name, a->bytes),
        nullptr, location);
    if (f != nullptr) f->finding.array = a->name;
    current().run.is_stopped = true;
    return;
  }
  if (!a->writable && !a->constant) return;
  if (a->shadow == nullptr) a->shadow = std::make_unique<Shadow>(a->bytes);
  a->shadow->refine_for(offset, r.bytes);
  current().race.access_at = p;
  current().race.access_bytes = r.bytes;
  const Footprint print(t, r.writes ? Access::write : Access::read, location, Scope::device, false);
  current().race.partly_written = false;
  if (a->needs_a_look(current().race.known_below)) look_further(t, *a, offset, r.bytes, print.mark());
  const bool looked_at = r.judged && !r.writes && !a->initialised;
  bool noted = false;
  for (std::size_t i = 0; i < r.bytes; i += a->shadow->granule()) {
    const Target target{a->name.c_str(), static_cast<std::int64_t>(offset + i), nullptr};
    Cell& cell = *a->shadow->at(offset + i);
    if (!print.touch(cell, target, looked_at && !r.to_host)) break;
    if (r.writes) cell.initialise();
    if (!looked_at || cell.initialised() || noted) continue;
    noted = true;
    RawFinding* f = report_uninitialised(t, print.mark(), target);
    if (f == nullptr) continue;
    f->finding.is_note = true;
    f->finding.hint = "a copy to the host uses no value; what the host does with these bytes is not seen";
  }
  if (r.to_host) look_for_unset(*a, offset, r.bytes);
}

}  // namespace

void host_ranges(const char* what, void* stream, Here here, const std::vector<HostRange>& ranges,
                 const void* pc) {
  if (!checking()) return;
  Launch& l = open_launch(stream);
  l.kernel = what;
  l.host = true;
  l.here = here;
  l.blocks = 1;
  Block pseudo;  // stands in for the thread that does it
  pseudo.id = current().schedule.next_block_id++;
  Thread t;
  t.block = &pseudo;
  const Location location = pc != nullptr ? locate(pc) : locate(here);
  try {
    for (const HostRange& r : ranges) mark_range(what, r, location, t);
  } catch (const std::bad_alloc&) { run_short("the shadow of an array"); }
}

void host_operation(const char* what, void* stream, Here here, void* to, const void* from,
                    std::size_t bytes) {
  std::vector<HostRange> ranges;
  const Array* target = array_of(static_cast<const unsigned char*>(to));
  if (from != nullptr) ranges.push_back({from, bytes, false, target == nullptr || !target->device_only});
  ranges.push_back({to, bytes, true});
  host_ranges(what, stream, here, ranges);
}

void beside_own_array(const char* name, long long place, long long elements, Here here) {
  const Thread* const t = current().schedule.thread;
  if (t == nullptr) return;  // the host's
  RawFinding* f = note(
      FindingKind::out_of_bounds,
      fmt::format("element {} of '{}', an array of the thread's own, which has {}", place, name, elements), t,
      locate(here));
  if (f != nullptr) f->finding.array = name;
  stop();
}

}  // namespace plumb::simt
