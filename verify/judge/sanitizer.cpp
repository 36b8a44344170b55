#include "verify/judge/sanitizer.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "reference/core/error.hpp"
#include "reference/core/text.hpp"
#include "verify/engine/operator/operators.hpp"
#include "verify/engine/process/confinement.hpp"
#include "verify/engine/process/plugin_host.hpp"
#include "verify/judge/checks.hpp"
#include "verify/judge/repro.hpp"
#include "verify/judge/runner.hpp"
#include "verify/judge/sanitizer_report.hpp"

namespace plumb {
namespace {

// A warning counts as a finding: racecheck reports a write after a read by another warp as a warning.
std::vector<std::string> flags_of(SanitizerTool tool) {
  std::vector<std::string> flags{"--tool", std::string(name(tool))};
  for (const char* f : {"--error-exitcode", "1", "--print-limit", "20", "--target-processes",
                        "application-only", "--strip-paths", "no", "--check-warpgroup-mma", "yes"})
    flags.emplace_back(f);
  switch (tool) {
    case SanitizerTool::memcheck:
      for (const char* f :
           {"--leak-check", "full", "--padding", "512", "--track-stream-ordered-races", "all"})
        flags.emplace_back(f);
      break;
    case SanitizerTool::racecheck:
      for (const char* f : {"--racecheck-detect-level", "warn"}) flags.emplace_back(f);
      break;
    case SanitizerTool::initcheck:
    case SanitizerTool::synccheck:
      break;
  }
  return flags;
}

std::string contents(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream all;
  all << file.rdbuf();
  return all.str();
}

// A temporary folder; removed when destroyed.
class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "plumb-sanitize-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw Error(fmt::format("{}: {}", name, std::strerror(errno)));
    path_ = name;
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  [[nodiscard]] std::filesystem::path operator/(const char* name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

enum class Ended : std::uint8_t { by_itself, too_late, interrupted };

// Runs a command line in a group of its own, with its output in a file.
Ended run_command(const std::vector<std::string>& command, const std::filesystem::path& log, double seconds,
                  int& status) {
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, 1, 2);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  pid_t pid = -1;
  const int failed =
      start_process(pid, command.front().c_str(), actions, attributes, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (failed != 0) throw Error(fmt::format("cannot start {}: {}", command.front(), std::strerror(failed)));
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  while (true) {
    const pid_t done = waitpid(pid, &status, WNOHANG);
    if (done == pid) break;
    const bool late = std::chrono::steady_clock::now() > deadline;
    if (late || stop_signal != 0) {
      end_process(pid, false);
      return late ? Ended::too_late : Ended::interrupted;
    }
    usleep(5000);
  }
  end_process(pid, true);
  return Ended::by_itself;
}

std::string last_line_of(const std::string& text) {
  std::string last;
  for (const std::string& line : split(text, '\n')) {
    if (line.find_first_not_of(" =\t\r") != std::string::npos) last = line;
  }
  return printable(last, 300);
}

// racecheck reports races alone. Of the other tools' findings only an access outside of memory has a verdict of its own.
Verdict verdict_of(SanitizerTool tool, const SanitizerFinding& f) {
  if (tool == SanitizerTool::racecheck) return Verdict::race;
  const auto says = [&](const char* words) { return f.message.find(words) != std::string::npos; };
  if (tool == SanitizerTool::memcheck && says("Invalid __") && !says("misaligned"))
    return Verdict::out_of_bounds;
  if (says("race")) return Verdict::race;  // of allocations in stream order
  return Verdict::error;
}

// The kernels of a library have no line information.
bool is_of_library(const VariantInfo& variant, const SanitizerFinding& f) {
  return variant.traits.library && f.file.empty() && !f.kernel.empty();
}

std::string in_one_line(const SanitizerFinding& f) {
  std::string text = f.message;
  if (!f.kernel.empty()) text += " in " + f.kernel;
  if (!f.file.empty()) text += fmt::format(" at {}:{}", f.file, f.line);
  return text;
}

// The command line of one run under a tool.
std::vector<std::string> command_of(const std::string& sanitizer, const std::string& program,
                                    SanitizerTool tool, const VariantInfo& variant, const std::string& id,
                                    const std::string& xml, const std::string& answer) {
  std::vector<std::string> command{sanitizer};
  for (std::string& flag : flags_of(tool)) command.push_back(std::move(flag));
  for (const std::string& word : {std::string("--xml"), std::string("--save"), xml, program,
                                  std::string("--sanitized"), id, variant.name, answer})
    command.push_back(word);
  if (!variant.plugin.empty()) command.push_back(variant.plugin);
  return command;
}

// At most 40 lines of what the tool found.
std::vector<std::string> details_of(const std::vector<SanitizerFinding>& findings) {
  std::vector<std::string> detail;
  for (const SanitizerFinding& f : findings) {
    if (detail.size() >= 40) break;
    detail.push_back(in_one_line(f));
    for (const std::string& d : f.detail) detail.push_back("  " + d);
  }
  return detail;
}

// Of at least one finding: a race or an access out of bounds decides before anything else. Findings in a library's own kernels alone
// say nothing about the variant.
Finding finding_of(SanitizerTool tool, const VariantInfo& variant,
                   const std::vector<SanitizerFinding>& findings) {
  const auto grave = std::find_if(findings.begin(), findings.end(), [&](const SanitizerFinding& f) {
    return verdict_of(tool, f) != Verdict::error;
  });
  const SanitizerFinding& f = grave != findings.end() ? *grave : findings.front();
  if (std::all_of(findings.begin(), findings.end(),
                  [&](const SanitizerFinding& each) { return is_of_library(variant, each); })) {
    return {Verdict::unsupported,
            fmt::format("{} has findings in the library's own {}: {}", name(tool), f.kernel, f.message)};
  }
  return {verdict_of(tool, f), fmt::format("{}: {}", name(tool), in_one_line(f))};
}

// What the judge in the process under the tool said, where the tool found nothing. `tool_error`: what the tool says is wrong, or "".
Finding finding_of_judge(SanitizerTool tool, const nlohmann::json& said, const std::string& tool_error) {
  const std::string verdict = said.value("verdict", ""), reason = said.value("reason", "");
  const auto* const known = std::find_if(std::begin(kAllVerdicts), std::end(kAllVerdicts),
                                         [&](Verdict v) { return name(v) == verdict; });
  if (known == std::end(kAllVerdicts)) return {Verdict::error, fmt::format("{} gave no verdict", name(tool))};
  if (is_failed(*known)) return {*known, fmt::format("under {}: {}", name(tool), reason)};
  if (is_skipped(*known)) return {*known, reason};
  if (!tool_error.empty())
    return {Verdict::error, fmt::format("{} ended with an error of its own: {}", name(tool), tool_error)};
  return {*known, {}};
}

}  // namespace

std::string_view name(SanitizerTool tool) {
  switch (tool) {
    case SanitizerTool::memcheck:
      return "memcheck";
    case SanitizerTool::racecheck:
      return "racecheck";
    case SanitizerTool::initcheck:
      return "initcheck";
    case SanitizerTool::synccheck:
      return "synccheck";
  }
  return "?";
}

std::vector<SanitizerTool> parse_tools(const std::string& words) {
  std::vector<SanitizerTool> tools;
  std::vector<std::string> known{"all"};
  for (const SanitizerTool t : kAllTools) known.emplace_back(name(t));
  for (const std::string& word : split(words, ',')) {
    if (std::find(known.begin(), known.end(), word) == known.end()) {
      throw Error(fmt::format("--sanitize: unknown tool '{}'{} (known: {})", printable(word),
                              did_you_mean(word, known), fmt::join(known, ", ")));
    }
    for (const SanitizerTool t : kAllTools) {
      if ((word == "all" || word == name(t)) && std::find(tools.begin(), tools.end(), t) == tools.end())
        tools.push_back(t);
    }
  }
  return tools;
}

std::string find_compute_sanitizer() {
  std::vector<std::string> folders;
  if (const char* path = getenv("PATH")) folders = split(path, ':');
  for (const char* home : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const char* at = getenv(home)) {
      folders.push_back(std::string(at) + "/bin");
      folders.push_back(std::string(at) + "/compute-sanitizer");
    }
  }
  folders.emplace_back("/usr/local/cuda/bin");
  folders.emplace_back("/usr/local/cuda/compute-sanitizer");
  for (const std::string& folder : folders) {
    std::string program = folder + "/compute-sanitizer";
    if (!folder.empty() && std::filesystem::is_regular_file(program) && access(program.c_str(), X_OK) == 0)
      return program;
  }
  return {};
}

SanitizedRun run_sanitized(const std::string& sanitizer, const std::string& program, SanitizerTool tool,
                           const Case& c, const VariantInfo& variant, double timeout) {
  SanitizedRun run;
  Record& r = run.record;
  r.case_id = c.id(), r.op = c.op, r.dtype = std::string(name(c.dtype)),
  r.variant = fmt::format("{} ({})", variant.name, name(tool));
  r.repro = repro_line_sanitized(c, variant, name(tool), timeout);
  const Folder folder;
  const auto xml = folder / "report.xml", log = folder / "log", answer = folder / "answer.json";
  int status = 0;
  const auto begin = std::chrono::steady_clock::now();
  const Ended ended =
      run_command(command_of(sanitizer, program, tool, variant, r.case_id, xml.string(), answer.string()),
                  log, timeout, status);
  r.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  const auto end = [&](const Finding& finding) {
    r.verdict = finding.verdict, r.reason = finding.reason;
    return run;
  };
  if (ended == Ended::interrupted) return end({Verdict::skip, "interrupted"});

  const SanitizerReport report = read_sanitizer_report(contents(xml));
  run.findings = static_cast<int>(report.findings.size());
  r.detail = details_of(report.findings);
  const nlohmann::json said = nlohmann::json::parse(contents(answer), nullptr, false);
  if (said.is_object()) r.runs = said.value("runs", 0);
  if (!report.findings.empty()) return end(finding_of(tool, variant, report.findings));
  if (ended == Ended::too_late)
    return end({Verdict::timeout, fmt::format("did not end within {:g} s under {}", timeout, name(tool))});
  const std::string last = last_line_of(contents(log));
  if (!said.is_object())
    return end({Verdict::error, fmt::format("{} gave no verdict; last words: {}", name(tool), last)});
  r.wants_device = said.value("wants_device", false);
  r.worst.max_ratio = said.value("ratio", 0.0);
  return end(finding_of_judge(tool, said, !report.whole || status != 0 ? last : ""));
}

int sanitized_main(int argc, char** argv) {
  if (argc != 5 && argc != 6) return kUsage;
  const Case c = parse_case(argv[2]);
  const OperatorEntry& entry = find_operator(c.op);
  VariantInfo variant;
  variant.op = c.op, variant.name = argv[3], variant.dtype = c.dtype, variant.device = Device::gpu;
  if (argc == 6) variant.plugin = argv[5];
  for (const VariantInfo& v : argc == 6 ? list_plugin(argv[5]) : entry.variants(Device::gpu)) {
    if (v.op == c.op && v.name == variant.name && v.dtype == c.dtype && v.device == Device::gpu) variant = v;
  }
  RunOptions options;
  options.isolation = Isolation::none;
  options.apart = true;
  options.repeat = 2;
  Record r;
  {
    Runner runner(options);
    const std::unique_ptr<PreparedCase> prepared = entry.prepare(c);
    r = runner.judge(c, *prepared, variant);
  }  // the judge's device memory is freed here, so what memcheck still finds is the variant's leak
  std::ofstream answer(argv[4]);
  answer << nlohmann::json{{"verdict", name(r.verdict)},
                           {"reason", r.reason},
                           {"runs", r.runs},
                           {"wants_device", r.wants_device},
                           {"ratio", std::isfinite(r.worst.max_ratio) ? r.worst.max_ratio : -1.0}}
                .dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
  return answer.good() ? kOk : kUsage;
}

}  // namespace plumb
