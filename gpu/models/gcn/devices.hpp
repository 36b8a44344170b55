// The GCN on several devices of one process: its rows divided, one host thread and one execution for each device, the answers joined.
#pragma once
#include <memory>
#include <utility>
#include <vector>

#include "gpu/models/gcn/peers.hpp"
#include "reference/models/gcn/fused.hpp"
#include "reference/models/gcn/gcn.hpp"
#include "reference/parallel/ranks.hpp"

namespace plumb {
namespace gcn {

/// What one of several devices computes.
template <class T>
struct DeviceShare {
  Gcn<T> net;                 // a: (rows, rows + others'), renumbered
  Index first = 0;            // row of the whole network
  std::vector<Index> pieces;  // of its rows
  std::vector<Route> routes;  // to each other device
};

/// The network divided: device d has rows [cuts[d], cuts[d + 1]). The team's threads work on it.
template <class T>
[[nodiscard]] std::vector<DeviceShare<T>> divide(const Gcn<T>& net, const Cuts& cuts, const GcnOrders& orders,
                                                 DeviceTeam& team);

/// The rows of all devices one after the other; of times the longest.
template <class T>
[[nodiscard]] GcnRun<T> join_rows(std::vector<GcnRun<T>>& runs);

/// `E` on as many devices as there are parts between `cuts`, for one run: E(net, orders, peers), run(). `Exchange` as PeerRows takes it.
template <class E, class T, class Exchange = Faithful>
class OnDevices {
 public:
  explicit OnDevices(const Cuts& cuts)
      : cuts_(cuts),
        team_(*device_side, static_cast<int>(cuts.size()) - 1),
        peers_(cuts.size() - 1),
        executions_(peers_.size()),
        board_{team_,
               std::vector<PeerRows<T, Exchange>*>(peers_.size()),
               {},
               std::vector<double>(peers_.size())} {}
  OnDevices(const OnDevices&) = delete;
  OnDevices& operator=(const OnDevices&) = delete;
  ~OnDevices() {
    // A device's memory is released by its thread, when no other writes to it any more.
    team_.run([this](int d) { executions_[static_cast<std::size_t>(d)].reset(); });
    team_.run([this](int d) { peers_[static_cast<std::size_t>(d)].reset(); });
  }

  [[nodiscard]] GcnDevicesRun<T> run(const Gcn<T>& net, GcnOrder order) {
    const GcnOrders orders = orders_of(net, order);
    shares_ = divide(net, cuts_, orders, team_);
    std::vector<GcnRun<T>> runs(shares_.size());
    GcnDevicesRun<T> result;
    result.parts.resize(shares_.size());
    team_.run([&](int device) {
      const auto d = static_cast<std::size_t>(device);
      DeviceShare<T>& share = shares_[d];
      peers_[d] = std::make_unique<PeerRows<T, Exchange>>(board_, device, static_cast<Index>(orders.size()),
                                                          share.pieces, share.routes);
      executions_[d] = std::make_unique<E>(share.net, orders, peers_[d].get());
      runs[d] = executions_[d]->run();
      result.parts[d] = part_of_run(device, runs[d]);
    });
    result.run = join_rows(runs);
    return result;
  }

 private:
  [[nodiscard]] GcnDevicePart part_of_run(int device, const GcnRun<T>& run) const {
    const auto d = static_cast<std::size_t>(device);
    const Gcn<T>& net = shares_[d].net;
    GcnDevicePart part;
    part.name = device_side->name();
    part.first = shares_[d].first, part.rows = net.a.rows, part.entries = net.a.nnz();
    for (int other = 0; other < team_.size(); ++other) {
      if (other == device) continue;
      part.sent += peers_[d]->sent_to(other);
      part.received += peers_[static_cast<std::size_t>(other)]->sent_to(device);
    }
    part.times = run.device;
    part.peak_bytes = device_side->peak_bytes();
    part.direct = peers_[d]->direct();
    return part;
  }

  const Cuts cuts_;
  DeviceTeam team_;
  std::vector<DeviceShare<T>> shares_;
  // These two are made, used and released by the device's thread.
  std::vector<std::unique_ptr<PeerRows<T, Exchange>>> peers_;
  std::vector<std::unique_ptr<E>> executions_;
  PeerBoard<T, Exchange> board_;
};

/// For GcnPipeline.
template <class E, class T, class Exchange = Faithful>
GcnDevicesRun<T> execute_on_devices(const Gcn<T>& net, GcnOrder order, const Cuts& cuts) {
  return OnDevices<E, T, Exchange>(cuts).run(net, order);
}

}  // namespace gcn
}  // namespace plumb
