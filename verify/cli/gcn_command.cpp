#include "verify/cli/gcn_command.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "reference/core/error.hpp"

namespace plumb {
namespace {

void require_options_of_networks(const VerifyOptions& o) {
  if (o.drawn == 0)
    throw Error("--case gcn: no network is listed: --drawn N judges N drawn ones (infer gcn judges yours)");
  refuse_options("--case gcn", {{!o.variants.empty(), "--variant"},
                                {!o.plugins.empty(), "--plugin"},
                                {!o.python.empty(), "--python"},
                                {!o.matrices.empty(), "--matrix"},
                                {!o.tools.empty(), "--sanitize"},
                                {o.shards > 1, "--shard"},
                                {o.dry_run, "--dry-run"},
                                {o.devices.size() > 1, "more than one --device"},
                                {o.reports().size() > (o.json.empty() ? 0 : 1), "reports but --json"}});
}

}  // namespace

int judge_gcns(const VerifyOptions& o) {
  require_options_of_networks(o);
  const std::string infer = std::filesystem::read_symlink("/proc/self/exe").parent_path() / "infer";
  std::vector<std::string> words = {infer, "gcn", "--drawn", std::to_string(o.drawn)};
  const auto add = [&](const char* option, const std::string& value) {
    words.insert(words.end(), {option, value});
  };
  add("--seed", std::to_string(o.seed.value_or(1)));
  add("--device", o.devices.empty() ? "cpu" : o.devices.front());
  if (!o.json.empty()) add("--json", o.json);
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  execv(argv[0], argv.data());
  throw Error(fmt::format("networks are judged by another program: {}: {} (tools/plumb build infer)", infer,
                          std::strerror(errno)));
}

}  // namespace plumb
