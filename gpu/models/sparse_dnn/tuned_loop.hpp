// The loop of the tuned pipelines: which kernels carry the rows through which layers. The host queues the
// next layer without waiting for the one before: it learns the number of active rows one layer late, which
// costs at most one more launch.
//
// Where rows at an absorbing state leave, they are looked for after every kLookEvery launches, and layers that would share
// the last launch are run in pieces, each followed by a look. A piece has kFirstPiece layers, or twice as many as the one
// before if no row left after that.
//
// With bounded memory rows are run in batches, and layers that are computed one launch each come and go (layer_window.hpp).
// The weights of networks whose rows stay on chip are small: they are held.
#pragma once
#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "gpu/models/sparse_dnn/absorbing_rows.hpp"
#include "gpu/models/sparse_dnn/device_memory.hpp"
#include "gpu/models/sparse_dnn/layer_kernels.hpp"
#include "gpu/models/sparse_dnn/whole_rows.hpp"
#include "reference/models/sparse_dnn/streamed.hpp"

namespace plumb {
namespace sdnn {

class TunedPlan final : public SdnnPlan {
 public:
  using MakeKernels = std::unique_ptr<LayerKernels> (*)(const SparseDnn&, WindowBound, MakeWindow,
                                                        void* stream);

  /// `WholeRows` carries whole rows on chip where they fit; `make` gives the kernels of single layers where
  /// not. Rows at one of the `states` leave.
  template <class WholeRows>
  static std::unique_ptr<SdnnPlan> with(const SparseDnn& net, MakeKernels make,
                                        std::optional<AbsorbingStates> states = {}) {
    std::unique_ptr<TunedPlan> plan(new TunedPlan(net, {}, std::move(states)));
    plan->make_kernels<WholeRows>(make, make_window);
    return plan;
  }

  /// The same with at most `memory` bytes of the device's memory.
  template <class WholeRows>
  static std::unique_ptr<SdnnPlan> streamed(const SparseDnn& net, MakeKernels make, std::int64_t memory,
                                            MakeWindow windows = make_window) {
    std::unique_ptr<TunedPlan> plan(new TunedPlan(net, {memory}, {}));
    plan->make_kernels<WholeRows>(make, windows);
    static_cast<void>(
        plan->memory_->batches(empty_rows(kPanel, net.neurons), 0, net.layers()));  // refuses now
    return plan;
  }

  SdnnRun run(const Csr<float>& y, std::int64_t first, std::int64_t last) override {
    if (!bound_.streams()) return run_batch(y, first, last);
    const std::vector<std::int64_t> ends = memory_->batches(y, first, last);
    if (staged_) staged_->window().begin(first, last, static_cast<Index>(ends.size()));
    SdnnRun all =
        run_in_batches(y, ends, [&](const Csr<float>& batch) { return run_batch(batch, first, last); });
    all.streaming->memory = bound_.memory;
    all.streaming->window = net_.layers();
    if (staged_) {
      all.streaming->window = staged_->window().size();
      *all.streaming += staged_->window().copied();
    }
    return all;
  }

 private:
  TunedPlan(const SparseDnn& net, WindowBound bound, std::optional<AbsorbingStates> states)
      : net_(net), bound_(bound), states_(std::move(states)) {}

  template <class WholeRows>
  void make_kernels(MakeKernels make, MakeWindow windows) {
    if (WholeRows::fits(net_.neurons, limits_of_device())) {
      whole_rows_ = std::make_unique<WholeRows>(net_, stream_.get());
    } else {
      staged_ = make(net_, bound_, windows, stream_.get());
    }
    HeldWeights held{0, 0, net_.layers(), whole_rows_ != nullptr};
    if (whole_rows_) held.weights = whole_rows_->device_bytes();
    if (staged_) {
      const LayerWindow& window = staged_->window();
      held.weights += window.weights_bytes(), held.descriptions = window.description_bytes();
      held.layers = window.size();
    }
    memory_.emplace(net_, SdnnDeviceUse{limits_of_device(), bound_.memory, states_.has_value()}, held);
  }

  SdnnRun run_batch(const Csr<float>& y, std::int64_t first, std::int64_t last) {
    const Layout layout{net_.neurons, kPanel};
    const SdnnDeviceMemory needed = memory_->of_run(y.rows, y.nnz(), first, last);
    require_device_memory(needed.bytes() - needed.weights - needed.plan,
                          "sparse DNN: activations of " + std::to_string(y.rows) + " rows");
    void* const stream = stream_.get();
    State s{DeviceRows(y, stream),
            ActiveRows(y.rows, last - first, stream),
            DeviceArray<float>(layout.size(y.rows), "activations"),
            DeviceArray<float>(layout.size(y.rows), "activations"),
            DeviceMarks(last - first + 2),
            {},
            {}};
    if (states_) s.absorbed.emplace(*states_, y.rows, first, last, stream);
    // As many words as steady-state layers can need: nothing is allocated in the loop.
    if (!whole_rows_) {
      s.steady_active_bits =
          DeviceArray<unsigned>((last - first) * ceil_div(y.rows, kPanel), "bits of active rows");
      s.steady_zeros = DeviceArray<unsigned>((last - first) * steady_zeros(1, y.rows),
                                             "order of rows of steady-state layers");
      device_fill(s.steady_active_bits.data(), 0, static_cast<std::size_t>(s.steady_active_bits.bytes()),
                  stream);
      device_fill(s.steady_zeros.data(), 0, static_cast<std::size_t>(s.steady_zeros.bytes()), stream);
    }
    SdnnRun result;
    stream_.wait();

    const double start = now();
    s.marks.mark(stream);
    if (whole_rows_) {
      run_whole_rows(s, first, last);
    } else {
      staged_->begin_pass(first, last, stream);
      run_staged(s, first, last);
    }
    stream_.wait();
    result.seconds = now() - start;

    const std::vector<std::int32_t> counts = s.active.counts.read(last - first + 2, stream);
    result.active.assign(counts.begin() + 1, counts.end());
    result.layer_seconds = share_time(s.marks.seconds(), s.launches, result.active);
    const Index count = result.active.back();
    if (s.place != nullptr) {
      move_rows(s.in.data(), layout, s.place, count, s.out.data(), layout, stream);
      std::swap(s.in, s.out);
    }
    result.y = fetch_answer(s.in.data(), layout, s.active.ids.data(), count, y.rows, stream,
                            s.absorbed ? s.absorbed->at_cap(stream) : FinishedRows());
    if (s.absorbed) count_absorbed(result, s.absorbed->left(stream));
    return result;
  }

  struct State {
    DeviceRows inputs;
    ActiveRows active;
    DeviceArray<float> in, out;
    DeviceMarks marks;
    DeviceArray<unsigned> steady_active_bits, steady_zeros;
    std::vector<Index> launches = {};     // layers of each, in order
    const std::int32_t* place = nullptr;  // where the active rows of `in` lie; null: side by side
    DeviceNumber count;
    std::optional<AbsorbedRows> absorbed = {};

    [[nodiscard]] bool may_leave(Index l) const { return absorbed && absorbed->may_leave(l); }
    void add_launch(Index layers, void* stream) {
      launches.push_back(layers);
      marks.mark(stream);
    }
  };

  static constexpr Index kLookEvery = 4;   // launches, before the rows are few
  static constexpr Index kFirstPiece = 8;  // layers

  /// The ends of pieces of layers that would share one launch.
  class Pieces {
   public:
    explicit Pieces(const State& s)
        : looks_from_(s.absorbed ? std::optional(s.absorbed->from()) : std::nullopt) {}
    /// Of the piece that begins before layer l, which `rows` enter; at most at `end`.
    Index end_after(Index l, Index rows, Index end) {
      if (!looks_from_) return end;
      if (l < *looks_from_) return std::min(*looks_from_, end);
      length_ = rows == rows_ ? 2 * length_ : kFirstPiece;
      rows_ = rows;
      return std::min(l + length_, end);
    }

   private:
    std::optional<Index> looks_from_;
    Index length_ = 0, rows_ = -1;
  };

  /// The active inputs, listed, as panels in `in`.
  void densify(State& s) {
    s.active.list_inputs(s.inputs, stream_.get());
    if (s.inputs.distinct) {
      panel_inputs(s.inputs, s.active, net_.neurons, s.in.data(), stream_.get());
      return;
    }
    device_fill(s.in.data(), 0, static_cast<std::size_t>(s.in.bytes()), stream_.get());
    scatter_inputs(s.inputs, s.active, {net_.neurons, kPanel}, s.in.data(), stream_.get());
  }

  void run_whole_rows(State& s, Index first, Index last) {
    void* const stream = stream_.get();
    bool from_inputs = s.inputs.distinct && first < last;
    if (!from_inputs) densify(s);
    const Index on_chip = device_multiprocessors() * kTileRows;
    Index known = s.inputs.rows, before = known;  // rows entering some layer up to this one
    Pieces pieces(s);
    for (Index l = first; l < last;) {
      // `known` is one launch old. If rows continue to become inactive at the rate of the launch before, they
      // now fit, with half the room to spare. If not, a multiprocessor has more than one tile.
      const bool tail = known <= on_chip || 2 * known * known <= on_chip * before;
      // Writing out a tile and filling it again costs as much as one or two layers: three layers are run per
      // launch.
      const Index end = tail ? pieces.end_after(l, known, last) : std::min(last, l + 3);
      const TileSource source{from_inputs ? s.active.counts.data() : s.active.count(l - first),
                              from_inputs ? nullptr : s.in.data(),
                              from_inputs ? nullptr : s.active.ids.data(),
                              s.inputs.row_ptr.data(),
                              s.inputs.col.data(),
                              s.inputs.val.data()};
      if (!tail && l > first) s.count.fetch(s.active.count(l - first), stream);
      whole_rows_->run(l, end, tail || known <= 2 * on_chip ? Tiles::few : Tiles::many, source,
                       s.active.count(l - first), s.out.data(), s.active.ids_before.data(), stream);
      s.add_launch(end - l, stream);
      before = known;
      if (!tail && l > first) known = s.count.value();
      std::swap(s.in, s.out);
      std::swap(s.active.ids, s.active.ids_before);
      from_inputs = false;
      l = end;
      if (s.may_leave(l) && (tail || static_cast<Index>(s.launches.size()) % kLookEvery == 0))
        take_whole_rows(s, l - first, l);
      if (!tail || l == last) continue;
      known = s.active.read_count(l - first, stream);  // `pieces` are cut by it
      if (known > 0) continue;
      s.add_launch(last - l, stream);  // nothing is left to do
      break;
    }
  }

  /// Rows that enter layer l, `at` layers into the run, all active and side by side in `in`: those at an absorbing
  /// state leave, the others lie side by side again.
  void take_whole_rows(State& s, Index at, Index l) {
    void* const stream = stream_.get();
    std::int32_t* const count = s.active.count(at);
    std::int32_t* const rest = s.absorbed->rest();
    s.absorbed->take(l, s.in.data(), net_.neurons, count, ActiveBits::all_rows, s.active, stream);
    s.active.relist(count, rest, stream);
    compact_rows(s.in.data(), s.active.place.data(), rest, net_.neurons, s.out.data(), stream);
    std::swap(s.in, s.out);
    device_copy(count, rest, sizeof *count, stream);
  }

  void run_staged(State& s, Index first, Index last) {
    void* const stream = stream_.get();
    densify(s);
    Index known = s.inputs.rows, before = known;  // rows entering the layer just queued, and the one before
    Index held = known;                           // rows it leaves side by side: some may be inactive
    int calm =
        0;  // layers in a row, the last queued, before which less than a tenth of the rows became inactive
    Index l = first;
    const std::int32_t* lying = s.active.count(0);  // rows it reads
    for (; l < last && calm < 2; ++l) {
      s.count.fetch(s.active.count(l - first), stream);
      staged_->window().wait_for(l, l + 1, stream);
      staged_->run(l, s.in.data(), s.place, lying, s.out.data(), s.active.active_bits.data(), stream);
      staged_->window().release(l + 1, stream);
      before = known;
      known = s.count.value();               // entering this layer; read without a wait
      if (s.place != nullptr) held = known;  // that layer has put them side by side
      calm = l > first && known * 10 >= before * 9 ? calm + 1 : 0;
      // The rate at which rows became inactive in the layer before. Inactive rows are zeros, and stay zeros.
      const double active = static_cast<double>(known) * static_cast<double>(known) /
                            static_cast<double>(std::max<Index>(before, 1));
      const bool look = (l + 1 - first) % kLookEvery == 0 && s.may_leave(l + 1);
      if (l + 1 < last && calm < 2 && !look && active * staged_->listed_cost() > static_cast<double>(held)) {
        const Index words = ceil_div(s.inputs.rows, kRowsPerWord);
        count_active(s.active.active_bits.data(), words, 1, s.active.count(l - first + 1), stream);
        device_fill(s.active.active_bits.data(), 0, static_cast<std::size_t>(words) * sizeof(unsigned),
                    stream);
        s.place = nullptr;
      } else {
        if (look)
          s.absorbed->take(l + 1, s.out.data(), net_.neurons, lying, ActiveBits::set, s.active, stream);
        s.active.relist(lying, s.active.count(l - first + 1), stream);
        lying = s.active.count(l - first + 1);
        s.place = s.active.place.data();
      }
      std::swap(s.in, s.out);
      s.add_launch(1, stream);
    }
    run_steady_layers(s, first, l, last, known);
  }

  /// Layers [l, last), which not more than `known` rows enter.
  void run_steady_layers(State& s, Index first, Index l, Index last, Index known) {
    void* const stream = stream_.get();
    // Reading a tenth more rows than the active ones costs less than listing them after every layer; they are
    // listed now and then. Items are counted in 31 bits.
    const Index items = std::max<Index>(1, ceil_div(known, kPanel) * net_.neurons);
    const Index most = std::clamp<Index>((Index{1} << 31) / items, 1,
                                         std::min(kSteadyLayers, staged_->window().most_at_once()));
    Pieces pieces(s);
    while (l < last) {
      const Index rows = s.active.read_count(l - first, stream);
      if (rows == 0 || net_.neurons == 0) {  // no row becomes active again: counts are 0
        s.add_launch(last - l, stream);
        return;
      }
      const Index end = pieces.end_after(l, rows, std::min(last, l + most));
      run_steady(s, l - first, l, end, rows);
      s.add_launch(end - l, stream);
      l = end;
    }
  }

  static constexpr Index kSteadyLayers = 64;

  /// Layers [begin, end), `at` layers into the run, in one launch, which `rows` enter.
  void run_steady(State& s, Index at, Index begin, Index end, Index rows) {
    void* const stream = stream_.get();
    const Index words = ceil_div(rows, kPanel), layers = end - begin;
    unsigned* const active_bits = s.steady_active_bits.data() + at * ceil_div(s.inputs.rows, kPanel);
    compact_rows(s.in.data(), s.place, s.active.count(at), net_.neurons, s.out.data(), stream);
    staged_->window().wait_for(begin, end, stream);
    staged_->run_steady(begin, end, rows, s.out.data(), s.in.data(), active_bits,
                        s.steady_zeros.data() + at * steady_zeros(1, s.inputs.rows), stream);
    staged_->window().release(end, stream);
    if (layers % 2 == 0) std::swap(s.in, s.out);
    count_active(active_bits, words, layers, s.active.count(at + 1), stream);
    // The rows still have the numbers with which they entered `begin`.
    device_copy(s.active.active_bits.data(), active_bits + (layers - 1) * words,
                static_cast<std::size_t>(words) * sizeof(unsigned), stream);
    if (s.may_leave(end))
      s.absorbed->take(end, s.in.data(), net_.neurons, s.active.count(at), ActiveBits::set, s.active, stream);
    s.active.relist(s.active.count(at), s.active.count(at + layers), stream);
    s.place = s.active.place.data();
  }

  /// Turns times between marks into times of layers: the first includes the inputs' part; layers of one
  /// launch share its time in proportion to their active rows.
  static std::vector<double> share_time(const std::vector<double>& between,
                                        const std::vector<Index>& launches,
                                        const std::vector<std::int64_t>& active) {
    std::vector<double> by_layer;
    for (std::size_t i = 0; i < launches.size(); ++i) {
      const std::size_t begin = by_layer.size(), end = begin + static_cast<std::size_t>(launches[i]);
      double work = 0;
      for (std::size_t l = begin; l < end; ++l) work += static_cast<double>(active[l]);
      for (std::size_t l = begin; l < end; ++l)
        by_layer.push_back(work > 0 ? between[i] * static_cast<double>(active[l]) / work : 0);
    }
    return by_layer;
  }

  const SparseDnn& net_;
  WindowBound bound_;
  std::optional<AbsorbingStates> states_;
  DeviceStream stream_;
  std::unique_ptr<WholeRowKernels> whole_rows_;  // null: all layers are `staged_`
  std::unique_ptr<LayerKernels> staged_;         // null: all layers are `whole_rows_`
  std::optional<TunedMemory> memory_;            // once the kernels are made
};

}  // namespace sdnn
}  // namespace plumb
