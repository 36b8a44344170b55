// Rows at an absorbing state leave a run on the device: found by comparing every value, listed apart, and put into the
// answer on the host (reference/models/sparse_dnn/absorbing.hpp says which layers leave such rows as they are).
#pragma once
#include <cstdint>
#include <vector>

#include "gpu/models/sparse_dnn/layer_kernels.hpp"
#include "reference/models/sparse_dnn/absorbing.hpp"

namespace plumb {
namespace sdnn {

/// Where the bits of active rows come from.
enum class ActiveBits {
  set,       // the last layer has set them
  all_rows,  // every row is active
};

/// The rows that leave one run of layers [first, last).
class AbsorbedRows {
 public:
  AbsorbedRows(const AbsorbingStates& states, Index rows, Index first, Index last, void* stream);
  [[nodiscard]] static Index device_bytes(Index rows, Index layers);

  /// The first layer before which a row may leave; `last`: none does.
  [[nodiscard]] Index from() const { return from_; }
  [[nodiscard]] bool may_leave(Index l) const { return l >= from_ && l < last_; }

  /// Rows [0, *count) of y, panels of `neurons` lines, enter layer l; active.ids are their ids. Clears the bits of those
  /// that leave in active.active_bits, which a relist() may follow.
  void take(Index l, const float* y, Index neurons, const std::int32_t* count, ActiveBits bits,
            ActiveRows& active, void* stream);

  /// A number for the use of who runs the layers: of the rows that did not leave.
  [[nodiscard]] std::int32_t* rest() const { return rest_.data(); }
  /// How many left before each layer of the run, and at its end, which is 0.
  [[nodiscard]] std::vector<std::int64_t> left(void* stream) const;
  /// Those that left at the cap; rows of zeros are not in an answer.
  [[nodiscard]] FinishedRows at_cap(void* stream) const;

 private:
  const AbsorbingStates& states_;
  Index first_, last_, from_;
  DeviceArray<unsigned> other_bits_;               // rows that are at no state; 0 between calls
  DeviceArray<std::int32_t> ids_at_cap_;           // in any order
  DeviceArray<std::int32_t> left_;                 // (layers + 1)
  DeviceArray<std::int32_t> count_at_cap_, rest_;  // (1)
};

}  // namespace sdnn
}  // namespace plumb
