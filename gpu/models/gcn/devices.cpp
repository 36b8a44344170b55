// The GCN divided over devices, and its answers joined: the host's part.
#include "gpu/models/gcn/devices.hpp"

#include <omp.h>

#include <algorithm>

#include "reference/models/gcn/ranks.hpp"

namespace plumb {
namespace gcn {

namespace {

/// The rows of device `from` that the others gather.
template <class T>
std::vector<Route> routes_of(int from, const Cuts& cuts, const std::vector<GcnPart<T>>& parts) {
  std::vector<Route> routes;
  const auto f = static_cast<std::size_t>(from);
  for (std::size_t to = 0; to < parts.size(); ++to) {
    if (to == f) continue;
    const std::vector<std::int32_t>& others = parts[to].others;
    const auto begin = std::lower_bound(others.begin(), others.end(), cuts[f]),
               end = std::lower_bound(begin, others.end(), cuts[f + 1]);
    Route route{static_cast<int>(to), parts[to].net.a.rows + (begin - others.begin()), {begin, end}};
    for (std::int32_t& row : route.rows) row -= static_cast<std::int32_t>(cuts[f]);
    routes.push_back(std::move(route));
  }
  return routes;
}

template <class T>
void append_rows(Dense<T>& all, Dense<T>&& part) {
  all.rows += part.rows;
  all.cols = part.cols;
  all.data.insert(all.data.end(), part.data.begin(), part.data.end());
  part = {};
}

void keep_longest(GcnDeviceTimes& all, const GcnDeviceTimes& part) {
  all.repeats = part.repeats;
  for (double GcnDeviceTimes::*time :
       {&GcnDeviceTimes::plan, &GcnDeviceTimes::upload, &GcnDeviceTimes::kernels, &GcnDeviceTimes::resident,
        &GcnDeviceTimes::download, &GcnDeviceTimes::waiting})
    all.*time = std::max(all.*time, part.*time);
}

}  // namespace

template <class T>
std::vector<DeviceShare<T>> divide(const Gcn<T>& net, const Cuts& cuts, const GcnOrders& orders,
                                   DeviceTeam& team) {
  const int threads = std::max(1, omp_get_max_threads() / team.size());
  std::vector<GcnPart<T>> parts(static_cast<std::size_t>(team.size()));
  std::vector<DeviceShare<T>> shares(parts.size());
  team.run([&](int device) {
    omp_set_num_threads(threads);  // of this thread's teams: all work at once
    const auto d = static_cast<std::size_t>(device);
    // X does not change, so its rows are not exchanged: where A X is computed first, they are there from the start.
    parts[d] = part_of(net, cuts, device, orders.front() == GcnOrder::aggregate_first);
    team.meet();
    DeviceShare<T>& share = shares[d];
    share.first = cuts[d];
    share.routes = routes_of(device, cuts, parts);
    team.meet();
    share.net = std::move(parts[d].net);
    share.net.weights = net.weights, share.net.biases = net.biases;
    share.pieces = cut_by_entries(share.net.a.row_ptr, team.size() > 1 ? kExchangePieces : 1);
  });
  return shares;
}

template <class T>
GcnRun<T> join_rows(std::vector<GcnRun<T>>& runs) {
  GcnRun<T> all;
  all.hidden.resize(runs.front().hidden.size());
  all.steps = runs.front().steps;
  all.layers_from_degrees = runs.front().layers_from_degrees;
  for (GcnRun<T>& run : runs) {
    for (std::size_t l = 0; l < all.hidden.size(); ++l) append_rows(all.hidden[l], std::move(run.hidden[l]));
    append_rows(all.logits, std::move(run.logits));
    append_rows(all.log_softmax, std::move(run.log_softmax));
    for (std::size_t s = 0; s < all.steps.size(); ++s)
      all.steps[s].seconds = std::max(all.steps[s].seconds, run.steps.at(s).seconds);
    all.seconds = std::max(all.seconds, run.seconds);
    keep_longest(all.device, run.device);
  }
  return all;
}

template std::vector<DeviceShare<float>> divide(const Gcn<float>&, const Cuts&, const GcnOrders&,
                                                DeviceTeam&);
template std::vector<DeviceShare<double>> divide(const Gcn<double>&, const Cuts&, const GcnOrders&,
                                                 DeviceTeam&);
template GcnRun<float> join_rows(std::vector<GcnRun<float>>&);
template GcnRun<double> join_rows(std::vector<GcnRun<double>>&);

}  // namespace gcn
}  // namespace plumb
