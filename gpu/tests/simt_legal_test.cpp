// Synchronisation that is unusual and legal stays clean, in every schedule, checked and not; the mistake that looks like it is reported.
#include <doctest/doctest.h>

#include <numeric>

#include "gpu/tests/simt_support.hpp"

using namespace plumb::simt_test;

TEST_CASE("a block passes data to another: all threads write, then a barrier, one fence and one flag") {
  for (const int threads : {32, 128}) {
    CAPTURE(threads);
    std::vector<int> data(static_cast<std::size_t>(threads)), flag(1), out(data.size());
    twin(
        "legal", "hand over write", "hand over read",
        [&](Form f, Run& run) {
          block_hand_over(f, threads, run.output(data, "data"), run.output(flag, "flag"), run.output(out));
        },
        [&] { return out.front() == threads && out.back() == 1; });
  }
}

TEST_CASE("a block that polls between its barriers lets the block run that it waits for") {
  for (const int waiting : {0, 1}) {
    CAPTURE(waiting);
    std::vector<int> data(1), flag(1), out(64);
    twin(
        "legal", "throttled write", "throttled read",
        [&](Form f, Run& run) {
          throttled_wait(f, waiting, run.output(data, "data"), run.output(flag, "flag"), run.output(out));
        },
        [&] { return out[0] == 7 && out[63] == 7; });
  }
}

TEST_CASE("fences order data over a chain of flags, and one missing fence breaks the order") {
  std::vector<int> data(1), flags(2), out(1);
  twin(
      "legal", "relay write", "relay read",
      [&](Form f, Run& run) {
        relay(f, run.output(data, "data"), run.output(flags, "flags"), run.output(out));
      },
      [&] { return out[0] == 5; });
}

TEST_CASE("a queue's work index needs a barrier before the next one is drawn") {
  std::vector<int> next(1), out(10 * 64);
  twin(
      "legal", "queue write", "queue read",
      [&](Form f, Run& run) { work_queue(f, 3, 64, run.output(next, "next"), 10, run.output(out)); },
      [&] { return out[0] == 0 && out.back() == 9; });
}

TEST_CASE("lanes that stand together append with one atomic") {
  const std::vector<int> in = counting(300);
  std::vector<int> count(1), out(300);
  twin(
      "legal", "aggregated read", "aggregated write",
      [&](Form f, Run& run) {
        aggregated(f, 2, run.input(in), 300, run.output(count, "count"), run.output(out));
      },
      [&] { return count[0] == 100 && std::accumulate(out.begin(), out.begin() + 100, 0) == 3 * 4950; });
}

TEST_CASE("shuffles order lanes, and what crosses warps needs a barrier") {
  for (const int threads : {64, 256}) {
    CAPTURE(threads);
    const std::vector<int> in(static_cast<std::size_t>(threads), 2);
    std::vector<int> out(in.size());
    twin(
        "legal", "scan write", "scan read",
        [&](Form f, Run& run) { shuffle_scan(f, threads, run.input(in), run.output(out)); },
        [&] { return out.front() == 2 && out.back() == 2 * threads; });
  }
}

TEST_CASE("stages of a block's pipeline are filled again only when they are released") {
  const std::vector<int> in = counting(7 * 64);
  std::vector<int> out(64);
  twin(
      "legal", "pipeline copy", "pipeline use",
      [&](Form f, Run& run) { block_pipeline(f, 64, run.input(in), run.output(out), 7); },
      [&] { return out[63] == 64 * 21 && out[0] == 64 * 21 + 7 * 63; });
}

TEST_CASE("two stages need one barrier a tile, one stage needs two") {
  const std::vector<int> in = counting(5 * 64);
  std::vector<int> out(64);
  twin(
      "legal", "stage copy", "stage use",
      [&](Form f, Run& run) { thread_pipeline(f, 64, run.input(in), run.output(out), 5); },
      [&] { return out[63] == 64 * 10 && out[0] == 64 * 10 + 5 * 63; });
}

TEST_CASE("barriers waited for by parity order producers and consumers of different numbers") {
  const std::vector<int> in(32 * 9, 3);
  std::vector<int> out(96);
  twin(
      "legal", "parity write", "parity read",
      [&](Form f, Run& run) { parity_ring(f, run.input(in), run.output(out), 9); },
      [&] { return out[0] == 27 && out[95] == 27; });
}

TEST_CASE("a lock orders the data it guards if it is acquired and released at the scope of its users") {
  std::vector<int> lock(1), words(4), value(1);
  twin(
      "legal", "ordered lock", "ordered lock",
      [&](Form f, Run& run) { ordered_lock(f, 3, 64, run.output(lock, "lock"), run.output(words, "words")); },
      [&] { return words[3] == 18; });
  std::vector<unsigned> tickets(1), serving(1);
  twin(
      "legal", "ticket", "ticket",
      [&](Form f, Run& run) {
        scoped_ticket(f, 3, run.output(tickets, "tickets"), run.output(serving, "serving"),
                      run.output(value, "value"));
      },
      [&] { return value[0] == 6; });
}

TEST_CASE("a counter that acquires and releases replaces the fences of the last block") {
  const std::vector<int> in = counting(5, 1);
  std::vector<int> partial(5), out(1);
  std::vector<unsigned> count(1);
  twin(
      "legal", "counted write", "counted read",
      [&](Form f, Run& run) {
        counted_in(f, 5, run.input(in), run.output(partial, "partial"), run.output(count, "count"),
                   run.output(out));
      },
      [&] { return out[0] == 30; });
}

TEST_CASE("sweeps of a grid go to and fro between two buffers, not in place") {
  std::vector<int> b(3 * 64);
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    for (const Form form : {Form::right, Form::wrong}) {
      std::vector<int> a = counting(3 * 64);
      Run run(seed);
      plumb::simt::add_array("a", a.data(), a.size() * sizeof(int), true, true);
      grid_ping_pong(form, 3, 64, a.data(), run.output(b, "b"), 4);
      const auto findings = Run::findings();
      if (form == Form::right) {
        CHECK_MESSAGE(findings.empty(), all_of(findings));
        CHECK(a[0] == 4);
        CHECK(a[191] == 3);
      } else if (plumb::simt_test::checked()) {
        const int line = line_of("legal", "sweep");
        CHECK_MESSAGE(reports(findings, plumb::simt::FindingKind::race, line, line), all_of(findings));
      }
    }
  }
}

TEST_CASE("a tile of a warp has a barrier of its own, needed on both sides of an exchange") {
  const std::vector<int> in = counting(64);
  std::vector<int> out(64);
  twin(
      "legal", "tile write", "tile read",
      [&](Form f, Run& run) { tile_exchange(f, 64, run.input(in), run.output(out)); },
      [&] { return out[0] == 18 && out[15] == 3; });
}

TEST_CASE("two halves of a warp meet at a barrier of both, not at one each") {
  const std::vector<int> in = counting(16);
  std::vector<int> out(16);
  twin(
      "legal", "half write", "half read",
      [&](Form f, Run& run) { half_warps(f, run.input(in), run.output(out)); },
      [&] { return out[0] == 15 && out[15] == 0; });
}

TEST_CASE("a vote that is a barrier ends a round, and does not begin one") {
  std::vector<int> in(128, 9), out(128);
  in[77] = 1;
  twin(
      "legal", "settle read", "settle write",
      [&](Form f, Run& run) { convergence(f, 128, run.input(in), run.output(out)); },
      [&] { return out[0] == 1 && out[127] == 1; });
}

TEST_CASE("claims by compare-and-swap may be read plainly by the next launch, not by the same") {
  std::vector<int> in(96), keys(16), values(16), seen(96);
  for (int i = 0; i < 96; ++i) in[static_cast<std::size_t>(i)] = i % 5;
  twin(
      "legal", "hash add", "hash read",
      [&](Form f, Run& run) {
        hash_claims(f, run.input(in), 96, run.output(keys, "keys"), run.output(values, "values"),
                    run.output(seen, "seen"));
      },
      [&] { return std::accumulate(seen.begin(), seen.begin() + 16, 0) == 96; });
}

TEST_CASE("warps with roles have the block's barriers in their own branches") {
  const std::vector<int> in = counting(5 * 32);
  std::vector<int> out(32);
  twin(
      "legal", "role write", "role read",
      [&](Form f, Run& run) { barriers_by_role(f, run.input(in), run.output(out), 5); },
      [&] { return out[0] == 5 * 31 + 32 * 10 && out[31] == 32 * 10; });
}
