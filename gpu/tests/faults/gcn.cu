// The fused GCN's kernel, wrong on purpose: each policy replaces one line.
#include "gpu/models/gcn/devices.hpp"
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

struct ArrivalNotAwaited : Faithful {
  static void wait_arrived(const DeviceEvent&, void*) {}
};
struct SentBeforeComputed : Faithful {
  static void wait_computed(const DeviceEvent&, void*) {}
};
struct PassNotAwaited : Faithful {
  static void wait_begun(const DeviceEvent&, void*) {}
};
struct OffByOneRow : Faithful {
  static Index place(Index row) { return row + 1; }
};
struct LayerBefore : Faithful {
  static Index operand(Index l) { return l > 0 ? l - 1 : l; }
};
struct APackTooNarrow : Faithful {
  template <class T>
  static Index width(Index ld) {
    return ld - Pack<T>::kV;
  }
};

template <class Exchange, class T>
GcnRun<T> on_devices(const Gcn<T>& net, GcnOrder order, int count) {
  return execute_on_devices<Fused<T>, T, Exchange>(net, order, count).run;
}

}  // namespace

template <class T>
GcnRun<T> run_with_fault(ExchangeFault fault, const Gcn<T>& net, GcnOrder order, int count) {
  switch (fault) {
    case ExchangeFault::none:
      break;
    case ExchangeFault::arrival_not_awaited:
      return on_devices<ArrivalNotAwaited>(net, order, count);
    case ExchangeFault::sent_before_computed:
      return on_devices<SentBeforeComputed>(net, order, count);
    case ExchangeFault::pass_not_awaited:
      return on_devices<PassNotAwaited>(net, order, count);
    case ExchangeFault::off_by_one_row:
      return on_devices<OffByOneRow>(net, order, count);
    case ExchangeFault::layer_before:
      return on_devices<LayerBefore>(net, order, count);
    case ExchangeFault::a_pack_too_narrow:
      return on_devices<APackTooNarrow>(net, order, count);
  }
  return on_devices<Faithful>(net, order, count);
}

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

template GcnRun<float> run_with_fault(ExchangeFault, const Gcn<float>&, GcnOrder, int);
template GcnRun<float> run_with_fault<float>(Fault, const Gcn<float>&, GcnOrder);

}  // namespace gcn
}  // namespace plumb
