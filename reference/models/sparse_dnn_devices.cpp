#include "reference/models/sparse_dnn_devices.hpp"

#include <omp.h>

#include <algorithm>
#include <limits>

#include "reference/core/error.hpp"
#include "reference/models/sparse_dnn_parts.hpp"

namespace plumb {

namespace {

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

SdnnRun combined(std::vector<SdnnRun>& runs) {
  SdnnRun all;
  all.active.assign(runs[0].active.size(), 0);
  all.layer_seconds.assign(runs[0].layer_seconds.size(), 0);
  std::vector<Csr<float>> answers;
  for (SdnnRun& run : runs) {
    all.seconds = std::max(all.seconds, run.seconds);
    for (std::size_t l = 0; l < all.active.size(); ++l) all.active[l] += run.active.at(l);
    for (std::size_t l = 0; l < all.layer_seconds.size(); ++l)
      all.layer_seconds[l] = std::max(all.layer_seconds[l], run.layer_seconds.at(l));
    answers.push_back(std::move(run.y));
  }
  all.y = collect_rows(answers);
  return all;
}

}  // namespace

Csr<float> deal_rows(const Csr<float>& all, int part, int parts) {
  Csr<float> mine = no_rows(all.cols);
  std::int64_t entries = 0;
  for (std::int64_t r = part; r < all.rows; r += parts)
    entries += all.row_ptr[static_cast<std::size_t>(r) + 1] - all.row_ptr[static_cast<std::size_t>(r)];
  mine.row_ptr.reserve(static_cast<std::size_t>(all.rows / parts) + 2);
  mine.col.reserve(static_cast<std::size_t>(entries));
  mine.val.reserve(static_cast<std::size_t>(entries));
  for (std::int64_t r = part; r < all.rows; r += parts) add_row(mine, all, r);
  return mine;
}

Csr<float> collect_rows(const std::vector<Csr<float>>& parts) {
  std::int64_t entries = 0, rows = 0;
  for (const Csr<float>& part : parts) entries += part.nnz(), rows += part.rows;
  if (entries > std::numeric_limits<std::int32_t>::max())
    throw Error("sparse DNN: the answer has more than 2^31 - 1 non-zeros: run fewer inputs at a time");
  Csr<float> all = no_rows(parts.at(0).cols);
  all.row_ptr.reserve(static_cast<std::size_t>(rows) + 1);
  all.col.reserve(static_cast<std::size_t>(entries));
  all.val.reserve(static_cast<std::size_t>(entries));
  const auto count = static_cast<std::int64_t>(parts.size());
  for (std::int64_t r = 0; r < rows; ++r) add_row(all, parts[static_cast<std::size_t>(r % count)], r / count);
  return all;
}

SdnnDevicesPlan::SdnnDevicesPlan(const SdnnPipeline& pipeline, const SparseDnn& net, const DeviceSide& side,
                                 int count)
    : side_(side), team_(side, count), plans_(static_cast<std::size_t>(count)), parts_(plans_.size()) {
  const int threads = std::max(1, omp_get_max_threads() / count);
  try {
    team_.run([&](int device) {
      omp_set_num_threads(threads);  // of this thread's teams: all plan at once
      plans_[static_cast<std::size_t>(device)] = pipeline.plan(net);
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
  std::vector<SdnnRun> runs(plans_.size());
  team_.run([&](int device) {
    const auto d = static_cast<std::size_t>(device);
    const Csr<float> mine = deal_rows(y, device, team_.size());
    runs[d] = mine.rows > 0 ? plans_[d]->run(mine, first, last) : run_of_nothing(y.cols, last - first);
    parts_[d].inputs = mine.rows, parts_[d].seconds = runs[d].seconds;
    parts_[d].peak_bytes = side_.peak_bytes();
  });
  SdnnRun all = combined(runs);
  host_to_host_ = sdnn::now() - start;
  return all;
}

}  // namespace plumb
