// One run of one variant, in the process that makes it.
#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "reference/core/error.hpp"
#include "reference/core/exhaustion.hpp"
#include "reference/core/resource_error.hpp"
#include "verify/engine/backend/far_rows.hpp"
#include "verify/engine/backend/gap_reader.hpp"
#include "verify/engine/process/caller_settings.hpp"
#include "verify/engine/process/child.hpp"
#include "verify/engine/process/confinement.hpp"
#include "verify/engine/process/float_environment.hpp"
#include "verify/engine/process/plugin_host.hpp"
#include "verify/engine/process/repetition.hpp"
#include "verify/engine/process/wire.hpp"

namespace plumb {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kReadings = 4;  // of what the process holds, over many calls

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// What a variant may call back: the owner of a Context.
struct Callbacks {
  Backend& backend;
  Poison poison;
  std::string chosen = {};
  double spent = 0;  // seconds that count as the plan's preparation, beside what it takes
  // What the first run asked for is handed out again in every later one: allocation and poisoning are not what is timed.
  std::vector<std::pair<std::int64_t, void*>> blocks = {};
  std::size_t at = 0;
  bool replaying = false;
  std::mutex mutex = {};  // there may be two callers
};

void* allocate_workspace(Context& c, std::int64_t bytes) {
  auto& state = *static_cast<Callbacks*>(c.owner);
  const std::lock_guard lock(state.mutex);
  if (state.replaying && state.at < state.blocks.size() && state.blocks[state.at].first == bytes) {
    return state.blocks[state.at++].second;
  }
  void* block = state.backend.workspace(bytes, state.poison);
  state.blocks.emplace_back(bytes, block);
  state.at = state.blocks.size();
  return block;
}

void record_spent(Context& c, double seconds) {
  auto& state = *static_cast<Callbacks*>(c.owner);
  const std::lock_guard lock(state.mutex);
  state.spent += seconds;
}
void record_choice(Context& c, const char* text) {
  auto& state = *static_cast<Callbacks*>(c.owner);
  const std::lock_guard lock(state.mutex);
  state.chosen = text;
}

// The call, with the clocks around it.
class TimedCall {
 public:
  TimedCall(const RunRequest& request, Backend& backend, Callbacks& callbacks, RunReply& reply)
      : request_(request),
        backend_(backend),
        callbacks_(callbacks),
        reply_(reply),
        repetition_(request.timing, reply.timing, backend) {}

  // Hooks itself into the call, which must not outlive it.
  void attach_to(Call& call) {
    call.before_prepare = [this] { before_prepare(); };
    call.before_run = [this] { before_run(); };
    call.after_run = [this] { after_run(); };
    if (request_.timing.samples == 0) return;
    backend_.keep(request_.timing.outputs);
    call.again = [this] { return repetition_.again(); };
  }

 private:
  void before_prepare() {
    backend_.synchronize();
    prepares_ = true;
    start_ = Clock::now();
  }

  void before_run() {
    if (repetition_.repeating()) {
      callbacks_.replaying = true;
      callbacks_.at = blocks_of_plan_;
      repetition_.begin();
      return;
    }
    backend_.synchronize();
    if (prepares_) reply_.timing.prepare = seconds_since(start_) + callbacks_.spent;
    blocks_of_plan_ = callbacks_.blocks.size();
    if (request_.instruments.watch) backend_.watch_launches();
    start_ = Clock::now();
  }

  void after_run() {
    if (repetition_.repeating()) return repetition_.end();
    backend_.run_returned();
    backend_.synchronize();
    reply_.seconds = seconds_since(start_);
    if (request_.instruments.watch) reply_.timing.kernels = backend_.watched_launches();
  }

  const RunRequest& request_;
  Backend& backend_;
  Callbacks& callbacks_;
  RunReply& reply_;
  Repetition repetition_;
  Clock::time_point start_;
  bool prepares_ = false;
  std::size_t blocks_of_plan_ =
      0;  // workspaces of prepare(): its plan keeps them, no run is handed them again
};

// The variant's own call. What its thread computes with must be the same afterwards.
void call_variant(const RunRequest& request, const OperatorEntry& entry, const Call& call, RunReply& reply) {
  const KeptFloatEnvironment kept;
  const KeptCallerSettings settings;
  reply.text =
      request.call.plugin.empty() ? entry.invoke(call) : invoke_plugin(request.call.plugin, entry, call);
  if (!reply.text.empty()) {
    reply.status = RunReply::Status::unsupported;
  } else if (const std::string change = kept.change(); !change.empty()) {
    reply.status = RunReply::Status::error;
    reply.text = "leaves the floating-point environment of its thread changed: " + change;
  } else if (const std::string other = settings.change(); !other.empty()) {
    reply.status = RunReply::Status::error;
    reply.text = "leaves a setting of its caller changed: " + other;
  }
}

// A copy of the outputs as they were staged, and a number for what a call left there.
class Outputs {
 public:
  Outputs(const std::vector<ByteRange>& ranges, std::byte* image) : ranges_(ranges), image_(image) {
    for (const ByteRange& r : ranges_)
      staged_.insert(staged_.end(), image + r.offset, image + r.offset + r.bytes);
  }
  void put_back() {
    const std::byte* from = staged_.data();
    for (const ByteRange& r : ranges_) {
      std::memcpy(image_ + r.offset, from, static_cast<std::size_t>(r.bytes));
      from += r.bytes;
    }
  }
  // FNV-1a over words.
  [[nodiscard]] std::uint64_t hash() const {
    std::uint64_t h = 0xcbf29ce484222325ull;
    for (const ByteRange& r : ranges_) {
      for (std::int64_t i = 0; i < r.bytes; i += 4) {
        std::uint32_t word = 0;
        std::memcpy(&word, image_ + r.offset + i,
                    static_cast<std::size_t>(std::min<std::int64_t>(4, r.bytes - i)));
        h = (h ^ word) * 0x100000001b3ull;
      }
    }
    return h;
  }

 private:
  const std::vector<ByteRange>& ranges_;
  std::byte* image_;
  std::vector<std::byte> staged_;
};

// Pages of the image that nobody may touch, or write, as long as this lives.
class Walls {
 public:
  Walls(std::byte* image, const std::vector<Wall>& walls) : image_(image), walls_(walls) {
    for (const Wall& wall : walls_) {
      protect(wall.at, kPageBytes, PROT_NONE);
      protect(wall.read_only_from, wall.at - wall.read_only_from, PROT_READ);
    }
  }
  ~Walls() {
    for (const Wall& wall : walls_)
      protect(wall.read_only_from, wall.at + kPageBytes - wall.read_only_from, PROT_READ | PROT_WRITE);
  }
  Walls(const Walls&) = delete;
  Walls& operator=(const Walls&) = delete;

 private:
  void protect(std::int64_t from, std::int64_t bytes, int access) const {
    if (bytes > 0) (void)mprotect(image_ + from, static_cast<std::size_t>(bytes), access);
  }

  std::byte* image_;
  const std::vector<Wall>& walls_;
};

// Further runs of the plan that a call has made, as of one who has a matrix for long. Only where the call is not timed.
class PlanRuns {
 public:
  PlanRuns(Outputs& outputs, const RunRequest& request, std::uint64_t first)
      : outputs_(outputs), request_(request), first_(first) {}

  // The first that differed; 0: none.
  [[nodiscard]] int differed() const { return differed_; }
  // Hooks itself into the call, which must not outlive it.
  void attach_to(Call& call) {
    call.again = [this] { return again(); };
  }

 private:
  [[nodiscard]] bool again() {
    ++made_;
    if (request_.instruments.stop_where_differs && outputs_.hash() != first_) {
      differed_ = made_;
      return false;
    }
    if (made_ == request_.instruments.plan_runs) return false;
    outputs_.put_back();
    return true;
  }

  Outputs& outputs_;
  const RunRequest& request_;
  std::uint64_t first_;
  int made_ = 0, differed_ = 0;
};

// Puts the arrays where the variant finds them. Returns what is to be added to the pointers of `views`: null where they hold addresses.
std::byte* place_arrays(const RunRequest& request, const OperatorEntry& entry, std::byte* image,
                        Backend& backend, FarRows& far_rows, StagedViews& views) {
  if (backend.apart()) {
    (void)entry.relocate(request.call.dtype, views.data(), [&](const ArrayInfo& a, std::int64_t offset) {
      return backend.place(a, image + offset, request.instruments.poison);
    });
    return nullptr;
  }
  std::byte* const base = backend.upload(image, request.call.image_bytes);
  if (!request.instruments.far_rows) return base;
  (void)entry.relocate(request.call.dtype, views.data(), [&](ArrayInfo& a, std::int64_t offset) -> void* {
    return a.vector || a.span_bytes() == 0 ? base + offset : far_rows.place(a, offset);
  });
  return nullptr;
}

// Stages, calls the variant, with more runs of its plan where asked for, and brings the image back. Throws what the variant or the device
// throws.
void make_run(const RunRequest& request, const OperatorEntry& entry, std::byte* image, Backend& backend,
              Callbacks& callbacks, RunReply& reply, PlanRuns* more = nullptr) {
  const Invocation& what = request.call;
  const Instruments& with = request.instruments;
  StagedViews views = what.views;
  Context context;
  context.allocate = allocate_workspace;
  context.say = record_choice, context.spend = record_spent;
  context.owner = &callbacks;
  context.uses = what.uses;
  backend.disturb(with.disturbance, with.one_thread);
  if (with.threads != 0) backend.use_threads(with.threads);
  if (with.threads_of_device != 0) backend.admit_threads(with.threads_of_device);
  context.stream = backend.stream();
  Call call{what.variant, what.dtype, what.device, views.data(), nullptr, &context, {}, {}, {}, {}};
  call.callers = with.callers, call.second_stream = backend.second_stream();
  call.together = [&backend](const auto& first, const auto& second) { backend.call_together(first, second); };
  call.plan_of_other_numbers = with.plan_of_other_numbers;
  call.plan_of_other_vectors = with.plan_of_other_numbers && what.device == Device::cpu;
  FarRows far_rows(kImage);
  call.base = place_arrays(request, entry, image, backend, far_rows, views);
  const Walls walls(image, with.walls);
  if (backend.tracks_arrays()) {
    StagedViews copy = views;  // unpacking rebases them
    backend.begin(entry.unpack(what.dtype, copy.data(), call.base), with.poison, with.schedule,
                  with.check_accesses);
  }
  TimedCall timed(request, backend, callbacks, reply);
  timed.attach_to(call);
  if (more != nullptr)
    more->attach_to(call);
  else if (with.calls <= 1 && with.plan_runs > 1)  // nothing waits between them
    call.again = [left = with.plan_runs - 1]() mutable { return left-- > 0; };
  std::optional<GapReader>
      reader;  // outputs that are put back between calls are written by the caller himself
  if (is_thread_sanitized() && with.calls <= 1 && request.timing.samples == 0 && !with.far_rows) {
    StagedViews copy = views;
    reader.emplace(entry.unpack(what.dtype, copy.data(), call.base));
  }
  call_variant(request, entry, call, reply);
  reader.reset();
  backend.download(image, what.image_bytes);
}

// Many calls in a row, until one differs, and one whose plan has more runs. What the process holds is read after a fraction of the calls,
// and whenever that has doubled: the calls before are there to fill what a variant fills once.
void make_calls(const RunRequest& request, const OperatorEntry& entry, std::byte* image, Backend& backend,
                Callbacks& callbacks, RunReply& reply) {
  const Instruments& with = request.instruments;
  if (with.calls <= 1) return make_run(request, entry, image, backend, callbacks, reply);
  Outputs outputs(request.timing.outputs, image);
  reply.uses.reserve(kReadings);
  if (count_heap != nullptr) count_heap(true);
  std::uint64_t first = 0;
  const int all = with.calls + (with.plan_runs > 1 ? 1 : 0);
  for (int call = 1; call <= all; ++call) {
    const bool of_plan = call > with.calls;
    if (call > 1) outputs.put_back();
    Callbacks own{backend, with.poison};
    PlanRuns more(outputs, request, first);
    make_run(request, entry, image, backend, own, reply, of_plan ? &more : nullptr);
    reply.calls = std::min(call, with.calls), reply.plan_run = more.differed();
    reply.workspace_damage = backend.release_workspace();
    if (call == 1) callbacks.chosen = own.chosen, first = outputs.hash();
    const bool differs = with.stop_where_differs && outputs.hash() != first;
    if (differs || !reply.workspace_damage.empty() || reply.status != RunReply::Status::ok) break;
    const bool reads =
        !of_plan && call << (kReadings - 1 - static_cast<int>(reply.uses.size())) == with.calls;
    if (count_heap != nullptr && reads) reply.uses.push_back(resource_use(call));
  }
  if (count_heap != nullptr) count_heap(false);
}

// Of the exception in flight.
void report_exception(RunReply& reply) {
  try {
    throw;
  } catch (const ResourceError& e) {
    reply.status = RunReply::Status::no_resource;
    reply.text = e.what();
  } catch (const std::bad_alloc&) {
    // an allocation fails for its user's limit; where there is none, the variant asked for most of the machine's memory
    const bool limited = memory_is_limited();
    reply.status = limited ? RunReply::Status::no_resource : RunReply::Status::error;
    reply.text = limited ? "out of memory" + memory_limit_text() : "out of memory (std::bad_alloc)";
  } catch (const std::exception& e) {
    reply.status = RunReply::Status::error;
    reply.text = e.what();
  }
}

// What the backend and its instruments say after a run.
void ask_instruments(Backend& backend, RunReply& reply) {
  try {
    if (const std::string damage = backend.release_workspace(); !damage.empty())
      reply.workspace_damage = damage;
    reply.findings = backend.findings();
    // an error of a run that is void: the variant met what the device had not computed
    const bool ended = reply.status == RunReply::Status::ok || reply.status == RunReply::Status::error;
    if (const std::string why = backend.why_void(); ended && !why.empty()) {
      reply.status = RunReply::Status::declined;
      reply.text = why;
    }
  } catch (const std::exception& e) {
    reply.status = RunReply::Status::error;
    if (reply.text.empty()) reply.text = e.what();
  }
}

}  // namespace

RunReply serve(const RunRequest& request, const OperatorEntry& entry, std::byte* image, Backend& backend) {
  RunReply reply;
  if (const std::string reason = backend.why_not(); !reason.empty()) {
    reply.status = RunReply::Status::unavailable;
    reply.text = reason;
    return reply;
  }
  if (backend.sm() != 0 && request.call.min_sm > backend.sm()) {
    reply.status = RunReply::Status::too_old;
    reply.text = fmt::format("needs sm_{}, device is sm_{}", request.call.min_sm, backend.sm());
    return reply;
  }
  Callbacks callbacks{backend, request.instruments.poison};
  try {
    make_calls(request, entry, image, backend, callbacks, reply);
  } catch (const std::exception&) { report_exception(reply); }
  reply.chosen = callbacks.chosen;
  ask_instruments(backend, reply);
  return reply;
}

}  // namespace plumb
