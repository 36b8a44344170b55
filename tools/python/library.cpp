// libplumbline.so: what the Python package loads. The worker of the engine, and the tables that a worker in another language needs; the
// judge is the program verify, which owns its process: signals, children, limits.
#include <string>

#include <cmath>
#include <nlohmann/json.hpp>

#include <fmt/format.h>

#include "gpu/plugin/plugin_abi.h"
#include "reference/core/error.hpp"
#include "tools/python/worker_abi.h"
#include "verify/engine/backend/driver_backend.hpp"
#include "verify/engine/operator/operators.hpp"
#include "verify/engine/process/child.hpp"
#include "verify/engine/process/plugin_host.hpp"
#include "verify/judge/given.hpp"

namespace {

using namespace plumb;

// The CPU executor, which the worker's own language runs kernels on: it is told of each run, and asked afterwards.
class ExecutorOfWorker final : public Backend {
 public:
  explicit ExecutorOfWorker(const plumb_executor& executor) : executor_(executor) {}
  std::string describe() const override { return "CPU executor"; }
  std::byte* upload(std::byte* image, std::int64_t) override { return image; }
  void download(std::byte*, std::int64_t) override {}
  bool tracks_arrays() const override { return true; }
  void admit_threads(std::int64_t threads) override { max_threads_ = threads; }

  void begin(const CallInfo& call, Poison poison, std::uint64_t schedule, bool check_accesses) override {
    std::vector<plumb_executor_array> arrays;
    for (const ArrayInfo& a : call.arrays) {
      // an output that holds anything but poison was given contents (beta != 0)
      const bool initialised = !a.output || !holds_only(a, poison);
      if (a.span_bytes() > 0)
        arrays.push_back({a.name.c_str(), a.data, a.span_bytes(), a.rows, a.cols * a.element_bytes(),
                          a.ld * a.element_bytes(), initialised ? 1 : 0, a.output ? 1 : 0});
    }
    const plumb_executor_run run{schedule, max_threads_, check_accesses ? 1 : 0,
                                 static_cast<std::int32_t>(arrays.size()), arrays.data()};
    executor_.begin(&run);
    max_threads_ = kUsualThreads;
  }

  void* workspace(std::int64_t bytes, Poison poison) override { return host_->workspace(bytes, poison); }
  std::string release_workspace() override { return host_->release_workspace(); }

  std::vector<std::string> findings() override {
    std::vector<std::string> all;
    while (const char* const finding = executor_.next_finding()) all.emplace_back(finding);
    return all;
  }
  Reason why_void() override {
    const char* const why = executor_.why_void();
    return why != nullptr ? why : "";
  }

 private:
  static constexpr std::int64_t kUsualThreads = std::int64_t{9} << 16;  // as kMaxSimtThreads of verify/simt
  const plumb_executor executor_;
  std::unique_ptr<Backend> host_ = make_backend(Device::cpu);
  std::int64_t max_threads_ = kUsualThreads;
};

// The text of the last call, for a caller that copies it.
const char* kept(std::string text) {
  static std::string last;
  last = std::move(text);
  return last.c_str();
}

// Null, or what `work` threw.
template <class F>
const char* trouble_of(F&& work) {
  try {
    work();
    return nullptr;
  } catch (const std::exception& e) { return kept(e.what()); }
}

// {"inputs": [...], "outputs": [...], "vectors": [...], "scalars": [...], "dtypes": [...], "formula": "..."}: the names by which an operator's
// arguments reach a kernel, which of its arrays are vectors, and the signature of one that is a formula.
nlohmann::json signature_of(const OperatorEntry& entry) {
  std::vector<std::byte> empty(1 << 12);  // views of nothing: names do not depend on them
  const CallInfo call = entry.relocate(entry.dtypes().front(), empty.data(),
                                       [](const ArrayInfo&, std::int64_t) { return nullptr; });
  std::vector<std::string> inputs, outputs, vectors, scalars, dtypes;
  for (const ArrayInfo& a : call.arrays) {
    (a.output ? outputs : inputs).push_back(a.name);
    if (a.vector) vectors.push_back(a.name);
  }
  for (const auto& [name, value] : call.scalars) scalars.push_back(name);
  for (const Dtype d : entry.dtypes()) dtypes.emplace_back(facts(d).name);
  return {{"inputs", inputs},   {"outputs", outputs}, {"vectors", vectors},
          {"scalars", scalars}, {"dtypes", dtypes},   {"formula", entry.signature()}};
}

// A call whose arrays are packed. Of an output there may be another array of its name, an input: what the output held before.
GivenCall given_call(const plumb_call& call) {
  GivenCall given;
  given.dtype = dtype_of_number(call.dtype);
  const std::span arrays(call.arrays, static_cast<std::size_t>(call.array_count));
  const auto is_output = [&](const std::string& name) {
    return std::any_of(arrays.begin(), arrays.end(),
                       [&](const plumb_array& a) { return a.is_output != 0 && a.name == name; });
  };
  for (const plumb_array& a : arrays) {
    if (a.is_output == 0 && is_output(a.name)) continue;
    const bool vector = a.rank == 1;
    ArrayInfo& made = given.arrays.emplace_back();
    made = {a.name,
            format_of_number(a.dtype),
            a.is_output != 0,
            vector,
            vector ? 1 : a.shape[0],
            vector ? a.shape[0] : a.shape[1],
            vector ? a.shape[0] : a.shape[1],
            a.data};
    if (!made.output) continue;
    made.data = nullptr;
    for (const plumb_array& before : arrays)
      if (before.is_output == 0 && made.name == before.name) made.data = before.data;
  }
  for (const plumb_scalar& s : std::span(call.scalars, static_cast<std::size_t>(call.scalar_count)))
    given.scalars.emplace_back(s.name, s.value);
  return given;
}

nlohmann::json number_or_null(double v) { return std::isfinite(v) ? nlohmann::json(v) : nlohmann::json(); }

nlohmann::json told(const GivenOutput& o) {
  const Comparison& c = o.comparison;
  return {{"name", o.name},
          {"elements", c.elements},
          {"misses", c.misses},
          {"unbounded", o.unbounded},
          {"max_ratio", number_or_null(c.max_ratio)},
          {"mean_ratio", number_or_null(c.mean_ratio)},
          {"worst", c.worst},
          {"first", o.misses},
          {"map", c.map},
          {"guess", c.guess}};
}

}  // namespace

extern "C" {

/// Judges outputs that the caller has computed. `call`: all arrays and numbers of the contract, arrays packed, row-major, in the order of the
/// contract, outputs with what was computed; of an output that was read, its contents before stand among the inputs under its name.
/// JSON: {"outputs": [{"name", "elements", "misses", "unbounded", "max_ratio" (null: infinite), "mean_ratio", "worst", "first", "map", "guess"}]},
/// or {"error": "..."}. Valid until the next call.
PLUMB_EXPORT const char* plumb_check(const plumb_call* call, int arithmetic, int accumulate) {
  try {
    std::vector<const void*> outputs;
    for (std::int32_t i = 0; i < call->array_count; ++i)
      if (call->arrays[i].is_output != 0) outputs.push_back(call->arrays[i].data);
    nlohmann::json list = nlohmann::json::array();
    for (const GivenOutput& o : judge_given(find_operator(call->op), given_call(*call), outputs,
                                            arithmetic_of_numbers(arithmetic, accumulate)))
      list.push_back(told(o));
    return kept(nlohmann::json{{"outputs", list}}.dump());
  } catch (const std::exception& e) { return kept(nlohmann::json{{"error", e.what()}}.dump()); }
}

/// The loop of a worker: answers the judge on the descriptors that it was started with. `open` makes the list of variants of a path, or
/// returns null and says why. `executor`: what kernels for a GPU run on; null: on nothing. Returns the process's exit code.
PLUMB_EXPORT int plumb_worker_main(const plumb_plugin* (*open)(const char* path, const char** trouble),
                                   const plumb_executor* executor) {
  open_plugin = open;
  static const plumb_executor kept_executor = executor != nullptr ? *executor : plumb_executor{};
  if (executor != nullptr)
    make_simt_backend = [] { return std::unique_ptr<Backend>(new ExecutorOfWorker(kept_executor)); };
  make_gpu_backend = make_driver_backend;
  return worker_main();
}

/// Why nothing runs on CUDA here, or "". Valid until the next call.
PLUMB_EXPORT const char* plumb_cuda_missing() { return kept(why_no_cuda_driver()); }

/// Whether this is a worker whose kernels run on a GPU.
PLUMB_EXPORT int plumb_cuda_is_here() { return is_driver_backend_here() ? 1 : 0; }

/// In a worker, memory that a framework allocates during a call (torch's CUDAPluggableAllocator has these signatures): between guards, poisoned
/// in the stream's order. Null: there is none, and the run says nothing about the kernel.
PLUMB_EXPORT void* plumb_cuda_allocate(ssize_t bytes, int /*device*/, void* stream) {
  return allocate_during_call(bytes, stream);
}
PLUMB_EXPORT void plumb_cuda_free(void* memory, ssize_t /*bytes*/, int /*device*/, void* /*stream*/) {
  free_during_call(memory);
}

/// Work that `second` is given from now on waits for what `first` has been given; null is the default stream. Null, or what went wrong.
PLUMB_EXPORT const char* plumb_cuda_order(void* first, void* second) {
  return trouble_of([&] { order_streams(first, second); });
}
/// Waits for a stream. Null, or what went wrong.
PLUMB_EXPORT const char* plumb_cuda_wait(void* stream) {
  return trouble_of([&] { check_cuda(cuda_driver().wait_for_stream(stream), "cuStreamSynchronize"); });
}
/// Copies rows to the device, in the stream's order; `to` and `from` are addresses, pitches and row_bytes bytes. Memory of the host may be changed
/// once this has returned. Null, or what went wrong.
PLUMB_EXPORT const char* plumb_cuda_copy_rows(void* to, int64_t to_pitch, const void* from,
                                              int64_t from_pitch, int from_host, int64_t row_bytes,
                                              int64_t rows, void* stream) {
  return trouble_of([&] {
    copy_rows_to_device({to, to_pitch}, {from, from_pitch, from_host != 0}, row_bytes, rows, stream);
  });
}

/// JSON: how structures and types are numbered (plugin_tables()). Valid until the next call.
PLUMB_EXPORT const char* plumb_tables() { return kept(plugin_tables()); }

/// JSON: the names of an operator's arrays, numbers and types, or {"error": "..."}. Valid until the next call.
PLUMB_EXPORT const char* plumb_signature(const char* op) {
  try {
    return kept(signature_of(find_operator(op)).dump());
  } catch (const std::exception& e) { return kept(nlohmann::json{{"error", e.what()}}.dump()); }
}

/// JSON: the names of all operators, in the order of reports.
PLUMB_EXPORT const char* plumb_operators() {
  nlohmann::json names = nlohmann::json::array();
  for (const auto& entry : operators()) names.push_back(entry->name());
  return kept(names.dump());
}
}
