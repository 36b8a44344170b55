#include "reference/models/sparse_dnn/ranks.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "reference/core/csr.hpp"
#include "reference/core/error.hpp"
#include "reference/models/sparse_dnn/parts.hpp"

namespace plumb {

namespace {

using Ids = std::vector<std::int32_t>;

/// Every list of ids in a judgement, once.
template <class Judgement, class Visit>
void each_ids(Judgement& j, const Visit& visit) {
  visit(j.ids);
  visit(j.difference.missing);
  visit(j.difference.extra);
  visit(j.undecidable);
  if (!j.check) return;
  visit(j.check->undecidable);
  visit(j.check->decidable.missing);
  visit(j.check->decidable.extra);
  visit(j.check->unsteady);
}

/// Every number that is added up over ranks.
template <class Judgement, class Visit>
void each_sum(Judgement& j, const Visit& visit) {
  visit(j.sample);
  if (!j.check) return;
  visit(j.check->fp64_categories);
  visit(j.check->unsaturated);
}

constexpr const char* kJudgement = "judgement";

void send_judgement(Ranks& ranks, const SdnnJudgement& j) {
  std::vector<std::int64_t> numbers{j.check ? 1 : 0, static_cast<std::int64_t>(j.basis),
                                    j.answer_differs ? 1 : 0};
  each_sum(j, [&](std::int64_t n) { numbers.push_back(n); });
  std::vector<double> values;
  if (j.check) {
    const SdnnLayerVerdict& v = j.check->all;
    numbers.insert(numbers.end(),
                   {j.check->worst_layer, v.compared, v.misses, v.undecided_rows, v.row, v.neuron});
    values = {v.worst, v.got, v.want, v.low, v.high};
  }
  ranks.send(0, kJudgement, numbers);
  ranks.send(0, kJudgement, values);
  each_ids(j, [&](const Ids& ids) { ranks.send(0, kJudgement, ids); });
}

SdnnJudgement receive_judgement(Ranks& ranks, int from) {
  const auto numbers = ranks.receive<std::int64_t>(from, kJudgement);
  const auto values = ranks.receive<double>(from, kJudgement);
  auto number = numbers.begin();
  SdnnJudgement j;
  if (*number++ != 0) j.check.emplace();
  j.basis = static_cast<SdnnBasis>(*number++);
  j.answer_differs = *number++ != 0;
  each_sum(j, [&](std::int64_t& n) { n = *number++; });
  if (j.check) {
    SdnnLayerVerdict& v = j.check->all;
    for (std::int64_t* const n :
         {&j.check->worst_layer, &v.compared, &v.misses, &v.undecided_rows, &v.row, &v.neuron})
      *n = *number++;
    auto value = values.begin();
    for (double* const d : {&v.worst, &v.got, &v.want, &v.low, &v.high}) *d = *value++;
  }
  each_ids(j, [&](Ids& ids) { ids = ranks.receive<std::int32_t>(from, kJudgement); });
  return j;
}

/// From rows of a part to rows of the whole.
void shift_rows(SdnnJudgement& j, std::int64_t by) {
  each_ids(j, [&](Ids& ids) {
    for (std::int32_t& id : ids) id += static_cast<std::int32_t>(by);
  });
  if (j.check && j.check->all.row >= 0) j.check->all.row += by;
}

void merge(SdnnJudgement& all, const SdnnJudgement& part) {
  std::vector<const Ids*> more;
  each_ids(part, [&](const Ids& ids) { more.push_back(&ids); });
  auto ids_of_part = more.begin();
  each_ids(all, [&](Ids& ids) {
    ids.insert(ids.end(), (*ids_of_part)->begin(), (*ids_of_part)->end()), ++ids_of_part;
  });
  std::vector<std::int64_t> sums;
  each_sum(part, [&](std::int64_t n) { sums.push_back(n); });
  auto sum = sums.begin();
  each_sum(all, [&](std::int64_t& n) { n += *sum++; });
  all.answer_differs = all.answer_differs || part.answer_differs;
  if (!all.check) return;
  if (part.check->all.worst > all.check->all.worst) all.check->worst_layer = part.check->worst_layer;
  all.check->all.merge(part.check->all);
}

/// The ids of a list that are of rows [first, last), counted from the first of them.
Ids part_of_list(const Ids& list, std::int64_t first, std::int64_t last) {
  Ids part;
  for (const std::int32_t id : list) {
    if (id > first && id <= last) part.push_back(static_cast<std::int32_t>(id - first));
  }
  return part;
}

/// What of rank 0's expectation holds for this rank's part.
SdnnExpectation part_of(Ranks& ranks, const Cuts& cuts, const SdnnExpectation& all, std::int64_t ids_here) {
  std::int32_t has_list = all.has_list ? 1 : 0, check = all.check ? 1 : 0, has_count = all.count > 0 ? 1 : 0;
  for (std::int32_t* const flag : {&has_list, &check, &has_count})
    ranks.broadcast_value("expectation", *flag);
  SdnnExpectation mine;
  mine.check = check != 0;
  mine.has_list = has_list != 0;
  Ids list = all.list;
  ranks.broadcast("expectation", list);
  const auto r = static_cast<std::size_t>(ranks.rank());
  mine.list = part_of_list(list, cuts[r], cuts[r + 1]);
  // of a published count nothing follows for a part: rank 0 compares the sum
  if (has_count != 0) mine.count = std::max<std::int64_t>(ids_here, 1);
  return mine;
}

std::vector<std::int64_t> sum_of(const std::vector<std::vector<std::int64_t>>& all) {
  std::vector<std::int64_t> sum = all.at(0);
  for (std::size_t r = 1; r < all.size(); ++r) {
    for (std::size_t l = 0; l < sum.size(); ++l) sum[l] += all[r].at(l);
  }
  return sum;
}

std::vector<double> largest_of(const std::vector<std::vector<double>>& all) {
  std::vector<double> most = all.at(0);
  for (std::size_t r = 1; r < all.size(); ++r) {
    for (std::size_t l = 0; l < most.size(); ++l) most[l] = std::max(most[l], all[r].at(l));
  }
  return most;
}

}  // namespace

void broadcast_network(Ranks& ranks, SparseDnn& net) {
  constexpr const char* kWhat = "weights";
  ranks.broadcast_value(kWhat, net.neurons);
  ranks.broadcast_value(kWhat, net.bias);
  ranks.broadcast_value(kWhat, net.cap);
  std::int64_t layers = net.layers(), biases = static_cast<std::int64_t>(net.biases.size());
  ranks.broadcast_value(kWhat, layers);
  ranks.broadcast_value(kWhat, biases);
  net.gather.resize(static_cast<std::size_t>(layers));
  net.biases.resize(static_cast<std::size_t>(biases));
  for (Csr<float>& layer : net.gather) ranks.broadcast(kWhat, layer);
  for (std::vector<float>& layer : net.biases) ranks.broadcast(kWhat, layer);
}

Csr<float> scatter_rows(Ranks& ranks, const Csr<float>& all, Cuts& cuts) {
  ranks.broadcast("cuts", cuts);
  if (!ranks.is_root()) return ranks.receive_csr<float>(0, "inputs");
  for (std::size_t r = 1; r + 1 < cuts.size(); ++r)
    ranks.send(static_cast<int>(r), "inputs", slice_rows(all, cuts[r], cuts[r + 1]));
  return slice_rows(all, 0, cuts[1]);
}

Csr<float> gather_rows(Ranks& ranks, const Csr<float>& mine) {
  constexpr const char* kWhat = "answer";
  if (!ranks.is_root()) {
    ranks.send(0, kWhat, mine);
    return {};
  }
  Csr<float> all = mine;
  for (int r = 1; r < ranks.size(); ++r) {
    const Csr<float> part = ranks.receive_csr<float>(r, kWhat);
    if (all.nnz() + part.nnz() > std::numeric_limits<std::int32_t>::max())
      throw Error("sparse DNN: the answer has more than 2^31 - 1 non-zeros: run fewer inputs at a time");
    const std::int32_t before = all.row_ptr.back();
    for (std::size_t i = 1; i < part.row_ptr.size(); ++i) all.row_ptr.push_back(before + part.row_ptr[i]);
    all.col.insert(all.col.end(), part.col.begin(), part.col.end());
    all.val.insert(all.val.end(), part.val.begin(), part.val.end());
    all.rows += part.rows;
  }
  return all;
}

SdnnRanksRun run_over_ranks(Ranks& ranks, const Cuts& cuts, SdnnPlan& plan, const Csr<float>& mine,
                            std::int64_t layers) {
  ranks.meet("start");
  const double start = sdnn::now();
  SdnnRanksRun run{plan.run(mine, 0, layers), {}};
  Ids ids = categories(run.y);
  const auto first = static_cast<std::int32_t>(cuts[static_cast<std::size_t>(ranks.rank())]);
  for (std::int32_t& id : ids) id += first;
  for (const Ids& part : ranks.gather("ids", ids)) run.ids.insert(run.ids.end(), part.begin(), part.end());
  run.seconds = sdnn::now() - start;
  ranks.broadcast_value("seconds", run.seconds);
  const auto active = ranks.gather("active", run.active);
  const auto layer_seconds = ranks.gather("layer seconds", run.layer_seconds);
  if (ranks.is_root()) run.active = sum_of(active), run.layer_seconds = largest_of(layer_seconds);
  if (run.absorbed.empty()) return run;  // on every rank
  const auto absorbed = ranks.gather("absorbed", run.absorbed);
  if (ranks.is_root()) run.absorbed = sum_of(absorbed);
  return run;
}

SdnnRanksJudgement judge_over_ranks(Ranks& ranks, const Cuts& cuts, const SparseDnn& net, SdnnPlan& plan,
                                    const Csr<float>& mine, const SdnnRanksRun& run,
                                    const SdnnExpectation& expectation, const SdnnProgress& progress) {
  const auto here = static_cast<std::int64_t>(categories(run.y).size());
  const SdnnExpectation part = part_of(ranks, cuts, expectation, here);
  SdnnJudgement judged = judge_sdnn(net, plan, mine, run, part, progress);
  if (judged.basis == SdnnBasis::count) judged.answer_differs = false;
  if (!ranks.is_root()) {
    send_judgement(ranks, judged);
    return {};
  }
  SdnnRanksJudgement result;
  result.parts.push_back(std::move(judged));
  for (int r = 1; r < ranks.size(); ++r) {
    result.parts.push_back(receive_judgement(ranks, r));
    shift_rows(result.parts.back(), cuts[static_cast<std::size_t>(r)]);
  }
  result.all = result.parts[0];
  for (std::size_t r = 1; r < result.parts.size(); ++r) merge(result.all, result.parts[r]);
  if (result.all.ids != run.ids) throw Error("sparse DNN: rank 0 gathered other ids than the ranks judged");
  if (expectation.count > 0) {
    result.all.count = expectation.count;
    result.all.answer_differs = result.all.basis == SdnnBasis::count &&
                                static_cast<std::int64_t>(result.all.ids.size()) != expectation.count;
  }
  return result;
}

std::vector<RankNeeds> needs_over_ranks(const SparseDnn& net, const Csr<float>& images, int ranks,
                                        const SdnnRunBytes& run) {
  TrafficModel once(ranks), each_run(ranks);
  std::int64_t weights = 0;
  for (const Csr<float>& layer : net.gather) {
    once.broadcast_value(8), once.broadcast_value(8);  // rows, columns
    for (const std::int64_t count : {layer.rows + 1, layer.nnz(), layer.nnz()})
      once.broadcast_vector(4 * count);
    weights += bytes_of(layer);
  }
  for (const std::vector<float>& layer : net.biases) {
    once.broadcast_vector(static_cast<std::int64_t>(4 * layer.size()));
    weights += static_cast<std::int64_t>(4 * layer.size());
  }
  const Cuts cuts = cut_evenly(images.rows, ranks);
  std::vector<RankNeeds> needs(static_cast<std::size_t>(ranks));
  for (int r = 0; r < ranks; ++r) {
    RankNeeds& rank = needs[static_cast<std::size_t>(r)];
    rank.first = cuts[static_cast<std::size_t>(r)];
    rank.rows = cuts[static_cast<std::size_t>(r) + 1] - rank.first;
    const std::int64_t entries = images.row_ptr[rank.first + rank.rows] - images.row_ptr[rank.first];
    const std::int64_t own = 4 * (rank.rows + 1) + 8 * entries;
    const std::int64_t answers =
        images.rows > 0
            ? static_cast<std::int64_t>(static_cast<double>(run.answers) * static_cast<double>(rank.rows) /
                                        static_cast<double>(images.rows))
            : 0;
    rank.memory = weights + own + run.plan + answers;
    if (r == 0) rank.memory = std::max(rank.memory, weights + run.making);
    if (r == 0 && ranks > 1) rank.memory = std::max(rank.memory, weights + bytes_of(images) + own);
    if (r > 0) once.send_csr(0, r, rank.rows, entries, 4);
    if (r > 0) each_run.send_vector(r, 0, 0);
  }
  for (int r = 0; r < ranks; ++r)
    needs[static_cast<std::size_t>(r)].once = once.of(r),
    needs[static_cast<std::size_t>(r)].each_run = each_run.of(r);
  return needs;
}

}  // namespace plumb
