#include "verify/engine/runner.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include <fmt/format.h>

#include "reference/core/error.hpp"

namespace plumb {
namespace {

std::string this_program() {
  char path[4096];
  const ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
  return n > 0 ? std::string(path, static_cast<std::size_t>(n)) : "verify";
}

std::string place_of(const Segment& s, std::int64_t index) {
  if (s.rows == 1) return fmt::format("{}[{}]", s.name, index);
  return fmt::format("{}({}, {})", s.name, index / s.cols, index % s.cols);
}

std::string ratio_text(double ratio) { return std::isfinite(ratio) ? fmt::format("{:.3g}x", ratio) : "any"; }

std::string describe_miss(const Segment& s, const Miss& m) {
  const bool single = s.kind == Segment::Kind::f32;
  std::string text = single ? fmt::format("{}: got {:.8g}, want {:.8g}", place_of(s, m.index), m.got, m.want)
                            : fmt::format("{}: got {:.16g}, want {:.16g}", place_of(s, m.index), m.got, m.want);
  if (std::isfinite(m.error)) {
    const double ulp = single ? ulp_distance(static_cast<float>(m.got), static_cast<float>(m.want)) : ulp_distance(m.got, m.want);
    text += fmt::format(", |err| {:.2g} > bound {:.2g}", m.error, m.bound);
    if (m.bound > 0) text += fmt::format(" ({})", ratio_text(m.error / m.bound));
    if (s.kind != Segment::Kind::i32) text += fmt::format(", {:.3g} ulp", ulp);
  } else {
    text += ", of another class";
  }
  return text + fmt::format(", {} terms", m.terms);
}

// The smallest relative tolerance under which every listed output would have passed: what allclose would have needed.
double tightest_tolerance(const Comparison& c, const Tolerance& t) { return c.max_unit_ratio * t.unit(); }

}  // namespace

Runner::Runner(RunOptions options, JudgeParts parts) : options_(std::move(options)), parts_(parts) {
  if (options_.program.empty()) options_.program = this_program();
  options_.repeat = std::max(options_.repeat, 2);
}

std::string Runner::mistrust(const Case& c, PreparedCase& prepared) {
  const Reference& reference = prepared.reference();
  ImageLayout layout{Placement{}};
  (void)prepared.place(layout);
  std::size_t o = 0;
  std::int64_t elements = 0;
  bool varies = false, nothing_passes = true;
  const double exact_limit = c.dtype == Dtype::f32 ? 0x1p24 : 0x1p53;
  for (const Segment& s : layout.segments()) {
    if (!s.output) continue;
    if (o >= reference.outputs.size()) return "the oracle has fewer outputs than the contract";
    const ReferenceArray& array = reference.outputs[o];
    if (static_cast<std::int64_t>(array.value.size()) != s.elements()) {
      return fmt::format("the oracle gives {} elements for {}, the contract {}", array.value.size(), s.name, s.elements());
    }
    elements += s.elements();
    const std::vector<double>& bound = prepared.bounds(static_cast<int>(o), Arithmetic::native);
    for (std::size_t i = 0; i < array.value.size(); ++i) {
      varies = varies || !(array.value[i] == array.value[0]);
      nothing_passes = nothing_passes && std::fabs(array.value[i]) <= bound[i];
      if (is_bitwise(c.fill) && s.kind != Segment::Kind::i32 && array.magnitude[i] > exact_limit) {
        return fmt::format("element {} of {} sums magnitudes to {:.3g}: its partial sums are not exact in {}", i, s.name,
                           array.magnitude[i], name(c.dtype));
      }
    }
    ++o;
  }
  if (elements == 0 || prepared.degenerate()) return {};
  if (!varies && elements > 1) return "the reference is constant";
  if (nothing_passes) return "an output of zeros would pass";
  return {};
}

Worker::Outcome Runner::execute(const RunRequest& request, const ImageLayout& layout, std::vector<std::byte>& before, std::byte*& after) {
  const std::int64_t bytes = layout.bytes();
  before.resize(static_cast<std::size_t>(bytes));
  layout.write(before.data());
  if (options_.isolation == Isolation::none) {
    local_image_.assign(before.begin(), before.end());
    std::unique_ptr<Backend>& backend = backends_[request.device];
    if (!backend) backend = make_backend(request.device);
    // 256-byte alignment, as in a child
    local_image_.resize(static_cast<std::size_t>(bytes) + 256);
    const auto address = reinterpret_cast<std::uintptr_t>(local_image_.data());
    after = local_image_.data() + (256 - address % 256) % 256;
    std::memmove(after, before.data(), before.size());
    Worker::Outcome outcome;
    outcome.reply = serve(request, entry_ != nullptr ? *entry_ : find_operator(request.op), after, *backend);
    return outcome;
  }
  // A CUDA context costs a third of a second and half a gigabyte: our own rungs of one operator share a child, which is ended as
  // soon as one of them fails. Everything else (host variants, a user's kernels, planted faults) has a child of its own.
  const bool shared = request.device != Device::cpu && request.variant.rfind("gpu/", 0) == 0;
  const std::string key = fmt::format("{}|{}|{}", request.op, shared ? "gpu" : request.variant, static_cast<int>(request.device));
  std::unique_ptr<Worker>& worker = workers_[key];
  if (options_.isolation == Isolation::run) worker.reset();
  if (!worker || !worker->alive()) worker = std::make_unique<Worker>(options_.program);
  after = worker->image(bytes);
  std::memcpy(after, before.data(), before.size());
  Worker::Outcome outcome = worker->run(request, options_.timeout);
  if (outcome.kind == Worker::Outcome::Kind::replied && outcome.reply.status == RunReply::Status::error) worker->end();
  return outcome;
}

// What one run showed.
struct Runner::Run {
  bool failed = false;
  std::vector<Comparison> outputs;
  std::vector<std::vector<std::uint64_t>> bits;  // per output
};

Record Runner::judge(const Case& c, PreparedCase& prepared, const VariantInfo& variant) {
  Record record;
  record.case_id = c.id(), record.op = c.op, record.dtype = std::string(name(c.dtype)), record.variant = variant.name;
  record.repro = fmt::format("verify --case '{}' --variant {}{}", record.case_id, variant.name,
                             variant.device == Device::simt ? " --device simt" : variant.mutant ? " --mutants" : "");
  const Tolerance tolerance{c.fill, variant.traits.arithmetic, c.dtype};
  const auto end = [&](Verdict v, std::string reason) {
    record.verdict = v;
    record.reason = std::move(reason);
    return record;
  };

  // what is not there once is not there for the next thousand records
  if (const auto absent = absent_.find(variant.device); absent != absent_.end()) return end(Verdict::skip, absent->second);

  std::vector<std::vector<bool>> untouched;  // per output element: still poison in every run so far
  std::vector<Run> runs;
  std::vector<Segment> outputs;
  std::vector<std::byte> before;
  static constexpr Poison kPoisons[] = {Poison::nan_payload, Poison::sentinel_a, Poison::sentinel_b};
  for (int r = 0; r < options_.repeat; ++r) {
    Placement placement{kPoisons[r % 3], r % 2 == 1, variant.traits.alignment};
    ImageLayout layout(placement);
    RunRequest request{c.op, variant.name, c.dtype, variant.device, placement.poison, prepared.place(layout), layout.bytes()};
    std::byte* after = nullptr;
    const Worker::Outcome outcome = execute(request, layout, before, after);
    ++record.runs;
    if (outcome.kind == Worker::Outcome::Kind::died) return end(Verdict::crash, outcome.how);
    if (outcome.kind == Worker::Outcome::Kind::timed_out) return end(Verdict::timeout, outcome.how);
    const RunReply& reply = outcome.reply;
    if (reply.status == RunReply::Status::unavailable) {
      absent_[variant.device] = reply.text;
      --record.runs;
      return end(Verdict::skip, reply.text);
    }
    if (reply.status == RunReply::Status::unsupported) return --record.runs, end(Verdict::unsupported, reply.text);
    if (reply.status == RunReply::Status::error) return end(Verdict::error, reply.text);
    record.seconds = std::max(record.seconds, reply.seconds);
    if (!reply.chosen.empty()) record.chosen = reply.chosen;
    if (!reply.findings.empty()) {
      record.detail = reply.findings;
      const bool race = reply.findings.front().rfind("race", 0) == 0;
      return end(race ? Verdict::race : Verdict::error, reply.findings.front());
    }
    const Trespass trespass = parts_.find_trespass(layout, before.data(), after);
    if (trespass.kind == Trespass::Kind::fence) return end(Verdict::out_of_bounds, trespass.text);
    if (!reply.trespass.empty()) return end(Verdict::out_of_bounds, reply.trespass);
    if (trespass.kind == Trespass::Kind::input) return end(Verdict::input_modified, trespass.text);

    Run run;
    outputs.clear();
    for (const Segment& s : layout.segments()) {
      if (s.output) outputs.push_back(s);
    }
    untouched.resize(outputs.size());
    for (std::size_t o = 0; o < outputs.size(); ++o) {
      const Segment& s = outputs[o];
      const Expected expected{&prepared.reference().outputs[o], &prepared.bounds(static_cast<int>(o), variant.traits.arithmetic),
                              s.kind == Segment::Kind::i32 ? 0 : tolerance.unit()};
      run.outputs.push_back(parts_.compare(s, after, expected, placement.poison));
      run.failed = run.failed || run.outputs.back().misses > 0;
      std::vector<std::uint64_t>& bits = run.bits.emplace_back(static_cast<std::size_t>(s.elements()));
      if (r == 0) untouched[o].assign(bits.size(), s.source == nullptr);
      const std::uint64_t poison = poison_bits(placement.poison, s.element_bytes());
      for (std::size_t i = 0; i < bits.size(); ++i) {
        bits[i] = element_bits(s, after, static_cast<std::int64_t>(i));
        if (bits[i] != poison) untouched[o][i] = false;
      }
    }
    runs.push_back(std::move(run));
  }

  // the worst comparison of all runs speaks in the report
  const Run* worst_run = &runs.front();
  std::size_t worst_output = 0;
  for (const Run& run : runs) {
    for (std::size_t o = 0; o < run.outputs.size(); ++o) {
      const Comparison &now = run.outputs[o], &best = worst_run->outputs[worst_output];
      if (now.misses > best.misses || (now.misses == best.misses && now.max_ratio > best.max_ratio)) worst_run = &run, worst_output = o;
    }
  }
  if (!outputs.empty()) {
    record.worst = worst_run->outputs[worst_output];
    record.output = outputs[worst_output].name;
  }

  for (std::size_t o = 0; o < outputs.size(); ++o) {
    const auto count = std::count(untouched[o].begin(), untouched[o].end(), true);
    if (count > 0) {
      const auto at = std::find(untouched[o].begin(), untouched[o].end(), true) - untouched[o].begin();
      return end(Verdict::unwritten, fmt::format("{} of {} elements of {} were never written, the first is {}", count,
                                                 untouched[o].size(), outputs[o].name, place_of(outputs[o], at)));
    }
  }

  const auto failures = std::count_if(runs.begin(), runs.end(), [](const Run& r) { return r.failed; });
  if (failures > 0) {
    const Segment& s = outputs[worst_output];
    const Comparison& w = record.worst;
    for (std::size_t i = 0; i < w.first.size() && i < static_cast<std::size_t>(options_.first); ++i) {
      record.detail.push_back(describe_miss(s, w.first[i]));
    }
    record.detail.push_back(fmt::format("{} of {} elements of {} above bound in {} of {} runs; max err/bound {}, err/(uM) {:.3g}", w.misses,
                                        w.elements, s.name, failures, runs.size(), ratio_text(w.max_ratio), w.max_unit_ratio));
    if (w.max_unit_ratio > 0) {
      record.detail.push_back(fmt::format("tightest tolerance relative to M that would pass: {:.3g}", tightest_tolerance(w, tolerance)));
    }
    if (!w.guess.empty()) record.detail.push_back("looks like: " + w.guess);
    if (w.elements > 1) record.detail.push_back("map (. none, + some, # all missed):\n" + w.map);
    const std::string first = record.detail.front();
    // the same placement must fail alike: runs 0 and 2 are placed alike, 1 and 3 too
    bool flips = false;
    for (std::size_t r = 2; r < runs.size(); ++r) flips = flips || runs[r].failed != runs[r - 2].failed;
    return end(flips ? Verdict::nondeterministic : Verdict::fail, first);
  }

  if (variant.traits.reproducible) {
    for (std::size_t r = 2; r < runs.size(); ++r) {
      for (std::size_t o = 0; o < outputs.size(); ++o) {
        for (std::size_t i = 0; i < runs[r].bits[o].size(); ++i) {
          if (runs[r].bits[o][i] == runs[r - 2].bits[o][i]) continue;
          const Segment& s = outputs[o];
          return end(Verdict::nondeterministic,
                     fmt::format("{} differs between two runs on the same data (bits {:#x} and {:#x}), and the variant declares itself reproducible",
                                 place_of(s, static_cast<std::int64_t>(i)), runs[r - 2].bits[o][i], runs[r].bits[o][i]));
        }
      }
    }
  }
  return end(record.worst.max_ratio > 0.5 ? Verdict::marginal : Verdict::pass, {});
}

}  // namespace plumb
