// The fused GCN with one mistake each, for the tests that must see it.
#pragma once
#include "reference/models/gcn.hpp"

namespace plumb {
namespace gcn {

enum class Fault {
  none,
  edge_values_ignored,  // all ones
  relu_left_out,
  relu_loses_nan,             // max(x, 0) by a comparison that NaN fails the wrong way
  columns_beyond_sixteens,    // the last ones of a width that is no multiple of 16 are not written
  shared_memory_not_ordered,  // the epilogue reads a row before all lanes have written it
};

template <class T>
[[nodiscard]] GcnRun<T> run_with_fault(Fault fault, const Gcn<T>& net, GcnOrder order);

}  // namespace gcn
}  // namespace plumb
