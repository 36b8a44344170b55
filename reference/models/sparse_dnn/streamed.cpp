#include "reference/models/sparse_dnn/streamed.hpp"

#include <omp.h>

#include <algorithm>
#include <future>
#include <limits>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "reference/core/error.hpp"
#include "reference/models/sparse_dnn/parts.hpp"

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

/// Layers [first, last) of a network with a source, made by other threads, or when they are taken where none can be started.
class LayersInTheMaking {
 public:
  LayersInTheMaking(const SparseDnn& net, std::int64_t first, std::int64_t last, int threads)
      : part_(std::make_unique<SparseDnn>(SparseDnn{net.neurons, net.bias, net.cap, {}})),
        start_(sdnn::now()) {
    std::vector<Csr<float>>& gather = part_->gather;
    gather.resize(static_cast<std::size_t>(last - first));
    for (int t = 0; t < threads; ++t) {
      makers_.push_back(std::async(std::launch::async | std::launch::deferred, [&net, &gather, first, t,
                                                                                threads] {
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

/// Rows with a non-zero of a large matrix, in the parts in which they were computed.
class ActiveParts {
 public:
  explicit ActiveParts(std::int64_t cols) : cols_(cols) {}

  /// Takes the entries of `y`, whose row r is row `ids[r]` of the large matrix, or first + r where there are no ids.
  void append(Csr<float>&& y, std::int64_t first, const std::vector<std::int32_t>& ids = {}) {
    for (std::int64_t r = 0; r < y.rows; ++r) {
      const auto i = static_cast<std::size_t>(r);
      const std::int32_t count = y.row_ptr[i + 1] - y.row_ptr[i];
      if (count == 0) continue;
      ids_.push_back(ids.empty() ? static_cast<std::int32_t>(first + r)
                                 : ids[static_cast<std::size_t>(first + r)]);
      counts_.push_back(count);
    }
    entries_ += y.nnz();
    if (entries_ > std::numeric_limits<std::int32_t>::max())
      throw Error("sparse DNN: the answer has more than 2^31 - 1 non-zeros: run fewer inputs at a time");
    if (y.nnz() > 0) parts_.emplace_back(std::move(y.col), std::move(y.val));
  }
  [[nodiscard]] bool empty() const { return ids_.empty(); }
  /// Bytes of the entries, and of one of their two arrays once more: they are put together one after the other.
  [[nodiscard]] std::int64_t bytes() const { return 12 * entries_; }
  [[nodiscard]] const std::vector<std::int32_t>& ids() const { return ids_; }

  /// All parts as one matrix of the active rows; no parts are left, but ids() stay.
  [[nodiscard]] Csr<float> take_active() {
    Csr<float> all = take_entries();
    all.rows = static_cast<std::int64_t>(ids_.size());
    for (const std::int32_t count : counts_) all.row_ptr.push_back(all.row_ptr.back() + count);
    return all;
  }
  /// All parts as the large matrix. Ids must ascend.
  [[nodiscard]] Csr<float> take_all(std::int64_t rows) {
    Csr<float> all = take_entries();
    all.rows = rows;
    all.row_ptr.assign(static_cast<std::size_t>(rows) + 1, 0);
    for (std::size_t i = 0; i < ids_.size(); ++i)
      all.row_ptr[static_cast<std::size_t>(ids_[i]) + 1] = counts_[i];
    std::partial_sum(all.row_ptr.begin(), all.row_ptr.end(), all.row_ptr.begin());
    return all;
  }

 private:
  using Entries = std::pair<std::vector<std::int32_t>, std::vector<float>>;

  template <class T>
  void put_together(std::vector<T> Entries::*array, std::vector<T>& all) {
    if (parts_.size() == 1) {
      all = std::move(parts_[0].*array);
      return;
    }
    all.reserve(static_cast<std::size_t>(entries_));
    for (Entries& part : parts_) {
      all.insert(all.end(), (part.*array).begin(), (part.*array).end());
      part.*array = {};
    }
  }
  Csr<float> take_entries() {
    Csr<float> all;
    all.cols = cols_;
    put_together(&Entries::first, all.col);
    put_together(&Entries::second, all.val);
    parts_.clear();
    entries_ = 0;
    return all;
  }

  std::int64_t cols_, entries_ = 0;
  std::vector<std::int32_t> ids_, counts_;  // of the rows, in the order of their entries
  std::vector<Entries> parts_;
};

class StreamedOnHost final : public SdnnPlan {
 public:
  using MakePlan = std::unique_ptr<SdnnPlan> (*)(const SparseDnn&);

  StreamedOnHost(const SparseDnn& net, const MemoryBound& memory, const PlanBytes& plan, MakePlan make_plan)
      : net_(net),
        memory_(memory),
        make_plan_(make_plan),
        makers_(std::max(1, omp_get_max_threads() / 4)),
        held_(plan.workspace + net.held_bytes()) {
    if (net.source != nullptr) {
      layer_ = std::max<std::int64_t>(1, largest_layer_bytes(net));
      planned_layer_ = plan.of_layer(net.neurons, largest_layer_edges(net));
      const std::int64_t fit =
          (memory.for_data() / kShareOfWeights - makers_ * layer_) / (2 * layer_ + planned_layer_);
      const std::int64_t most = std::clamp<std::int64_t>(net.layers(), 1, kMostLayers);
      window_ = std::clamp<std::int64_t>(fit, 1, most);
    } else {
      for (std::int64_t l = 0; l < net.layers(); ++l)
        held_ += plan.of_layer(net.neurons, net.edges(l, l + 1));
    }
    const Csr<float> one = empty_rows(1, net.neurons);
    static_cast<void>(batch_end(HeldRows(one), 0, 0, window_));  // refuses before any input is read
  }

  SdnnRun run(const Csr<float>& y, std::int64_t first, std::int64_t last) override {
    return run_rows(HeldRows(y), first, last);
  }
  SdnnRun run_rows(const RowSource& y, std::int64_t first, std::int64_t last) override;

 private:
  static constexpr std::int64_t kShareOfWeights =
      4;  // a quarter of the memory at most, where two layers leave the choice
  static constexpr std::int64_t kMostLayers =
      16;  // more would not make the window's beginning and end any cheaper; and a plan of no more lets no rows wait
  static constexpr std::int64_t kFirstLayers = 8;  // after which the rows of many batches are put together
  static constexpr std::int64_t kFirstWindow =
      4;  // in these: many rows leave, and the others are packed anew
  static constexpr std::int64_t kShareOfWaiting = 4;  // a quarter of the memory at most
  static constexpr std::int64_t kLeastInactive = 4;  // rows wait where at most a quarter of a batch is active

  /// What one run has, beside the inputs.
  struct Progress {
    SdnnRun all;  // `active`, `layer_seconds`
    SdnnStreaming facts;
    ActiveParts answer, waiting;
    std::int64_t window;  // layers: those of the plan, and fewer where answers leave no memory for them
    [[nodiscard]] std::int64_t bytes() const { return answer.bytes() + waiting.bytes(); }
  };

  /// Bytes of a batch: its inputs; and of each value it as input of a window, and its answer in parts that grow (up to
  /// three times).
  [[nodiscard]] std::int64_t batch_bytes(const RowSource& y, std::int64_t first, std::int64_t last) const {
    constexpr std::int64_t kPerValue = 8 + 3 * 8, kPerRow = 64;
    return (last - first) * (net_.neurons * kPerValue + kPerRow) + 8 * y.entries(first, last);
  }
  /// Bytes beside rows and answers. Of layers that are made: those held, with their plan, those made next, and what making them
  /// takes.
  [[nodiscard]] std::int64_t fixed_bytes(std::int64_t window) const {
    return held_ + (2 * window + makers_) * layer_ + window * planned_layer_;
  }
  /// Row `first` alone is a batch that fits, with windows of so many layers and `held` bytes of rows and answers.
  [[nodiscard]] bool fits(const RowSource& y, std::int64_t first, std::int64_t held,
                          std::int64_t window) const {
    const std::int64_t batch = batch_bytes(y, first, std::min(first + 1, y.rows()));
    return fixed_bytes(window) + held + batch <= memory_.for_data();
  }
  /// The end of the largest batch from row `first`, beside `held` bytes of rows and answers. Makes the window shorter where no batch
  /// fits beside it. Errors: none fits beside a window of one layer.
  [[nodiscard]] std::int64_t batch_end(const RowSource& y, std::int64_t first, std::int64_t held,
                                       std::int64_t& window) const {
    while (window > 1 && !fits(y, first, held, window)) --window;
    const std::int64_t weights = net_.source != nullptr ? 2 * window : net_.layers();
    return largest_batch(
        first, y.rows(), 1, memory_, fixed_bytes(window) + held,
        fmt::format("weights of {} layers, {} of inputs and answers, and the workspace of {} threads",
                    weights, show_amount(held), omp_get_max_threads()),
        [&](std::int64_t begin, std::int64_t end) { return batch_bytes(y, begin, end); });
  }
  Csr<float> run_windows(const Csr<float>& batch, std::int64_t begin, std::int64_t end, std::int64_t first,
                         Progress& p) const;
  void run_waiting(std::int64_t held, std::int64_t begin, std::int64_t first, std::int64_t last,
                   Progress& p) const;

  const SparseDnn& net_;
  MemoryBound memory_;
  MakePlan make_plan_;
  int makers_;                         // threads that make layers
  std::int64_t held_;                  // bytes: workspace, weights that are held, and their plan
  std::int64_t layer_ = 0;             // bytes of a layer that is made; 0: all are held
  std::int64_t planned_layer_ = 0;     // bytes that a plan takes for it
  std::int64_t window_ = kMostLayers;  // layers
};

/// Layers [begin, end) of a run that began with layer `first`, window after window. Returns the rows after them.
Csr<float> StreamedOnHost::run_windows(const Csr<float>& batch, std::int64_t begin, std::int64_t end,
                                       std::int64_t first, Progress& p) const {
  const auto end_of = [&](std::int64_t l) {
    return std::min(end, l + (l < first + kFirstLayers ? std::min(p.window, kFirstWindow) : p.window));
  };
  const auto making = [&](std::int64_t l) {
    return net_.source != nullptr ? std::make_unique<LayersInTheMaking>(net_, l, end_of(l), makers_)
                                  : nullptr;
  };
  const std::unique_ptr<SdnnPlan> held = net_.source == nullptr ? make_plan_(net_) : nullptr;
  std::unique_ptr<LayersInTheMaking> next = making(begin);
  Csr<float> y;
  const Csr<float>* in = &batch;
  for (std::int64_t l = begin; l < end; l = end_of(l)) {
    const std::unique_ptr<SparseDnn> part = next != nullptr ? next->take(p.facts) : nullptr;
    next = end_of(l) < end ? making(end_of(l)) : nullptr;
    SdnnRun here =
        part != nullptr ? make_plan_(*part)->run(*in, 0, part->layers()) : held->run(*in, l, end_of(l));
    for (std::int64_t i = l; i < end_of(l); ++i) {
      p.all.active[static_cast<std::size_t>(i - first)] += here.active[static_cast<std::size_t>(i - l)];
      p.all.layer_seconds[static_cast<std::size_t>(i - first)] +=
          here.layer_seconds[static_cast<std::size_t>(i - l)];
    }
    y = std::move(here.y);
    in = &y;
    if (y.nnz() == 0) break;  // rows of zeros stay so: no layer is needed any more
  }
  return y;
}

/// The rows that wait, through layers [begin, last).
void StreamedOnHost::run_waiting(std::int64_t held, std::int64_t begin, std::int64_t first, std::int64_t last,
                                 Progress& p) const {
  if (p.waiting.empty()) return;
  const Csr<float> all = p.waiting.take_active();
  const HeldRows rows(all);
  for (std::int64_t from = 0; from < all.rows; ++p.facts.regrouped) {
    const std::int64_t to = batch_end(rows, from, held + rows.held_bytes() + p.bytes(), p.window);
    p.answer.append(run_windows(rows.make(from, to), begin, last, first, p), from, p.waiting.ids());
    from = to;
  }
  p.waiting = ActiveParts(net_.neurons);
}

SdnnRun StreamedOnHost::run_rows(const RowSource& y, std::int64_t first, std::int64_t last) {
  const double start = sdnn::now();
  const std::int64_t middle = last - first > 2 * kFirstLayers ? first + kFirstLayers : last;
  Progress p{{}, {}, ActiveParts(net_.neurons), ActiveParts(net_.neurons), window_};
  p.all.active.assign(static_cast<std::size_t>(last - first) + 1, 0);
  p.all.layer_seconds.assign(static_cast<std::size_t>(last - first), 0);
  std::int64_t from = 0;
  do {
    if (!fits(y, from, y.held_bytes() + p.bytes(), p.window))
      run_waiting(y.held_bytes(), middle, first, last, p);
    const std::int64_t to = batch_end(y, from, y.held_bytes() + p.bytes(), p.window);
    p.facts.batch = std::max(p.facts.batch, to - from);
    ++p.facts.batches;
    Csr<float> rows =
        first < last ? run_windows(y.make(from, to), first, middle, first, p) : y.make(from, to);
    const auto active = static_cast<std::int64_t>(categories(rows).size());
    if (middle < last && kLeastInactive * active <= to - from) {
      p.waiting.append(std::move(rows), from);
      if (kShareOfWaiting * p.waiting.bytes() > memory_.for_data())
        run_waiting(y.held_bytes(), middle, first, last, p);
    } else {
      run_waiting(y.held_bytes(), middle, first, last, p);  // before: ids of the answer ascend
      p.answer.append(middle < last ? run_windows(rows, middle, last, first, p) : std::move(rows), from);
    }
    from = to;
  } while (from < y.rows());
  run_waiting(y.held_bytes(), middle, first, last, p);
  SdnnRun all = std::move(p.all);
  all.y = p.answer.take_all(y.rows());
  all.active.back() = static_cast<std::int64_t>(categories(all.y).size());
  p.facts.memory = memory_.bytes, p.facts.window = net_.source != nullptr ? window_ : net_.layers();
  all.streaming = p.facts;
  all.seconds = sdnn::now() - start;
  return all;
}

}  // namespace

std::int64_t largest_batch(std::int64_t first, std::int64_t rows, std::int64_t step,
                           const MemoryBound& memory, std::int64_t fixed, const std::string& held,
                           const RangeBytes& need) {
  const auto rows_to = [&](std::int64_t steps) { return std::min(rows, first + steps * step); };
  const auto takes = [&](std::int64_t steps) { return fixed + need(first, rows_to(steps)); };
  const std::int64_t most = memory.for_data();
  if (takes(1) > most) {
    throw Error(fmt::format(
        "sparse DNN: {} of memory are too little: {}, and a batch of {} inputs, need at least {}{}",
        show_amount(memory.bytes), held, rows_to(1) - first, show_amount(memory.least_for(takes(1))),
        memory.program > 0 ? fmt::format(", {} of it for the program itself", show_amount(memory.program))
                           : ""));
  }
  std::int64_t fits = 1, too_many = (rows - first + step - 1) / step + 1;
  while (fits + 1 < too_many) {
    const std::int64_t middle = (fits + too_many) / 2;
    (takes(middle) <= most ? fits : too_many) = middle;
  }
  return rows_to(fits);
}

std::vector<std::int64_t> batches_within(const Csr<float>& y, const MemoryBound& memory, std::int64_t fixed,
                                         const std::string& held, std::int64_t step, const BatchBytes& need) {
  std::vector<std::int64_t> ends;
  do {
    ends.push_back(largest_batch(ends.empty() ? 0 : ends.back(), y.rows, step, memory, fixed, held,
                                 [&](std::int64_t first, std::int64_t last) {
                                   return need(last - first, entries_of(y, first, last));
                                 }));
  } while (ends.back() < y.rows);
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

std::int64_t largest_layer_edges(const SparseDnn& net) {
  std::int64_t most = 0;
  for (std::int64_t l = 0; l < net.layers(); ++l) most = std::max(most, net.edges(l, l + 1));
  return most;
}

std::int64_t largest_layer_bytes(const SparseDnn& net) {
  return 8 * largest_layer_edges(net) + 4 * (net.neurons + 1);
}

std::unique_ptr<SdnnPlan> streamed_on_host(const SparseDnn& net, const MemoryBound& memory,
                                           const PlanBytes& plan,
                                           std::unique_ptr<SdnnPlan> (*make_plan)(const SparseDnn&)) {
  return std::make_unique<StreamedOnHost>(net, memory, plan, make_plan);
}

}  // namespace plumb
