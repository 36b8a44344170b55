#include "gpu/models/sparse_dnn/device_memory.hpp"

#include <algorithm>
#include <string>

#include "gpu/models/sparse_dnn/absorbing_rows.hpp"
#include "reference/models/sparse_dnn/streamed.hpp"

namespace plumb {
namespace sdnn {

DeviceLimits limits_of_device() { return {device_shared_bytes(), device_sm()}; }

TunedMemory::TunedMemory(const SparseDnn& net, const SdnnDeviceUse& use, const HeldWeights& held)
    : neurons_(net.neurons),
      layers_(net.layers()),
      bound_(use.memory),
      absorbing_(use.absorbing),
      held_(held) {}

SdnnDeviceMemory TunedMemory::of_run(Index rows, Index entries, Index first, Index last) const {
  const Index layers = last - first;
  SdnnDeviceMemory m;
  m.weights = held_.weights, m.plan = held_.descriptions;
  m.inputs = DeviceRows::device_bytes(rows, entries);
  m.panels = 2 * 4 * Layout{neurons_, kPanel}.size(rows);
  m.workspace = ActiveRows::device_bytes(rows, layers);
  if (absorbing_) m.workspace += AbsorbedRows::device_bytes(rows, layers);
  if (!held_.whole_rows) m.workspace += 4 * layers * (ceil_div(rows, kPanel) + steady_zeros(1, rows));
  m.answer = answer_bytes(neurons_, rows);
  m.window = held_.layers, m.batch = rows, m.batches = 1;
  return m;
}

std::vector<std::int64_t> TunedMemory::batches(const Csr<float>& y, Index first, Index last) const {
  const Index weights = held_.weights + held_.descriptions;
  return batches_within(
      y, bound_, weights, "weights of " + std::to_string(held_.layers) + " layers", kPanel,
      [&](Index rows, Index entries) { return of_run(rows, entries, first, last).bytes() - weights; });
}

SdnnDeviceMemory TunedMemory::of_all(const Csr<float>& y) const {
  if (bound_ == 0) return of_run(y.rows, y.row_ptr.back(), 0, layers_);
  SdnnDeviceMemory most;
  Index begin = 0, largest = 0;
  const std::vector<std::int64_t> ends = batches(y, 0, layers_);
  for (const std::int64_t end : ends) {
    const Index entries =
        y.row_ptr[static_cast<std::size_t>(end)] - y.row_ptr[static_cast<std::size_t>(begin)];
    const SdnnDeviceMemory m = of_run(end - begin, entries, 0, layers_);
    if (m.bytes() > most.bytes()) most = m;
    largest = std::max<Index>(largest, end - begin);
    begin = end;
  }
  most.batch = largest, most.batches = static_cast<Index>(ends.size());
  return most;
}

HeldWeights held_in_window(const SparseDnn& net, ShapeOfLayer shape, WindowBound bound) {
  const PiecePlaces places = layer_places(make_parts<PieceShape>(net, shape), bound);
  return {places.bytes, kDescriptionBytes * net.layers(), static_cast<Index>(places.begins.size()), false};
}

}  // namespace sdnn
}  // namespace plumb
