// Orders neurons and edges for the tuned pipelines.
#include "gpu/models/sparse_dnn/neuron_tiles.hpp"

#include <algorithm>
#include <exception>
#include <numeric>

namespace plumb {
namespace sdnn {
namespace {

using Size = std::size_t;

std::int64_t degree(const Csr<float>& w, std::int32_t j) {
  return w.row_ptr[static_cast<Size>(j) + 1] - w.row_ptr[static_cast<Size>(j)];
}

/// The inputs of each neuron, ascending, each once.
struct InputSets {
  std::vector<std::int64_t> begin{0};
  std::vector<std::int32_t> input;

  explicit InputSets(const Csr<float>& w) {
    input.reserve(w.col.size());
    for (std::int64_t j = 0; j < w.rows; ++j) {
      const auto first = static_cast<std::ptrdiff_t>(input.size());
      input.insert(input.end(), w.col.begin() + w.row_ptr[static_cast<Size>(j)],
                   w.col.begin() + w.row_ptr[static_cast<Size>(j) + 1]);
      std::sort(input.begin() + first, input.end());
      input.erase(std::unique(input.begin() + first, input.end()), input.end());
      begin.push_back(static_cast<std::int64_t>(input.size()));
    }
  }
  [[nodiscard]] const std::int32_t* first(std::int32_t j) const {
    return input.data() + begin[static_cast<Size>(j)];
  }
  [[nodiscard]] const std::int32_t* last(std::int32_t j) const {
    return input.data() + begin[static_cast<Size>(j) + 1];
  }
  [[nodiscard]] bool equal(std::int32_t a, std::int32_t b) const {
    return std::equal(first(a), last(a), first(b), last(b));
  }
  [[nodiscard]] std::uint64_t hash(std::int32_t j) const {
    std::uint64_t h = 0xcbf29ce484222325U;
    for (const std::int32_t* p = first(j); p != last(j); ++p)
      h = (h ^ static_cast<std::uint64_t>(*p)) * 0x100000001b3U;
    return h;
  }
};

using Groups = std::vector<std::vector<std::int32_t>>;

/// Neurons with equal inputs, group by group; groups by their first neuron.
Groups groups_of_equal_inputs(const InputSets& sets, std::int64_t neurons) {
  std::vector<std::pair<std::uint64_t, std::int32_t>> by_hash;
  for (std::int32_t j = 0; j < neurons; ++j) by_hash.emplace_back(sets.hash(j), j);
  std::sort(by_hash.begin(), by_hash.end());
  Groups groups;
  for (Size i = 0; i < by_hash.size(); ++i) {
    const std::int32_t j = by_hash[i].second;
    const bool joins = i > 0 && by_hash[i - 1].first == by_hash[i].first && sets.equal(groups.back()[0], j);
    if (!joins) groups.emplace_back();
    groups.back().push_back(j);
  }
  std::sort(groups.begin(), groups.end());
  return groups;
}

/// Finds, among the groups that were not taken yet, the one that shares most inputs with a given group.
class NeighbourSearch {
 public:
  NeighbourSearch(const InputSets& sets, const Groups& groups, std::int64_t inputs)
      : sets_(sets),
        groups_(groups),
        readers_(static_cast<Size>(inputs)),
        taken_(groups.size(), 0),
        shared_(groups.size(), 0) {
    for (Size g = 0; g < groups.size(); ++g) {
      for (const std::int32_t* p = sets.first(groups[g][0]); p != sets.last(groups[g][0]); ++p)
        readers_[static_cast<Size>(*p)].push_back(static_cast<std::int32_t>(g));
    }
  }

  /// The group after `current` (-1: the first of all), which is then taken. Ties: the lowest number; where no
  /// group shares an input, the first that was not taken.
  std::int64_t take_after(std::int64_t current) {
    std::int64_t best = current >= 0 ? most_shared(static_cast<Size>(current)) : -1;
    if (best < 0) {
      while (taken_[next_free_] != 0) ++next_free_;
      best = static_cast<std::int64_t>(next_free_);
    }
    taken_[static_cast<Size>(best)] = 1;
    return best;
  }

 private:
  std::int64_t most_shared(Size current) {
    touched_.clear();
    const std::int32_t head = groups_[current][0];
    for (const std::int32_t* p = sets_.first(head); p != sets_.last(head); ++p) {
      for (const std::int32_t g : readers_[static_cast<Size>(*p)]) {
        if (taken_[static_cast<Size>(g)] != 0) continue;
        if (shared_[static_cast<Size>(g)]++ == 0) touched_.push_back(g);
      }
    }
    std::int64_t best = -1;
    for (const std::int32_t g : touched_) {
      const std::int32_t s = shared_[static_cast<Size>(g)];
      const std::int32_t most = best < 0 ? 0 : shared_[static_cast<Size>(best)];
      if (s > most || (s == most && g < best)) best = g;
    }
    for (const std::int32_t g : touched_) shared_[static_cast<Size>(g)] = 0;
    return best;
  }

  const InputSets& sets_;
  const Groups& groups_;
  std::vector<std::vector<std::int32_t>> readers_;  // groups, by input
  std::vector<std::uint8_t> taken_;
  std::vector<std::int32_t> shared_,
      touched_;  // inputs shared with the current group; groups that share some
  Size next_free_ = 0;
};

/// Orders neurons: those with equal inputs side by side, and after each such group the group that shares most
/// inputs with it.
std::vector<std::int32_t> order_by_inputs(const Csr<float>& w) {
  const InputSets sets(w);
  const Groups groups = groups_of_equal_inputs(sets, w.rows);
  std::vector<std::int32_t> order;
  order.reserve(static_cast<Size>(w.rows));
  const auto append = [&](const std::vector<std::int32_t>& group) {
    order.insert(order.end(), group.begin(), group.end());
  };
  if (static_cast<std::int64_t>(groups.size()) * 2 > w.rows) {  // few neurons share inputs: no search
    for (const auto& group : groups) append(group);
    return order;
  }
  NeighbourSearch search(sets, groups, w.cols);
  std::int64_t current = -1;
  for (Size step = 0; step < groups.size(); ++step) {
    current = search.take_after(current);
    append(groups[static_cast<Size>(current)]);
  }
  return order;
}

/// Appends a chunk: 32 lanes of 8 edges, all padding.
template <class Line>
void add_chunk(std::vector<Line>& line, std::vector<float>& value, Line padding) {
  line.insert(line.end(), kLanes * kChunk, padding);
  value.insert(value.end(), kLanes * kChunk, 0.0F);
}

/// Sets edge e of a lane, counted from chunk `chunk_begin` on.
template <class Line>
void set_edge(std::vector<Line>& line, std::vector<float>& value, std::int64_t chunk_begin, std::int64_t lane,
              std::int64_t e, Line to, float v) {
  const std::int64_t chunk = chunk_begin + e / kChunk, i = e % kChunk;
  line[static_cast<Size>((chunk * kLanes + lane) * kChunk + i)] = to;
  value[static_cast<Size>(((chunk * 2 + i / 4) * kLanes + lane) * 4 + i % 4)] = v;
}

}  // namespace

void make_in_parallel(std::int64_t count, const std::function<void(std::int64_t)>& work) {
  std::exception_ptr first;
#pragma omp parallel for schedule(dynamic)
  for (std::int64_t i = 0; i < count; ++i) {
    try {
      work(i);
    } catch (...) {
#pragma omp critical(plumb_sdnn_make)
      if (first == nullptr) first = std::current_exception();
    }
  }
  if (first != nullptr) std::rethrow_exception(first);
}

StagedNeuronTiles staged_neuron_tiles(const Csr<float>& gather) {
  StagedNeuronTiles b;
  b.neuron = order_by_inputs(gather);
  b.neuron.resize((b.neuron.size() + kLanes - 1) / kLanes * kLanes, -1);
  b.stage_begin.push_back(0);
  std::vector<std::int32_t> position(static_cast<Size>(gather.cols),
                                     -1);  // in the neuron tile's list of inputs
  std::vector<std::int32_t> inputs;
  std::vector<std::int64_t> filled;  // (stages, 32): edges that a lane has in a stage
  for (std::int64_t neuron_tile = 0; neuron_tile < b.neuron_tiles(); ++neuron_tile) {
    const std::int32_t* const neuron = b.neuron.data() + neuron_tile * kLanes;
    // Lanes in turn: inputs of one stage are of many lanes, so that each has about as many edges there.
    const auto each_edge = [&](auto&& work) {
      std::int64_t most = 0;
      for (int lane = 0; lane < kLanes; ++lane)
        if (neuron[lane] >= 0) most = std::max(most, degree(gather, neuron[lane]));
      for (std::int64_t e = 0; e < most; ++e) {
        for (int lane = 0; lane < kLanes; ++lane) {
          if (neuron[lane] < 0 || e >= degree(gather, neuron[lane])) continue;
          work(lane, static_cast<Size>(gather.row_ptr[static_cast<Size>(neuron[lane])] + e));
        }
      }
    };
    inputs.clear();
    each_edge([&](int, Size k) {
      std::int32_t& at = position[static_cast<Size>(gather.col[k])];
      if (at >= 0) return;
      at = static_cast<std::int32_t>(inputs.size());
      inputs.push_back(gather.col[k]);
    });
    const Size stages = (inputs.size() + kLines - 1) / kLines;
    filled.assign(stages * kLanes, 0);
    each_edge([&](int lane, Size k) {
      const auto line = static_cast<Size>(position[static_cast<Size>(gather.col[k])] / kLines);
      ++filled[line * kLanes + static_cast<Size>(lane)];
    });
    const Size first_stage = b.stages.size();
    for (Size s = 0; s < stages; ++s) {
      const std::int64_t most =
          *std::max_element(filled.begin() + static_cast<std::ptrdiff_t>(s * kLanes),
                            filled.begin() + static_cast<std::ptrdiff_t>((s + 1) * kLanes));
      const auto here = static_cast<std::int32_t>(std::min<Size>(kLines, inputs.size() - s * kLines));
      const auto chunks = static_cast<std::int32_t>((most + kChunk - 1) / kChunk);
      b.stages.push_back({static_cast<std::int32_t>(b.feature.size()), here,
                          static_cast<std::int32_t>(b.line.size() / (kLanes * kChunk)), chunks});
      b.feature.insert(b.feature.end(), inputs.begin() + static_cast<std::ptrdiff_t>(s * kLines),
                       inputs.begin() + static_cast<std::ptrdiff_t>(s * kLines) + here);
      for (std::int32_t c = 0; c < chunks; ++c) add_chunk(b.line, b.value, static_cast<std::uint8_t>(kLines));
    }
    std::fill(filled.begin(), filled.end(), 0);
    each_edge([&](int lane, Size k) {
      const std::int32_t at = position[static_cast<Size>(gather.col[k])], s = at / kLines;
      set_edge(b.line, b.value, b.stages[first_stage + static_cast<Size>(s)].chunk_begin, lane,
               filled[static_cast<Size>(s) * kLanes + static_cast<Size>(lane)]++,
               static_cast<std::uint8_t>(at % kLines), gather.val[k]);
    });
    for (const std::int32_t i : inputs) position[static_cast<Size>(i)] = -1;
    b.stage_begin.push_back(static_cast<std::int32_t>(b.stages.size()));
  }
  return b;
}

WholeRowNeuronTiles whole_row_neuron_tiles(const Csr<float>& gather) {
  WholeRowNeuronTiles b;
  // Pairs neurons that complement each other: the one with the fewest even inputs beside the one with the
  // most.
  std::vector<std::int32_t> by_even(static_cast<Size>(gather.rows));
  std::iota(by_even.begin(), by_even.end(), 0);
  std::vector<std::int64_t> even(by_even.size(), 0);
  for (std::int64_t j = 0; j < gather.rows; ++j) {
    for (std::int32_t k = gather.row_ptr[static_cast<Size>(j)]; k < gather.row_ptr[static_cast<Size>(j) + 1];
         ++k)
      even[static_cast<Size>(j)] += gather.col[static_cast<Size>(k)] % 2 == 0 ? 1 : 0;
  }
  std::stable_sort(by_even.begin(), by_even.end(), [&](std::int32_t x, std::int32_t y) {
    return even[static_cast<Size>(x)] < even[static_cast<Size>(y)];
  });
  const Size slots = (by_even.size() + kLanes - 1) / kLanes * kLanes;
  b.neuron.assign(slots, -1);
  for (Size low = 0, high = by_even.size(), pair = 0; low < high; ++pair) {
    const Size slot = pair / 4 * 8 + pair % 4;
    b.neuron[slot] = by_even[low++];
    if (low < high) b.neuron[slot + 4] = by_even[--high];
  }
  b.chunk_begin.push_back(0);
  const auto padding = static_cast<std::uint16_t>(gather.cols);
  for (Size first = 0; first < slots; first += kLanes) {
    std::int64_t most = 0;
    for (Size lane = 0; lane < kLanes; ++lane) {
      if (b.neuron[first + lane] >= 0) most = std::max(most, degree(gather, b.neuron[first + lane]));
    }
    const std::int64_t chunk_begin = b.chunk_begin.back();
    for (std::int64_t c = 0; c * kChunk < most; ++c) add_chunk(b.line, b.value, padding);
    for (Size lane = 0; lane < kLanes; ++lane) {
      const std::int32_t j = b.neuron[first + lane];
      if (j < 0) continue;
      std::int64_t e = 0;
      const std::int32_t leading = lane % 8 < 4 ? 0 : 1;  // even inputs first, or odd ones
      for (const std::int32_t parity : {leading, 1 - leading}) {
        for (std::int32_t k = gather.row_ptr[static_cast<Size>(j)];
             k < gather.row_ptr[static_cast<Size>(j) + 1]; ++k) {
          const std::int32_t input = gather.col[static_cast<Size>(k)];
          if (input % 2 != parity) continue;
          set_edge(b.line, b.value, chunk_begin, static_cast<std::int64_t>(lane), e++,
                   static_cast<std::uint16_t>(input), gather.val[static_cast<Size>(k)]);
        }
      }
    }
    b.chunk_begin.push_back(static_cast<std::int32_t>(b.line.size() / (kLanes * kChunk)));
  }
  return b;
}

SharedGroups shared_groups(const Csr<float>& gather) {
  const InputSets sets(gather);
  const std::vector<std::int32_t> order = order_by_inputs(gather);
  SharedGroups g;
  g.input_begin.push_back(0);
  for (Size i = 0; i < order.size();) {
    Size end = i + 1;
    while (end < order.size() && end - i < kGroup && sets.equal(order[i], order[end])) ++end;
    const std::int32_t* const first = sets.first(order[i]);
    const std::int32_t* const last = sets.last(order[i]);
    g.input.insert(g.input.end(), first, last);
    g.weight.resize(g.input.size() * kGroup, 0.0F);
    for (Size n = 0; n < kGroup; ++n) {
      const std::int32_t j = i + n < end ? order[i + n] : -1;
      g.neuron.push_back(j);
      if (j < 0) continue;
      for (std::int32_t k = gather.row_ptr[static_cast<Size>(j)];
           k < gather.row_ptr[static_cast<Size>(j) + 1]; ++k) {
        const auto at = std::lower_bound(first, last, gather.col[static_cast<Size>(k)]) - first;
        g.weight[(static_cast<Size>(g.input_begin.back()) + static_cast<Size>(at)) * kGroup + n] +=
            gather.val[static_cast<Size>(k)];
      }
    }
    g.input_begin.push_back(static_cast<std::int32_t>(g.input.size()));
    i = end;
  }
  return g;
}

namespace {

bool odd(std::int32_t i) { return i % 2 != 0; }

const std::int32_t* inputs_begin(const SharedGroups& groups, Size g) {
  return groups.input.data() + groups.input_begin[g];
}
Size inputs_count(const SharedGroups& groups, Size g) {
  return static_cast<Size>(groups.input_begin[g + 1] - groups.input_begin[g]);
}

/// Groups with few even inputs in the first half, with many in the second; in each half long groups first.
std::vector<Size> order_by_evenness(const SharedGroups& groups) {
  std::vector<Size> order(static_cast<Size>(groups.groups()));
  std::iota(order.begin(), order.end(), Size{0});
  const auto evenness = [&](Size g) {
    const std::int32_t* const input = inputs_begin(groups, g);
    const Size count = inputs_count(groups, g);
    return static_cast<double>(count - static_cast<Size>(std::count_if(input, input + count, odd))) /
           static_cast<double>(std::max<Size>(count, 1));
  };
  std::stable_sort(order.begin(), order.end(), [&](Size a, Size b) { return evenness(a) < evenness(b); });
  const auto middle = order.begin() + static_cast<std::ptrdiff_t>((order.size() + 1) / 2);
  const auto longer = [&](Size a, Size b) { return inputs_count(groups, a) > inputs_count(groups, b); };
  std::stable_sort(order.begin(), middle, longer);
  std::stable_sort(middle, order.end(), longer);
  return order;
}

/// Whether the group at a place of a neuron tile is from the first half of the order.
bool from_first_half(Size place) { return place % 4 < 2; }

/// The group at a place of the neuron tile that begins at `first` of the order; order.size(): none.
Size group_at(const std::vector<Size>& order, Size first, Size place) {
  const Size i = (first + place) / 4 * 2 + place % 2, half = (order.size() + 1) / 2;
  if (from_first_half(place)) return i < half ? order[i] : order.size();
  return half + i < order.size() ? order[half + i] : order.size();
}

/// Writes the inputs and weights of group g to its place in the steps: inputs of the parity that this half of
/// the order prefers come first. `order` is scratch.
void put_group(const SharedGroups& groups, Size g, Size place, GroupStep* steps, std::vector<Size>& order) {
  const std::int32_t* const input = inputs_begin(groups, g);
  order.resize(inputs_count(groups, g));
  std::iota(order.begin(), order.end(), Size{0});
  std::stable_partition(order.begin(), order.end(),
                        [&](Size k) { return odd(input[k]) == from_first_half(place); });
  for (Size e = 0; e < order.size(); ++e) {
    GroupStep& step = steps[e / kInputsPerStep];
    const Size u = e % kInputsPerStep, k = order[e];
    step.line[place][u] = input[k];
    for (Size n = 0; n < kGroup; ++n) {
      step.weight[u][n / 4 % 2][place][n / 8][n % 4] =
          groups.weight[(static_cast<Size>(groups.input_begin[g]) + k) * kGroup + n];
    }
  }
}

}  // namespace

GroupNeuronTiles group_neuron_tiles(const Csr<float>& gather) {
  constexpr Size kInputsPerCopy = kStepsPerCopy * kInputsPerStep;
  const SharedGroups groups = shared_groups(gather);
  const std::vector<Size> order = order_by_evenness(groups);
  GroupStep empty = {};
  for (auto& line : empty.line)
    std::fill(std::begin(line), std::end(line), static_cast<std::int32_t>(gather.cols));
  GroupNeuronTiles b;
  std::vector<Size> by_parity;
  for (Size first = 0; first < order.size(); first += kGroupsPerWarp) {
    std::vector<GroupStep>& stream = b.step[static_cast<Size>(b.neuron_tiles()) % kGroupWarps];
    const Size begin = stream.size();
    Size steps = 0;
    for (Size place = 0; place < kGroupsPerWarp; ++place) {
      const Size g = group_at(order, first, place);
      if (g == order.size()) continue;
      const Size copies = (inputs_count(groups, g) + kInputsPerCopy - 1) / kInputsPerCopy;
      steps = std::max(steps, copies * kStepsPerCopy);
    }
    stream.resize(begin + steps, empty);
    for (Size place = 0; place < kGroupsPerWarp; ++place) {
      const Size g = group_at(order, first, place);
      for (Size n = 0; n < kGroup; ++n)
        b.neuron.push_back(g < order.size() ? groups.neuron[g * kGroup + n] : -1);
      if (g < order.size()) put_group(groups, g, place, stream.data() + begin, by_parity);
    }
    b.steps.push_back(static_cast<std::int32_t>(steps));
  }
  return b;
}

}  // namespace sdnn
}  // namespace plumb
