#include "reference/models/chips.hpp"

#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "reference/core/error.hpp"
#include "reference/core/text.hpp"

namespace plumb {

namespace {

constexpr double kMicro = 1e-6, kGiga = 1e9, kTera = 1e12, kKibi = 1 << 10, kMebi = 1 << 20, kGibi = 1 << 30;

constexpr const char* kSeconds = "s";
constexpr const char* kBytes = "B";
constexpr const char* kByteRate = "B/s";
constexpr const char* kFlopRate = "flop/s";
constexpr const char* kEdgeRate = "edges/s";

constexpr const char* kRoofs = "gpu.md, roofs";
constexpr const char* kDatasheet = "datasheet";
constexpr const char* kAsH200 = "as the H200";
constexpr const char* kAsH100 = "as the H100";
constexpr const char* kOffered = "what CUDA offers of it, rounded down";
constexpr const char* kGemm = "gpu.md, gemm";
constexpr const char* kOneGpu = "fitted: networks.md, Several GPUs, GCN on 1 GPU";
constexpr const char* kTwoGpus = "fitted: networks.md, Several GPUs, GCN on 2 GPUs";

}  // namespace

const std::vector<Chip>& chips() {
  static const std::vector<Chip> all = {
      {"H200",
       90,
       {2.7 * kMicro, kSeconds, kRoofs},
       {4241 * kGiga, kByteRate, kRoofs},
       {139 * kGibi, kBytes, kOffered},
       {227 * kKibi, kBytes, kDatasheet},
       {60 * kMebi, kBytes, kDatasheet},
       {8.5 * kTera, kByteRate, "networks.md, GCN"},
       {1.98 * kTera, kByteRate, "the H100's, by the copy rates"},
       {48 * kTera, kFlopRate, kGemm},
       {58 * kTera, kFlopRate, kGemm},
       {5.89 * kTera, kEdgeRate, "fitted: networks.md, sparse DNN, class A"},
       {524 * kGiga, kByteRate, kAsH100},
       {48 * kMicro, kSeconds, kAsH100}},
      {"H100",
       90,
       {2.7 * kMicro, kSeconds, kAsH200},
       {2960 * kGiga, kByteRate, "datasheet, by the H200's share of its own"},
       {78 * kGibi, kBytes, kOffered},
       {227 * kKibi, kBytes, kDatasheet},
       {50 * kMebi, kBytes, kDatasheet},
       {8.2 * kTera, kByteRate, kOneGpu},
       {1.38 * kTera, kByteRate, kOneGpu},
       {48 * kTera, kFlopRate, kAsH200},
       {58 * kTera, kFlopRate, kAsH200},
       {5.29 * kTera, kEdgeRate, "fitted: networks.md, Several GPUs, sparse DNN on 1 GPU"},
       {524 * kGiga, kByteRate, kTwoGpus},
       {48 * kMicro, kSeconds, kTwoGpus}}};
  return all;
}

const Chip& find_chip(std::string_view name) {
  std::vector<std::string> known;
  for (const Chip& chip : chips()) {
    if (chip.name == name) return chip;
    known.emplace_back(chip.name);
  }
  throw Error(fmt::format("chip '{}' is none of {}{}", printable(std::string(name)), fmt::join(known, ", "),
                          did_you_mean(std::string(name), known)));
}

}  // namespace plumb
