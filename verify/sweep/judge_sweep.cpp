#include "verify/sweep/judge_sweep.hpp"

#include <map>
#include <new>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "reference/core/error.hpp"
#include "reference/core/exhaustion.hpp"
#include "verify/engine/operator/operators.hpp"
#include "verify/engine/process/simt_device.hpp"
#include "verify/judge/mistrust.hpp"
#include "verify/judge/repro.hpp"

namespace plumb {
namespace {

// How many records in a row ended in the same verdict, of those verdicts that end a child process.
class Endings {
 public:
  void count(const VariantInfo& v, Verdict verdict) {
    const std::lock_guard lock(mutex_);
    Ending& e = of_[type_key(v)];
    const bool fatal = verdict == Verdict::timeout || verdict == Verdict::crash ||
                       verdict == Verdict::error || verdict == Verdict::out_of_bounds;
    e.times = !fatal ? 0 : verdict == e.verdict ? e.times + 1 : 1;
    e.verdict = verdict;
  }
  // Why a variant is not judged on further cases, or "".
  [[nodiscard]] std::string given_up(const VariantInfo& v) {
    const std::lock_guard lock(mutex_);
    const Ending& e = of_[type_key(v)];
    if (e.times < kGiveUpAfter) return {};
    return fmt::format("{} ended in {} on {} cases in a row (--all judges the others too)", v.name,
                       name(e.verdict), kGiveUpAfter);
  }

 private:
  struct Ending {
    Verdict verdict = Verdict::pass;
    int times = 0;
  };
  std::mutex mutex_;
  std::map<std::string, Ending> of_;
};

// Variants that write nothing. That is one failure, not one for each case or type: what a variant that never wrote anything in a type
// leaves on its first cases is held back until that is certain, and told as skips, the first of the variant as its failure.
class Idle {
 public:
  /// The records to be told now.
  [[nodiscard]] std::vector<Record> take(const VariantInfo& v, const Record& record) {
    const std::lock_guard lock(mutex_);
    State& s = of_[type_key(v)];
    if (record.wrote == Wrote::something) s.ever_wrote = true;
    if (s.given_up) return {record.wrote == Wrote::nothing ? as_skip(record, v) : record};
    if (s.ever_wrote || record.wrote != Wrote::nothing) {
      std::vector<Record> told = s.ever_wrote ? std::exchange(s.held, {}) : std::vector<Record>{};
      told.push_back(record);
      return told;
    }
    s.held.push_back(record);
    if (s.held.size() < kGiveUpAfter) return {};
    s.given_up = true;
    const bool first = failed_.insert(fmt::format("{}|{}", v.op, v.name)).second;
    for (std::size_t i = first ? 1 : 0; i < s.held.size(); ++i) s.held[i] = as_skip(s.held[i], v);
    return std::exchange(s.held, {});
  }
  /// Why a variant is not judged on further cases, or "".
  [[nodiscard]] std::string given_up(const VariantInfo& v) {
    const std::lock_guard lock(mutex_);
    return of_[type_key(v)].given_up ? why(v) : "";
  }
  /// What is still held back when no further case comes.
  [[nodiscard]] std::vector<Record> rest() {
    std::vector<Record> told;
    for (auto& [type, s] : of_) told.insert(told.end(), s.held.begin(), s.held.end());
    of_.clear();
    return told;
  }

 private:
  struct State {
    bool ever_wrote = false, given_up = false;
    std::vector<Record> held;
  };
  static std::string why(const VariantInfo& v) {
    return fmt::format("{} wrote nothing on its first {} cases of {} (--all judges the others too)", v.name,
                       kGiveUpAfter, name(v.dtype));
  }
  static Record as_skip(const Record& r, const VariantInfo& v) {
    Record skip;
    skip.case_id = r.case_id, skip.op = r.op, skip.dtype = r.dtype, skip.variant = r.variant;
    skip.verdict = Verdict::skip, skip.reason = why(v), skip.runs = r.runs, skip.repro = r.repro;
    return skip;
  }

  std::mutex mutex_;
  std::map<std::string, State> of_;  // by type_key()
  std::set<std::string> failed_;     // variants whose failure is told
};

Record record_of(const Case& c) {
  Record r;
  r.case_id = c.id(), r.op = c.op, r.dtype = std::string(name(c.dtype));
  return r;
}

// A case of this program's own making must tell right from wrong. A drawn one, and one on a user's matrix, may not: it is left out.
Record mistrusted(const Case& c, const std::string& why) {
  Record r = record_of(c);
  r.variant = kTheCaseItself;
  const bool of_user = c.has("matrix"), left_out = c.drawn || of_user;
  r.verdict = left_out ? Verdict::skip : Verdict::mistrusted;
  r.reason = !left_out ? why
                       : fmt::format("{} proves nothing: {}",
                                     of_user ? "a case on this matrix that" : "a drawn case that", why);
  r.detail = {of_user ? "other fills and values of the same matrix are judged"
                      : "no variant is at fault: change the case's data, or mark the instance degenerate in "
                        "make()"};
  r.repro = fmt::format("{} --case {}", called_as(), shell_word(r.case_id));
  return r;
}

Record skipped(const Case& c, const VariantInfo& v, const RunOptions& run, const std::string& why) {
  Record r = record_of(c);
  r.variant = v.name + (v.device == Device::simt ? kOnSimt : "");
  r.verdict = Verdict::skip, r.reason = why;
  r.repro = repro_line(c, v, run, run.repeat);
  return r;
}

}  // namespace

std::exception_ptr judge_jobs(const std::vector<Job>& jobs, const RunOptions& run,
                              const JudgeSweepOptions& options,
                              const std::function<void(const Record&)>& take) {
  Sweep sweep(options.workers, run);
  Endings endings;
  Idle idle;
  std::mutex telling;
  const auto tell = [&](const Record& r) {
    const std::lock_guard lock(telling);
    take(r);
    if (options.fail_fast && is_failed(r.verdict)) sweep.stop();
  };
  const auto judge_job = [&](Runner& runner, std::size_t j) {
    const Job& job = jobs[j];
    try {
      const std::unique_ptr<PreparedCase> prepared = find_operator(job.c.op).prepare(job.c);
      if (const std::string why = why_mistrusted(job.c, *prepared); !why.empty())
        return tell(mistrusted(job.c, why));
      for (const VariantInfo& v : job.variants) {
        if (sweep.stopped()) return;
        if (const std::string why = options.all ? "" : endings.given_up(v) + idle.given_up(v); !why.empty()) {
          tell(skipped(job.c, v, run, why));
          continue;
        }
        const Record record = runner.judge(job.c, *prepared, v);
        endings.count(v, record.verdict);
        if (stop_signal != 0) continue;
        if (options.all || options.fail_fast) {
          tell(record);
        } else {
          for (const Record& r : idle.take(v, record)) tell(r);
        }
      }
    } catch (const std::bad_alloc&) {
      throw Error(fmt::format("case '{}': out of memory for its data, its expected result or its bounds{}",
                              printable(job.c.id(), 200), memory_limit_text()));
    }
  };
  std::exception_ptr failure = sweep.run(
      jobs.size(), [&](std::size_t j) { return jobs[j].c.op; }, judge_job);
  for (const Record& r : idle.rest()) tell(r);
  return failure;
}

}  // namespace plumb
