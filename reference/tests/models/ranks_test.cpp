// What ranks say to each other, and that none waits for ever.
#include "reference/parallel/ranks.hpp"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <iterator>

#include <doctest/doctest.h>

#include "reference/parallel/watch.hpp"
#include "reference/tests/models/faulty_transport.hpp"
#include "reference/tests/models/thread_ranks.hpp"

namespace {

using namespace plumb;
using plumb::test::on_ranks;

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("ranks: what rank 0 broadcasts all have, and what they send it gathers by rank") {
  for (const int count : {1, 2, 3, 4, 7, 8}) {
    std::atomic<int> good{0};
    const std::string error = on_ranks(count, [&](Ranks& ranks) {
      std::vector<double> values;
      if (ranks.is_root()) values = {1, -2, 3.5};
      ranks.broadcast("values", values);
      std::vector<float> none;
      ranks.broadcast("none", none);
      std::string text = ranks.is_root() ? "text" : "";
      ranks.broadcast("text", text);
      const std::vector<std::int32_t> mine(static_cast<std::size_t>(ranks.rank()), ranks.rank());
      const auto all = ranks.gather("mine", mine);
      bool right = values == std::vector<double>{1, -2, 3.5} && none.empty() && text == "text";
      if (ranks.is_root()) {
        for (int r = 0; r < count; ++r)
          right = right && all.at(static_cast<std::size_t>(r)) ==
                               std::vector<std::int32_t>(static_cast<std::size_t>(r), r);
      }
      const std::vector<double> twice = ranks.all_gather("twice", ranks.rank() * 2.0);
      right = right && std::ssize(twice) == count && twice.back() == (count - 1) * 2.0;
      good += right ? 1 : 0;
    });
    CHECK(error == "");
    CHECK(good == count);
  }
}

TEST_CASE("ranks: a block larger than a message comes in parts, and each byte is counted") {
  const std::int64_t bytes = Transport::kMostBytes + 12;
  std::atomic<std::int64_t> received{0}, last{0};
  const std::string error = on_ranks(2, [&](Ranks& ranks) {
    std::vector<std::byte> block;
    if (ranks.is_root()) block.assign(static_cast<std::size_t>(bytes), std::byte{7});
    ranks.broadcast("block", block);
    if (ranks.is_root()) return;
    received = ranks.traffic().received;
    last = std::to_integer<int>(block.back());
  });
  CHECK(error == "");
  CHECK(last == 7);
  CHECK(received == bytes + 8 + 2 * static_cast<std::int64_t>(sizeof(BlockHeader)));
}

TEST_CASE("ranks: parts of rows cover all, in order, and entries are shared evenly") {
  CHECK(cut_evenly(10, 3) == Cuts{0, 4, 7, 10});
  CHECK(cut_evenly(2, 4) == Cuts{0, 1, 2, 2, 2});
  CHECK(cut_evenly(0, 2) == Cuts{0, 0, 0});
  CHECK(cut_by_entries({0, 30, 31, 32, 33}, 2) == Cuts{0, 1, 4});
  CHECK(cut_by_entries({0, 0, 0, 0, 0}, 2) == Cuts{0, 2, 4});
  CHECK(cut_by_entries({0}, 3) == Cuts{0, 0, 0, 0});
  const Cuts cuts{0, 1, 1, 4};
  CHECK(owner_of(cuts, 0) == 0);
  CHECK(owner_of(cuts, 1) == 2);
  CHECK(owner_of(cuts, 3) == 2);
}

TEST_CASE("ranks: a rank in another call, with another type or length is named with what it sent") {
  const auto disagree = [](const auto& sends) {
    return on_ranks(2, [&](Ranks& ranks) {
      if (ranks.rank() == 1) {
        sends(ranks);
      } else {
        static_cast<void>(ranks.receive<float>(1, "ids"));
      }
    });
  };
  CHECK(has(disagree([](Ranks& r) { r.send(0, "weights", std::vector<float>{1}); }),
            "rank 0 and rank 1 disagree at 'ids': rank 1 sent 'weights'"));
  CHECK(has(disagree([](Ranks& r) { r.send(0, "ids", std::vector<double>{1}); }),
            "rank 1 sent fp64, fp32 is expected"));
  const std::string length = on_ranks(2, [&](Ranks& ranks) {
    Exchange exchange(ranks, "rows");
    const float values[3] = {1, 2, 3};
    float place[4];
    if (ranks.is_root()) {
      exchange.send(1, values, 3);
    } else {
      exchange.receive(0, place, 4);
    }
    exchange.wait();
  });
  CHECK(has(length, "rank 0 sent 12 B, 16 B are expected"));
}

TEST_CASE("ranks: every fault in a message is found by its receiver") {
  using plumb::test::MessageFault;
  const struct {
    MessageFault fault;
    const char* said;
  } kFaults[] = {{MessageFault::sent_twice, "rank 0 sent block 0, block 1 is expected"},
                 {MessageFault::off_by_one_row, "are not those that rank 0 sent"},
                 {MessageFault::stale_buffer, "are not those that rank 0 sent"},
                 {MessageFault::missing_wait, "are not those that rank 0 sent"},
                 {MessageFault::wrong_datatype, "rank 0 sent int32, fp64 is expected"},
                 {MessageFault::narrowed_datatype, "are not those that rank 0 sent"},
                 {MessageFault::none, ""}};
  for (const auto& planted : kFaults) {
    CAPTURE(static_cast<int>(planted.fault));
    // what is sent is struck on rank 0, what is received on rank 1
    const int struck = planted.fault == MessageFault::missing_wait ? 1 : 0;
    const std::string error = on_ranks(
        2,
        [](Ranks& ranks) {
          for (int step = 0; step < 3; ++step) {
            Exchange exchange(ranks, "rows");
            std::vector<double> rows(20);
            if (ranks.is_root()) {
              for (std::size_t i = 0; i < rows.size(); ++i)
                rows[i] = 0.1 + static_cast<double>(i) + 100 * step;
              exchange.send(1, rows.data(), 20);
            } else {
              exchange.receive(0, rows.data(), 20);
            }
            exchange.wait();
          }
        },
        plumb::test::with_fault({planted.fault, "rows", 8, false}, struck));
    if (planted.fault == MessageFault::none) {
      CHECK(error == "");
    } else {
      CHECK(has(error, planted.said));
    }
  }
}

namespace {

/// What the watches of `count` ranks find, each with the body of its rank; "" where nothing.
std::string found_by_watch(int count, double limit, const std::function<void(Ranks&, Watch&)>& body,
                           const std::function<double(int rank)>& used, int silent = -1) {
  std::mutex mutex;
  std::string first;
  static_cast<void>(on_ranks(count, [&](Transport& transport) {
    if (transport.rank() == silent) {  // until another has found it
      Ranks alone(transport);
      static_cast<void>(alone.receive<float>(0, "nothing"));
    }
    const auto ends = [&](const std::string& trouble) {
      const std::lock_guard lock(mutex);
      if (first.empty()) first = trouble;
      transport.close();
    };
    Watch watch(transport, limit, ends, [&, r = transport.rank()] { return used(r); });
    Ranks ranks(transport, &watch);
    body(ranks, watch);
  }));
  return first;
}

double busy(int) {  // more with every call: a rank that computes
  static std::atomic<int> calls{0};
  return ++calls;
}

}  // namespace

TEST_CASE("watch: a rank that gives no sign is named") {
  const std::string found = found_by_watch(
      3, 2, [](Ranks& ranks, Watch&) { ranks.meet("start"); }, busy, 2);
  CHECK(has(found, "rank 2 gave no sign of life for 2 s"));
}

TEST_CASE("watch: ranks that wait for each other are named with what they wait for") {
  const std::string found = found_by_watch(
      2, 2,
      [](Ranks& ranks, Watch&) {
        if (ranks.is_root()) static_cast<void>(ranks.receive<float>(1, "ids"));
        if (!ranks.is_root()) static_cast<void>(ranks.receive<float>(0, "weights"));
      },
      busy);
  CHECK(has(found, "the ranks wait for each other for 2 s: rank 0 at 'ids', rank 1 at 'weights'"));
}

TEST_CASE("watch: a rank that computes and uses no processor time is blocked") {
  std::atomic<bool> stop{false};
  const std::string found = found_by_watch(
      2, 2,
      [&](Ranks& ranks, Watch&) {
        if (ranks.rank() == 1) {
          for (int i = 0; i < 600 && !stop; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(50));
        } else {
          try {
            ranks.meet("start");
          } catch (const Error&) {
            stop = true;
            throw;
          }
        }
      },
      [](int rank) { return rank == 1 ? 0.0 : busy(0); });
  CHECK(has(found, "rank 1 made no progress for 2 s"));
}

TEST_CASE("watch: a rank may compute for longer than the limit while others wait for it") {
  const std::string found = found_by_watch(
      2, 2,
      [](Ranks& ranks, Watch&) {
        if (ranks.rank() == 1) std::this_thread::sleep_for(std::chrono::milliseconds(4500));
        ranks.meet("start");
      },
      busy);
  CHECK(found == "");
}
