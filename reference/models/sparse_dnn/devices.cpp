#include "reference/models/sparse_dnn/devices.hpp"

#include <omp.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "reference/core/error.hpp"
#include "reference/models/sparse_dnn/parts.hpp"

namespace plumb {

namespace {

std::int64_t entries_of(const Csr<float>& y, std::int64_t row) {
  return y.row_ptr[static_cast<std::size_t>(row) + 1] - y.row_ptr[static_cast<std::size_t>(row)];
}

void reserve(Csr<float>& y, std::int64_t rows, std::int64_t entries) {
  y.row_ptr.reserve(static_cast<std::size_t>(rows) + 1);
  y.col.reserve(static_cast<std::size_t>(entries));
  y.val.reserve(static_cast<std::size_t>(entries));
}

/// Appends row `r` of `from` to `to`.
void add_row(Csr<float>& to, const Csr<float>& from, std::int64_t r) {
  const auto begin = from.row_ptr[static_cast<std::size_t>(r)],
             end = from.row_ptr[static_cast<std::size_t>(r) + 1];
  to.col.insert(to.col.end(), from.col.begin() + begin, from.col.begin() + end);
  to.val.insert(to.val.end(), from.val.begin() + begin, from.val.begin() + end);
  to.row_ptr.push_back(static_cast<std::int32_t>(to.col.size()));
  ++to.rows;
}

Csr<float> no_rows(std::int64_t cols) {
  Csr<float> y;
  y.cols = cols;
  y.row_ptr.assign(1, 0);
  return y;
}

/// Of a device that has no inputs.
SdnnRun run_of_nothing(std::int64_t cols, std::int64_t layers) {
  SdnnRun run;
  run.y = no_rows(cols);
  run.active.assign(static_cast<std::size_t>(layers) + 1, 0);
  run.layer_seconds.assign(static_cast<std::size_t>(layers), 0);
  return run;
}

SdnnRun combined(std::vector<SdnnRun>& runs, const RowShares& shares) {
  SdnnRun all;
  all.active.assign(runs[0].active.size(), 0);
  all.layer_seconds.assign(runs[0].layer_seconds.size(), 0);
  std::vector<Csr<float>> answers;
  for (SdnnRun& run : runs) {
    all.seconds = std::max(all.seconds, run.seconds);
    for (std::size_t l = 0; l < all.active.size(); ++l) all.active[l] += run.active.at(l);
    if (!run.absorbed.empty()) all.absorbed.resize(all.active.size());
    for (std::size_t l = 0; l < run.absorbed.size(); ++l) all.absorbed.at(l) += run.absorbed[l];
    for (std::size_t l = 0; l < all.layer_seconds.size(); ++l)
      all.layer_seconds[l] = std::max(all.layer_seconds[l], run.layer_seconds.at(l));
    answers.push_back(std::move(run.y));
  }
  all.y = collect_rows(answers, shares);
  return all;
}

}  // namespace

RowShares deal_rows(const Csr<float>& all, int parts) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(all.rows));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::int64_t a, std::int64_t b) { return entries_of(all, a) > entries_of(all, b); });
  RowShares shares(static_cast<std::size_t>(parts));
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::size_t at = i % (2 * shares.size());
    shares[at < shares.size() ? at : 2 * shares.size() - 1 - at].push_back(order[i]);
  }
  for (std::vector<std::int64_t>& share : shares) std::sort(share.begin(), share.end());
  return shares;
}

Csr<float> take_rows(const Csr<float>& all, const std::vector<std::int64_t>& rows) {
  Csr<float> taken = no_rows(all.cols);
  std::int64_t entries = 0;
  for (const std::int64_t r : rows) entries += entries_of(all, r);
  reserve(taken, static_cast<std::int64_t>(rows.size()), entries);
  for (const std::int64_t r : rows) add_row(taken, all, r);
  return taken;
}

Csr<float> collect_rows(const std::vector<Csr<float>>& parts, const RowShares& shares) {
  std::int64_t entries = 0, rows = 0;
  for (const Csr<float>& part : parts) entries += part.nnz(), rows += part.rows;
  if (entries > std::numeric_limits<std::int32_t>::max())
    throw Error("sparse DNN: the answer has more than 2^31 - 1 non-zeros: run fewer inputs at a time");
  std::vector<std::pair<std::size_t, std::int64_t>> places(
      static_cast<std::size_t>(rows));  // of each row: its part, and where there
  for (std::size_t p = 0; p < shares.size(); ++p) {
    std::int64_t at = 0;
    for (const std::int64_t r : shares[p]) places.at(static_cast<std::size_t>(r)) = {p, at++};
  }
  Csr<float> all = no_rows(parts.at(0).cols);
  reserve(all, rows, entries);
  for (const auto& [part, at] : places) add_row(all, parts[part], at);
  return all;
}

SdnnDevicesPlan::SdnnDevicesPlan(const SdnnPlanMaker& make_plan, const DeviceSide& side, int count)
    : side_(side), team_(side, count), plans_(static_cast<std::size_t>(count)), parts_(plans_.size()) {
  const int threads = std::max(1, omp_get_max_threads() / count);
  try {
    team_.run([&](int device) {
      omp_set_num_threads(threads);  // of this thread's teams: all plan at once
      plans_[static_cast<std::size_t>(device)] = make_plan();
      parts_[static_cast<std::size_t>(device)].name = side_.name();
    });
  } catch (...) {
    release();
    throw;
  }
}

SdnnDevicesPlan::~SdnnDevicesPlan() { release(); }

void SdnnDevicesPlan::release() {
  team_.run([this](int device) { plans_[static_cast<std::size_t>(device)].reset(); });
}

SdnnRun SdnnDevicesPlan::run(const Csr<float>& y, std::int64_t first, std::int64_t last) {
  const double start = sdnn::now();
  const RowShares shares = deal_rows(y, team_.size());
  std::vector<SdnnRun> runs(plans_.size());
  team_.run([&](int device) {
    const auto d = static_cast<std::size_t>(device);
    const Csr<float> mine = take_rows(y, shares[d]);
    runs[d] = mine.rows > 0 ? plans_[d]->run(mine, first, last) : run_of_nothing(y.cols, last - first);
    parts_[d].inputs = shares[d], parts_[d].seconds = runs[d].seconds;
    parts_[d].peak_bytes = side_.peak_bytes();
  });
  SdnnRun all = combined(runs, shares);
  host_to_host_ = sdnn::now() - start;
  return all;
}

}  // namespace plumb
