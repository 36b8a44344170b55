#include "tools/infer_ranks.hpp"

#include <omp.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <new>
#include <numeric>
#include <thread>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "reference/core/error.hpp"
#include "reference/core/exhaustion.hpp"
#include "reference/core/memory.hpp"
#include "reference/models/chips.hpp"
#include "reference/parallel/devices.hpp"
#include "reference/parallel/world.hpp"
#include "tools/terminal.hpp"

namespace plumb {

namespace {

namespace fs = std::filesystem;

std::string host_name() {
  char name[256] = "";
  return gethostname(name, sizeof name - 1) == 0 ? name : "unknown host";
}

[[noreturn]] void end_all(Transport& transport, const std::string& reason) {
  // What fails on every rank, as a wrong option does, is said once: rank 0 goes first.
  if (transport.rank() != 0) std::this_thread::sleep_for(std::chrono::milliseconds(500));
  say_error(
      fmt::format("rank {} of {} ({}): {}", transport.rank(), transport.size(), host_name(), reason).c_str());
  std::fflush(nullptr);
  transport.end_job(kUsage);
  std::_Exit(kUsage);  // for compilers that do not see through the virtual function
}

std::int64_t digest(const std::string& text) {
  return static_cast<std::int64_t>(digest_of(text.data(), static_cast<std::int64_t>(text.size())));
}

/// Of a small file all of it, of a large one parts at equal distances, and the size.
std::string sample_of(const fs::path& path) {
  constexpr std::uintmax_t kPart = 1 << 20, kParts = 64;
  const std::uintmax_t size = fs::file_size(path), parts = std::min(kParts, size / kPart + 1);
  std::string sample = std::to_string(size);
  std::ifstream file(path, std::ios::binary);
  std::string part(kPart, '\0');
  for (std::uintmax_t p = 0; p < parts; ++p) {
    file.clear();
    file.seekg(static_cast<std::streamoff>(parts == 1 ? 0 : (size - size % parts) / parts * p));
    file.read(part.data(), static_cast<std::streamsize>(part.size()));
    sample += std::to_string(digest(part.substr(0, static_cast<std::size_t>(file.gcount()))));
  }
  return sample;
}

/// 0: not there. Of a folder: the files in it, with their names.
std::int64_t fingerprint(const std::string& path) {
  std::error_code ignored;
  if (fs::is_regular_file(path, ignored)) return digest(sample_of(path));
  if (!fs::is_directory(path, ignored)) return 0;
  std::vector<std::string> files;
  for (const auto& entry : fs::directory_iterator(path)) {
    if (entry.is_regular_file())
      files.push_back(entry.path().filename().string() + '\n' + sample_of(entry.path()));
  }
  std::sort(files.begin(), files.end());
  std::string all;
  for (const std::string& file : files) all += file + '\n';
  return digest(all);
}

/// On rank 0 the texts of all ranks, by rank; elsewhere nothing.
std::vector<std::string> gather_texts(Ranks& ranks, const char* what, const std::string& mine) {
  const auto* const begin = reinterpret_cast<const std::byte*>(mine.data());
  std::vector<std::string> texts;
  for (const auto& bytes : ranks.gather(what, std::vector<std::byte>(begin, begin + mine.size())))
    texts.emplace_back(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return texts;
}

/// Processors that the calling thread may run on, with the host: the same text where ranks share them.
std::string place_of_process() {
  cpu_set_t set;
  CPU_ZERO(&set);
  static_cast<void>(sched_getaffinity(0, sizeof set, &set));
  return host_name() + '\n' + std::to_string(digest_of(&set, sizeof set));
}

}  // namespace

int run_in_world(RunOnRank run, int argc, char** argv, const std::string& advice) {
  const World world;
  Transport* const transport = world.transport();
  if (transport == nullptr) return run(argc, argv, nullptr);
  try {
    const int code = run(argc, argv, transport);
    return transport->rank() == 0 ? code : static_cast<int>(kOk);
  } catch (const std::exception& e) { end_all(*transport, ending_text(e, advice)); }
}

RankSession::RankSession(Transport* transport, double limit_seconds) {
  if (transport == nullptr) return;
  watch_ = std::make_unique<Watch>(*transport, limit_seconds,
                                   [transport](const std::string& trouble) { end_all(*transport, trouble); });
  ranks_ = std::make_unique<Ranks>(*transport, watch_.get());
}

RankSession::~RankSession() = default;

void RankSession::end() {
  if (ranks_ != nullptr) ranks_->meet("end");
}

void require_same_start(Ranks& ranks, const std::vector<std::string>& words,
                        const std::vector<std::string>& paths) {
  std::string all;
  for (const std::string& word : words) all += word + '\n';
  std::string of_root = all;
  ranks.broadcast("options", of_root);
  const auto same = ranks.all_gather("options", std::int32_t{all == of_root ? 1 : 0});
  for (std::size_t r = 0; r < same.size(); ++r) {
    if (same[r] == 0)
      throw Error(fmt::format("rank {} was started with other options or another PLUMB_DATA than rank 0", r));
  }
  std::vector<std::int64_t> seen;
  for (const std::string& path : paths) seen.push_back(fingerprint(path));
  const std::vector<std::vector<std::int64_t>> of_all = ranks.gather("inputs", seen);
  for (std::size_t r = 1; r < of_all.size(); ++r) {
    if (of_all[r].size() != seen.size())
      throw Error(fmt::format("rank {} finds other inputs than rank 0", r));
    for (std::size_t p = 0; p < seen.size(); ++p) {
      if (of_all[r][p] != 0 && of_all[r][p] != seen[p])
        throw input_error(paths[p], 0, fmt::format("rank {} sees another content than rank 0", r));
    }
  }
}

void share_processors(Ranks& ranks) {
  const std::string place = place_of_process();
  const auto places = ranks.all_gather("places", digest(place));
  if (std::getenv("OMP_NUM_THREADS") != nullptr) return;
  const auto sharers = static_cast<int>(std::count(places.begin(), places.end(), digest(place)));
  omp_set_num_threads(std::max(1, omp_get_num_procs() / sharers));
}

std::string take_device(Ranks& ranks, const InferOptions& o) {
  constexpr const char* kWhat = "device";
  std::string reason;
  try {
    require_device(o);
  } catch (const NoDevice& e) { reason = host_name() + ": " + e.what(); }
  const auto lacking = ranks.all_gather(kWhat, std::int32_t{reason.empty() ? 0 : 1});
  const auto first = std::find(lacking.begin(), lacking.end(), 1) - lacking.begin();
  if (first < ranks.size()) {
    const std::vector<std::string> reasons = gather_texts(ranks, kWhat, reason);
    throw NoDevice(ranks.is_root()
                       ? fmt::format("rank {} on {}", first, reasons[static_cast<std::size_t>(first)])
                       : reason);
  }
  const std::int64_t host = digest(host_name());
  const auto hosts = ranks.all_gather(kWhat, host);
  const auto before = std::count(hosts.begin(), hosts.begin() + ranks.rank(), host);
  const auto device = static_cast<int>(before % device_side->count());
  device_side->use(device);
  return fmt::format("{} (device {})", device_side->name(), device);
}

std::vector<RankFacts> gather_facts(Ranks& ranks, const Cuts& rows, std::int64_t peak_bytes,
                                    const std::string& device) {
  const std::vector<std::int64_t> mine{ranks.traffic().sent, ranks.traffic().received, peak_bytes};
  const auto numbers = ranks.gather("facts", mine);
  const std::vector<std::string> hosts = gather_texts(ranks, "facts", host_name());
  const std::vector<std::string> devices = gather_texts(ranks, "facts", device);
  std::vector<RankFacts> facts(numbers.size());
  for (std::size_t r = 0; r < facts.size(); ++r) {
    facts[r].host = hosts[r], facts[r].device = devices[r];
    facts[r].first = rows[r], facts[r].rows = rows[r + 1] - rows[r];
    facts[r].sent = numbers[r].at(0), facts[r].received = numbers[r].at(1),
    facts[r].peak_bytes = numbers[r].at(2);
  }
  return facts;
}

std::int64_t GpuNeeds::bytes() const {
  return std::accumulate(parts.begin(), parts.end(), std::int64_t{0},
                         [](std::int64_t sum, const auto& part) { return sum + part.second; });
}

namespace {

void report_ranks(const Needs& needs, std::FILE* to, nlohmann::json& json) {
  fmt::print(
      to, "dry run: {} ranks; memory is that of the data, without the program's own; traffic with headers\n",
      needs.ranks.size());
  for (std::size_t r = 0; r < needs.ranks.size(); ++r) {
    const RankNeeds& n = needs.ranks[r];
    fmt::print(to,
               "rank {}: {}; memory {}; once sends {}, receives {}; each inference sends {}, receives {}\n",
               r, show_rows(needs.noun, n.first, n.rows), show_bytes(n.memory), show_bytes(n.once.sent),
               show_bytes(n.once.received), show_bytes(n.each_run.sent), show_bytes(n.each_run.received));
    json["ranks"].push_back(
        {{"first", n.first},
         {"rows", n.rows},
         {"memory_bytes", n.memory},
         {"once", {{"sent_bytes", n.once.sent}, {"received_bytes", n.once.received}}},
         {"each_run", {{"sent_bytes", n.each_run.sent}, {"received_bytes", n.each_run.received}}}});
  }
}

void report_gpus(const Needs& needs, const Chip& chip, std::FILE* to, nlohmann::json& json) {
  const bool by_rank = needs.gpus.size() == needs.ranks.size();
  for (std::size_t g = 0; g < needs.gpus.size(); ++g) {
    const GpuNeeds& n = needs.gpus[g];
    std::vector<std::string> parts;
    nlohmann::json entry{{"rows", n.rows}, {"memory_bytes", n.bytes()}};
    for (const auto& [name, bytes] : n.parts) {
      parts.push_back(fmt::format("{} {}", name, show_bytes(bytes)));
      entry[std::string(name) + "_bytes"] = bytes;
    }
    fmt::print(to, "{} {}: {} {}; memory {} of the {} of {}: {}{}\n", by_rank ? "GPU of rank" : "GPU", g,
               n.rows, needs.noun, show_bytes(n.bytes()), show_bytes(chip.memory_bytes), chip.name,
               fmt::join(parts, ", "), n.batches);
    json["gpus"].push_back(std::move(entry));
  }
}

/// Errors: a GPU needs more than the chip has.
void require_chip_holds(const std::vector<GpuNeeds>& gpus, const Chip& chip) {
  for (std::size_t g = 0; g < gpus.size(); ++g) {
    if (gpus[g].bytes() <= chip.memory_bytes) continue;
    throw Error(fmt::format("GPU {} needs {}, {} has {}: more GPUs, fewer inputs, or --memory", g,
                            show_amount(gpus[g].bytes()), chip.name, show_amount(chip.memory_bytes)));
  }
}

}  // namespace

int report_needs(const InferOptions& o, const Needs& needs) {
  nlohmann::json json;
  std::FILE* const to = output_for_words(o);
  const Chip& chip = find_chip(o.chip);
  if (!needs.ranks.empty()) report_ranks(needs, to, json);
  report_gpus(needs, chip, to, json);
  require_chip_holds(needs.gpus, chip);
  if (!o.json.empty()) write_json(o.json, json);
  return kOk;
}

}  // namespace plumb
