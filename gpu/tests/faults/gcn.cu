// The fused GCN's kernel, wrong on purpose: each fault replaces one line.
#include <atomic>
#include <optional>

#include "gpu/models/gcn/devices.hpp"
#include "gpu/models/gcn/fused.hpp"
#include "gpu/models/gcn/streamed.hpp"
#include "gpu/tests/faults/gcn.hpp"

namespace plumb {
namespace gcn {

namespace {

// What is wrong in the run under way: asked at run time, so that the pipelines are compiled once and not once for each fault.
Fault planted = Fault::none;
ExchangeFault planted_exchange = ExchangeFault::none;
std::optional<FastestForm> planted_form;
std::atomic<int> timed{0};

struct FaultyKernel : Unmodified {
  PLUMB_SIMT_UNTRACKED static bool has(Fault fault) { return planted == fault; }
  template <class T>
  PLUMB_DEVICE static T edge(T value) {
    if (has(Fault::edge_values_ignored)) return value == T(0) ? T(0) : T(1);
    return Unmodified::edge(value);
  }
  template <class T>
  PLUMB_DEVICE static T scale(const T* scales, Index row) {
    if (has(Fault::rows_not_scaled)) return T(1);
    if (has(Fault::scaled_as_row_before) && row > 0) return Unmodified::scale(scales, row - 1);
    return Unmodified::scale(scales, row);
  }
  template <class T>
  PLUMB_DEVICE static T relu(T x) {
    if (has(Fault::relu_left_out)) return x;
    if (has(Fault::relu_loses_nan)) return x > T(0) ? x : T(0);
    return Unmodified::relu(x);
  }
  PLUMB_HOST_DEVICE static int columns(int all) {
    return has(Fault::columns_beyond_sixteens) ? all / 16 * 16 : Unmodified::columns(all);
  }
  static bool chooses() { return planted_form.has_value(); }
  static double seconds_of(int form, double) {
    if (*planted_form == FastestForm::another_on_each_device) return 1 + (form + timed++) % 5;
    return form == static_cast<int>(*planted_form) ? 1 : 2;
  }
  PLUMB_DEVICE static void sync() {
    if (!has(Fault::shared_memory_not_ordered)) Unmodified::sync();
  }
};

struct FaultyExchange : Faithful {
  static bool has(ExchangeFault fault) { return planted_exchange == fault; }
  static void wait_arrived(const DeviceEvent& event, void* stream) {
    if (!has(ExchangeFault::arrival_not_awaited)) Faithful::wait_arrived(event, stream);
  }
  static void wait_computed(const DeviceEvent& event, void* stream) {
    if (!has(ExchangeFault::sent_before_computed)) Faithful::wait_computed(event, stream);
  }
  static void wait_begun(const DeviceEvent& event, void* stream) {
    if (!has(ExchangeFault::pass_not_awaited)) Faithful::wait_begun(event, stream);
  }
  static Index place(Index row) { return has(ExchangeFault::off_by_one_row) ? row + 1 : row; }
  static Index operand(Index l) { return has(ExchangeFault::layer_before) && l > 0 ? l - 1 : l; }
  template <class T>
  static Index width(Index ld) {
    return has(ExchangeFault::a_pack_too_narrow) ? ld - Pack<T>::kV : ld;
  }
};

class FaultyCopies final : public CopyRules {
 public:
  explicit FaultyCopies(CopyFault fault) : fault_(fault) {}
  void wait_arrived(const DeviceEvent& event, void* stream) const override {
    wait_unless(CopyFault::arrival_not_awaited, event, stream);
  }
  void wait_released(const DeviceEvent& event, void* stream) const override {
    wait_unless(CopyFault::overwritten_before_computed, event, stream);
  }
  void wait_computed(const DeviceEvent& event, void* stream) const override {
    wait_unless(CopyFault::stored_before_computed, event, stream);
  }
  void wait_stored(const DeviceEvent& event, void* stream) const override {
    wait_unless(CopyFault::buffer_reused, event, stream);
  }
  void wait_on_host(const DeviceEvent& event, void* stream) const override {
    wait_unless(CopyFault::read_before_on_host, event, stream);
  }
  [[nodiscard]] Index width(Index begin, Index columns, Index all) const override {
    const Index width = CopyRules::width(begin, columns, all);
    if (begin == 0 || begin + width < all) return width;
    if (fault_ == CopyFault::last_block_too_wide) return columns;
    return fault_ == CopyFault::last_block_too_narrow ? width - Pack<float>::kV : width;
  }

 private:
  void wait_unless(CopyFault fault, const DeviceEvent& event, void* stream) const {
    if (fault_ != fault) event.wait(stream);
  }
  CopyFault fault_;
};

}  // namespace

GcnRun<float> run_with_fault(CopyFault fault, const Gcn<float>& net, GcnOrder order, std::int64_t memory) {
  planted = Fault::none;
  return run_streamed<float>(net, order, memory, launch_aggregate<float, FaultyKernel>, FaultyCopies(fault));
}

template <class T>
GcnRun<T> run_with_fault(ExchangeFault fault, const Gcn<T>& net, GcnOrder order, int count) {
  planted = Fault::none, planted_exchange = fault;
  return execute_on_devices<Fused<T, FaultyKernel>, T, FaultyExchange>(net, order,
                                                                       cut_by_entries(net.a.row_ptr, count))
      .run;
}

template <class T>
GcnRun<T> run_with_form(FastestForm form, const Gcn<T>& net, GcnOrder order, int count) {
  planted = Fault::none, planted_exchange = ExchangeFault::none, planted_form = form;
  using E = Fused<T, FaultyKernel>;
  GcnRun<T> run =
      count > 0
          ? execute_on_devices<E, T, FaultyExchange>(net, order, cut_by_entries(net.a.row_ptr, count)).run
          : execute<E, T>(net, order);
  planted_form.reset();
  return run;
}

template <class T>
GcnRun<T> run_with_fault(Fault fault, const Gcn<T>& net, GcnOrder order) {
  planted = fault;
  return execute<Fused<T, FaultyKernel>, T>(net, order);
}

bool device_places_as_host(const Csr<double>& a, bool values, const std::vector<double>& scales) {
  constexpr Index kPart = 128, kWidest = 4;
  const ColumnScales<double> columns(scales);
  const DeviceStream stream;
  const QuadRows<double> host(a, values, columns, kPart);
  const DeviceRows<double> device(a, values, columns, kWidest, kPart, stream.get());
  return device.col.read(device.col.size(), stream.get()) == host.col &&
         device.val.read(device.val.size(), stream.get()) == host.val;
}

template GcnRun<float> run_with_fault(ExchangeFault, const Gcn<float>&, GcnOrder, int);
template GcnRun<float> run_with_fault<float>(Fault, const Gcn<float>&, GcnOrder);
template GcnRun<float> run_with_form<float>(FastestForm, const Gcn<float>&, GcnOrder, int);

}  // namespace gcn
}  // namespace plumb
