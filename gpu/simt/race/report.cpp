// Sentences about accesses that race, come too early, or read what nobody wrote.
#include <fmt/core.h>

#include <algorithm>
#include <cstring>

#include "gpu/simt/race/extents.hpp"
#include "gpu/simt/state.hpp"

namespace plumb::simt {

namespace {

// A reader of the asynchronous proxy reads for a warpgroup or a thread (memory/proxy.hpp).
unsigned warp_behind(const Mark& m) {
  if (m.warp >= kFirstWriteUnit) return m.warp - kFirstWriteUnit;
  if (m.warp >= kFirstPeerUnit) return m.warp - kFirstPeerUnit;
  if (m.warp >= kFirstCopyUnit) return m.warp - kFirstCopyUnit;
  if (m.warp >= kFirstProductUnit) return (m.warp - kFirstProductUnit) * kWarpgroupWarps;
  return m.warp;
}

}  // namespace

ThreadId thread_of(const Mark& m, int launch) {
  const Launch& l = current().schedule.launches[static_cast<std::size_t>(launch)];
  ThreadId id;
  id.host = l.host;
  if (l.host) return id;
  const std::uint32_t linear = m.block - l.first_block;
  id.block = {linear % l.grid.x, linear / l.grid.x % l.grid.y, linear / l.grid.x / l.grid.y};
  const unsigned warp = warp_behind(m);
  const unsigned n =
      warp * static_cast<unsigned>(kWarp) + static_cast<unsigned>(__builtin_ctz(m.lanes | 1u << 31));
  id.thread = {n % l.block.x, n / l.block.x % l.block.y, n / l.block.x / l.block.y};
  return id;
}

void name_other(RawFinding& finding, const Target& target, const Mark& other, int launch) {
  finding.finding.array = target.array;
  finding.finding.offset = target.offset;
  finding.finding.has_other = true;
  finding.finding.other_thread = thread_of(other, launch);
  finding.other_launch = launch;
}

namespace {

const char* verb(const Mark& m, bool shared) {
  if (m.warp >= kFirstWriteUnit) return "written by a copy out of shared memory";
  if (m.warp >= kFirstCopyUnit && !shared) return "read as a tensor map by a copy";
  if (m.warp >= kFirstPeerUnit) return "read by a copy to another block";
  if (m.warp >= kFirstCopyUnit) return "read by a copy out of it";
  if (m.warp >= kFirstProductUnit) return "read by wgmma";
  if (m.async != 0) return "written by an asynchronous copy";
  if (m.is_volatile != 0) return m.writes != 0 ? "written as volatile" : "read as volatile";
  if (m.strength != kPlain) return m.writes != 0 ? "written atomically" : "read atomically";
  return m.writes != 0 ? "written" : "read";
}

// One of the mark's threads whose access nothing orders before the thread's: a mark may stand for the thread itself, too.
Mark unordered_part(const Thread& t, const Mark& m) {
  Mark one = m;
  for (unsigned rest = m.lanes; rest != 0; rest &= rest - 1) {
    one.lanes = rest & -rest;
    if (!known(t, one)) return one;
  }
  return m;
}

// Where a plain read races with an atomic update: the read, whose value may only go into a compare-and-exchange.
Location read_beside_update(const Mark& a, const Mark& b) {
  const auto is_read = [](const Mark& m) {
    return m.writes == 0 && m.strength == kPlain && m.is_volatile == 0;
  };
  const auto is_update = [](const Mark& m) { return m.writes != 0 && m.strength != kPlain; };
  return is_read(a) && is_update(b) ? a.location : is_read(b) && is_update(a) ? b.location : 0;
}

bool lone_volatile(const Mark& m) { return m.is_volatile != 0 && m.strength == kPlain; }

// A copy of the host's in another stream, whose call may have returned before it has landed.
bool is_copy_of_host(const Mark& m) {
  const Launch& launch = current().schedule.launches[static_cast<std::size_t>(launch_of(m.block))];
  return launch.host && m.writes != 0 && launch.kernel == "cudaMemcpy";
}

// What would order the two accesses.
const char* advice(const Thread& t, const Mark& now, const Mark& then, bool other_launch, bool shared) {
  const bool both_strong = now.strength != kPlain && then.strength != kPlain;
  if (both_strong && now.extent != then.extent)
    return "atomic and volatile accesses of different bytes are not atomic to each other: use one size";
  if (other_launch && is_copy_of_host(then))
    return "the copy's stream and this one do not wait for each other, and cudaMemcpy out of pageable memory "
           "may return before the "
           "copy has landed: synchronise its stream, or wait for an event behind it";
  if (other_launch)
    return "the two belong to launches, or to a launch and the host, that may overlap: wait for an event or "
           "the stream, or "
           "in a dependent launch call cudaGridDependencySynchronize()";
  const bool meant_atomic =
      (lone_volatile(now) || now.strength != kPlain) && (lone_volatile(then) || then.strength != kPlain);
  if (!shared && meant_atomic && !both_strong)
    return "volatile is not atomic in CUDA C++: cuda::atomic_ref would be (PLUMB_SIMT_VOLATILE=atomic takes "
           "it so)";
  if (then.warp >= kFirstWriteUnit)
    return "cp.async.bulk.wait_group, without .read, by the thread that started the copy, and then an order "
           "between that thread and this one";
  if (then.warp >= kFirstCopyUnit && !shared)
    return "wait for the copy (its barrier, or cp.async.bulk.wait_group) before its map is changed";
  if (then.warp >= kFirstPeerUnit)
    return "the copy's barrier, in the other block, says when it has been read: let that block say so";
  if (then.warp >= kFirstProductUnit)
    return "wait for the reading (wgmma.wait_group, cp.async.bulk.wait_group), and let a barrier say so";
  if (then.async != 0)
    return "wait for the copy (its barrier, cp.async.wait_group or cp.async.bulk.wait_group) between the two "
           "lines";
  if (now.async != 0)
    return "let a barrier, and before a bulk copy its proxy fence, come between the access and the copy's "
           "start";
  if (then.block == now.block) {
    return then.warp == t.warp ? "a __syncwarp() or __syncthreads() between the two lines would order them; "
                                 "shuffles and votes "
                                 "make lanes meet, and order no memory"
                               : "a __syncthreads() between the two lines would order them";
  }
  if (shared)
    return "a cluster.sync() between the two lines, or a barrier of the other block, would order them";
  if (both_strong) return "a block-scope atomic does not reach another block: use device scope";
  if (now.writes != 0 && then.writes != 0)
    return "no barrier reaches another block: atomicAdd, or one launch per phase, would order them";
  return "no barrier reaches another block: the writer needs __threadfence() before an atomic flag, the "
         "reader "
         "the flag and a fence or barrier";
}

// What the bytes of two plain accesses say of a race in one launch, before what would order them: where each takes some that the other does
// not, they are meant for different elements, and nothing between them would help.
void tell_of_overlap(RawFinding& f, const Mark& then, const Target& target) {
  const ByteRange here = bytes_under_way(target);
  const std::optional<ByteRange> there = bytes_of(then, target);
  if (!there || *there == here) return;
  const std::string both = fmt::format("bytes {} to {} here and {} to {} there", here.begin, here.end - 1,
                                       there->begin, there->end - 1);
  if (here.holds(*there) || there->holds(here)) {
    f.finding.hint = fmt::format(
        "{}: if they are meant to be of different elements, an index or the start of an array is wrong; if "
        "not, {}",
        both, f.finding.hint);
  } else {
    f.finding.hint = both + " overlap in part: an index, a size or the start of an array is wrong";
    f.pair = RawFinding::kOther;  // also where both are on one line
  }
}

// The streams of the launch under way and of another, as the end of a sentence; empty where they are one, or have no names.
std::string in_streams(int other) {
  const int here = launch_under_way().stream;
  const int there = current().schedule.launches[static_cast<std::size_t>(other)].stream;
  const std::string first = name_of_stream(here), second = name_of_stream(there);
  if (here == there || first.empty() || second.empty()) return "";
  return fmt::format(": {} here, {} there", first, second);
}

// The finding waits until the second write has been executed: the two may prove to store the same value.
void put_in_doubt() {
  RaceState& race = current().race;
  race.doubtful = std::move(current().report.findings.back());
  current().report.findings.pop_back();
  race.doubt.at = race.access_at;
  race.doubt.bytes = race.access_bytes;
  race.doubt.read = 0;
  std::memcpy(race.doubt.before, race.access_at, race.access_bytes);
}

}  // namespace

void resolve_doubt() {
  if (std::memcmp(current().race.doubt.at, current().race.doubt.before, current().race.doubt.bytes) != 0)
    current().report.findings.push_back(std::move(current().race.doubtful));
  current().race.doubt.at = nullptr;
}

void report_race(const Thread& t, const Mark& now, const Mark& other, const Target& target) {
  const Mark then = unordered_part(t, other);
  const auto plain = [](const Mark& m) { return m.strength == kPlain && m.async == 0; };
  const bool both_plain = plain(now) && plain(then);
  const bool both_write = both_plain && now.writes != 0 && then.writes != 0;
  const std::size_t before = current().report.findings.size();
  const int launch = launch_of(then.block);
  const bool same_launch = launch == current().schedule.number;
  const bool host = current().schedule.launches[static_cast<std::size_t>(launch)].host;
  const bool shared = target.home != nullptr;
  const std::string where = fmt::format(
      "{}'{}'{} at byte {}", target.home != nullptr ? "shared " : "", target.array,
      target.home != nullptr && has_peers(*target.home) ? " of block " + show(target.home->index) : "",
      target.offset);
  RawFinding* f =
      note(FindingKind::race,
           fmt::format("{} is {} here and {} there{}, and nothing orders the two{}", where, verb(now, shared),
                       verb(then, shared), then.block != now.block && same_launch ? " by another block" : "",
                       in_streams(launch)),
           &t, now.location, then.location);
  if (f == nullptr) return;
  name_other(*f, target, then, launch);
  if (both_plain) f->pair = both_write ? RawFinding::kWriteWrite : RawFinding::kReadWrite;
  f->both_volatile = now.is_volatile != 0 && then.is_volatile != 0 && target.home == nullptr;
  f->tried = read_beside_update(now, then);
  if (current().run.options.trails) {
    f->finding.trail = trail_of(now, t.warp);
    f->finding.other_trail = trail_of(then, warp_behind(then));
  }
  f->finding.hint = advice(t, now, then, !same_launch || host, target.home != nullptr);
  if (both_plain && same_launch && !host && then.warp < kFirstProductUnit) tell_of_overlap(*f, then, target);
  if (both_write && !current().run.options.strict &&
      current().race.access_bytes <= sizeof current().race.doubt.before &&
      current().report.findings.size() > before)
    put_in_doubt();
}

void report_before_allocation(const Thread& t, const Mark& now, const Mark& allocation,
                              const Target& target) {
  const int launch = launch_of(allocation.block);
  RawFinding* f =
      note(FindingKind::race,
           fmt::format("'{}' at byte {} is {} here and allocated there in the order of a stream, and "
                       "nothing orders the two{}",
                       target.array, target.offset, verb(now, false), in_streams(launch)),
           &t, now.location, allocation.location);
  if (f == nullptr) return;
  name_other(*f, target, allocation, launch);
  f->finding.hint =
      "memory of a stream is there for another one only behind an event of the first that it waits for, or "
      "once "
      "the host has synchronised the first";
}

void note_shared_update(const Thread& t, const Mark& now, const Mark& then, const Target& target) {
  SharedUpdate& first = current().race.shared_update;
  const Launch& launch = launch_under_way();
  const bool own = then.block >= launch.first_block && then.block - launch.first_block < launch.blocks;
  if (own || !first.array.empty() || then.writes == 0 || then.strength == kPlain || known(t, then)) return;
  first = {target.array,         target.offset, now.location, then.location, current().schedule.number,
           launch_of(then.block)};
}

void report_early_use(const Thread& t, const Marks& c, const Mark& now, const Target& target) {
  RawFinding* f =
      note(FindingKind::async_copy_not_waited_for,
           fmt::format("shared '{}' at byte {} is {} here while an asynchronous copy to it is under way",
                       target.array, target.offset, verb(now, true)),
           &t, now.location, c.write.location);
  if (f != nullptr) {
    f->finding.array = target.array;
    f->finding.offset = target.offset;
    f->finding.has_other = true;
    f->finding.other_thread = thread_of(c.write, current().schedule.number);
    f->finding.hint =
        c.write.warp * unsigned{kWarp} + static_cast<unsigned>(__builtin_ctz(c.write.lanes | 1u << 31)) ==
                t.id
            ? "wait for the group (cp.async.wait_group) or its barrier before using its data"
            : "the copying thread must wait for its group, then a barrier publishes the data; or "
              "wait for the barrier that the copy completes on";
  }
}

RawFinding* report_uninitialised(const Thread& t, const Mark& now, const Target& target) {
  RawFinding* f = note(FindingKind::uninitialised,
                       fmt::format("{}'{}' at byte {} is read before anything wrote it",
                                   target.home != nullptr ? "shared " : "", target.array, target.offset),
                       &t, now.location);
  if (f != nullptr) {
    f->finding.array = target.array;
    f->finding.offset = target.offset;
    f->partly_written = current().race.partly_written;
  }
  return f;
}

std::string show(uint3 v) { return fmt::format("({},{},{})", v.x, v.y, v.z); }

}  // namespace plumb::simt
