#include "verify/simt/simt_backend.hpp"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "gpu/simt/executor.hpp"
#include "reference/cases/case_space.hpp"
#include "reference/core/error.hpp"
#include "verify/engine/process/user_files.hpp"

namespace plumb {
namespace {

// Calls f(name, first byte, bytes) for what an array has of memory: for each row apart where they are mapped far apart.
template <class F>
void each_piece(const ArrayInfo& a, F&& f) {
  const auto* const data = static_cast<const std::byte*>(a.data);
  if (!a.is_far()) return f(a.name, data, a.span_bytes());
  for (std::int64_t i = 0; i < a.rows; ++i)
    f(fmt::format("{}, row {}", a.name, i), data + i * a.ld * a.element_bytes(), a.cols * a.element_bytes());
}

std::int64_t bytes_of_pieces(const ArrayInfo& a) {
  std::int64_t all = 0;
  if (a.span_bytes() > 0)
    each_piece(a, [&](const std::string&, const std::byte*, std::int64_t bytes) { all += bytes; });
  return all;
}

// A user's kernels are few: where arrays are large they have a device that holds more than 65,536 threads. Runs of one case are on one
// device: reproducible results may depend on its size.
int multiprocessors_for(const CallInfo& call) {
  const int usual = simt::Options{}.multiprocessors;
  if (user_files().empty()) return usual;
  const bool large = std::any_of(call.arrays.begin(), call.arrays.end(), [](const ArrayInfo& a) {
    return static_cast<double>(bytes_of_pieces(a)) > kBytesOf16Bits;
  });
  return large ? 10 * usual : usual;
}

// What grows with every run: what is made once, or until it suffices, does not grow in a run that is made again.
class Growth {
 public:
  // After a run. What leaks, or "".
  std::string note(const simt::Held& now) {
    std::string leak;
    for (Kind& kind : kinds_) {
      const bool grown = now.*kind.held > before_.*kind.held;
      kind.runs = grown && is_known_ ? kind.runs + 1 : 0;
      if (kind.runs == kRuns && leak.empty())
        leak = fmt::format("leaks {}: more are held after each of {} runs in a row", kind.name, kRuns);
    }
    before_ = now, is_known_ = true;
    return leak;
  }

 private:
  static constexpr int kRuns = 6;
  struct Kind {
    const char* name;
    std::int64_t simt::Held::*held;
    int runs = 0;  // in a row
  };
  Kind kinds_[3] = {{"streams", &simt::Held::streams},
                    {"events", &simt::Held::events},
                    {"arrays on the device", &simt::Held::arrays}};
  simt::Held before_;
  bool is_known_ = false;
};

class SimtBackend final : public Backend {
 public:
  std::string describe() const override { return "CPU executor"; }
  std::byte* upload(std::byte* image, std::int64_t) override { return image; }
  void download(std::byte*, std::int64_t) override {}
  void* stream() override { return stream_; }
  void* second_stream() override { return second_stream_; }
  void call_together(const std::function<void()>& first, const std::function<void()>& second) override {
    simt::call_together(first, second);
  }
  bool tracks_arrays() const override { return true; }
  void admit_threads(std::int64_t threads) override { max_threads_ = threads; }

  void begin(const CallInfo& call, Poison poison, std::uint64_t schedule, bool check_accesses) override {
    simt::Options options;
    options.seed = schedule;
    options.max_threads = max_threads_;
    options.max_findings = 8;
    options.multiprocessors = multiprocessors_for(call);
    options.check = check_accesses;
    simt::begin_run(options);
    under_way_ = true;
    outputs_.clear();
    for (const ArrayInfo& a : call.arrays) {
      // operands may be one array, of which a problem with one extent less has a part as the one and all as the other
      const auto holds_it = [&](const ArrayInfo& other) {
        const std::int64_t more = other.span_bytes() - a.span_bytes();
        return other.data == a.data && (more > 0 || (more == 0 && &other < &a));
      };
      if (a.span_bytes() == 0 || std::any_of(call.arrays.begin(), call.arrays.end(), holds_it)) continue;
      if (a.output) outputs_.push_back(a);
      // an output that holds anything but poison was given contents (beta != 0)
      const bool initialised = !a.output || !holds_only(a, poison);
      each_piece(a, [&](const std::string& name, const std::byte* at, std::int64_t bytes) {
        simt::add_array(name, at, static_cast<std::size_t>(bytes), initialised, a.output, true);
      });
    }
    for (const ArrayInfo& a : outputs_) read_here_and_there(a);
  }

  void* workspace(std::int64_t bytes, Poison poison) override {
    void* at = host_->workspace(bytes, poison);
    if (bytes > 0) simt::add_array("workspace", at, static_cast<std::size_t>(bytes), false, true, true);
    return at;
  }
  std::string release_workspace() override {
    collect();  // the executor owns the arrays until its run has ended
    return host_->release_workspace();
  }

  std::vector<std::string> findings() override { return std::move(found_); }
  Reason why_void() override { return std::move(declined_); }

 private:
  // What was queued before in the run's stream may still read the output: what another stream writes must come after it.
  void read_here_and_there(const ArrayInfo& a) const {
    constexpr std::int64_t kPlaces = 16;
    const std::int64_t bytes = a.element_bytes();
    each_piece(a, [&](const std::string&, const std::byte* at, std::int64_t all) {
      for (std::int64_t i = 0; i <= kPlaces; ++i)
        simt::read_in_order("an earlier reader in the stream of the run",
                            at + (all / bytes - 1) * i / kPlaces * bytes, static_cast<std::size_t>(bytes),
                            stream_);
    });
  }

  void collect() {
    found_.clear(), declined_.clear();
    if (!under_way_) return;
    under_way_ = false;
    // a variant has its stream and no other: its results are there for what is queued next
    for (const ArrayInfo& a : outputs_) {
      each_piece(a, [&](const std::string&, const std::byte* at, std::int64_t bytes) {
        simt::read_in_order("the next reader in the stream of the run", at, static_cast<std::size_t>(bytes),
                            stream_);
      });
    }
    const std::int64_t refused = simt::threads_refused();
    const std::string shortage = simt::shortage();
    // races first: the first finding gives the verdict
    std::vector<std::string> others;
    for (const simt::Finding& f : simt::end_run()) {
      if (f.is_note) continue;
      std::string text = f.describe();
      while (!text.empty() && text.back() == '\n') text.pop_back();
      (f.kind == simt::FindingKind::race ? found_ : others).push_back(std::move(text));
    }
    found_.insert(found_.end(), others.begin(), others.end());
    if (std::string leak = growth_.note(simt::held()); !leak.empty()) found_.push_back(std::move(leak));
    if (!shortage.empty() && found_.empty()) {
      declined_ = "the CPU executor is " + shortage;
    } else if (refused > 0 && found_.empty()) {
      declined_ = fmt::format("too large for the CPU executor: more than {} simulated threads", max_threads_);
    }
    max_threads_ = kMaxSimtThreads;
  }

  std::unique_ptr<Backend> host_ = make_backend(Device::cpu);
  void* const stream_ = simt::make_stream();  // does not wait for the default one, as on a GPU
  void* const second_stream_ = simt::make_stream();
  Growth growth_;
  std::vector<ArrayInfo> outputs_;
  bool under_way_ = false;
  std::int64_t max_threads_ = kMaxSimtThreads;  // of the next run
  std::vector<std::string> found_;
  std::string declined_;
};

}  // namespace

std::unique_ptr<Backend> new_simt_backend() { return std::make_unique<SimtBackend>(); }

}  // namespace plumb
