#include "gpu/simt/scheduler/undefined.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <string>

#include "gpu/simt/language/unset_variables.hpp"
#include "gpu/simt/scheduler/progress.hpp"
#include "gpu/simt/scheduler/unset_trial.hpp"
#include "gpu/simt/state.hpp"

namespace plumb::simt {

namespace {

constexpr int kLaunchesTried = 2;        // of a place that decided nothing
constexpr std::size_t kPlacesTried = 8;  // in one launch
constexpr double kLeastPatience =
    2;  // seconds for the children, beside twice the time that the launch has taken
constexpr std::uint64_t kStopped = ~0ull;  // a run's answer where a finding has stopped it

int hidden_byte = -1;  // of a child's answer

}  // namespace

void fill(void* out, std::size_t bytes, Stand stand) {
  // Floats and doubles, halves in pairs and integers alike: 1e9 and its like are beyond what programs sum.
  static constexpr std::uint32_t kWords[] = {0, 0, 0xce6e6b28, 0x4e6e6b28};
  static constexpr unsigned char kNan[8] = {0xad, 0xde, 0xc0, 0x7f, 0xad, 0xde, 0xf8, 0x7f};
  const auto* const word = reinterpret_cast<const unsigned char*>(&kWords[static_cast<std::size_t>(stand)]);
  for (std::size_t i = 0; i < bytes; ++i) {
    const std::size_t from_end = bytes <= 4 ? 4 - bytes + i : i % 4;  // of a half the sign and the exponent
    static_cast<unsigned char*>(out)[i] = stand == Stand::nan ? kNan[i % 8] : word[from_end];
  }
}

namespace {

std::uint64_t hash_of(const unsigned char* p, std::size_t bytes) {
  std::uint64_t lanes[4] = {1, 2, 3, 4};
  std::size_t i = 0;
  for (; i + 32 <= bytes; i += 32) {
    for (std::size_t k = 0; k < 4; ++k) {
      std::uint64_t word;
      std::memcpy(&word, p + i + 8 * k, 8);
      lanes[k] = (lanes[k] ^ word) * 0x9e3779b97f4a7c15u;
      lanes[k] ^= lanes[k] >> 29;
    }
  }
  for (; i < bytes; ++i) lanes[0] = (lanes[0] ^ p[i]) * 0x9e3779b97f4a7c15u;
  return (lanes[0] ^ lanes[1] * 3) + (lanes[2] ^ lanes[3] * 5);
}

// The same where two bytes are one.
std::uint64_t hash_without(const unsigned char* p, std::size_t bytes, int hidden) {
  std::uint64_t hash = 0;
  std::vector<unsigned char> part;
  for (std::size_t i = 0; i < bytes; i += part.size()) {
    part.assign(p + i, p + i + std::min<std::size_t>(bytes - i, 65536));
    for (unsigned char& c : part) c = c == hidden ? static_cast<unsigned char>(kUnsetBytes & 0xff) : c;
    hash = (hash ^ hash_of(part.data(), part.size())) * 0x9e3779b97f4a7c15u;
  }
  return hash;
}

}  // namespace

std::vector<const Array*> results() {
  std::vector<const Array*> out;
  for (const auto* all : {&current().memory.arrays, &current().memory.variables}) {
    for (const auto& a : *all) {
      // without a shadow nobody has touched it
      if (a->writable && (a->shadow != nullptr || !checking())) out.push_back(a.get());
    }
  }
  return out;
}

Answer answer_of_run(int hidden) {
  if (current().run.is_stopped) return {kStopped};
  Answer out;
  for (const Array* a : results())
    out.push_back(hidden < 0 ? hash_of(a->base, a->bytes) : hash_without(a->base, a->bytes, hidden));
  return out;
}

void answer_with(int hidden) { hidden_byte = hidden; }

void be_silent() {
  const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (nowhere >= 0) (void)dup2(nowhere, STDOUT_FILENO), (void)dup2(nowhere, STDERR_FILENO);
}

namespace {

[[noreturn]] void answer_and_end() {
  const Answer answer = answer_of_run(hidden_byte);
  const auto* p = reinterpret_cast<const char*>(answer.data());
  std::size_t left = answer.size() * sizeof answer[0];
  while (left > 0) {
    const ssize_t n = write(current().undefined.answer, p, left);
    if (n <= 0) break;
    p += n, left -= static_cast<std::size_t>(n);
  }
  for (;;) (void)syscall(SYS_exit_group, 0);  // nothing of the program's own end, which is the parent's
}

// In the child: from here on the place gives other values, and nobody hears.
void become_child(Location location, Stand stand, int answer) {
  Undefined& u = current().undefined;
  for (const Trial& t : u.trials) {
    for (const Trial::Child& c : t.children) (void)close(c.answer);
  }
  u.trials.clear();
  u.location = location, u.stand = stand, u.answer = answer;
  be_silent();
}

// True in the child.
bool add_child(Trial& trial, Stand stand) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return false;
  const pid_t child = fork();
  if (child == 0) {
    for (const Trial::Child& c : trial.children) (void)close(c.answer);
    (void)close(ends[0]);
    become_child(trial.location, stand, ends[1]);
    return true;
  }
  (void)close(ends[1]);
  if (child < 0)
    (void)close(ends[0]);  // as many processes as there may be: what the value does is not known
  else
    trial.children.push_back({child, ends[0]});
  return false;
}

// Why the lane has no value to give.
std::string absence(const Thread& t, int source) {
  if ((t.mask >> source & 1u) == 0) return "is not in the mask";
  return t.warp * kWarp + source >= t.block->size ? "is beyond the block's last thread" : "has returned";
}

void begin_trial(const Thread& t, Location location, int lane, int source) {
  Undefined& u = current().undefined;
  if (!runs_by_itself() || u.answer >= 0 || u.trials.size() >= kPlacesTried) return;
  const auto same = [&](const Trial& trial) { return trial.location == location; };
  if (std::any_of(u.trials.begin(), u.trials.end(), same) || u.tried[location] >= kLaunchesTried) return;
  Trial trial;
  trial.location = location;
  trial.text = fmt::format(
      "lane {} takes a value from lane {} by {} with mask {:#x}: that lane {}, and takes no part; such a "
      "value "
      "is undefined",
      lane, source, t.waits_for, t.mask, absence(t, source));
  const Thread& taker =
      t.block->threads[static_cast<std::size_t>(t.warp) * kWarp + static_cast<unsigned>(lane)];
  trial.thread = {t.block->index, taker.index, false};
  trial.begun = seconds_now();
  for (const Stand stand : {Stand::nan, Stand::zero, Stand::negative, Stand::positive})
    if (add_child(trial, stand)) return;
  u.trials.push_back(std::move(trial));
}

Answer answer_of(const Trial::Child& child, double until) {
  Answer out = read_answer(child.answer, until);
  (void)kill(child.process, SIGKILL);
  (void)waitpid(child.process, nullptr, 0);
  (void)close(child.answer);
  return out;
}

void report(const Trial& trial, const std::string& decided) {
  RawFinding* f = note(FindingKind::lane_outside_mask, fmt::format("{}, and decides {}", trial.text, decided),
                       nullptr, trial.location);
  if (f == nullptr) return;
  f->finding.thread = trial.thread;
  f->finding.hint =
      "use the value only where its lane takes part, as in 'if (lane + delta < lanes)', or give the shuffle "
      "a width";
}

}  // namespace

Answer read_answer(int from, double until) {
  Answer out;
  std::string bytes;
  char buffer[4096];
  pollfd wanted{from, POLLIN, 0};
  while (poll(&wanted, 1, static_cast<int>(1000 * std::max(0.0, until - seconds_now()))) > 0) {
    const ssize_t n = read(from, buffer, sizeof buffer);
    if (n <= 0) {
      out.resize(bytes.size() / sizeof out[0]);
      if (!out.empty()) std::memcpy(out.data(), bytes.data(), out.size() * sizeof out[0]);
      break;
    }
    bytes.append(buffer, static_cast<std::size_t>(n));
  }
  return out;
}

std::string difference(const Answer& mine, const Answer& theirs) {
  if (theirs.empty() || mine == theirs) return "";
  const std::vector<const Array*> arrays = results();
  for (std::size_t i = 0; i < mine.size() && mine.size() == theirs.size() && i < arrays.size(); ++i)
    if (mine[i] != theirs[i]) return fmt::format("'{}'", arrays[i]->name);
  return "whether the kernel comes to its end";
}

void undefined_value(void* out, std::size_t bytes, int lane, int source) {
  const Thread& t = *current().undefined.exchange;
  const Location location = locate(t.here);
  begin_trial(t, location, lane, source);
  const Undefined& u = current().undefined;
  fill(out, bytes, location == u.location ? u.stand : Stand::nan);
}

void finish_trials() {
  Undefined& u = current().undefined;
  if (u.answer >= 0) answer_and_end();
  finish_unset_trial();
  if (u.trials.empty()) return;
  resolve_pending();
  const Answer mine = answer_of_run(-1);
  for (const Trial& trial : u.trials) {
    ++u.tried[trial.location];
    const double until = seconds_now() + kLeastPatience + 2 * (seconds_now() - trial.begun);
    std::vector<Answer> answers;
    for (const Trial::Child& child : trial.children) answers.push_back(answer_of(child, until));
    // The first did just as this process: where it answers something else, as with a clock's time in its results, the others say nothing.
    if (answers.empty() || answers[0] != mine) continue;
    for (const Answer& theirs : answers) {
      const std::string decided = difference(mine, theirs);
      if (decided.empty()) continue;
      report(trial, decided);
      break;
    }
  }
  u.trials.clear();
}

}  // namespace plumb::simt
