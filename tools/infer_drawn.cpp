// infer sdnn --drawn: networks that nobody chose, through every pipeline of a device or of the CPU. And the loop that infer gcn --drawn
// shares.
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "datasets/io/output_file.hpp"
#include "reference/core/error.hpp"
#include "reference/core/random.hpp"
#include "reference/models/sparse_dnn/absorbing.hpp"
#include "reference/models/sparse_dnn/drawn.hpp"
#include "reference/models/sparse_dnn/judge.hpp"
#include "tools/infer.hpp"
#include "tools/terminal.hpp"

namespace plumb {

int judge_drawn_networks(std::FILE* to, std::int64_t count,
                         const std::function<std::string(std::int64_t)>& command_of,
                         const std::function<void(std::int64_t, DrawnTally&)>& judge) {
  DrawnTally tally;
  std::int64_t failed = 0;
  for (std::int64_t number = 0; number < count; ++number) {
    fmt::print(to, "{}\n", command_of(number));
    const int code = watched([&]() -> int {
      const std::int64_t before = tally.failed;
      judge(number, tally);
      return tally.failed > before ? kFailed : kOk;
    });
    if (code != kOk) ++failed;
    note_how_far(fmt::format("{} of {} drawn networks judged, {} failed", number + 1, count, failed));
  }
  fmt::print(to, "drawn: {} networks, {} failed; {} runs, {} beyond a bound or ended by an error\n", count,
             failed, tally.runs, tally.failed);
  return failed > 0 ? kFailed : kOk;
}

namespace {

/// Those that run this network, or the one that is asked for.
std::vector<const SdnnPipeline*> pipelines_for(const SdnnOptions& o, const SparseDnn& net) {
  std::vector<const SdnnPipeline*> chosen;
  for (const SdnnPipeline* p : sdnn_pipelines()) {
    if (p->space != space_of(o) || p->unsupported(net) != nullptr) continue;
    if (o.pipeline == "auto" || o.pipeline == p->name) chosen.push_back(p);
  }
  if (chosen.empty()) throw Error(fmt::format("--drawn: no pipeline '{}' runs the network", o.pipeline));
  return chosen;
}

/// Judges one run, as --check does.
void judge_run(const DrawnNetwork& drawn, const std::string& name, SdnnPlan& plan, std::FILE* to,
               DrawnTally& tally) {
  ++tally.runs;
  SdnnExpectation expectation;
  expectation.check = true;
  const SdnnRun run = plan.run(drawn.y, 0, drawn.net.layers());
  const SdnnJudgement judgement = judge_sdnn(drawn.net, plan, drawn.y, run, expectation);
  fmt::print(to, "  {}  {}: max err/bound {:.2g}\n", judgement.differs() ? "FAIL" : "pass", name,
             judgement.check->all.worst);
  if (judgement.differs()) ++tally.failed;
}

void judge_network(const SdnnOptions& o, const DrawnNetwork& drawn, std::FILE* to, DrawnTally& tally) {
  fmt::print(to, "  {}\n", fmt::join(drawn.classes, " "));
  const AbsorbingStates states = find_absorbing_states(drawn.net);
  for (const SdnnPipeline* p : pipelines_for(o, drawn.net)) {
    for (const bool absorbing : {false, true}) {
      if (absorbing && !p->has_absorbing_plan()) continue;
      const std::string name = fmt::format("{}{}", p->name, absorbing ? ", absorbing rows leave" : "");
      try {
        const auto plan = absorbing ? p->plan_absorbing(drawn.net, states) : p->plan(drawn.net);
        judge_run(drawn, name, *plan, to, tally);
      } catch (const Error& e) {
        fmt::print(to, "  FAIL  {}: error: {}\n", name, e.what());
        ++tally.failed;
      }
    }
  }
}

}  // namespace

int infer_drawn_sdnns(const SdnnOptions& o) {
  constexpr std::int64_t kMostInputs = 70;
  // the executor does about ten million products a second, and a judgement runs each network several times
  const std::int64_t widest = o.device == "simt" ? 130 : 1300;
  if (o.dry_run || !o.out.empty() || !o.json.empty() || !o.gpus.empty() || o.memory > 0)
    throw Error("--drawn takes none of --dry-run, --out, --json, --gpus and --memory");
  require_device(o);
  std::FILE* const to = output_for_words(o);
  fmt::print(to, "seed: {}\n", o.seed);
  // the first network's is the seed itself, so that a seed alone repeats any of them; the others' are mixed: neighbours share none
  const auto seed_of = [&](std::int64_t number) {
    return number == 0 ? o.seed : random_bits(o.seed, 0, static_cast<std::uint64_t>(number)) >> 16;
  };
  return judge_drawn_networks(
      to, o.drawn,
      [&](std::int64_t number) {
        return fmt::format("tools/plumb infer sdnn --drawn 1 --seed {} --device {} --pipeline {}",
                           seed_of(number), o.device, o.pipeline);
      },
      [&](std::int64_t number, DrawnTally& tally) {
        judge_network(o, draw_network(seed_of(number), widest, kMostInputs), to, tally);
      });
}

}  // namespace plumb
