#include "verify/simt/simt_backend.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "gpu/simt/executor.hpp"
#include "reference/core/case_space.hpp"
#include "reference/core/error.hpp"
#include "verify/engine/user_files.hpp"

namespace plumb {
namespace {

// A user's kernels are few: where arrays are large they have a device that holds more than 65,536 threads. Runs of one case are on one
// device: reproducible results may depend on its size.
int multiprocessors_for(const CallInfo& call) {
  const int usual = simt::Options{}.multiprocessors;
  if (user_files().empty()) return usual;
  const bool large = std::any_of(call.arrays.begin(), call.arrays.end(), [](const ArrayInfo& a) {
    return static_cast<double>(a.span_bytes()) > kBytesOf16Bits;
  });
  return large ? 10 * usual : usual;
}

class SimtBackend final : public Backend {
 public:
  std::string describe() const override { return "CPU executor"; }
  std::byte* upload(std::byte* image, std::int64_t) override { return image; }
  void download(std::byte*, std::int64_t) override {}
  void* stream() override { return stream_; }
  bool tracks_arrays() const override { return true; }

  void begin(const CallInfo& call, Poison poison, std::uint64_t schedule, bool check_accesses) override {
    simt::Options options;
    options.seed = schedule;
    options.max_threads = kMaxSimtThreads;
    options.max_findings = 8;
    options.multiprocessors = multiprocessors_for(call);
    options.check = check_accesses;
    simt::begin_run(options);
    under_way_ = true;
    outputs_.clear();
    for (const ArrayInfo& a : call.arrays) {
      if (a.span_bytes() == 0) continue;
      if (a.output) outputs_.push_back(a);
      // an output that holds anything but poison was given contents (beta != 0)
      const bool initialised = !a.output || !holds_only(a, poison);
      simt::add_array(a.name, a.data, static_cast<std::size_t>(a.span_bytes()), initialised, a.output, true);
    }
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
  void collect() {
    found_.clear(), declined_.clear();
    if (!under_way_) return;
    under_way_ = false;
    // a variant has its stream and no other: its results are there for what is queued next
    for (const ArrayInfo& a : outputs_)
      simt::read_in_order("the next reader in the stream of the run", a.data,
                          static_cast<std::size_t>(a.span_bytes()), stream_);
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
    if (!shortage.empty() && found_.empty()) {
      declined_ = "the CPU executor is " + shortage;
    } else if (refused > 0 && found_.empty()) {
      declined_ =
          fmt::format("too large for the CPU executor: more than {} simulated threads", kMaxSimtThreads);
    }
  }

  std::unique_ptr<Backend> host_ = make_backend(Device::cpu);
  void* const stream_ = simt::make_stream();  // does not wait for the default one, as on a GPU
  std::vector<ArrayInfo> outputs_;
  bool under_way_ = false;
  std::vector<std::string> found_;
  std::string declined_;
};

}  // namespace

std::unique_ptr<Backend> new_simt_backend() { return std::make_unique<SimtBackend>(); }

}  // namespace plumb
