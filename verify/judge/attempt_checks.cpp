// Checks of one run.
#include <array>

#include "verify/judge/checks.hpp"
#include "verify/judge/thread_sanitizer.hpp"

namespace plumb {
namespace {

using Kind = Worker::Outcome::Kind;
using Status = RunReply::Status;

// Interrupted, or the machine lacks something: the run says nothing about the variant.
std::optional<Finding> not_run(const Observation& o) {
  const Worker::Outcome& outcome = o.attempt.outcome;
  if (outcome.kind == Kind::interrupted || outcome.kind == Kind::out_of_memory)
    return Finding{Verdict::skip, outcome.how, {}, true};
  switch (outcome.reply.status) {
    case Status::unavailable:
    case Status::too_old:
      return Finding{Verdict::skip, outcome.reply.text, {}, true, true};
    case Status::declined:
    case Status::no_resource:
      return Finding{Verdict::skip, outcome.reply.text, {}, true};
    default:
      return std::nullopt;
  }
}

// ThreadSanitizer ends a child at its first race, and says why before.
std::optional<Finding> raced(const Observation& o) {
  const Worker::Outcome& outcome = o.attempt.outcome;
  return outcome.kind == Kind::died ? race_in(outcome.said) : std::nullopt;
}

std::optional<Finding> died(const Observation& o) {
  const Worker::Outcome& outcome = o.attempt.outcome;
  if (outcome.kind == Kind::died) return Finding{Verdict::crash, outcome.how};
  if (outcome.kind == Kind::timed_out) return Finding{Verdict::timeout, outcome.how};
  return std::nullopt;
}

// The variant declined the problem.
std::optional<Finding> unsupported(const Observation& o) {
  const RunReply& reply = o.attempt.outcome.reply;
  if (reply.status != Status::unsupported) return std::nullopt;
  return Finding{Verdict::unsupported, reply.text, {}, true};
}

// Before errors: an access that an instrument saw is often the error's cause.
std::optional<Finding> instruments(const Observation& o) {
  const std::vector<std::string>& findings = o.attempt.outcome.reply.findings;
  if (findings.empty()) return std::nullopt;
  const std::string& first = findings.front();
  const bool race = first.rfind("race", 0) == 0;
  return Finding{race ? Verdict::race : Verdict::error, first.substr(0, first.find('\n')), findings};
}

std::optional<Finding> reported_error(const Observation& o) {
  const RunReply& reply = o.attempt.outcome.reply;
  if (reply.status != Status::error) return std::nullopt;
  return Finding{Verdict::error, reply.text};
}

// Guards before inputs: a store beyond an array may hit another array's elements as well.
std::optional<Finding> trespassed(const Observation& o) {
  const Trespass trespass = o.parts.find_trespass(o.layout, o.attempt.before, o.attempt.after);
  if (trespass.kind == Trespass::Kind::guard) return Finding{Verdict::out_of_bounds, trespass.text};
  const std::string& workspace = o.attempt.outcome.reply.workspace_damage;
  if (!workspace.empty()) return Finding{Verdict::out_of_bounds, workspace};
  if (trespass.kind == Trespass::Kind::input) return Finding{Verdict::input_modified, trespass.text};
  return std::nullopt;
}

constexpr std::array kChecks{not_run, raced, died, unsupported, instruments, reported_error, trespassed};

}  // namespace

std::span<const AttemptCheck> attempt_checks() { return kChecks; }

}  // namespace plumb
