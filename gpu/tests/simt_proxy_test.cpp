// Fences between a thread's accesses and those of the asynchronous proxy, tensor maps that change, registers of products under way.
#include <doctest/doctest.h>

#include <algorithm>

#include "gpu/tests/kernels/proxies.hpp"
#include "gpu/tests/simt_support.hpp"

using namespace plumb::simt_test;
using plumb::simt::Finding;
using plumb::simt::FindingKind;

namespace {

constexpr int kCount = 64, kRows = 3;

/// What a fault is reported as; without a kind it is none.
template <class Fault>
struct Row {
  const char* name;
  Fault fault;
  bool is_found = false;
  const char *here = "", *there = "";  // marks of lines
  const char* says = "";
  bool is_note = false;
};

template <class Fault>
void check_row(const Row<Fault>& row, FindingKind kind, const std::vector<Finding>& findings) {
  CAPTURE(std::string(row.name));
  if (!row.is_found) {
    CHECK_MESSAGE(findings.empty(), all_of(findings));
    return;
  }
  const int here = line_of("proxies", row.here), there = line_of("proxies", row.there);
  REQUIRE(here > 0);
  REQUIRE(there > 0);
  CHECK_MESSAGE(reports(findings, kind, here, there), all_of(findings));
  for (const Finding& f : findings) {
    CHECK_MESSAGE(f.is_note == row.is_note, all_of(findings));
    CHECK_MESSAGE(f.text.find(row.says) != std::string::npos, all_of(findings));
  }
}

alignas(128) float from[2 * kCount];
alignas(128) float slot[32];

std::vector<Finding> run_map(MapFault fault, std::uint64_t seed, std::vector<float>& out) {
  for (int i = 0; i < 2 * kCount; ++i) from[i] = static_cast<float>(i);
  std::fill(slot, slot + 32, 0.0f);
  Run run(seed);
  plumb::simt::add_array("from", from, sizeof from, true, false);
  plumb::simt::add_array("slot", slot, sizeof slot, false, true);
  proxy_map(fault, from, slot, run.output(out));
  return Run::findings();
}

}  // namespace

TEST_CASE("shared memory that bulk copies refill, and their barrier, need fences between proxies") {
  const char* const unfenced = "with no fence.proxy.async between the two";
  const Row<ProxyFault> rows[] = {
      {"none", ProxyFault::none},
      {"copier_fences", ProxyFault::copier_fences},
      {"init_by_copier", ProxyFault::init_by_copier},
      {"init_proxy_fence", ProxyFault::init_proxy_fence},
      {"unfenced_write", ProxyFault::unfenced_write, true, "proxy copy", "proxy write", unfenced},
      {"unfenced_zeros", ProxyFault::unfenced_zeros, true, "proxy copy", "proxy zeros", unfenced},
      {"unfenced_read", ProxyFault::unfenced_read, true, "proxy copy", "proxy read", unfenced},
      {"global_fence", ProxyFault::global_fence, true, "proxy copy", "proxy read", unfenced},
      {"unfenced_init", ProxyFault::unfenced_init, true, "proxy copy", "proxy init", "used by a bulk copy",
       true}};
  std::vector<float> in(kRows * kCount), out(kCount);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>(i * 37 % 101);
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    CAPTURE(seed);
    for (const Row<ProxyFault>& row : rows) {
      Run run(seed);
      proxy_refill(row.fault, run.input(in), run.output(out));
      auto findings = Run::findings();
      if (!checked()) continue;
      if (row.fault == ProxyFault::unfenced_write)  // it is read as well
        findings.erase(
            std::remove_if(findings.begin(), findings.end(), [](const Finding& f) { return f.is_note; }),
            findings.end());
      check_row(row, FindingKind::race, findings);
    }
  }
}

TEST_CASE("a tensor map in global memory is rewritten behind the copies that read it, and fenced") {
  const char *const release = "generic.release between", *const acquire = "generic.acquire between",
                    *const flight = "read as a tensor map by a copy there";
  const Row<MapFault> rows[] = {
      {"none", MapFault::none},
      {"replaced", MapFault::replaced},
      {"replaced_by_warp", MapFault::replaced_by_warp},
      {"in_flight", MapFault::in_flight, true, "map write", "map copy", flight},
      {"in_flight_replace", MapFault::in_flight_replace, true, "map replace", "map copy", flight},
      {"in_flight_barrier", MapFault::in_flight_barrier, true, "map write", "map copy", flight},
      {"no_release", MapFault::no_release, true, "map copy", "map write", release},
      {"no_acquire", MapFault::no_acquire, true, "map copy", "map write", acquire},
      {"acquired_early", MapFault::acquired_early, true, "map copy", "map write", acquire}};
  std::vector<float> out(kCount);
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    CAPTURE(seed);
    for (const Row<MapFault>& row : rows) {
      const auto findings = run_map(row.fault, seed, out);
      if (checked() || !row.is_found) check_row(row, FindingKind::race, findings);
      if (row.is_found) continue;
      for (int i = 0; i < kCount; ++i)
        CHECK(out[static_cast<std::size_t>(i)] == static_cast<float>(2 * i + kCount));
    }
    if (!checked()) continue;
    const auto unread = run_map(MapFault::replaced_no_acquire, seed, out);
    CHECK_MESSAGE(all_of(unread).find(acquire) != std::string::npos, all_of(unread));
    const auto unmet = run_map(MapFault::replaced_unmet, seed, out);
    const int replace = line_of("proxies", "own map replace"), copy = line_of("proxies", "own map copy");
    const bool told = reports(unmet, FindingKind::race, replace, copy);
    CHECK_MESSAGE((seed % 4 == 0 ? unmet.empty() : told), all_of(unmet));
  }
}

TEST_CASE("a map that the host writes to global memory is acquired by each block; a changed one must be") {
  if (!checked()) return;
  std::vector<float> out(kCount);
  for (const bool acquires : {true, false}) {
    CAPTURE(acquires);
    Run run;
    plumb::simt::add_array("from", from, sizeof from, true, false);
    plumb::simt::add_array("slot", slot, sizeof slot, false, true);
    encode_proxy_map(from, slot);
    proxy_map_once(acquires, slot, run.output(out));
    encode_proxy_map(from + kCount, slot);
    proxy_map_once(acquires, slot, out.data());
    const auto findings = Run::findings();
    if (acquires) {
      CHECK_MESSAGE(findings.empty(), all_of(findings));
      continue;
    }
    const int copy = line_of("proxies", "map copy"), host = line_of("proxies", "map from the host");
    CHECK_MESSAGE(reports(findings, FindingKind::race, copy, host), all_of(findings));
    CHECK_MESSAGE(std::any_of(findings.begin(), findings.end(), [](const Finding& f) { return !f.is_note; }),
                  all_of(findings));
  }
}

TEST_CASE("what a copy out of shared memory writes is used after a wait that is not for its reads alone") {
  const char* const says = "written by a copy out of shared memory there";
  const Row<OutFault> rows[] = {
      {"none", OutFault::none},
      {"reduced", OutFault::reduced},
      {"two_waits", OutFault::two_waits},
      {"read_wait", OutFault::read_wait, true, "read back", "copy out", says},
      {"late_wait", OutFault::late_wait, true, "read back", "copy out", says},
      {"overwritten", OutFault::overwritten, true, "written over", "copy out", says},
      {"older_group", OutFault::older_group, true, "read back", "copy out", says}};
  std::vector<float> in(kCount), out(kCount), again(kCount);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>(i);
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    CAPTURE(seed);
    for (const Row<OutFault>& row : rows) {
      Run run(seed);
      proxy_out(row.fault, run.input(in), run.output(out), run.output(again, "again"));
      const auto findings = Run::findings();
      if (checked() || !row.is_found) check_row(row, FindingKind::race, findings);
      if (row.is_found) continue;
      for (std::size_t i = 0; i < in.size(); ++i) CHECK(again[i] == in[in.size() - 1 - i]);
    }
  }
}

TEST_CASE("registers of a product under way: of A not written, sums not touched, each write behind a fence") {
  const Row<RegisterFault> rows[] = {
      {"none", RegisterFault::none},
      {"own_variables", RegisterFault::own_variables},
      {"a_by_value", RegisterFault::a_by_value},
      {"a_written", RegisterFault::a_written, true, "register fetch", "register product", "a register of A"},
      {"sum_read", RegisterFault::sum_read, true, "register sum read", "register product", "is read here"},
      {"sum_written", RegisterFault::sum_written, true, "register sum write", "register product",
       "is written here"},
      {"second_a", RegisterFault::second_a, true, "register product", "register fetch",
       "no wgmma.fence between"}};
  std::vector<float> a(2 * 512), out(512);
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<float>(i % 8);
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    CAPTURE(seed);
    for (const Row<RegisterFault>& row : rows) {
      Run run(seed);
      proxy_registers(row.fault, run.input(a), run.output(out));
      const auto findings = Run::findings();
      if (!checked()) continue;
      check_row(row, FindingKind::product_registers, findings);
    }
  }
}
