// The program's side of a run: begun, looked at, ended.
#include "gpu/simt/executor.hpp"

#include "gpu/simt/host/api/runtime/operations.hpp"
#include "gpu/simt/host/processor_faults.hpp"
#include "gpu/simt/state.hpp"

namespace plumb::simt {

void begin_run(const Options& options) {
  watch_processor_faults();
  current().run.options = options;
  current().run.begun = true;
  current().run.is_stopped = false;
  current().run.counters = {};
  current().run.rng = (options.seed + 1) * 0x9e3779b97f4a7c15u;
  for (int i = 0; i < 4; ++i) next_random();
  current().run.order = options.order;
  if (options.order == Order::from_seed) {
    constexpr Order kOrders[] = {Order::ascending, Order::random, Order::descending, Order::by_warp};
    current().run.order = kOrders[options.seed % 4];
  }
  current().schedule.next_block_id = 1;
  current().schedule.launches.clear();
  current().schedule.number = -1;
  current().race.known_below = 0;
  current().race.shared_update = {};
  current().memory.arrays.clear();
  current().memory.last_array = nullptr;
  current().memory.lowest = UINTPTR_MAX, current().memory.highest = 0;
  forget_histories(options.seed);
  current().race.attempts.clear();
  current().race.tried_somewhere.reset();
  current().streams.keys.clear();
  current().streams.knows.clear();
  current().report.findings.clear();
  current().report.taken.clear();
  current().report.further_findings = 0;
  current().race.doubt = Doubt{};
  current().run.chip = &limits_of(options.chip);
  current().run.refusal = Refusal{};
  current().run.shortage.clear();
  current().run.skipped = 0;
  if (checking() && current().memory.image.empty()) load_image();
  for (auto& b : current().schedule.pool) {  // block ids start again
    if (b->shadow == nullptr) continue;
    b->shadow->forget(b->arena_used);
    if (!checking() || b->shadow->granule() != sizeof(std::uint32_t)) b->shadow.reset();
  }
  forget_marks();
  forget_host_functions();
  current().race.map_releases.clear();
  add_held_arrays();
}

bool stopped() { return current().run.is_stopped; }
std::string shortage() { return current().run.shortage; }
std::int64_t threads_refused() {
  const bool over = current().run.options.max_threads > 0 &&
                    current().run.counters.threads > current().run.options.max_threads;
  return over ? current().run.counters.threads : 0;
}

void read_in_order(const char* what, const void* data, std::size_t bytes, void* stream) {
  if (stopped()) return;
  enter_stream(stream);
  host_ranges(what, stream, Here{"", 0}, {{data, bytes, false, true, false}});
}

Counters counters() { return current().run.counters; }

std::vector<Finding> findings_so_far() { return take_findings(); }

std::vector<Finding> end_run() {
  std::vector<Finding> out = take_findings();
  current().memory.arrays.clear();
  current().memory.last_array = nullptr;
  current().memory.lowest = UINTPTR_MAX, current().memory.highest = 0;
  return out;
}

}  // namespace plumb::simt
