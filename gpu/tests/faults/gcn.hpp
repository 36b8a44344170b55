// The fused GCN with one mistake each, for the tests that must see it.
#pragma once
#include <cstdint>
#include <vector>

#include "reference/models/gcn/gcn.hpp"

namespace plumb {
namespace gcn {

enum class Fault {
  none,
  edge_values_ignored,   // all ones
  rows_not_scaled,       // where A's values follow from the degrees
  scaled_as_row_before,  // the same
  relu_left_out,
  relu_loses_nan,             // max(x, 0) by a comparison that NaN fails the wrong way
  columns_beyond_sixteens,    // the last ones of a width that is no multiple of 16 are not written
  shared_memory_not_ordered,  // the epilogue reads a row before all lanes have written it
};

/// Of the exchange between devices.
enum class ExchangeFault {
  none,
  arrival_not_awaited,   // a device goes on before the others' rows are there
  sent_before_computed,  // rows are copied while they are still written
  pass_not_awaited,      // rows of the next inference overwrite those that the last one may still read
  off_by_one_row,        // rows arrive one place further down
  layer_before,          // the buffer of the layer before is sent
  a_pack_too_narrow,     // the last columns are not sent
};

/// Of copies within bounded memory.
enum class CopyFault {
  none,
  arrival_not_awaited,          // a piece is read before it is there
  overwritten_before_computed,  // a piece is overwritten while it may still be read
  stored_before_computed,       // rows go to the host while they are still written
  buffer_reused,                // rows are overwritten before they are on the host
  read_before_on_host,          // the next layer reads rows before they are on the host
  last_block_too_wide,          // the last block of columns has as many as the others
  last_block_too_narrow,        // or a pack fewer than it has
};
/// Within `memory` bytes, with copies that are wrong in one place.
[[nodiscard]] GcnRun<float> run_with_fault(CopyFault fault, const Gcn<float>& net, GcnOrder order,
                                           std::int64_t memory);

/// On `count` devices, whose copies and waits are wrong in one place.
template <class T>
[[nodiscard]] GcnRun<T> run_with_fault(ExchangeFault fault, const Gcn<T>& net, GcnOrder order, int count);

template <class T>
[[nodiscard]] GcnRun<T> run_with_fault(Fault fault, const Gcn<T>& net, GcnOrder order);

/// Whether A's entries, and the numbers of scales beside their columns, are the same after DeviceRows and after QuadRows.
[[nodiscard]] bool device_places_as_host(const Csr<double>& a, bool values,
                                         const std::vector<double>& scales);

/// The form of each layer that measured times shall say is the fastest, where a layer has it.
enum class FastestForm { with_next, alone, composed, with_next_stored, alone_stored, another_on_each_device };
/// As on GPUs, whose clocks choose the forms; on one device where `count` is 0.
template <class T>
[[nodiscard]] GcnRun<T> run_with_form(FastestForm form, const Gcn<T>& net, GcnOrder order, int count);

}  // namespace gcn
}  // namespace plumb
