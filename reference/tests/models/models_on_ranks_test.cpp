// Models over ranks: the same answer as one rank's, each part judged, and faults of communication found.
#include <cmath>
#include <mutex>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "reference/core/csr.hpp"
#include "reference/core/error.hpp"
#include "reference/models/gcn/judge.hpp"
#include "reference/models/gcn/metis.hpp"
#include "reference/models/gcn/ranks.hpp"
#include "reference/models/sparse_dnn/drawn.hpp"
#include "reference/models/sparse_dnn/ranks.hpp"
#include "reference/tests/models/faulty_transport.hpp"
#include "reference/tests/models/random_gcn.hpp"
#include "reference/tests/models/thread_ranks.hpp"

namespace {

using namespace plumb;
using plumb::test::faultless;
using plumb::test::MakeTransport;
using plumb::test::MessageFault;
using plumb::test::on_ranks;
using plumb::test::with_fault;

constexpr int kCounts[] = {1, 2, 3, 4, 7};

// ---- sparse DNN ----

struct SdnnOutcome {
  std::string error;
  Csr<float> y;
  std::vector<std::int32_t> ids;
  SdnnRanksJudgement judged;
};

/// A plan whose values all have the other sign.
class WrongPlan final : public SdnnPlan {
 public:
  explicit WrongPlan(SdnnPlan& plan) : plan_(plan) {}
  SdnnRun run(const Csr<float>& y, std::int64_t first, std::int64_t last) override {
    SdnnRun run = plan_.run(y, first, last);
    for (float& v : run.y.val) v = -v;
    return run;
  }

 private:
  SdnnPlan& plan_;
};

SdnnOutcome sdnn_on(int count, const SparseDnn& net, const Csr<float>& images,
                    const SdnnExpectation& expectation, int wrong_rank = -1,
                    const MakeTransport& make = faultless) {
  SdnnOutcome outcome;
  outcome.error = on_ranks(
      count,
      [&](Ranks& ranks) {
        SparseDnn mine = ranks.is_root() ? net : SparseDnn{};
        broadcast_network(ranks, mine);
        Cuts cuts = cut_evenly(images.rows, count);
        const Csr<float> part = scatter_rows(ranks, ranks.is_root() ? images : Csr<float>{}, cuts);
        const std::unique_ptr<SdnnPlan> right = kSdnnCacheBlocked.plan(mine);
        WrongPlan wrong(*right);
        SdnnPlan& plan = ranks.rank() == wrong_rank ? static_cast<SdnnPlan&>(wrong) : *right;
        const SdnnRanksRun run = run_over_ranks(ranks, cuts, plan, part, mine.layers());
        Csr<float> all = gather_rows(ranks, run.y);
        SdnnRanksJudgement judged = judge_over_ranks(ranks, cuts, mine, plan, part, run, expectation);
        if (!ranks.is_root()) return;
        outcome.y = std::move(all), outcome.ids = run.ids, outcome.judged = std::move(judged);
      },
      make);
  return outcome;
}

bool same(const Csr<float>& a, const Csr<float>& b) {
  return a.rows == b.rows && a.cols == b.cols && a.row_ptr == b.row_ptr && a.col == b.col &&
         digest_of(a.val.data(), a.nnz() * 4) == digest_of(b.val.data(), b.nnz() * 4);
}

/// 32 neurons, two layers of all 1/16 with a bias at sums, 23 inputs of one to five non-zeros.
plumb::DrawnNetwork plain_network() {
  plumb::DrawnNetwork n;
  std::vector<Csr<float>> layers(2);
  for (Csr<float>& w : layers) {
    w.rows = w.cols = 32;
    for (std::int32_t j = 0; j < 32; ++j) {
      for (std::int32_t k = 0; k < 4; ++k) w.col.push_back((j + 5 * k) % 32), w.val.push_back(0.5F);
      w.row_ptr.push_back(static_cast<std::int32_t>(w.col.size()));
    }
  }
  n.net = square_network(std::move(layers), -0.3F, 32);
  n.y.rows = 23, n.y.cols = 32;
  for (std::int32_t i = 0; i < 23; ++i) {
    for (std::int32_t k = 0; k <= i % 5; ++k)
      n.y.col.push_back((i + 3 * k) % 32), n.y.val.push_back(i % 2 == 0 ? 1.0F : 0.125F);
    n.y.row_ptr.push_back(static_cast<std::int32_t>(n.y.col.size()));
  }
  return n;
}

}  // namespace

TEST_CASE("sparse DNN over ranks: values, ids and verdict are those of one rank, for any network") {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    const plumb::DrawnNetwork drawn = plumb::draw_network(seed, 65, 20);
    SdnnExpectation check;
    check.check = true;
    const SdnnOutcome one = sdnn_on(1, drawn.net, drawn.y, check);
    const std::unique_ptr<SdnnPlan> plan = kSdnnCacheBlocked.plan(drawn.net);
    CHECK(one.error == "");
    CHECK(same(one.y, plan->run(drawn.y, 0, drawn.net.layers()).y));
    for (const int count : kCounts) {
      CAPTURE(seed);
      CAPTURE(count);
      const SdnnOutcome o = sdnn_on(count, drawn.net, drawn.y, check);
      CHECK(o.error == "");
      CHECK(same(o.y, one.y));
      CHECK(o.ids == one.ids);
      CHECK(o.judged.all.differs() == one.judged.all.differs());
      CHECK(o.judged.all.check->all.compared == one.judged.all.check->all.compared);
      CHECK(o.judged.all.check->undecidable == one.judged.all.check->undecidable);
    }
  }
}

TEST_CASE("sparse DNN over ranks: the part that differs is that of the rank whose answer is wrong") {
  const plumb::DrawnNetwork n = plain_network();
  SdnnExpectation check;
  check.check = true;
  REQUIRE(!sdnn_on(4, n.net, n.y, check).judged.all.differs());
  for (const int wrong : {0, 2, 3}) {
    const SdnnOutcome o = sdnn_on(4, n.net, n.y, check, wrong);
    CHECK(o.error == "");
    CHECK(o.judged.all.differs());
    for (int r = 0; r < 4; ++r)
      CHECK(o.judged.parts.at(static_cast<std::size_t>(r)).differs() == (r == wrong));
    const std::int64_t row = o.judged.all.check->all.row;  // of all inputs, not of the part
    const Cuts cuts = cut_evenly(n.y.rows, 4);
    CHECK(owner_of(cuts, row) == wrong);
  }
}

TEST_CASE("sparse DNN over ranks: a list and a count are compared over all parts") {
  const plumb::DrawnNetwork n = plain_network();
  SdnnExpectation list;
  list.has_list = true;
  list.list = sdnn_on(1, n.net, n.y, {}).ids;
  REQUIRE(list.list.size() > 3);
  REQUIRE(list.list.size() < 23);
  CHECK(!sdnn_on(3, n.net, n.y, list).judged.all.differs());
  const std::int32_t last = list.list.back();
  list.list.pop_back();
  const SdnnOutcome o = sdnn_on(3, n.net, n.y, list);
  CHECK(o.judged.all.difference.extra == std::vector<std::int32_t>{last});
  CHECK(!o.judged.parts[0].differs());
  CHECK(o.judged.parts[2].differs());

  SdnnExpectation count;
  count.count = static_cast<std::int64_t>(list.list.size()) + 1;
  CHECK(!sdnn_on(3, n.net, n.y, count).judged.all.differs());
  ++count.count;
  CHECK(sdnn_on(3, n.net, n.y, count).judged.all.differs());
}

// ---- GCN ----

namespace {

struct GcnOutcome {
  std::string error;
  GcnRun<double> run;
  GcnJudgement judged;
};

GcnOutcome gcn_on(int count, const Gcn<double>& net, GcnOrder order, const MakeTransport& make = faultless,
                  const GcnPartition& partition = {}) {
  GcnOutcome outcome;
  const GcnExpectation nothing;
  outcome.error = on_ranks(
      count,
      [&](Ranks& ranks) {
        const Gcn<double> none;
        GcnOnRanks<double> network(ranks, ranks.is_root() ? net : none,
                                   ranks.is_root() ? partition : GcnPartition{});
        if (!ranks.is_root()) return network.serve();
        outcome.run = network.run(order);
        GcnJudge judge(net, Dtype::f64, nothing);
        outcome.judged = judge.judge<double>(outcome.run, true, [&](GcnOrder o) { return network.run(o); });
        network.end();
      },
      make);
  return outcome;
}

std::uint64_t digest(const Dense<double>& m) {
  return digest_of(m.data.data(), static_cast<std::int64_t>(m.data.size() * sizeof(double)));
}

}  // namespace

TEST_CASE(
    "GCN over ranks: every value is that of one rank, to the last bit, in both orders, dense and sparse") {
  for (const std::int64_t n : {std::int64_t{1}, std::int64_t{5}, std::int64_t{90}}) {
    for (const std::size_t layers : {std::size_t{1}, std::size_t{3}}) {
      for (const bool sparse : {false, true}) {
        Gcn<double> net = plumb::test::random_network(n, layers);
        if (layers == 3) net = plumb::test::of_degrees(net);
        if (sparse) net = plumb::test::with_sparse_features(net);
        for (const GcnOrder order : {GcnOrder::transform_first, GcnOrder::aggregate_first}) {
          const GcnRun<double> one = kGcnFused.run_f64(net, order);
          for (const int count : kCounts) {
            CAPTURE(n);
            CAPTURE(layers);
            CAPTURE(sparse);
            CAPTURE(count);
            const GcnOutcome o = gcn_on(count, net, order);
            CHECK(o.error == "");
            CHECK(!o.judged.differs());
            CHECK(o.run.logits.rows == n);
            CHECK(digest(o.run.logits) == digest(one.logits));
            CHECK(digest(o.run.log_softmax) == digest(one.log_softmax));
            REQUIRE(o.run.hidden.size() == layers - 1);
            for (std::size_t l = 0; l + 1 < layers; ++l)
              CHECK(digest(o.run.hidden[l]) == digest(one.hidden[l]));
          }
        }
      }
    }
  }
}

TEST_CASE("GCN over ranks: in any partition every value is that of one rank, in the order that is given") {
  const Gcn<double> net = plumb::test::of_degrees(plumb::test::random_network(53, 3));
  const GcnRun<double> one = kGcnFused.run_f64(net, GcnOrder::transform_first);
  for (const int count : {2, 3, 4}) {
    GcnPartition dealt;  // vertices in turn
    for (int r = 0; r < count; ++r) {
      dealt.cuts.push_back(std::ssize(dealt.order));
      for (std::int32_t v = r; v < 53; v += count) dealt.order.push_back(v);
    }
    dealt.cuts.push_back(53);
    const GcnOutcome o = gcn_on(count, net, GcnOrder::transform_first, faultless, dealt);
    CHECK(o.error == "");
    CHECK(!o.judged.differs());
    CHECK(digest(o.run.log_softmax) == digest(one.log_softmax));
    CHECK(digest(o.run.logits) == digest(one.logits));
    for (std::size_t l = 0; l < 2; ++l) CHECK(digest(o.run.hidden.at(l)) == digest(one.hidden[l]));
  }
}

TEST_CASE(
    "what lies between parts: entries of A, and rows that are sent once to each part that gathers them") {
  // 0 - 1 - 2 - 3, and 0 gathers 3 twice
  const Csr<double> a{4, 4, {0, 3, 5, 7, 8}, {1, 3, 3, 0, 2, 1, 3, 2}, std::vector<double>(8, 1)};
  const PartitionCut halves = cut_of(a, {{}, {0, 2, 4}});
  CHECK(halves.entries == 4);  // 0-3 twice, 1-2, 2-1
  CHECK(halves.rows == 3);     // 3 and 2 to the first, 1 to the second
  const PartitionCut other = cut_of(a, {{3, 0, 2, 1}, {0, 2, 4}});
  CHECK(other.entries == 4);
  CHECK(other.rows == 4);
  CHECK(cut_of(a, {{}, {0, 4}}).entries == 0);
}

TEST_CASE(
    "METIS finds parts with few edges between them, the same in every run; without it the word is refused") {
  // eight groups of 20 vertices that gather each other, dealt in turn, and a ring of single edges
  Csr<double> a;
  a.rows = a.cols = 160;
  for (std::int32_t v = 0; v < 160; ++v) {
    for (std::int32_t k = 1; k < 20; ++k) a.col.push_back((v + 8 * k) % 160);
    a.col.push_back((v + 1) % 160);
    a.row_ptr.push_back(static_cast<std::int32_t>(a.col.size()));
  }
  a.val.assign(a.col.size(), 1);
  if (metis_version().empty()) {
    CHECK_THROWS_WITH_AS(static_cast<void>(parse_vertex_partition("metis")),
                         doctest::Contains("--partition metis: METIS is not built in"), Error);
    return;
  }
  CHECK(parse_vertex_partition("metis") == VertexPartition::metis);
  for (const int count : {2, 4}) {
    const GcnPartition p = partition(a, VertexPartition::metis, count);
    CHECK(p.order == partition(a, VertexPartition::metis, count).order);
    CHECK(p.cuts == Cuts(cut_evenly(160, count)));
    CHECK(cut_of(a, p).entries < 160);
    CHECK(cut_of(a, partition(a, VertexPartition::rows, count)).entries > 1000);
  }
  CHECK(partition(a, VertexPartition::metis, 1).cuts == Cuts{0, 160});
  const Csr<double> none{0, 0, {0}, {}, {}};
  CHECK(partition(none, VertexPartition::metis, 3).cuts == Cuts{0, 0, 0, 0});
}

TEST_CASE("a word that is no way to divide a graph names the nearest that is") {
  CHECK_THROWS_WITH_AS(static_cast<void>(parse_vertex_partition("row")),
                       "--partition 'row' is none of rows, metis; did you mean 'rows'?", Error);
}

TEST_CASE(
    "GCN over ranks: faults in boundary rows die, at the receiver or, as the caller's own, by the judge") {
  const Gcn<double> net = plumb::test::random_network(90, 2);
  const struct {
    MessageFault fault;
    bool in_caller;
  } kFaults[] = {{MessageFault::sent_twice, false},      {MessageFault::off_by_one_row, false},
                 {MessageFault::stale_buffer, false},    {MessageFault::missing_wait, false},
                 {MessageFault::wrong_datatype, false},  {MessageFault::narrowed_datatype, false},
                 {MessageFault::off_by_one_row, true},   {MessageFault::stale_buffer, true},
                 {MessageFault::narrowed_datatype, true}};
  for (const auto& planted : kFaults) {
    CAPTURE(static_cast<int>(planted.fault));
    CAPTURE(planted.in_caller);
    const std::int64_t row_bytes = 5 * 8;  // of S2, the second operand of A
    const GcnOutcome o =
        gcn_on(3, net, GcnOrder::transform_first,
               with_fault({planted.fault, "boundary rows", row_bytes, planted.in_caller}, 1));
    if (planted.in_caller) {
      CHECK(o.error == "");
      CHECK(o.judged.differs());
    } else {
      CHECK(o.error != "");
    }
  }
  CHECK(!gcn_on(3, net, GcnOrder::transform_first, with_fault({MessageFault::none, "boundary rows"}, 1))
             .judged.differs());
}
