#include "verify/cli/schemata_command.hpp"

#include <unistd.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "datasets/io/output_file.hpp"
#include "reference/core/error.hpp"
#include "verify/selection/user_constants.hpp"
#include "verify/sweep/schema_sweep.hpp"

namespace plumb {
namespace {

std::string json_of(const MutantFate& f) {
  nlohmann::json line = {{"number", f.number},     {"variant", f.variant}, {"operator", f.op},
                         {"state", name(f.state)}, {"cases", f.judged},    {"felt", f.felt}};
  if (f.state == MutantState::killed) {
    line["verdict"] = name(f.verdict), line["case"] = f.case_id, line["race"] = f.race;
    line["how"] = printable(f.how, 300);
  }
  return line.dump() + "\n";
}

}  // namespace

int run_schemata(const VerifyOptions& o) {
  if (o.json.empty()) throw Error("--schemata writes its result to --json FILE");
  require_writable(o.json);
  SchemaSweepOptions s;
  s.cases.cases = o.cases, s.cases.tier = o.tier, s.cases.fills = o.fills, s.cases.seed = o.seed;
  const UserConstants constants = constants_of_files(o.constants_of);
  s.cases.beside = constants.beside;
  for (const std::string& note : constants.notes)
    fmt::print(stderr, "note: sizes beside the constants of {}\n", note);
  s.devices = o.devices, s.jobs = o.jobs, s.run = o.run;
  s.progress = !o.quiet;
  const SchemaOutcome outcome = attack_schemata(read_schemata(o.schemata), s);
  for (const std::string& d : outcome.defects) fmt::print(stderr, "broken schema: {}\n", d);
  OutputFile file(o.json);
  for (const MutantFate& f : outcome.fates) file.write(json_of(f));
  file.commit();
  if (stop_signal != 0) return kSignalled + stop_signal;
  return outcome.defects.empty() ? kOk : kBrokenHarness;
}

}  // namespace plumb
