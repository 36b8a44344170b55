#include "verify/engine/process/simt_device.hpp"

#include <unistd.h>

#include <deque>
#include <mutex>
#include <set>

#include <fmt/format.h>

#include "reference/core/error.hpp"
#include "reference/core/text.hpp"
#include "verify/engine/process/manifest.hpp"
#include "verify/engine/process/worker.hpp"

#include "verify/engine/operator/operators.hpp"

namespace plumb {
namespace {

// The texts of a registered mutant are literals. The texts that come over the wire are kept here as long as the program runs.
const char* kept(const std::string& text) {
  static std::mutex mutex;
  static std::deque<std::string> all;
  const std::lock_guard lock(mutex);
  return all.emplace_back(text).c_str();
}

// The variants and mutants that `program` says it holds.
std::vector<VariantInfo> ask(const std::string& program) {
  Worker worker(program);
  RunRequest request;
  request.call.op = kListVariants;
  const Worker::Outcome outcome = worker.run(request, 60);
  if (outcome.kind != Worker::Outcome::Kind::replied)
    throw Error(fmt::format("{} does not answer: {}", program, outcome.how));
  std::vector<VariantInfo> all;
  for (const std::string& line : outcome.reply.findings) {
    const std::vector<std::string> field = split(line, '\t');
    if (field.size() != 14) throw Error(fmt::format("{}: its list of variants is malformed", program));
    const auto number = [&](std::size_t i) { return std::stoi(field[i]); };
    VariantInfo v;
    v.op = field[0], v.name = field[1], v.dtype = kDtypes[number(2)].dtype, v.device = Device::simt;
    v.traits = Traits{Arithmetic::of_code(number(3)), number(4) != 0, number(5), number(6)};
    v.traits.finite_only = number(12) != 0, v.prepares = number(13) != 0;
    v.mutant = number(7) != 0;
    if (v.mutant) v.fault = {number(8), kept(field[10]), kept(field[11]), static_cast<unsigned>(number(9))};
    all.push_back(std::move(v));
  }
  return all;
}

}  // namespace

std::string worker_beside(const std::string& name) {
  const std::string self = this_program();
  const std::string beside = self.substr(0, self.rfind('/') + 1) + name;
  return access(beside.c_str(), X_OK) == 0 ? beside : "";
}

std::string simt_program() { return worker_beside("plumb_simt_worker"); }

std::vector<std::string> describe_variants() {
  std::vector<std::string> lines;
  for (const auto& entry : operators()) {
    for (const VariantInfo& v : entry->variants(Device::simt)) {
      if (v.device != Device::simt) continue;
      lines.push_back(fmt::format("{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}", v.op, v.name,
                                  static_cast<int>(v.dtype), v.traits.arithmetic.code(),
                                  v.traits.reproducible ? 1 : 0, v.traits.alignment, v.traits.min_sm,
                                  v.mutant ? 1 : 0, v.fault.number, v.fault.killed_by, v.fault.fault,
                                  v.fault.incident, v.traits.finite_only ? 1 : 0, v.prepares ? 1 : 0));
    }
  }
  return lines;
}

std::vector<VariantInfo> list_simt(const std::string& program, std::vector<std::string>& defects) {
  std::vector<VariantInfo> all = ask(program);
  std::set<std::string> registered;
  for (const VariantInfo& v : all) {
    if (!v.mutant) registered.insert(v.op + "|" + v.name);
  }
  for (const SimtManifestLine& line : kSimtManifest) {
    if (!line.built || line.why_not[0] != '\0') continue;
    if (registered.count(fmt::format("{}|{}", line.op, line.variant)) == 0) {
      defects.push_back(fmt::format(
          "{} of {} was compiled for the CPU executor but did not register itself under its file's name",
          line.variant, line.op));
    }
  }
  return all;
}

std::vector<VariantInfo> list_user_simt(std::vector<std::string>& defects) {
  const std::string program = worker_beside("plumb_user_simt_worker");
  if (program.empty()) return {};
  std::vector<VariantInfo> all = ask(program);
  std::set<std::string> registered;
  for (VariantInfo& v : all) {
    v.program = program;
    registered.insert(v.name);
  }
  for (std::string& d : user_defects(&UserFile::simt, registered)) defects.push_back(std::move(d));
  return all;
}

std::vector<VariantInfo> absent_from_simt() {
  std::vector<VariantInfo> all;
  for (const SimtManifestLine& line : kSimtManifest) {
    if (line.why_not[0] == '\0') continue;
    for (const Dtype dtype : find_operator(line.op).dtypes()) {
      VariantInfo v;
      v.op = line.op, v.name = line.variant, v.dtype = dtype, v.device = Device::simt,
      v.why_not = line.why_not;
      all.push_back(std::move(v));
    }
  }
  return all;
}

std::vector<std::string> names_on_simt(const std::string& op) {
  std::vector<std::string> names;
  for (const SimtManifestLine& line : kSimtManifest) {
    if (line.why_not[0] == '\0' && (op.empty() || op == line.op)) names.emplace_back(line.variant);
  }
  return names;
}

std::vector<std::string> names_on_simt() { return names_on_simt(""); }

}  // namespace plumb
