#include "reference/models/sparse_dnn_streamed.hpp"

#include <omp.h>

#include <algorithm>
#include <future>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "reference/core/error.hpp"
#include "reference/models/sparse_dnn_parts.hpp"

namespace plumb {

namespace {

std::int64_t entries_of(const Csr<float>& y, std::int64_t first, std::int64_t last) {
  return y.row_ptr[static_cast<std::size_t>(last)] - y.row_ptr[static_cast<std::size_t>(first)];
}

void append_rows(Csr<float>& to, const Csr<float>& more) {
  const std::int64_t before = to.nnz();
  if (before + more.nnz() > std::numeric_limits<std::int32_t>::max())
    throw Error("sparse DNN: the answer has more than 2^31 - 1 non-zeros: run fewer inputs at a time");
  to.col.insert(to.col.end(), more.col.begin(), more.col.end());
  to.val.insert(to.val.end(), more.val.begin(), more.val.end());
  for (std::size_t r = 1; r < more.row_ptr.size(); ++r)
    to.row_ptr.push_back(static_cast<std::int32_t>(before) + more.row_ptr[r]);
  to.rows += more.rows;
}

template <class T>
void add_up(std::vector<T>& to, const std::vector<T>& more) {
  if (to.empty()) to.resize(more.size());
  for (std::size_t i = 0; i < more.size(); ++i) to[i] += more[i];
}

/// Layers [first, last) of a network with a source, made by other threads.
class LayersInTheMaking {
 public:
  LayersInTheMaking(const SparseDnn& net, std::int64_t first, std::int64_t last, int threads)
      : part_(std::make_unique<SparseDnn>(SparseDnn{net.neurons, net.bias, net.cap, {}})),
        start_(sdnn::now()) {
    std::vector<Csr<float>>& gather = part_->gather;
    gather.resize(static_cast<std::size_t>(last - first));
    for (int t = 0; t < threads; ++t) {
      makers_.push_back(std::async(std::launch::async, [&net, &gather, first, t, threads] {
        for (auto i = static_cast<std::size_t>(t); i < gather.size(); i += static_cast<std::size_t>(threads))
          gather[i] = net.make_layer(first + static_cast<std::int64_t>(i));
        return sdnn::now();
      }));
    }
  }
  /// Waits for them, and adds the times of that to `facts`. Errors: those of the source.
  [[nodiscard]] std::unique_ptr<SparseDnn> take(SdnnStreaming& facts) {
    const double asked = sdnn::now();
    double end = start_;
    for (std::future<double>& maker : makers_) end = std::max(end, maker.get());
    facts.load_seconds += end - start_;
    facts.waited_seconds += std::max(0.0, end - asked);
    for (const Csr<float>& w : part_->gather) facts.loaded_bytes += bytes_of(w);
    return std::move(part_);
  }

 private:
  std::unique_ptr<SparseDnn> part_;  // before the makers: they end before it does
  double start_;
  std::vector<std::future<double>> makers_;
};

class StreamedOnHost final : public SdnnPlan {
 public:
  using MakePlan = std::unique_ptr<SdnnPlan> (*)(const SparseDnn&);

  StreamedOnHost(const SparseDnn& net, std::int64_t memory, std::int64_t workspace, MakePlan make_plan)
      : net_(net), memory_(memory), make_plan_(make_plan), makers_(std::max(1, omp_get_max_threads() / 4)) {
    fixed_ = workspace + net.held_bytes();
    window_ = net.layers();
    if (net.source != nullptr) {
      const std::int64_t layer = std::max<std::int64_t>(1, largest_layer_bytes(net));
      window_ = std::clamp<std::int64_t>((memory / kShareOfWeights / layer - makers_) / 2, 1, kMostLayers);
      window_ = std::min(window_, std::max<std::int64_t>(1, net.layers()));
      fixed_ += (2 * window_ + makers_) * layer;  // held, made next, and what making them takes
    }
    static_cast<void>(batches(empty_rows(1, net.neurons)));  // refuses before any input is read
  }

  SdnnRun run(const Csr<float>& y, std::int64_t first, std::int64_t last) override {
    SdnnStreaming facts;
    SdnnRun all = run_in_batches(y, batches(y), [&](const Csr<float>& batch) {
      return net_.source != nullptr && first < last ? run_batch(batch, first, last, facts)
                                                    : make_plan_(net_)->run(batch, first, last);
    });
    facts.batch = all.streaming->batch, facts.batches = all.streaming->batches;
    facts.memory = memory_, facts.window = window_;
    all.streaming = facts;
    return all;
  }

 private:
  static constexpr std::int64_t kShareOfWeights =
      4;  // a quarter of the memory at most, where two layers leave the choice
  static constexpr std::int64_t kMostLayers =
      16;  // more would not make the window's beginning and end any cheaper

  [[nodiscard]] std::vector<std::int64_t> batches(const Csr<float>& y) const {
    // Of each value: its batch as input, its answer in parts that grow (up to three times), and the answer as one CSR; in
    // more layers than a window has rows may wait for others, in tiles of up to four times their size.
    const std::int64_t bytes_per_value = 8 + 3 * 8 + 8 + (net_.source == nullptr ? 4 * 4 : 0);
    return batches_within(
        y, memory_, fixed_ + bytes_of(y),
        fmt::format("weights of {} layers, {} of inputs and the workspace of {} threads",
                    net_.source != nullptr ? 2 * window_ : window_, show_amount(bytes_of(y)),
                    omp_get_max_threads()),
        1, [&](std::int64_t rows, std::int64_t) { return rows * net_.neurons * bytes_per_value; });
  }

  /// All layers, window after window.
  SdnnRun run_batch(const Csr<float>& batch, std::int64_t first, std::int64_t last,
                    SdnnStreaming& facts) const {
    const double start = sdnn::now();
    SdnnRun all;
    const Csr<float>* in = &batch;
    const auto making = [&](std::int64_t l) {
      return std::make_unique<LayersInTheMaking>(net_, l, std::min(last, l + window_), makers_);
    };
    std::unique_ptr<LayersInTheMaking> next = making(first);
    for (std::int64_t l = first; l < last; l += window_) {
      const std::unique_ptr<SparseDnn> part = next->take(facts);
      if (l + window_ < last) next = making(l + window_);
      SdnnRun here = make_plan_(*part)->run(*in, 0, part->layers());
      if (!all.active.empty()) all.active.pop_back();  // the rows that enter this window
      all.active.insert(all.active.end(), here.active.begin(), here.active.end());
      all.layer_seconds.insert(all.layer_seconds.end(), here.layer_seconds.begin(), here.layer_seconds.end());
      all.y = std::move(here.y);
      in = &all.y;
      if (all.y.nnz() == 0) break;  // rows of zeros stay so: no layer is needed any more
    }
    all.active.resize(static_cast<std::size_t>(last - first) + 1, 0);
    all.layer_seconds.resize(static_cast<std::size_t>(last - first), 0);
    all.seconds = sdnn::now() - start;
    return all;
  }

  const SparseDnn& net_;
  std::int64_t memory_;
  MakePlan make_plan_;
  int makers_;               // threads that make layers
  std::int64_t window_ = 0;  // layers
  std::int64_t fixed_ = 0;   // bytes beside inputs and batch
};

}  // namespace

std::string show_amount(std::int64_t bytes) {
  constexpr std::int64_t kFew = 10;
  const int shift = bytes >> 20 < kFew ? 10 : 20;
  return fmt::format("{} {}", ((bytes - 1) >> shift) + 1, shift == 10 ? "KiB" : "MiB");
}

std::vector<std::int64_t> batches_within(const Csr<float>& y, std::int64_t memory, std::int64_t fixed,
                                         const std::string& held, std::int64_t step, const BatchBytes& need) {
  const auto rows_to = [&](std::int64_t first, std::int64_t steps) {
    return std::min(y.rows, first + steps * step);
  };
  std::vector<std::int64_t> ends;
  std::int64_t first = 0;
  do {
    const auto takes = [&](std::int64_t steps) {
      const std::int64_t last = rows_to(first, steps);
      return fixed + need(last - first, entries_of(y, first, last));
    };
    if (takes(1) > memory) {
      throw Error(fmt::format(
          "sparse DNN: {} of memory are too little: {}, and a batch of {} inputs, need at least {}",
          show_amount(memory), held, rows_to(first, 1) - first, show_amount(takes(1))));
    }
    std::int64_t fits = 1, too_many = (y.rows - first + step - 1) / step + 1;
    while (fits + 1 < too_many) {
      const std::int64_t middle = (fits + too_many) / 2;
      (takes(middle) <= memory ? fits : too_many) = middle;
    }
    first = rows_to(first, fits);
    ends.push_back(first);
  } while (first < y.rows);
  return ends;
}

Csr<float> empty_rows(std::int64_t rows, std::int64_t cols) {
  Csr<float> y;
  y.rows = rows, y.cols = cols;
  y.row_ptr.assign(static_cast<std::size_t>(rows) + 1, 0);
  return y;
}

SdnnRun run_in_batches(const Csr<float>& y, const std::vector<std::int64_t>& ends,
                       const std::function<SdnnRun(const Csr<float>&)>& run) {
  SdnnRun all;
  all.y.cols = y.cols;
  SdnnStreaming facts;
  facts.batches = static_cast<std::int64_t>(ends.size());
  std::int64_t first = 0;
  for (const std::int64_t end : ends) {
    facts.batch = std::max(facts.batch, end - first);
    SdnnRun part = ends.size() == 1 ? run(y) : run(slice_rows(y, first, end));
    add_up(all.active, part.active);
    add_up(all.layer_seconds, part.layer_seconds);
    all.seconds += part.seconds;
    if (ends.size() == 1) {
      all.y = std::move(part.y);
    } else {
      append_rows(all.y, part.y);
    }
    first = end;
  }
  all.streaming = facts;
  return all;
}

std::int64_t largest_layer_bytes(const SparseDnn& net) {
  std::int64_t most = 0;
  for (std::int64_t l = 0; l < net.layers(); ++l) most = std::max(most, net.edges(l, l + 1));
  return 8 * most + 4 * (net.neurons + 1);
}

std::unique_ptr<SdnnPlan> streamed_on_host(const SparseDnn& net, std::int64_t memory, std::int64_t workspace,
                                           std::unique_ptr<SdnnPlan> (*make_plan)(const SparseDnn&)) {
  return std::make_unique<StreamedOnHost>(net, memory, workspace, make_plan);
}

}  // namespace plumb
