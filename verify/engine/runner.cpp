#include "verify/engine/runner.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

#include <fmt/format.h>
#include <omp.h>

#include "reference/core/error.hpp"
#include "reference/core/resource_error.hpp"
#include "verify/engine/repro.hpp"
#include "verify/engine/simt_device.hpp"

namespace plumb {
namespace {

std::string place_of(const Segment& s, std::int64_t index) {
  if (s.rows == 1) return fmt::format("{}[{}]", s.name, index);
  return fmt::format("{}({}, {})", s.name, index / s.cols, index % s.cols);
}

std::string ratio_text(double ratio) {
  return std::isfinite(ratio) ? fmt::format("{:.3g}x", ratio) : "infinite (the bound is 0)";
}

std::string describe_miss(const Segment& s, const Miss& m) {
  const bool single = s.kind == Segment::Kind::f32;
  std::string text = single
                         ? fmt::format("{}: got {:.8g}, want {:.8g}", place_of(s, m.index), m.got, m.want)
                         : fmt::format("{}: got {:.16g}, want {:.16g}", place_of(s, m.index), m.got, m.want);
  if (std::isfinite(m.error)) {
    const double ulp = single ? ulp_distance(static_cast<float>(m.got), static_cast<float>(m.want))
                              : ulp_distance(m.got, m.want);
    text += fmt::format(", |err| {:.2g} > bound {:.2g}", m.error, m.bound);
    if (m.bound > 0) text += fmt::format(" ({})", ratio_text(m.error / m.bound));
    if (s.kind != Segment::Kind::i32) text += fmt::format(", {:.3g} ulp", ulp);
  } else {
    text += ", of another class";
  }
  return text + fmt::format(", {} terms", m.terms);
}

std::string variant_key(const RunRequest& r) {
  return fmt::format("{}|{}|{}|{}|{}", r.op, r.variant, static_cast<int>(r.device), r.plugin, r.program);
}

// A CUDA context costs a third of a second and half a gigabyte: our own rungs of one operator share a child, which is ended as soon as
// one of them fails. Everything else (host variants, a user's kernels, planted faults) has a child of its own.
std::string worker_key(const RunRequest& r) {
  const bool shared = r.device != Device::cpu && r.variant.rfind("gpu/", 0) == 0;
  return shared ? fmt::format("{}|gpu|{}|{}", r.op, static_cast<int>(r.device), r.program) : variant_key(r);
}

// Once per variant and type, on its first small case, many more runs in a row: right for the first ten calls is not right.
constexpr int kEnduranceRuns = 16;
// Attempts at a run whose process the kernel kills for want of memory.
constexpr int kTriesWithoutMemory = 3;
// Another seed for every run, never 0: 0 is no disturbance.
std::uint64_t disturbance_of(std::uint64_t seed, int run) {
  std::uint64_t h = seed * 0x9e3779b97f4a7c15ull + static_cast<std::uint64_t>(run) + 1;
  h = (h ^ (h >> 32)) * 0xd6e8feb86659fd93ull;
  return (h ^ (h >> 32)) | 1u;
}

// The elements of an array one after another, without its padding.
struct Elements {
  std::unique_ptr<std::byte[]> data;
  std::int64_t bytes = 0;
  friend bool operator==(const Elements& a, const Elements& b) {
    return a.bytes == b.bytes &&
           (a.bytes == 0 || std::memcmp(a.data.get(), b.data.get(), static_cast<std::size_t>(a.bytes)) == 0);
  }
};

Elements elements_of(const Segment& s, const std::byte* image) {
  const std::int64_t element = s.element_bytes(), stretches = (s.elements() + kStretch - 1) / kStretch;
  Elements elements{
      std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(s.elements() * element)),
      s.elements() * element};
#pragma omp parallel for schedule(static) if (stretches > 8)
  for (std::int64_t n = 0; n < stretches; ++n) {
    for_each_run(s, n * kStretch, std::min(s.elements(), (n + 1) * kStretch),
                 [&](std::int64_t i, std::int64_t j, std::int64_t count) {
                   std::memcpy(elements.data.get() + (i * s.cols + j) * element, image + s.place(i, j),
                               static_cast<std::size_t>(count * element));
                 });
  }
  return elements;
}

// Clears the marks of elements that do not hold the poison.
void forget_touched(const Segment& s, const std::byte* image, Poison poison, std::vector<bool>& untouched) {
  if (std::find(untouched.begin(), untouched.end(), true) == untouched.end()) return;
  const std::uint64_t held = poison_bits(poison, s.element_bytes());
  const auto holds_poison = [&](const std::byte* at) {
    return s.element_bytes() == 4 ? std::memcmp(at, &held, 4) == 0 : std::memcmp(at, &held, 8) == 0;
  };
  const std::int64_t pieces = (s.elements() + kStretch - 1) / kStretch;
#pragma omp parallel for schedule(static) if (pieces > 8)
  for (std::int64_t piece = 0; piece < pieces; ++piece) {
    const std::int64_t begin = piece * kStretch, end = std::min(s.elements(), begin + kStretch);
    for_each_element(s, image, begin, end, [&](std::int64_t i, const std::byte* at) {
      if (!holds_poison(at)) untouched[static_cast<std::size_t>(i)] = false;
    });
  }
}

// At least `bytes`; what a case of gigabytes left is given back.
void make_room(LargeArray<std::byte>& memory, std::int64_t bytes) {
  constexpr std::size_t kLarge = std::size_t{1} << 30;
  const auto needed = static_cast<std::size_t>(bytes);
  if (memory.size() >= needed && (memory.size() < kLarge || memory.size() / 4 < needed)) return;
  memory = {};
  memory = LargeArray<std::byte>(needed);
}

constexpr std::int64_t kSmallImage =
    256 << 10;  // bytes; larger cases are neither repeated so often nor given a twin

// True where no element is smaller than the sum of its terms' sizes: nothing cancels, and a bound for zero-mean data is too small.
bool has_terms_of_one_sign(const Reference& reference) {
  bool sums = false;
  for (const ReferenceArray& array : reference.outputs) {
    for (std::size_t i = 0; i < array.value.size(); ++i) {
      if (std::fabs(array.value[i]) != array.magnitude[i]) return false;
      sums = sums || array.terms[i] > 1;
    }
  }
  return sums;
}

// The smallest relative tolerance under which every listed output would have passed: what allclose would have needed.
double tightest_tolerance(const Comparison& c, const Tolerance& t) { return c.max_unit_ratio * t.unit(); }

}  // namespace

Runner::Runner(RunOptions options, JudgeParts parts) : options_(std::move(options)), parts_(parts) {
  if (options_.program.empty()) options_.program = this_program();
  if (!options_.oom_counter) options_.oom_counter = oom_kills;
  options_.repeat = std::max(options_.repeat, 2);
}

std::string Runner::mistrust(const Case& c, PreparedCase& prepared) {
  try {
    return mistrust_of(c, prepared);
  } catch (const std::bad_alloc& e) { throw_no_memory(c, e); }
}

std::string Runner::mistrust_of(const Case& c, PreparedCase& prepared) {
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
      return fmt::format("the oracle gives {} elements for {}, the contract {}", array.value.size(), s.name,
                         s.elements());
    }
    elements += s.elements();
    const LargeArray<double>& bound = prepared.bounds(static_cast<int>(o), Arithmetic::native);
    const bool exact = is_bitwise(c.fill) && s.kind != Segment::Kind::i32;
    const std::int64_t n = s.elements();
    std::int64_t inexact = n;  // the first, if any
#pragma omp parallel for schedule(static) reduction(|| : varies) reduction(&& : nothing_passes) reduction(min : inexact) if (n > 8 * kStretch)
    for (std::int64_t at = 0; at < n; ++at) {
      const auto i = static_cast<std::size_t>(at);
      varies = varies || !(array.value[i] == array.value[0]);
      nothing_passes = nothing_passes && std::fabs(array.value[i]) <= bound[i];
      if (exact && array.magnitude[i] > exact_limit) inexact = std::min(inexact, at);
    }
    if (inexact < n) {
      return fmt::format(
          "element {} of {} sums magnitudes to {:.3g}: its partial sums are not exact in {}: draw smaller "
          "numbers or fewer terms "
          "in make()",
          inexact, s.name, array.magnitude[static_cast<std::size_t>(inexact)], name(c.dtype));
    }
    ++o;
  }
  if (elements == 0 || prepared.degenerate()) return {};
  if (!varies && elements > 1)
    return "the reference is constant: change the data, or mark the instance degenerate in make()";
  if (nothing_passes)
    return "an output of zeros would pass: change the data, or mark the instance degenerate in make()";
  return {};
}

Worker::Outcome Runner::execute(const RunRequest& request, const ImageLayout& layout, std::byte*& after,
                                int tries) {
  const std::int64_t bytes = layout.bytes();
  make_room(before_, bytes);
  layout.write(before_.data());
  const bool simt = request.device == Device::simt;
  if (options_.isolation == Isolation::none && !simt) {
    std::unique_ptr<Backend>& backend = backends_[request.device];
    if (!backend)
      backend = options_.apart && request.device == Device::gpu ? make_apart_backend()
                                                                : make_backend(request.device);
    make_room(local_image_, bytes + 256);  // 256-byte alignment, as in a child
    const auto address = reinterpret_cast<std::uintptr_t>(local_image_.data());
    after = local_image_.data() + (256 - address % 256) % 256;
    copy_bytes(after, before_.data(), bytes);
    Worker::Outcome outcome;
    outcome.reply = serve(request, entry_ != nullptr ? *entry_ : find_operator(request.op), after, *backend);
    return outcome;
  }
  const std::string key = worker_key(request);
  std::unique_ptr<Worker>& worker = workers_[key];
  if (options_.isolation == Isolation::run) worker.reset();
  if (!worker || !worker->alive()) {
    worker = std::make_unique<Worker>(!request.program.empty() ? request.program
                                      : simt                   ? options_.simt_program
                                                               : options_.program,
                                      options_.oom_counter);
  }
  after = worker->image(bytes);
  copy_bytes(after, before_.data(), bytes);
  // each kind's budget, as much again to warm up and for what is not under the clock
  Worker::Outcome outcome = worker->run(request, options_.timeout + 4 * request.timing.budget);
  // the kernel killed it for want of memory: it may have been another process's memory, so the run is made again
  if (outcome.kind == Worker::Outcome::Kind::out_of_memory && tries + 1 < kTriesWithoutMemory)
    return execute(request, layout, after, tries + 1);
  if (outcome.kind == Worker::Outcome::Kind::replied && outcome.reply.status == RunReply::Status::error)
    worker->end();
  return outcome;
}

// What one run showed.
struct Runner::Run {
  bool failed = false;
  std::vector<Comparison> outputs;
  std::vector<Elements> bits;  // per output; of runs that another is compared with
};

// The twin in the same place as the run before: who remembers an answer by address, or by the first call, gives the old one.
std::string Runner::judge_twin(PreparedCase& prepared, const VariantInfo& variant, const RunRequest& like,
                               bool packed, const Tolerance& tolerance, Record& record) {
  PreparedCase* twin = prepared.twin();
  if (twin == nullptr) return {};
  const Placement placement{like.poison, false, variant.traits.alignment, packed};
  ImageLayout layout(placement);
  RunRequest request = like;
  request.views = twin->place(layout);
  request.image_bytes = layout.bytes();
  std::byte* after = nullptr;
  const Worker::Outcome outcome = execute(request, layout, after);
  ++record.runs;
  const auto ended = [&](Verdict v, const std::string& why) {
    outcome_of_twin_ = v;
    return why;
  };
  if (outcome.kind == Worker::Outcome::Kind::interrupted ||
      outcome.kind == Worker::Outcome::Kind::out_of_memory)
    return ended(Verdict::skip, outcome.how);
  if (outcome.kind == Worker::Outcome::Kind::died) return ended(Verdict::crash, outcome.how);
  if (outcome.kind == Worker::Outcome::Kind::timed_out) return ended(Verdict::timeout, outcome.how);
  if (outcome.reply.status == RunReply::Status::unsupported) return {};  // it may decline by value
  if (outcome.reply.status == RunReply::Status::no_resource) return ended(Verdict::skip, outcome.reply.text);
  if (outcome.reply.status != RunReply::Status::ok) return ended(Verdict::error, outcome.reply.text);
  const Trespass trespass = parts_.find_trespass(layout, before_.data(), after);
  if (trespass.kind == Trespass::Kind::fence) return ended(Verdict::out_of_bounds, trespass.text);
  if (trespass.kind == Trespass::Kind::input) return ended(Verdict::input_modified, trespass.text);
  std::size_t o = 0;
  for (const Segment& s : layout.segments()) {
    if (!s.output) continue;
    const Expected expected{&twin->reference().outputs[o],
                            &twin->bounds(static_cast<int>(o), variant.traits.arithmetic),
                            s.kind == Segment::Kind::i32 ? 0 : tolerance.unit(), tolerance.eta()};
    ++o;
    const Comparison found = parts_.compare(s, after, expected, placement.poison);
    if (found.misses == 0) continue;
    record.worst = found, record.output = s.name;
    record.detail.push_back(
        "on the same case with one operand negated, at the same addresses; right before. Does it remember an "
        "answer?");
    for (std::size_t i = 0; i < found.first.size() && i < static_cast<std::size_t>(options_.first); ++i) {
      record.detail.push_back(describe_miss(s, found.first[i]));
    }
    return ended(Verdict::fail,
                 fmt::format("new data, old answer? {}", describe_miss(s, found.first.front())));
  }
  return {};
}

std::string Runner::outlived(const std::string& key, int first_threads, int last_threads, Verdict& verdict) {
  // pools of threads grow in the first call; what grows in later ones was started there and left
  if (options_.isolation != Isolation::variant || last_threads <= first_threads) return {};
  const auto worker = workers_.find(key);
  if (worker == workers_.end() || !worker->second->alive()) return {};
  const Worker::Outcome outcome = worker->second->settle(first_threads);
  verdict = outcome.kind == Worker::Outcome::Kind::died ? Verdict::crash : Verdict::skip;
  if (outcome.kind != Worker::Outcome::Kind::replied) return outcome.how;
  if (outcome.reply.threads <= first_threads) return {};
  verdict = Verdict::error;
  return fmt::format(
      "leaves threads running after it has returned: {} after its first run, {} after its last",
      first_threads, outcome.reply.threads);
}

// What is not there once is not there for the next thousand records.
bool Runner::absent(const VariantInfo& variant, Record& record) {
  const auto known = absent_.find(variant.device);
  if (variant.absent.empty() && known == absent_.end()) return false;
  record.verdict = Verdict::skip;
  record.reason = variant.absent.empty() ? known->second : variant.absent;
  record.wants_device = true;
  return true;
}

std::int64_t Runner::largest_grid(const Case& c, PreparedCase& prepared, const VariantInfo& variant,
                                  Record& why_not) {
  if (absent(variant, why_not)) return -1;
  ImageLayout layout({Poison::nan_payload, false, variant.traits.alignment, false});
  StagedViews views = prepared.place(layout);
  RunRequest request{c.op,           variant.name,        c.dtype,
                     variant.device, Poison::nan_payload, std::move(views),
                     layout.bytes(), variant.plugin};
  request.watch = true, request.min_sm = variant.traits.min_sm, request.program = variant.program;
  std::byte* after = nullptr;
  const Worker::Outcome outcome = execute(request, layout, after);
  const RunReply& reply = outcome.reply;
  if (outcome.kind == Worker::Outcome::Kind::replied && reply.status == RunReply::Status::ok) {
    std::int64_t blocks = 0;
    for (const KernelUse& k : reply.timing.kernels) blocks = std::max(blocks, k.blocks);
    return blocks;
  }
  why_not.verdict = Verdict::skip;
  why_not.reason = outcome.kind == Worker::Outcome::Kind::replied ? reply.text : outcome.how;
  why_not.wants_device =
      reply.status == RunReply::Status::unavailable || reply.status == RunReply::Status::too_old;
  if (reply.status == RunReply::Status::unavailable) absent_[variant.device] = reply.text;
  return -1;
}

Record Runner::judge(const Case& c, PreparedCase& prepared, const VariantInfo& variant) {
  return judge_or_skip(c, prepared, variant, options_.repeat, nullptr, nullptr);
}

Record Runner::judge_timed(const Case& c, PreparedCase& prepared, const VariantInfo& variant,
                           const TimingRequest& request, Timing& timing) {
  return judge_or_skip(c, prepared, variant, 3, &request, &timing);
}

// A resource of the judge that runs out says nothing about the variant.
Record Runner::judge_or_skip(const Case& c, PreparedCase& prepared, const VariantInfo& variant, int repeat,
                             const TimingRequest* request, Timing* timing) {
  std::string why;
  try {
    return judge(c, prepared, variant, repeat, request, timing);
  } catch (const ResourceError& e) { why = e.what(); } catch (const std::bad_alloc& e) {
    why = e.what();
  }
  workers_.clear();  // their images are memory too
  before_ = {}, local_image_ = {};
  Record record;
  record.case_id = c.id(), record.op = c.op, record.dtype = std::string(name(c.dtype)),
  record.variant = variant.name + (variant.device == Device::simt ? kOnSimt : "");
  record.repro = repro_line(c, variant, options_, repeat);
  record.reason = why;
  return record;
}

Record Runner::judge(const Case& c, PreparedCase& prepared, const VariantInfo& variant, int repeat,
                     const TimingRequest* timing_request, Timing* timing) {
  Record record;
  record.case_id = c.id(), record.op = c.op, record.dtype = std::string(name(c.dtype)),
  record.variant = variant.name + (variant.device == Device::simt ? kOnSimt : "");
  record.repro = repro_line(c, variant, options_, repeat);
  const Tolerance tolerance{c.fill, variant.traits.arithmetic, c.dtype};
  std::optional<ImageLayout> staged, kept_layout;  // of the run in hand; of the run that a failure shows
  std::vector<std::byte> kept_before, kept_after;
  std::byte* after = nullptr;
  bool returned = false;
  const auto keep = [&] {
    if (!options_.on_failure) return;
    kept_layout = staged;
    kept_before.assign(before_.data(), before_.data() + staged->bytes());
    kept_after.assign(after, after + (returned ? staged->bytes() : 0));
  };
  const auto end = [&](Verdict v, std::string reason) {
    record.verdict = v;
    record.reason = std::move(reason);
    if (is_failed(v) && options_.on_failure && staged) {
      if (!kept_layout) keep();
      options_.on_failure({record, *kept_layout, kept_before.data(),
                           kept_after.empty() ? nullptr : kept_after.data(), prepared,
                           variant.traits.arithmetic});
    }
    return record;
  };

  if (absent(variant, record)) return end(Verdict::skip, record.reason);
  if (variant.device == Device::simt) {
    const Cost cost = prepared.cost();
    const double work = cost.flop + cost.bytes / 4;
    const double limit = options_.race ? kMaxSimtRaceWork : kMaxSimtWork;
    if (work > limit) {
      return end(Verdict::skip,
                 fmt::format("too large for the CPU executor: more than {:.0f} operations and words", limit));
    }
  }
  if (c.fill == Fill::hostile && variant.traits.finite_only) {
    return end(Verdict::unsupported,
               "declares itself for finite inputs only: NaN and infinities may come out otherwise");
  }
  std::vector<std::vector<bool>> untouched;  // per output element: still poison in every run so far
  std::vector<Run> runs;
  std::vector<Segment> outputs;
  int first_threads = 0, last_threads = 0;
  std::int64_t kept_misses = 0;
  static constexpr Poison kPoisons[] = {Poison::nan_payload, Poison::sentinel_a, Poison::sentinel_b};
  int planned = repeat;
  for (int r = 0; r < planned; ++r) {
    // the timed run is placed as the first one, whose bits it must repeat
    Placement placement{kPoisons[r % 3], r % 2 == 1, variant.traits.alignment,
                        timing != nullptr && r % 2 == 0};
    staged.emplace(placement);
    ImageLayout& layout = *staged;
    StagedViews views = prepared.place(layout);
    RunRequest request{c.op,           variant.name,     c.dtype,
                       variant.device, placement.poison, std::move(views),
                       layout.bytes(), variant.plugin};
    request.schedule = c.seed + static_cast<std::uint64_t>(r);
    request.check_accesses = options_.race;
    if (options_.stress != 0) {
      request.disturbance = disturbance_of(options_.stress, r);
      request.schedule = request.disturbance;
    }
    request.min_sm = variant.traits.min_sm;
    request.program = variant.program;
    if (timing != nullptr && r == repeat - 1) {
      request.timing = *timing_request;
      for (const Segment& s : layout.segments()) {
        if (s.output && s.elements() > 0)
          request.timing.outputs.push_back({s.offset, ((s.rows - 1) * s.ld + s.cols) * s.element_bytes()});
      }
    }
    returned = false;
    Worker::Outcome outcome = execute(request, layout, after);
    ++record.runs;
    if (outcome.kind == Worker::Outcome::Kind::interrupted ||
        outcome.kind == Worker::Outcome::Kind::out_of_memory)
      return --record.runs, end(Verdict::skip, outcome.how);
    if (outcome.kind == Worker::Outcome::Kind::died) return end(Verdict::crash, outcome.how);
    if (outcome.kind == Worker::Outcome::Kind::timed_out) return end(Verdict::timeout, outcome.how);
    const RunReply& reply = outcome.reply;
    if (reply.status == RunReply::Status::unavailable) {
      absent_[variant.device] = reply.text;
      --record.runs;
      record.wants_device = true;
      return end(Verdict::skip, reply.text);
    }
    if (reply.status == RunReply::Status::too_old) {
      --record.runs;
      record.wants_device = true;
      return end(Verdict::skip, reply.text);
    }
    if (reply.status == RunReply::Status::declined || reply.status == RunReply::Status::no_resource)
      return --record.runs, end(Verdict::skip, reply.text);
    if (reply.status == RunReply::Status::unsupported)
      return --record.runs, end(Verdict::unsupported, reply.text);
    if (!reply.findings.empty()) {
      record.detail = reply.findings;
      const bool race = reply.findings.front().rfind("race", 0) == 0;
      const std::string& first = reply.findings.front();
      return end(race ? Verdict::race : Verdict::error, first.substr(0, first.find('\n')));
    }
    if (reply.status == RunReply::Status::error) return end(Verdict::error, reply.text);
    returned = true;
    if (r == 0) first_threads = reply.threads;
    last_threads = reply.threads;
    record.seconds = std::max(record.seconds, reply.seconds);
    if (request.timing.samples > 0) *timing = reply.timing;
    if (!reply.chosen.empty()) record.chosen = reply.chosen;
    const Trespass trespass = parts_.find_trespass(layout, before_.data(), after);
    if (trespass.kind == Trespass::Kind::fence) return end(Verdict::out_of_bounds, trespass.text);
    if (!reply.trespass.empty()) return end(Verdict::out_of_bounds, reply.trespass);
    if (trespass.kind == Trespass::Kind::input) return end(Verdict::input_modified, trespass.text);

    Run run;
    outputs.clear();
    for (const Segment& s : layout.segments()) {
      if (s.output) outputs.push_back(s);
    }
    untouched.resize(outputs.size());
    const bool small = layout.bytes() <= kSmallImage && reply.seconds < 5e-3;
    // with the run after the next; a small case may be given more runs yet, and its placements differ in size
    const bool compared_later = r >= 2 || r + 2 < planned || layout.bytes() <= 4 * kSmallImage;
    std::int64_t misses = 0;
    for (std::size_t o = 0; o < outputs.size(); ++o) {
      const Segment& s = outputs[o];
      const Expected expected{&prepared.reference().outputs[o],
                              &prepared.bounds(static_cast<int>(o), variant.traits.arithmetic),
                              s.kind == Segment::Kind::i32 ? 0 : tolerance.unit(), tolerance.eta()};
      run.outputs.push_back(parts_.compare(s, after, expected, placement.poison));
      misses += run.outputs.back().misses;
      if (compared_later) run.bits.push_back(elements_of(s, after));
      if (r == 0) untouched[o].assign(static_cast<std::size_t>(s.elements()), s.source == nullptr);
      forget_touched(s, after, placement.poison, untouched[o]);
    }
    run.failed = misses > 0;
    if (misses > kept_misses) kept_misses = misses, keep();
    if (timing == nullptr && small && r + 1 == repeat && options_.isolation == Isolation::variant &&
        endured_.insert(fmt::format("{}|{}", variant_key(request), record.dtype)).second) {
      planned += kEnduranceRuns;
    }
    if (r == 0 && small && !run.failed) {
      if (const std::string reason =
              judge_twin(prepared, variant, request, placement.packed, tolerance, record);
          !reason.empty()) {
        if (outcome_of_twin_ == Verdict::skip) return end(Verdict::skip, reason);
        kept_layout.reset();
        return end(outcome_of_twin_, reason);
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
      if (now.misses > best.misses || (now.misses == best.misses && now.max_ratio > best.max_ratio))
        worst_run = &run, worst_output = o;
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
      return end(Verdict::unwritten,
                 fmt::format("{} of {} elements of {} were never written, the first is {}", count,
                             untouched[o].size(), outputs[o].name, place_of(outputs[o], at)));
    }
  }

  // runs placed alike: 0 and 2, 1 and 3
  for (std::size_t r = 2; r < runs.size() && !record.differs; ++r)
    record.differs = !(runs[r].bits == runs[r - 2].bits);

  const auto failures = std::count_if(runs.begin(), runs.end(), [](const Run& r) { return r.failed; });
  if (failures > 0) {
    const Segment& s = outputs[worst_output];
    const Comparison& w = record.worst;
    for (std::size_t i = 0; i < w.first.size() && i < static_cast<std::size_t>(options_.first); ++i) {
      record.detail.push_back(describe_miss(s, w.first[i]));
    }
    record.detail.push_back(fmt::format(
        "{} of {} elements of {} above bound in {} of {} runs; max err/bound: {}, err/(uM) {:.3g}", w.misses,
        w.elements, s.name, failures, runs.size(), ratio_text(w.max_ratio), w.max_unit_ratio));
    if (w.max_unit_ratio > 0) {
      record.detail.push_back(fmt::format("tightest tolerance relative to M that would pass: {:.3g}",
                                          tightest_tolerance(w, tolerance)));
    }
    if (!w.guess.empty()) record.detail.push_back("looks like: " + w.guess);
    if (c.fill == Fill::real && has_terms_of_one_sign(prepared.reference()))
      record.detail.push_back("every term has one sign: is the bound that of positive data?");
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
        const Elements &now = runs[r].bits[o], &then = runs[r - 2].bits[o];
        if (now == then) continue;
        const std::byte* const begin = now.data.get();
        const std::byte* const differs = std::mismatch(begin, begin + now.bytes, then.data.get()).first;
        const Segment& s = outputs[o];
        const std::int64_t i = (differs - begin) / s.element_bytes();
        const auto bits_in = [&](const Elements& elements) {
          std::uint64_t bits = 0;
          std::memcpy(&bits, elements.data.get() + i * s.element_bytes(),
                      static_cast<std::size_t>(s.element_bytes()));
          return bits;
        };
        return end(Verdict::nondeterministic,
                   fmt::format("{} differs between two runs on the same data (bits {:#x} and {:#x}), and the "
                               "variant declares itself reproducible",
                               place_of(s, i), bits_in(then), bits_in(now)));
      }
    }
  }
  // emptying the caches takes every core: that pool is the backend's, not the variant's
  if (timing != nullptr) first_threads += omp_get_max_threads() - 1;
  Verdict verdict = Verdict::pass;
  RunRequest named{c.op, variant.name, c.dtype, variant.device, Poison::nan_payload, {}, 0, variant.plugin};
  named.program = variant.program;
  if (const std::string why = outlived(worker_key(named), first_threads, last_threads, verdict); !why.empty())
    return end(verdict, why);
  return end(record.worst.max_ratio > 0.5 ? Verdict::marginal : Verdict::pass, {});
}

}  // namespace plumb
