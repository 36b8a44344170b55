// The loop of the layer-by-layer pipelines: one layer for all active rows at a time; the host reads the
// number of active rows after each. The tuned pipelines never wait for the host.
#pragma once
#include <algorithm>
#include <utility>

#include "gpu/models/sparse_dnn/active_rows.hpp"

namespace plumb {
namespace sdnn {

/// How a layer reads rows of which some are inactive.
enum class Compaction {
  moved,   // the active rows are moved together first: for libraries, which take no list of rows
  listed,  // the layer gathers through active.place
};

class LayerByLayerPlan : public SdnnPlan {
 public:
  LayerByLayerPlan(const SparseDnn& net, Compaction compaction) : net_(net), compaction_(compaction) {}

  SdnnRun run(const Csr<float>& y, std::int64_t first, std::int64_t last) override {
    const Layout layout = layout_of(y.rows);
    require_device_memory(DeviceRows::device_bytes(y.rows, y.nnz()) + 2 * 4 * layout.size(y.rows) +
                              ActiveRows::device_bytes(y.rows, last - first) + extra_bytes(y.rows),
                          "sparse DNN: activations of " + std::to_string(y.rows) + " rows");
    void* const stream = stream_.get();
    const DeviceRows inputs(y, stream);
    ActiveRows active(y.rows, last - first, stream);
    DeviceArray<float> in(layout.size(y.rows), "activations"), out(layout.size(y.rows), "activations");
    begin(layout, y.rows);
    SdnnRun result;
    stream_.wait();

    const double start = now();
    active.list_inputs(inputs, stream);
    device_fill(in.data(), 0, static_cast<std::size_t>(in.bytes()), stream);
    scatter_inputs(inputs, active, layout, in.data(), stream);
    Index count = active.read_count(0, stream);
    const std::int32_t* place = nullptr;  // the rows of `in` are the active ones
    for (Index l = first; l < last; ++l) {
      const double clock = now();
      result.active.push_back(count);
      if (count > 0) layer(l, layout, in.data(), place, count, out.data(), active.active_bits.data());
      active.list(l - first, stream);
      const Index left = active.read_count(l - first + 1, stream);
      if (compaction_ == Compaction::listed) {
        std::swap(in, out);
        place = active.place.data();
      } else if (left < count) {
        move_rows(out.data(), layout, active.place.data(), left, in.data(), layout, stream);
      } else {
        std::swap(in, out);
      }
      count = left;
      result.layer_seconds.push_back(now() - clock);
    }
    stream_.wait();
    result.seconds = now() - start;

    result.active.push_back(count);
    if (place != nullptr) {
      move_rows(in.data(), layout, place, count, out.data(), layout, stream);
      std::swap(in, out);
    }
    result.y = fetch_answer(in.data(), layout, active.ids.data(), count, y.rows, stream);
    return result;
  }

 protected:
  [[nodiscard]] virtual Layout layout_of(Index rows) const = 0;
  /// Device memory beside inputs and activations.
  [[nodiscard]] virtual Index extra_bytes(Index) const { return 0; }
  /// What may be allocated before the loop.
  virtual void begin(const Layout&, Index /*rows*/) {}
  /// out(r) = layer l of in(place[r]), or of in(r) where place is null, r in [0, count); bits of rows with a
  /// non-zero are set.
  virtual void layer(Index l, const Layout& layout, const float* in, const std::int32_t* place, Index count,
                     float* out, unsigned* active_bits) = 0;

  const SparseDnn& net_;
  DeviceStream stream_;

 private:
  Compaction compaction_;
};

}  // namespace sdnn
}  // namespace plumb
