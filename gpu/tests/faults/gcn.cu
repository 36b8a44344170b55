// The fused GCN's kernel, wrong on purpose: each policy replaces one line.
#include "gpu/models/gcn/fused.hpp"
#include "gpu/tests/faults/gcn.hpp"

namespace plumb {
namespace gcn {

namespace {

struct EdgeValuesIgnored : Unmodified {
  template <class T>
  PLUMB_DEVICE static T edge(T value) {
    return value == T(0) ? T(0) : T(1);
  }
};
struct ReluLeftOut : Unmodified {
  template <class T>
  PLUMB_DEVICE static T relu(T x) {
    return x;
  }
};
struct ReluLosesNan : Unmodified {
  template <class T>
  PLUMB_DEVICE static T relu(T x) {
    return x > T(0) ? x : T(0);
  }
};
struct ColumnsBeyondSixteens : Unmodified {
  PLUMB_HOST_DEVICE static int columns(int all) { return all / 16 * 16; }
};
struct SharedMemoryNotOrdered : Unmodified {
  PLUMB_DEVICE static void sync() {}
};

}  // namespace

template <class T>
GcnRun<T> run_with_fault(Fault fault, const Gcn<T>& net, GcnOrder order) {
  switch (fault) {
    case Fault::none:
      break;
    case Fault::edge_values_ignored:
      return execute<Fused<T, EdgeValuesIgnored>, T>(net, order);
    case Fault::relu_left_out:
      return execute<Fused<T, ReluLeftOut>, T>(net, order);
    case Fault::relu_loses_nan:
      return execute<Fused<T, ReluLosesNan>, T>(net, order);
    case Fault::columns_beyond_sixteens:
      return execute<Fused<T, ColumnsBeyondSixteens>, T>(net, order);
    case Fault::shared_memory_not_ordered:
      return execute<Fused<T, SharedMemoryNotOrdered>, T>(net, order);
  }
  return execute<Fused<T>, T>(net, order);
}

template GcnRun<float> run_with_fault<float>(Fault, const Gcn<float>&, GcnOrder);

}  // namespace gcn
}  // namespace plumb
