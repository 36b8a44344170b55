#include "reference/models/sparse_dnn_equal_neurons.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <deque>
#include <future>
#include <memory>
#include <numeric>
#include <unordered_map>
#include <utility>

#include <omp.h>

#include "reference/models/sparse_dnn_parts.hpp"

namespace plumb {

namespace {

using Places = std::vector<std::int32_t>;

/// One layer, its inputs named by their places.
struct PlacedLayer {
  const Csr<float>& w;
  const Places& inputs;

  [[nodiscard]] std::int32_t begin(std::size_t j) const { return w.row_ptr[j]; }
  [[nodiscard]] std::int32_t end(std::size_t j) const { return w.row_ptr[j + 1]; }
  /// Input and weight of edge e as one number.
  [[nodiscard]] std::uint64_t edge(std::int32_t e) const {
    const auto at = static_cast<std::size_t>(e);
    const auto input = static_cast<std::uint32_t>(inputs[static_cast<std::size_t>(w.col[at])]);
    return input | std::uint64_t{std::bit_cast<std::uint32_t>(w.val[at])} << 32U;
  }
  [[nodiscard]] std::uint64_t hash(std::size_t j) const {
    constexpr std::uint64_t kFactor = 0x9E3779B97F4A7C15U;
    auto h = static_cast<std::uint64_t>(end(j) - begin(j));
    for (std::int32_t e = begin(j); e < end(j); ++e) {
      h = (h ^ edge(e)) * kFactor;
      h ^= h >> 32U;
    }
    return h;
  }
  [[nodiscard]] bool equal(std::size_t a, std::size_t b) const {
    if (end(a) - begin(a) != end(b) - begin(b)) return false;
    for (std::int32_t e = begin(a), f = begin(b); e < end(a); ++e, ++f) {
      if (edge(e) != edge(f)) return false;
    }
    return true;
  }
};

/// What is known of a layer's neurons: the place of each, and the first neuron of each place.
struct Found {
  Places place, first;
};

Found find_equal(const PlacedLayer& layer, std::uint64_t mask) {
  const auto n = static_cast<std::size_t>(layer.w.rows);
  std::vector<std::uint64_t> hashes(n);
#pragma omp parallel for schedule(static)
  for (std::size_t j = 0; j < n; ++j) hashes[j] = layer.hash(j) & mask;
  Found found{Places(n), {}};
  std::unordered_map<std::uint64_t, std::int32_t> latest;  // of a hash: the last place that has it
  Places before;                                           // of a place: the one before of the same hash
  for (std::size_t j = 0; j < n; ++j) {
    const auto [at, is_new] = latest.try_emplace(hashes[j], -1);
    std::int32_t p = at->second;
    while (p >= 0 && !layer.equal(static_cast<std::size_t>(found.first[static_cast<std::size_t>(p)]), j))
      p = before[static_cast<std::size_t>(p)];
    if (p < 0) {
      p = static_cast<std::int32_t>(found.first.size());
      found.first.push_back(static_cast<std::int32_t>(j));
      before.push_back(std::exchange(at->second, p));
    }
    found.place[j] = p;
  }
  return found;
}

/// The first neuron of each place, its inputs by their places.
Csr<float> of_different(const PlacedLayer& layer, const Places& first, std::int64_t inputs) {
  Csr<float> w;
  w.rows = static_cast<std::int64_t>(first.size());
  w.cols = inputs;
  for (const std::int32_t j : first) {
    const auto at = static_cast<std::size_t>(j);
    for (std::int32_t e = layer.begin(at); e < layer.end(at); ++e) {
      w.col.push_back(layer.inputs[static_cast<std::size_t>(layer.w.col[static_cast<std::size_t>(e)])]);
      w.val.push_back(layer.w.val[static_cast<std::size_t>(e)]);
    }
    w.row_ptr.push_back(static_cast<std::int32_t>(w.col.size()));
  }
  return w;
}

/// A network's layers in order. Those of a source are made ahead, one by each thread that can be started.
class LayersAhead {
 public:
  explicit LayersAhead(const SparseDnn& net) : net_(net) {}
  [[nodiscard]] std::shared_ptr<const Csr<float>> next() {
    const bool held = net_.source == nullptr;
    const std::size_t most = held ? 1 : static_cast<std::size_t>(omp_get_max_threads());
    for (; begun_ < net_.layers() && made_.size() < most; ++begun_) {
      made_.push_back(std::async(held ? std::launch::deferred : std::launch::async | std::launch::deferred,
                                 [this, l = begun_] { return net_.layer(l); }));
    }
    std::future<std::shared_ptr<const Csr<float>>> first = std::move(made_.front());
    made_.pop_front();
    return first.get();  // throws what it threw
  }

 private:
  const SparseDnn& net_;
  std::int64_t begun_ = 0;
  std::deque<std::future<std::shared_ptr<const Csr<float>>>> made_;
};

}  // namespace

MergedLayers merge_equal_neurons(const SparseDnn& net, int hash_bits) {
  const std::uint64_t mask = hash_bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << hash_bits) - 1;
  MergedLayers merged{&net, {net.neurons}, {Places(static_cast<std::size_t>(net.neurons))}, {}};
  std::iota(merged.place[0].begin(), merged.place[0].end(), 0);
  LayersAhead layers(net);
  for (std::int64_t l = 0; l < net.layers(); ++l) {
    const std::shared_ptr<const Csr<float>> w = layers.next();
    const PlacedLayer layer{*w, merged.place.back()};
    Found found = find_equal(layer, mask);
    const auto width = static_cast<std::int64_t>(found.first.size());
    const bool all_differ = width == net.neurons && merged.widths.back() == net.neurons;
    merged.made.emplace_back();
    if (!all_differ || net.source != nullptr)
      merged.made.back() = of_different(layer, found.first, merged.widths.back());
    merged.widths.push_back(width);
    merged.place.push_back(std::move(found.place));
  }
  return merged;
}

PlacesNetwork network_of_places(MergedLayers& merged) {
  const SparseDnn& all = *merged.net;
  const bool has_layers = !merged.made.empty();
  PlacesNetwork places{{all.neurons, all.bias, all.cap, {}}, all.neurons};
  if (has_layers) places.net.neurons = *std::max_element(merged.widths.begin() + 1, merged.widths.end());
  for (std::size_t l = 0; l < merged.made.size(); ++l) {
    std::optional<Csr<float>>& made = merged.made[l];
    if (!made) made = all.gather[l];
    Csr<float> w = std::move(*made);
    made.reset();
    w.rows = places.net.neurons;
    w.cols = l == 0 ? places.entry : places.net.neurons;
    w.row_ptr.resize(static_cast<std::size_t>(w.rows) + 1, w.row_ptr.back());
    places.net.gather.push_back(std::move(w));
  }
  return places;
}

Csr<float> rows_by_place(const Csr<float>& y, const std::vector<std::int32_t>& place, std::int64_t places) {
  Csr<float> some;
  some.rows = y.rows;
  some.cols = places;
  std::vector<std::int32_t> to(place.size(), -1);  // of a neuron that is the first of its place
  for (std::size_t j = 0, next = 0; j < place.size(); ++j) {
    if (place[j] != static_cast<std::int32_t>(next)) continue;
    to[j] = place[j];
    ++next;
  }
  for (std::size_t r = 0; r < static_cast<std::size_t>(y.rows); ++r) {
    for (auto k = static_cast<std::size_t>(y.row_ptr[r]); k < static_cast<std::size_t>(y.row_ptr[r + 1]);
         ++k) {
      const std::int32_t column = to[static_cast<std::size_t>(y.col[k])];
      if (column < 0) continue;
      some.col.push_back(column);
      some.val.push_back(y.val[k]);
    }
    some.row_ptr.push_back(static_cast<std::int32_t>(some.col.size()));
  }
  return some;
}

Csr<float> rows_by_neuron(const Csr<float>& y, const std::vector<std::int32_t>& place) {
  const auto neurons = static_cast<std::int64_t>(place.size());
  std::vector<sdnn::FinishedRows> parts(static_cast<std::size_t>(omp_get_max_threads()));
#pragma omp parallel
  {
    sdnn::FinishedRows& part = parts[static_cast<std::size_t>(omp_get_thread_num())];
    std::vector<float> row(static_cast<std::size_t>(y.cols), 0);
#pragma omp for schedule(static)
    for (std::int64_t r = 0; r < y.rows; ++r) {
      const auto begin = static_cast<std::size_t>(y.row_ptr[static_cast<std::size_t>(r)]);
      const auto end = static_cast<std::size_t>(y.row_ptr[static_cast<std::size_t>(r) + 1]);
      for (std::size_t k = begin; k < end; ++k) row[static_cast<std::size_t>(y.col[k])] = y.val[k];
      if (end > begin) {
        part.append(static_cast<std::int32_t>(r), neurons, [&](std::int64_t j) {
          return row[static_cast<std::size_t>(place[static_cast<std::size_t>(j)])];
        });
      }
      for (std::size_t k = begin; k < end; ++k) row[static_cast<std::size_t>(y.col[k])] = 0;
    }
  }
  return sdnn::build(parts, y.rows, neurons);
}

bool has_equal_values(const Csr<float>& y, const std::vector<std::int32_t>& place) {
  std::vector<std::size_t> first(place.size(), place.size());  // neuron of each place
  std::vector<std::size_t> like(place.size());                 // the first neuron of the same place
  for (std::size_t i = 0; i < place.size(); ++i) {
    std::size_t& of_place = first[static_cast<std::size_t>(place[i])];
    if (of_place == place.size()) of_place = i;
    like[i] = of_place;
  }
  bool equal = true;
#pragma omp parallel reduction(&& : equal)
  {
    std::vector<float> row(place.size(), 0);
#pragma omp for schedule(static)
    for (std::int64_t r = 0; r < y.rows; ++r) {
      const auto i = static_cast<std::size_t>(r);
      for (std::int32_t k = y.row_ptr[i]; k < y.row_ptr[i + 1]; ++k)
        row[static_cast<std::size_t>(y.col[k])] += y.val[k];  // repeats add up
      for (std::size_t j = 0; j < row.size(); ++j)
        equal = equal && std::bit_cast<std::uint32_t>(row[j]) == std::bit_cast<std::uint32_t>(row[like[j]]);
      for (std::int32_t k = y.row_ptr[i]; k < y.row_ptr[i + 1]; ++k)
        row[static_cast<std::size_t>(y.col[k])] = 0;
    }
  }
  return equal;
}

}  // namespace plumb
