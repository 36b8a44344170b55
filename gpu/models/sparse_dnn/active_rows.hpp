// What the device pipelines of the sparse DNN share: the layout of activations, the upload of inputs, the
// search for active rows and their lists, the download of the answer. It stands apart from the pipelines
// because all of them need one correct compaction.
#pragma once
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "gpu/common/rung.hpp"
#include "gpu/device/resources.hpp"
#include "reference/core/error.hpp"
#include "reference/models/sparse_dnn/parts.hpp"
#include "reference/models/sparse_dnn/sparse_dnn.hpp"

namespace plumb {
namespace sdnn {

constexpr int kRowsPerWord = 32;  // rows whose activity one word of bits holds
constexpr int kThreads = 256;

/// Where element (row r, neuron j) lies: rows in panels of `panel`, feature-major within each. A panel of 1
/// row is row-major order; one panel of all rows is feature-major order.
struct Layout {
  Index neurons, panel;
  PLUMB_HOST_DEVICE Index row(Index r) const { return r / panel * (neurons * panel) + r % panel; }
  PLUMB_HOST_DEVICE Index at(Index r, Index j) const { return row(r) + j * panel; }
  /// Elements that `rows` rows take, the last panel whole.
  PLUMB_HOST_DEVICE Index size(Index rows) const { return (rows + panel - 1) / panel * panel * neurons; }
};

/// Inputs in device memory.
struct DeviceRows {
  Index rows = 0;
  bool distinct = false;  // columns of every row ascend: none is repeated
  DeviceArray<std::int32_t> row_ptr, col;
  DeviceArray<float> val;
  DeviceRows(const Csr<float>& y, void* stream);
  [[nodiscard]] static Index device_bytes(Index rows, Index entries) { return 4 * (rows + 1) + 8 * entries; }
};

/// Layers of weights in device memory, as the network holds them: row j of layer l gathers for neuron j.
struct DeviceWeights {
  DeviceWeights(const SparseDnn& net, void* stream);
  [[nodiscard]] const std::int32_t* row_ptr(Index l) const { return row_ptr_.data() + l * (neurons_ + 1); }
  [[nodiscard]] const std::int32_t* col(Index l) const {
    return col_.data() + first_[static_cast<std::size_t>(l)];
  }
  [[nodiscard]] const float* val(Index l) const { return val_.data() + first_[static_cast<std::size_t>(l)]; }

 private:
  Index neurons_;
  std::vector<Index> first_;  // (layers + 1): where a layer's entries begin
  DeviceArray<std::int32_t> row_ptr_, col_;
  DeviceArray<float> val_;
};

/// The active rows of a run: their ids, where each lies among the rows of the layer before, and how many
/// there are by layer, all in device memory. A layer sets bits in `active_bits`; list() turns them into lists.
struct ActiveRows {
  ActiveRows(Index rows, Index layers, void* stream);
  [[nodiscard]] static Index device_bytes(Index rows, Index layers);
  /// Lists the rows of `inputs` with a non-zero: those entering layer 0.
  void list_inputs(const DeviceRows& inputs, void* stream);
  /// Lists the rows whose bits layer l has set, in ascending order, and clears `active_bits` for the next
  /// layer.
  void list(Index l, void* stream);
  /// The same for the rows that `before` counts, with unchanged ids; `after` becomes the number of active
  /// rows.
  void relist(const std::int32_t* before, std::int32_t* after, void* stream);
  /// Rows entering layer l of this run; l == layers: rows at the end.
  [[nodiscard]] std::int32_t* count(Index l) { return counts.data() + l + 1; }
  [[nodiscard]] const std::int32_t* count(Index l) const { return counts.data() + l + 1; }
  [[nodiscard]] Index read_count(Index l, void* stream) const;

  DeviceArray<unsigned> active_bits;       // bit r % 32 of active_bits[r / 32], r a row of the layer at work
  DeviceArray<unsigned> active_bits_next;  // listed last; the next list() clears it and swaps it in
  DeviceArray<std::int32_t> ids, ids_before;
  DeviceArray<std::int32_t> place;   // of each active row among the rows before
  DeviceArray<std::int32_t> counts;  // (layers + 2): rows given; entering each layer; at the end

 private:
  void list_from(const std::int32_t* ids_in, const std::int32_t* before, std::int32_t* after, void* stream);
};

/// Adds the entries of the listed rows onto zeros; repeated columns add up.
void scatter_inputs(const DeviceRows& inputs, const ActiveRows& active, const Layout& layout,
                    float* y /* layout, zero */, void* stream);

/// to(r) = from(place[r]) for rows [0, count), any two layouts; place may be null: the same rows.
void move_rows(const float* from, const Layout& from_layout, const std::int32_t* place, Index count,
               float* to, const Layout& to_layout, void* stream);

/// z becomes its activation, in place, over rows [0, count); bits of rows with a non-zero are set.
void activate_rows(float* z, const Layout& layout, Index count, float bias, float cap, unsigned* active_bits,
                   void* stream);

/// Device memory that fetch_answer() takes for up to `rows` rows.
[[nodiscard]] Index answer_bytes(Index neurons, Index rows);

/// y(r) for rows [0, count), named by ids, with `more` rows, as one CSR (rows, neurons) on the host.
[[nodiscard]] Csr<float> fetch_answer(const float* y, const Layout& layout, const std::int32_t* ids,
                                      Index count, Index rows, void* stream, FinishedRows more = {});

}  // namespace sdnn
}  // namespace plumb
