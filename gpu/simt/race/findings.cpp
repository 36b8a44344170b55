// From addresses to sentences: findings are noted with program addresses while kernels run, and given their
// source lines at the end of a run, by one call of addr2line. Binutils is there wherever a compiler is, so no
// library is needed for it.
#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <map>

#include "gpu/simt/race/source_places.hpp"
#include "gpu/simt/race/symbols.hpp"
#include "gpu/simt/state.hpp"

namespace plumb::simt {

namespace {

using Frames = std::map<std::uintptr_t, std::vector<Frame>>;

Frames frames_of_findings(const std::vector<Module>& all) {
  std::vector<std::uintptr_t> wanted;
  const auto want = [&](Location l) {
    if (l != 0 && (l & kHereBit) == 0) wanted.push_back(whole_address(l, all));
  };
  const auto want_all = [&](const auto& of) {
    want(of.location);
    want(of.other_location);
    for (const int launch : {of.launch, of.other_launch}) {
      if (launch < 0) continue;
      const void* kernel = current().schedule.launches[static_cast<std::size_t>(launch)].kernel_address;
      if (kernel != nullptr) wanted.push_back(reinterpret_cast<std::uintptr_t>(kernel));
    }
  };
  if (current().report.findings.empty()) return {};
  for (const RawFinding& f : current().report.findings) want_all(f);
  want_all(current().race.shared_update);
  std::sort(wanted.begin(), wanted.end());
  wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
  return wanted.empty() ? Frames{} : symbolise(wanted);
}

Place place_of(Location l, const Frames& frames, const std::vector<Module>& all) {
  if (l == 0) return {};
  if ((l & kHereBit) != 0) {
    const Here& here = current().report.heres[l & ~kHereBit];
    return in_source({here.file, here.line});
  }
  const auto it = frames.find(whole_address(l, all));
  if (it == frames.end()) return {};
  for (const Frame& f : it->second) {
    if (f.place.line != 0 && !is_ours(f.place.file) && f.function.rfind("plumb_", 0) != 0)
      return in_source(f.place);
  }
  return it->second.empty() ? Place{} : in_source(it->second.front().place);
}

// A kernel's name without its parameters, return type and unnamed namespaces.
std::string short_name(std::string name) {
  constexpr const char* kUnnamed = "(anonymous namespace)::";
  for (std::size_t at; (at = name.find(kUnnamed)) != std::string::npos;)
    name.erase(at, std::strlen(kUnnamed));
  int depth = 0;  // the parameters say nothing here; a parenthesis among the template's arguments opens none
  for (std::size_t at = 0; at < name.size(); ++at) {
    if (name[at] == '<') ++depth;
    if (name[at] == '>') --depth;
    if (name[at] == '(' && depth == 0 && at > 0) name.erase(at);
  }
  if (name.rfind("void ", 0) == 0) name.erase(0, 5);
  return name;
}

std::string kernel_of(int number, const std::string& otherwise, const Frames& frames) {
  if (number < 0) return otherwise;
  const Launch& launch = current().schedule.launches[static_cast<std::size_t>(number)];
  const auto it = frames.find(reinterpret_cast<std::uintptr_t>(launch.kernel_address));
  if (!launch.kernel.empty() || it == frames.end() || it->second.empty()) return launch.kernel;
  return short_name(it->second.back().function);
}

// The two accesses of a race stand on one line: nothing can be put between them. An update (x += y) is told by its read and its
// write racing with the other thread's write.
void advise_on_one_line(Finding& f, unsigned pairs) {
  const bool one_line = f.place.line != 0 && f.place.line == f.other_place.line &&
                        f.place.file == f.other_place.file && f.place.by == f.other_place.by;
  if (f.kind != FindingKind::race || !one_line || pairs == RawFinding::kOther) return;
  if (pairs == (RawFinding::kReadWrite | RawFinding::kWriteWrite)) {
    f.hint = "several threads update the same element on this line: atomicAdd, or one copy per thread";
  } else if (pairs == RawFinding::kWriteWrite) {
    f.hint =
        "several threads write the same element on this line: let one of them write it, or give each its own";
  } else {
    f.hint =
        "one thread reads on this line what another writes there: a __syncthreads() between the two (in a "
        "loop, "
        "between its passes) would order them";
  }
}

// What a launch saw may come of updates that another launch made beside it: said where something of the two was found.
void advise_on_shared_update(std::vector<Finding>& all, const Frames& frames,
                             const std::vector<Module>& modules) {
  const SharedUpdate& u = current().race.shared_update;
  if (u.array.empty()) return;
  const auto at = [&](Location location) {
    const Place p = place_of(location, frames, modules);
    return p.line == 0 ? std::string("an unknown line") : fmt::format("{}:{}", p.file, p.line);
  };
  const std::string text = fmt::format(
      "two launches that nothing orders, of {} and {}, update '{}' at byte {} atomically (at {} and {}): "
      "each sees "
      "the other's updates; give each call its own",
      kernel_of(u.launch, "a kernel", frames), kernel_of(u.other_launch, "a kernel", frames), u.array,
      u.offset, at(u.location), at(u.other_location));
  for (Finding& f : all) f.hint += (f.hint.empty() ? "" : "\n  ") + text;
}

bool is_softened(const RawFinding& f) { return f.tried != 0 && only_tried(f.tried); }

// A race of what is only tried is a note (attempts.cpp).
void soften(Finding& f) {
  f.is_note = true;
  f.hint =
      "each value read here went into an atomicCAS, which checks it: it does no harm, and is undefined all "
      "the same";
}

// Two volatile accesses of CUB's, which hands values from block to block by them; or a word that it copies of a structure, with its padding.
bool is_by_rule_of_cccl(const RawFinding& f, const Frames& frames, const std::vector<Module>& all) {
  const auto there = [&](Location l) {
    const auto it = (l & kHereBit) != 0 ? frames.end() : frames.find(whole_address(l, all));
    return it != frames.end() && !it->second.empty() && is_of_cccl(it->second.front().place.file);
  };
  if (f.both_volatile) return there(f.location) && there(f.other_location);
  return f.partly_written && there(f.location);
}

}  // namespace

const char* name_of(FindingKind kind) {
  switch (kind) {
    case FindingKind::race:
      return "race";
    case FindingKind::out_of_bounds:
      return "out of bounds";
    case FindingKind::read_only_written:
      return "input written";
    case FindingKind::uninitialised:
      return "uninitialised read";
    case FindingKind::misaligned:
      return "misaligned access";
    case FindingKind::divergent_barrier:
      return "divergent barrier";
    case FindingKind::lane_outside_mask:
      return "warp mask";
    case FindingKind::deadlock:
      return "deadlock";
    case FindingKind::async_copy_not_waited_for:
      return "asynchronous copy not waited for";
    case FindingKind::exited_block:
      return "shared memory of an exited block";
    case FindingKind::product_registers:
      return "registers of an asynchronous product";
    case FindingKind::trap:
      return "trap";
    case FindingKind::device_memory_on_host:
      return "device memory touched by the host";
    case FindingKind::bad_launch:
      return "bad launch";
  }
  return "finding";
}

Location locate(Here here) {
  struct Entry {
    const char* file;
    int line;
    Location location;
  };
  static Entry cache[256];
  const std::size_t slot =
      (reinterpret_cast<std::uintptr_t>(here.file) / 8 + static_cast<std::size_t>(here.line) * 31) % 256;
  Entry& e = cache[slot];
  if (e.file == here.file && e.line == here.line && e.location != 0) return e.location;
  for (std::size_t i = 0; i < current().report.heres.size(); ++i) {
    if (current().report.heres[i].file == here.file && current().report.heres[i].line == here.line)
      return (e = {here.file, here.line, static_cast<Location>(i) | kHereBit}).location;
  }
  current().report.heres.push_back(here);
  return (e = {here.file, here.line, static_cast<Location>(current().report.heres.size() - 1) | kHereBit})
      .location;
}

bool same_finding(const Finding& a, const Finding& b) {
  return a.kind == b.kind && a.kernel == b.kernel && a.array == b.array && a.place.line == b.place.line &&
         a.place.file == b.place.file && a.other_place.line == b.other_place.line &&
         a.other_place.file == b.other_place.file;
}

namespace {

// Counts the finding where one of the list is of that kind and those places.
bool is_repeated(std::vector<RawFinding>& list, FindingKind kind, Location location, Location other) {
  const auto same = std::find_if(list.begin(), list.end(), [&](const RawFinding& f) {
    return f.finding.kind == kind && ((f.location == location && f.other_location == other) ||
                                      (f.location == other && f.other_location == location));
  });
  if (same == list.end()) return false;
  ++same->finding.repeats;
  return true;
}

}  // namespace

RawFinding* note(FindingKind kind, const std::string& text, const Thread* thread, Location location,
                 Location other) {
  ReportState& report = current().report;
  if (is_repeated(report.findings, kind, location, other) || is_repeated(report.taken, kind, location, other))
    return nullptr;
  if (report.findings.size() + report.taken.size() >=
      static_cast<std::size_t>(std::max(1, current().run.options.max_findings))) {
    ++report.further_findings;
    return nullptr;
  }
  RawFinding f;
  f.finding.kind = kind;
  f.finding.text = text;
  f.finding.thread.host = thread == nullptr;
  if (thread != nullptr)
    f.finding.thread = {thread->block->index, thread->index,
                        current().schedule.number >= 0 && launch_under_way().host};
  f.location = location;
  f.other_location = other;
  f.launch = f.other_launch = current().schedule.number;
  current().report.findings.push_back(std::move(f));
  return &current().report.findings.back();
}

namespace {

// What was taken as a note, since it was only tried until then, and was read otherwise since: it is found anew.
void find_softened_anew() {
  ReportState& report = current().report;
  const auto is_kept = [](const RawFinding& f) { return !f.softened || is_softened(f); };
  const auto changed = std::stable_partition(report.taken.begin(), report.taken.end(), is_kept);
  std::move(changed, report.taken.end(), std::back_inserter(report.findings));
  report.taken.erase(changed, report.taken.end());
}

}  // namespace

std::int64_t repeats_of(const Finding& finding) {
  std::int64_t count = 0;
  for (const RawFinding& f : current().report.taken)
    if (same_finding(f.finding, finding)) count += f.finding.repeats;
  return std::max(count, finding.repeats);
}

std::vector<Finding> take_findings() {
  resolve_pending();
  find_softened_anew();
  if (current().report.findings.empty()) return {};
  const std::vector<Module> all = modules();
  const Frames frames = frames_of_findings(all);
  std::vector<Finding> out;
  std::vector<unsigned> pairs;  // by finding of `out`: the kinds of Pair it was made of
  for (RawFinding& f : current().report.findings) {
    if (is_by_rule_of_cccl(f, frames, all)) continue;
    f.finding.place = place_of(f.location, frames, all);
    f.finding.other_place = place_of(f.other_location, frames, all);
    f.finding.kernel = kernel_of(f.launch, f.finding.kernel, frames);
    if (f.other_launch != f.launch) f.finding.other_kernel = kernel_of(f.other_launch, "", frames);
    f.softened = is_softened(f);
    Finding found = f.finding;
    if (f.softened) soften(found);
    // One source line may have been many instructions (an unrolled loop): one finding is enough.
    const auto same =
        std::find_if(out.begin(), out.end(), [&](const Finding& k) { return same_finding(k, found); });
    if (same != out.end()) {
      same->repeats += found.repeats;
      if (!found.is_note) same->is_note = false, same->hint = found.hint;
      pairs[static_cast<std::size_t>(same - out.begin())] |= f.pair;
    } else {
      out.push_back(std::move(found));
      pairs.push_back(f.pair);
    }
  }
  for (std::size_t i = 0; i < out.size(); ++i) advise_on_one_line(out[i], pairs[i]);
  advise_on_shared_update(out, frames, all);
  std::vector<RawFinding>& taken = current().report.taken;
  std::move(current().report.findings.begin(), current().report.findings.end(), std::back_inserter(taken));
  current().report.findings.clear();
  return out;
}

std::string Finding::describe() const {
  const auto at = [](const Place& p) {
    if (p.line == 0) return std::string("an unknown line");
    return fmt::format("{}:{}{}", p.file, p.line, p.by.empty() ? "" : " (" + p.by + ")");
  };
  const auto by = [](const ThreadId& id) {
    return id.host ? std::string("the host")
                   : fmt::format("block {} thread {}", show(id.block), show(id.thread));
  };
  std::string out = fmt::format("{}{} in {}: {}\n", is_note ? "note: " : "", name_of(kind),
                                kernel.empty() ? "a kernel" : kernel, text);
  out += fmt::format("  at {}, {}\n", at(place), by(thread));
  if (has_other) {
    const std::string in =
        other_kernel.empty() ? "" : fmt::format(", in another launch, of {}", other_kernel);
    // One thread does both: its registers race with nobody.
    const std::string whose = kind == FindingKind::product_registers
                                  ? "of the same warp"
                                  : by(other_thread) + (other_thread.host ? "" : in);
    out += fmt::format("  and {}, {}\n", at(other_place), whose);
  }
  if (repeats > 1) out += fmt::format("  seen {} times\n", repeats);
  if (!hint.empty()) out += "  " + hint + "\n";
  return out;
}

}  // namespace plumb::simt
