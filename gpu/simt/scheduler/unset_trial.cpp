// Whether the results of a launch depend on what a variable holds that is declared without a value: an int that is counted up, a maximum of
// floats, a sum in a structure. Such variables have no shadow, so that is tried. A process is forked before the launch, and waits; where the
// launch has come to a declaration whose value may be read, that process forks others, which run the launch with other values there.
#include "gpu/simt/scheduler/unset_trial.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <span>

#include "gpu/simt/language/unset_variables.hpp"
#include "gpu/simt/scheduler/progress.hpp"
#include "gpu/simt/state.hpp"

// Of the program that this is linked into; none where no kernel has such a declaration.
extern "C" {
// NOLINTBEGIN(bugprone-reserved-identifier): the linker's names
extern plumb::simt::UnsetEntry __start_plumb_unset[] __attribute__((weak));
extern plumb::simt::UnsetEntry __stop_plumb_unset[] __attribute__((weak));
// NOLINTEND(bugprone-reserved-identifier)
}

namespace plumb::simt {

namespace {

constexpr int kTrialLaunches = 2;  // of a kernel
constexpr double kLongest = 3;     // seconds of a launch that is run again
constexpr std::size_t kPlacesTold = 8;
constexpr int kStands = 5;  // runs of all variables, below; behind them one for each of the places
constexpr unsigned char kHidden = 0xa5;

/// What a child changes.
struct Command {
  std::int32_t entry = -1;  // -1: all of the kind
  Stand stand = Stand::nan;
  bool of_classes = false;
  bool changes = true;  // false: it does as the launch did
};

struct Waiting {
  pid_t process = -1;
  int commands = -1;
  std::vector<int> answers;  // to read from, by the number of the command
  double begun = 0;
};
Waiting waiting;

std::span<UnsetEntry> entries() {
  return __start_plumb_unset == nullptr ? std::span<UnsetEntry>{}
                                        : std::span<UnsetEntry>(__start_plumb_unset, __stop_plumb_unset);
}

// Vectors of floats hold numbers that memory/unset.cpp knows.
bool is_varied(const UnsetEntry& e, bool of_classes) {
  return (e.of_class != 0) == of_classes && (e.of_class == 0 || e.word == kUnsetBytes);
}

void change(const Command& c) {
  const std::span<UnsetEntry> all = entries();
  for (std::size_t i = 0; i < all.size() && c.changes; ++i) {
    if (!is_varied(all[i], c.of_classes) || (c.entry >= 0 && i != static_cast<std::size_t>(c.entry)))
      continue;
    if (c.of_classes)
      std::memset(&all[i].word, kHidden, sizeof all[i].word);
    else
      fill(&all[i].word, sizeof all[i].word, c.stand);
  }
  if (c.of_classes) answer_with(kHidden);
}

void close_all(const std::vector<int>& files) {
  for (const int f : files) (void)close(f);
}

// In the process that waits. Returns in its children alone.
void serve(int commands, std::vector<int> answers) {
  (void)setpgid(0, 0);
  (void)std::signal(SIGCHLD, SIG_IGN);
  be_silent();
  Command c;
  while (!answers.empty() && read(commands, &c, sizeof c) == static_cast<ssize_t>(sizeof c)) {
    const int mine = answers.front();
    answers.erase(answers.begin());
    if (fork() == 0) {
      close_all(answers);
      (void)close(commands);
      change(c);
      current().undefined.answer = mine;
      return;
    }
    (void)close(mine);
  }
  for (;;) (void)syscall(SYS_exit_group, 0);
}

void end_waiting() {
  if (waiting.process < 0) return;
  (void)close(waiting.commands);
  close_all(waiting.answers);
  (void)kill(-waiting.process, SIGKILL);
  (void)kill(waiting.process, SIGKILL);
  (void)waitpid(waiting.process, nullptr, 0);
  waiting = {};
}

// What children say to these commands, of which the first has number `first`.
std::vector<Answer> ask(const std::vector<Command>& commands, std::size_t first, double seconds) {
  for (const Command& c : commands)
    if (write(waiting.commands, &c, sizeof c) != static_cast<ssize_t>(sizeof c)) return {};
  const double until = seconds_now() + 2 + 2 * seconds * static_cast<double>(commands.size());
  std::vector<Answer> all;
  for (std::size_t i = 0; i < commands.size(); ++i)
    all.push_back(read_answer(waiting.answers[first + i], until));
  return all;
}

// Whether some result holds what a float or double is left with: it is told where it comes to the host (memory/unset.cpp).
bool shows_by_itself() {
  for (const Array* a : results()) {
    for (std::size_t i = 0; i + 4 <= a->bytes; i += 4) {
      std::uint32_t word;
      std::memcpy(&word, a->base + i, sizeof word);
      if (word == kUnsetFloat || word == static_cast<std::uint32_t>(kUnsetDouble >> 32)) return true;
    }
  }
  return false;
}
bool is_number(const UnsetEntry& e) { return e.word != kUnsetBytes; }

void tell(const UnsetEntry& e, const std::string& decided) {
  RawFinding* f =
      note(FindingKind::uninitialised,
           fmt::format("a variable that is declared here and that nothing has set decides {}", decided),
           nullptr, locate(e.place));
  if (f == nullptr) return;
  f->finding.thread.host = false;
  f->finding.hint = "give it a value before it is read, compared or added to";
}

/// The launch that has ended, and the runs of it that are compared.
struct Compared {
  double seconds;
  Answer mine, mine_hidden;
  std::vector<std::int32_t> seen = {};
  [[nodiscard]] std::string decided(const Command& c, const Answer& theirs) const {
    return difference(c.of_classes ? mine_hidden : mine, theirs);
  }
};

// Which of the places it is, one at a time; where none is by itself, the first is told.
void tell_places(const Compared& launch, const Command& like, const std::string& decided) {
  std::vector<Command> one_each;
  for (const std::int32_t entry : launch.seen) {
    if (one_each.size() == kPlacesTold) break;
    if (!is_varied(entries()[static_cast<std::size_t>(entry)], like.of_classes)) continue;
    one_each.push_back(like);
    one_each.back().entry = entry;
  }
  const std::vector<Answer> answers = ask(one_each, kStands, launch.seconds);
  const bool by_itself = shows_by_itself();
  bool any = false;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const UnsetEntry& e = entries()[static_cast<std::size_t>(one_each[i].entry)];
    const std::string what = launch.decided(one_each[i], answers[i]);
    if (what.empty()) continue;
    any = true;
    if (!is_number(e) || !by_itself) tell(e, what);
  }
  if (!any && !one_each.empty() && !by_itself)
    tell(entries()[static_cast<std::size_t>(one_each[0].entry)], decided);
}

void compare_runs(const Compared& launch) {
  constexpr Command kAll[kStands] = {{-1, Stand::nan, false, false},
                                     {-1, Stand::zero},
                                     {-1, Stand::negative},
                                     {-1, Stand::positive},
                                     {-1, Stand::nan, true}};
  const std::vector<Command> commands(kAll, kAll + kStands);
  const std::vector<Answer> answers = ask(commands, 0, launch.seconds);
  // The first did just as the launch: where it answers something else, as with a clock's time in its results, the others say nothing.
  if (answers.size() != kStands || answers[0] != launch.mine) return;
  for (std::size_t i = 1; i < kStands; ++i) {
    const std::string decided = launch.decided(commands[i], answers[i]);
    if (!decided.empty()) return tell_places(launch, commands[i], decided);
  }
}

bool is_tried(const void* kernel, const std::string& name) {
  static std::unordered_map<std::string, int> launches;
  return ++launches[kernel != nullptr ? fmt::format("{}", kernel) : name] > kTrialLaunches;
}

}  // namespace

void begin_unset_trial() {
  const Launch& launch = launch_under_way();
  if (!runs_by_itself() || current().undefined.answer >= 0 || current().schedule.depth > 0 ||
      waiting.process >= 0 || entries().empty() || is_tried(launch.kernel_address, launch.kernel))
    return;
  for (UnsetEntry& e : entries()) e.seen = 0;
  int command[2];
  if (pipe2(command, O_CLOEXEC) != 0) return;
  std::vector<int> from, to;
  for (std::size_t i = 0; i < kStands + kPlacesTold; ++i) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) break;
    from.push_back(ends[0]), to.push_back(ends[1]);
  }
  const bool complete = from.size() == kStands + kPlacesTold;
  const pid_t child = complete ? fork() : -1;
  if (child == 0) {
    close_all(from);
    (void)close(command[1]);
    return serve(command[0], to);
  }
  close_all(to);
  (void)close(command[0]);
  waiting = {child, command[1], from, seconds_now()};
  if (child >= 0) return;
  (void)close(command[1]);  // as many processes or files as there may be
  close_all(from);
  waiting = {};
}

void finish_unset_trial() {
  if (waiting.process < 0) return;
  Compared launch{seconds_now() - waiting.begun, {}, {}};
  const std::span<UnsetEntry> all = entries();
  for (std::size_t i = 0; i < all.size(); ++i)
    if (all[i].seen != 0) launch.seen.push_back(static_cast<std::int32_t>(i));
  if (!launch.seen.empty() && launch.seconds <= kLongest && !current().run.is_stopped) {
    resolve_pending();
    launch.mine = answer_of_run(-1), launch.mine_hidden = answer_of_run(kHidden);
    compare_runs(launch);
  }
  end_waiting();
}

}  // namespace plumb::simt
