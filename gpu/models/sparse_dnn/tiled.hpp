// The loop of the tuned pipelines: which kernels carry the rows through which layers. The host never waits for
// a layer before it queues the next: it learns the number of living rows one layer late, which costs at most one
// more launch.
#pragma once
#include <algorithm>
#include <memory>
#include <utility>

#include "gpu/models/sparse_dnn/layer_kernels.hpp"
#include "gpu/models/sparse_dnn/resident.hpp"

namespace plumb {
namespace sdnn {

class TiledPlan final : public SdnnPlan {
 public:
  /// `Resident` carries whole rows on chip where they fit; `make` gives the kernels of single layers where not.
  template <class Resident>
  static std::unique_ptr<SdnnPlan> with(const SparseDnn& net,
                                        std::unique_ptr<LayerKernels> (*make)(const SparseDnn&,
                                                                              void* stream)) {
    std::unique_ptr<TiledPlan> plan(new TiledPlan(net));
    if (Resident::fits(net)) {
      plan->resident_ = std::make_unique<Resident>(net, plan->stream_.get());
    } else {
      plan->staged_ = make(net, plan->stream_.get());
    }
    return plan;
  }

  SdnnRun run(const Csr<float>& y, std::int64_t first, std::int64_t last) override {
    const Layout layout{net_.neurons, kPanel};
    require_device_memory(8 * y.nnz() + state_bytes(layout, y.rows),
                          "sparse DNN: activations of " + std::to_string(y.rows) + " rows");
    void* const stream = stream_.get();
    State s{DeviceRows(y, stream),
            LivingRows(y.rows, last - first, stream),
            DeviceArray<float>(layout.size(y.rows), "activations"),
            DeviceArray<float>(layout.size(y.rows), "activations"),
            DeviceMarks(last - first + 2),
            {},
            {}};
    // As many words as settled layers can want: nothing is allocated in the loop.
    if (staged_) {
      s.settled_alive =
          DeviceArray<unsigned>((last - first) * ceil_div(y.rows, kPanel), "bits of living rows");
      s.settled_zeros =
          DeviceArray<unsigned>((last - first) * settled_zeros(1, y.rows), "order of settled rows");
      device_fill(s.settled_alive.data(), 0, static_cast<std::size_t>(s.settled_alive.bytes()), stream);
      device_fill(s.settled_zeros.data(), 0, static_cast<std::size_t>(s.settled_zeros.bytes()), stream);
    }
    SdnnRun result;
    stream_.wait();

    const double start = now();
    s.marks.mark(stream);
    if (resident_) {
      run_resident(s, layout, first, last);
    } else {
      run_staged(s, layout, first, last);
    }
    stream_.wait();
    result.seconds = now() - start;

    const std::vector<std::int32_t> counts = s.living.counts.read(last - first + 2, stream);
    result.alive.assign(counts.begin() + 1, counts.end());
    result.layer_seconds = share_time(s.marks.seconds(), s.launches, result.alive);
    const Index count = result.alive.back();
    if (s.place != nullptr) {
      move_rows(s.in.data(), layout, s.place, count, s.out.data(), layout, stream);
      std::swap(s.in, s.out);
    }
    result.y = fetch_answer(s.in.data(), layout, s.living.ids.data(), count, y.rows, stream);
    return result;
  }

 private:
  explicit TiledPlan(const SparseDnn& net) : net_(net) {}

  struct State {
    DeviceRows inputs;
    LivingRows living;
    DeviceArray<float> in, out;
    DeviceMarks marks;
    DeviceArray<unsigned> settled_alive, settled_zeros;
    std::vector<Index> launches = {};     // layers of each, in order
    const std::int32_t* place = nullptr;  // where the living rows of `in` lie; null: side by side
    DeviceNumber count;
  };

  /// The living inputs, listed, as panels in `in`.
  void densify(State& s, const Layout& layout) {
    s.living.list_inputs(s.inputs, stream_.get());
    if (s.inputs.distinct) {
      panel_inputs(s.inputs, s.living, net_.neurons, s.in.data(), stream_.get());
      return;
    }
    device_fill(s.in.data(), 0, static_cast<std::size_t>(s.in.bytes()), stream_.get());
    scatter_inputs(s.inputs, s.living, layout, s.in.data(), stream_.get());
  }

  void run_resident(State& s, const Layout& layout, Index first, Index last) {
    void* const stream = stream_.get();
    bool from_inputs = s.inputs.distinct && first < last;
    if (!from_inputs) densify(s, layout);
    const Index on_chip = device_multiprocessors() * kTileRows;
    Index known = s.inputs.rows, before = known;  // rows entering some layer up to this one
    for (Index l = first; l < last;) {
      // The number is a launch old: at the rate at which they died in the one before, they have come to fit since,
      // with half the room to spare. If not, a multiprocessor has more than one tile.
      const bool tail = known <= on_chip || 2 * known * known <= on_chip * before;
      // Written out and filled in again, a tile has cost as much as another layer or two: three are passed at once.
      const Index end = tail ? last : std::min(last, l + 3);
      const TileSource source{from_inputs ? s.living.counts.data() : s.living.count(l - first),
                              from_inputs ? nullptr : s.in.data(),
                              from_inputs ? nullptr : s.living.ids.data(),
                              s.inputs.row_ptr.data(),
                              s.inputs.col.data(),
                              s.inputs.val.data()};
      if (!tail && l > first) s.count.fetch(s.living.count(l - first), stream);
      resident_->run(l, end, tail || known <= 2 * on_chip ? Tiles::few : Tiles::many, source,
                     s.living.count(l - first), s.out.data(), s.living.ids_before.data(), stream);
      s.launches.push_back(end - l);
      s.marks.mark(stream);
      before = known;
      if (!tail && l > first) known = s.count.value();
      std::swap(s.in, s.out);
      std::swap(s.living.ids, s.living.ids_before);
      from_inputs = false;
      l = end;
    }
  }

  void run_staged(State& s, const Layout& layout, Index first, Index last) {
    void* const stream = stream_.get();
    densify(s, layout);
    Index known = s.inputs.rows, before = known;  // rows entering the layer just queued, and the one before
    Index held = known;                           // rows it leaves side by side: some may be dead
    int calm = 0;  // layers in a row, the last queued, before which less than a tenth of the rows died
    Index l = first;
    const std::int32_t* lying = s.living.count(0);  // rows it reads
    for (; l < last && calm < 2; ++l) {
      s.count.fetch(s.living.count(l - first), stream);
      staged_->run(l, s.in.data(), s.place, lying, s.out.data(), s.living.alive.data(), stream);
      before = known;
      known = s.count.value();               // entering this layer: no wait for it
      if (s.place != nullptr) held = known;  // which has put them side by side
      calm = l > first && known * 10 >= before * 9 ? calm + 1 : 0;
      // At the rate at which rows died in the layer before. The dead are zeros, and stay so.
      const double living = static_cast<double>(known) * static_cast<double>(known) /
                            static_cast<double>(std::max<Index>(before, 1));
      if (l + 1 < last && calm < 2 && living * staged_->listed_cost() > static_cast<double>(held)) {
        const Index words = ceil_div(s.inputs.rows, kRowsPerWord);
        count_living(s.living.alive.data(), words, 1, s.living.count(l - first + 1), stream);
        device_fill(s.living.alive.data(), 0, static_cast<std::size_t>(words) * sizeof(unsigned), stream);
        s.place = nullptr;
      } else {
        s.living.relist(lying, s.living.count(l - first + 1), stream);
        lying = s.living.count(l - first + 1);
        s.place = s.living.place.data();
      }
      std::swap(s.in, s.out);
      s.launches.push_back(1);
      s.marks.mark(stream);
    }
    // A tenth more rows than live costs less than listing them after every layer; now and then they are.
    // Their items are counted in 31 bits.
    const Index items = std::max<Index>(1, ceil_div(known, kPanel) * net_.neurons);
    const Index most = std::clamp<Index>((Index{1} << 31) / items, 1, kSettledLayers);
    for (; l < last; l = std::min(last, l + most)) {
      run_settled(s, l - first, l, std::min(last, l + most));
      s.launches.push_back(std::min(last, l + most) - l);
      s.marks.mark(stream);
    }
  }

  static constexpr Index kSettledLayers = 64;

  /// Layers [begin, end), `at` layers into the run, in one launch.
  void run_settled(State& s, Index at, Index begin, Index end) {
    void* const stream = stream_.get();
    const Index rows = s.living.read_count(at, stream);
    if (rows == 0 || net_.neurons == 0) return;  // and so it stays: counts are 0
    const Index words = ceil_div(rows, kPanel), layers = end - begin;
    unsigned* const alive = s.settled_alive.data() + at * ceil_div(s.inputs.rows, kPanel);
    settle_rows(s.in.data(), s.place, s.living.count(at), net_.neurons, s.out.data(), stream);
    staged_->run_settled(begin, end, rows, s.out.data(), s.in.data(), alive,
                         s.settled_zeros.data() + at * settled_zeros(1, s.inputs.rows), stream);
    if (layers % 2 == 0) std::swap(s.in, s.out);
    count_living(alive, words, layers, s.living.count(at + 1), stream);
    // The rows are still numbered as they were on entering `begin`.
    device_copy(s.living.alive.data(), alive + (layers - 1) * words,
                static_cast<std::size_t>(words) * sizeof(unsigned), stream);
    s.living.relist(s.living.count(at), s.living.count(at + layers), stream);
    s.place = s.living.place.data();
  }

  /// Times between marks as times of layers: the first holds the inputs' part too, and layers of one launch
  /// share its time by what lives in them.
  static std::vector<double> share_time(const std::vector<double>& between,
                                        const std::vector<Index>& launches,
                                        const std::vector<std::int64_t>& alive) {
    std::vector<double> by_layer;
    for (std::size_t i = 0; i < launches.size(); ++i) {
      const std::size_t begin = by_layer.size(), end = begin + static_cast<std::size_t>(launches[i]);
      double work = 0;
      for (std::size_t l = begin; l < end; ++l) work += static_cast<double>(alive[l]);
      for (std::size_t l = begin; l < end; ++l)
        by_layer.push_back(work > 0 ? between[i] * static_cast<double>(alive[l]) / work : 0);
    }
    return by_layer;
  }

  const SparseDnn& net_;
  DeviceStream stream_;
  std::unique_ptr<ResidentKernels> resident_;  // or
  std::unique_ptr<LayerKernels> staged_;
};

}  // namespace sdnn
}  // namespace plumb
