// What the files of model_report share.
#pragma once
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "tools/model_report.hpp"

namespace plumb {

/// What the reported time is the time of: never a first run without a word, whose threads and memory are new.
std::string show_spread(const ModelTimes& t);
std::string show_threads(const ModelReport& r);
std::string show_widths(const std::vector<std::int64_t>& w);
/// How much of the copies of a run of so many seconds cost no time. `what` says in words what the bytes are.
void print_copies(const std::string& what, std::int64_t bytes, const StreamedCopies& copies, double seconds,
                  std::FILE* to);
/// One line of all ranks; each of them where its part differs, or with -v. `noun`: what the rows are.
void print_ranks(const ModelReport& r, const char* noun, std::FILE* to);
void print_gpus(const ModelReport& r, std::FILE* to);

/// Of a run of a sparse DNN, and of a GCN: its lines, and its part of the JSON.
void print_sdnn(const ModelReport& r, std::FILE* to);
void add_sdnn(const ModelReport& r, nlohmann::json& json);
void print_gcn(const ModelReport& r, std::FILE* to);
void add_gcn(const ModelReport& r, nlohmann::json& json);

}  // namespace plumb
