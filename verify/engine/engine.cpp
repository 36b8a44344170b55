#include "verify/engine/engine.hpp"

#include <cstddef>

#include <fmt/format.h>

#include "reference/core/resource_error.hpp"
#include "verify/engine/operator/operators.hpp"
#include "verify/engine/process/child.hpp"

namespace plumb {
namespace {

// Attempts at a run whose process the kernel kills for want of memory: it may have been another process's memory.
constexpr int kTriesWithoutMemory = 3;

// A CUDA context costs a third of a second and half a gigabyte: our own rungs of one operator share a child, which is ended as soon as
// one of them fails. Everything else (host variants, a user's kernels, mutants) has a child of its own.
std::string worker_key(const RunRequest& r) {
  const bool shared = r.call.device != Device::cpu && r.call.variant.rfind("gpu/", 0) == 0;
  return shared ? fmt::format("{}|gpu|{}|{}", r.call.op, static_cast<int>(r.call.device), r.program)
                : variant_key(r);
}

RunRequest opening_of(const Invocation& call) {
  RunRequest request;
  request.call.op = kListPlugin, request.call.plugin = call.plugin, request.call.device = call.device;
  return request;
}

}  // namespace

std::string variant_key(const RunRequest& r) {
  return fmt::format("{}|{}|{}|{}|{}", r.call.op, r.call.variant, static_cast<int>(r.call.device),
                     r.call.plugin, r.program);
}

Engine::Engine(EngineOptions options) : options_(std::move(options)) {
  if (options_.program.empty()) options_.program = this_program();
  if (!options_.oom_counter) options_.oom_counter = oom_kills;
}

Attempt Engine::run(const RunRequest& request, const ImageLayout& layout) {
  const std::int64_t bytes = layout.bytes();
  const std::byte* const before = staged_.of(layout);
  const bool here = options_.isolation == Isolation::none && request.call.device != Device::simt;
  Attempt attempt = here ? run_here(request, before, bytes) : run_in_child(request, before, bytes);
  attempt.before = before;
  if (!attempt.returned()) attempt.after = nullptr;
  return attempt;
}

Attempt Engine::run_here(const RunRequest& request, const std::byte* before, std::int64_t bytes) {
  std::unique_ptr<Backend>& backend = backends_[request.call.device];
  if (!backend)
    backend = options_.apart && request.call.device == Device::gpu ? make_apart_backend()
                                                                   : make_backend(request.call.device);
  make_room(local_image_, bytes + 256);  // 256-byte alignment, as in a child
  const auto address = reinterpret_cast<std::uintptr_t>(local_image_.data());
  std::byte* const image = local_image_.data() + (256 - address % 256) % 256;
  copy_bytes(image, before, bytes);
  Attempt attempt;
  attempt.outcome.reply =
      serve(request, entry_ != nullptr ? *entry_ : find_operator(request.call.op), image, *backend);
  attempt.after = image;
  return attempt;
}

Attempt Engine::run_in_child(const RunRequest& request, const std::byte* before, std::int64_t bytes) {
  const double timeout = request.timeout > 0 ? request.timeout : options_.timeout;
  Attempt attempt;
  for (int tries = 0; tries < kTriesWithoutMemory; ++tries) {
    Worker& worker = worker_for(request, attempt.outcome);
    if (attempt.outcome.kind == Worker::Outcome::Kind::out_of_memory) continue;
    if (!worker.alive()) break;
    std::byte* const image = worker.image(bytes);
    copy_bytes(image, before, bytes);
    // each kind's budget, as much again to warm up and for what is not under the clock
    attempt.outcome = worker.run(request, timeout + 4 * request.timing.budget);
    attempt.after = image;
    if (attempt.outcome.kind != Worker::Outcome::Kind::out_of_memory) {
      const bool replied = attempt.outcome.kind == Worker::Outcome::Kind::replied;
      if (replied && attempt.outcome.reply.status == RunReply::Status::error) worker.end();
      break;
    }
  }
  return attempt;
}

Worker& Engine::worker_for(const RunRequest& request, Worker::Outcome& opening) {
  opening = {};
  std::unique_ptr<Worker>& worker = workers_[worker_key(request)];
  if (options_.isolation == Isolation::run) worker.reset();
  if (!worker || !worker->alive()) {
    const std::string& own = request.call.device == Device::simt ? options_.simt_program : options_.program;
    const std::string& program = request.program.empty() ? own : request.program;
    try {
      worker = std::make_unique<Worker>(program, options_.oom_counter, environment_);
    } catch (const ResourceError&) {  // children of other variants only wait for their next run
      for (auto& [key, other] : workers_) other.reset();
      worker = std::make_unique<Worker>(program, options_.oom_counter, environment_);
    }
    // what a plug-in takes to be opened (Python imports whole frameworks) is no time of its first run
    if (!request.call.plugin.empty()) opening = worker->run(opening_of(request.call), kPluginOpening);
  }
  return *worker;
}

void Engine::set_environment(std::vector<std::string> variables) {
  if (variables == environment_) return;
  forget_workers();
  environment_ = std::move(variables);
}

std::optional<Worker::Outcome> Engine::wait_for_threads(const RunRequest& like, int threads) {
  if (options_.isolation != Isolation::variant) return std::nullopt;
  const auto worker = workers_.find(worker_key(like));
  if (worker == workers_.end() || !worker->second || !worker->second->alive()) return std::nullopt;
  return worker->second->wait_for_threads(threads);
}

void Engine::release_memory() {
  workers_.clear();  // their images are memory too
  staged_.release_memory();
  local_image_ = {};
}

}  // namespace plumb
