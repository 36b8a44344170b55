// Races: every planted fault is reported at its lines, at every block size and schedule; its right twin is
// silent.
#include <doctest/doctest.h>

#include <algorithm>

#include <numeric>

#include "gpu/tests/simt_support.hpp"

using namespace plumb::simt_test;
using plumb::simt::Finding;
using plumb::simt::FindingKind;

namespace {

std::vector<float> ones(int n) { return std::vector<float>(static_cast<std::size_t>(n), 1.0f); }
const auto kAnything = [] { return true; };

}  // namespace

TEST_CASE("a tree sum with one barrier removed is reported at its line at every block size") {
  for (const int threads : kBlockSizes) {
    CAPTURE(threads);
    const auto in = ones(3 * threads);
    std::vector<float> out(3);
    twin(
        "barriers", "tree_sum", "tree_sum",
        [&](Form f, Run& run) { tree_sum(f, 3, threads, run.input(in), run.output(out)); },
        [&] { return out == std::vector<float>(3, static_cast<float>(threads)); });
  }
}

TEST_CASE("a finding states which threads accessed which element, and what would order them") {
  if (!plumb::simt_test::checked()) return;
  const auto in = ones(64);
  std::vector<float> out(1);
  Run run;
  tree_sum(Form::wrong, 1, 64, run.input(in), run.output(out));
  const auto findings = Run::findings();
  REQUIRE(findings.size() == 1);
  const Finding& f = findings[0];
  CHECK(f.kernel.find("tree_sum_kernel<false>") != std::string::npos);
  CHECK(f.array == "s");
  CHECK(f.offset >= 0);
  CHECK(f.offset < 64 * 4);
  CHECK(f.has_other);
  CHECK(f.thread.thread.x != f.other_thread.thread.x);
  CHECK(f.place.file.find("barriers.cu") != std::string::npos);
  CHECK(f.hint.find("(in a loop, between its passes) would order them") != std::string::npos);
}

TEST_CASE("tiles need a barrier after they are filled and one before they are filled again") {
  for (const int threads : {64, 256, 512}) {
    CAPTURE(threads);
    const int n = 3 * threads;
    const auto in = ones(n);
    std::vector<float> out(static_cast<std::size_t>(threads));
    twin(
        "barriers", "epilogue read", "epilogue write",
        [&](Form f, Run& run) { tile_epilogue(f, threads, run.input(in), run.output(out), n); },
        [&] { return out[0] == static_cast<float>(n); });
    twin(
        "barriers", "loop write", "loop read",
        [&](Form f, Run& run) { tile_loop(f, threads, run.input(in), run.output(out), n); },
        [&] { return out[0] == 3.0f; });
    twin(
        "barriers", "buffer write", "buffer read",
        [&](Form f, Run& run) { double_buffer(f, threads, run.input(in), run.output(out), 3); },
        [&] { return out[0] == 3.0f; });
  }
}

TEST_CASE("a column read by the same lane of several warps is not written before all of them have read it") {
  const int threads = 1024;
  const auto in = ones(threads);
  std::vector<float> out(static_cast<std::size_t>(threads));
  for (const auto& [reader, writer] : {std::pair{1, 0}, std::pair{0, 31}, std::pair{30, 17}}) {
    CAPTURE(reader);
    const auto at = [&](int warp) { return out[32 * static_cast<std::size_t>(warp)]; };
    twin(
        "barriers", "column write", "column read",
        [&](Form f, Run& run) { tile_columns(f, threads, run.input(in), run.output(out), reader, writer); },
        [&] { return at(reader) == 6.0f && at(writer) == 7.0f; });
  }
}

TEST_CASE("scratch memory reused or cleared without a barrier is a race") {
  for (const int threads : {64, 256, 1024}) {
    CAPTURE(threads);
    const auto in = ones(threads);
    std::vector<int> whole(static_cast<std::size_t>(threads), 2);
    std::vector<float> out(1);
    twin(
        "barriers", "scratch write", "scratch read",
        [&](Form f, Run& run) { max_then_sum(f, threads, run.input(in), run.output(out)); },
        [&] { return out[0] == 0.0f; });
    std::vector<int> bins(32);
    twin(
        "barriers", "zero", "zero add",
        [&](Form f, Run& run) { zero_by_warp_0(f, threads, run.input(whole), run.output(bins)); },
        [&] { return bins[5] == 2 * threads / 32; });
    std::vector<int> all(static_cast<std::size_t>(threads));
    twin(
        "barriers", "one writes", "all read",
        [&](Form f, Run& run) { one_writes_all_read(f, threads, run.input(whole), run.output(all)); },
        [&] { return all.back() == 2 + threads - 1; });
  }
}

TEST_CASE("the last warp of a reduction needs __syncwarp, volatile or not") {
  for (const int threads : {64, 256, 1024}) {
    CAPTURE(threads);
    const auto in = ones(threads);
    std::vector<float> out(1);
    const auto right = [&] { return out[0] == static_cast<float>(threads); };
    twin(
        "warps", "last warp read", "last warp write",
        [&](Form f, Run& run) { last_warp(f, threads, run.input(in), run.output(out)); }, right);
    twin(
        "warps", "volatile step", "volatile step",
        [&](Form f, Run& run) { last_warp_volatile(f, threads, run.input(in), run.output(out)); }, right);
  }
}

TEST_CASE("votes, shuffles and their like make lanes meet and order no memory") {
  const auto in = counting(32);
  std::vector<int> out(32);
  for (int how = 0; how < 12; ++how) {
    CAPTURE(how);
    twin(
        "warps", "exchange write", "exchange read",
        [&](Form f, Run& run) { exchange_as_fence(f, run.input(in), run.output(out), how); },
        [&] { return out[0] == 1 && out[31] == 0; });
  }
}

TEST_CASE("a shuffle hands on a flag's value and not what the flag orders") {
  std::vector<int> data(32), flag(1), out(32);
  twin(
      "warps", "told write", "told read",
      [&](Form f, Run& run) {
        flag[0] = 0;
        plumb::simt::add_array("flag", flag.data(), sizeof flag[0], true, true);
        told_by_shuffle(f, run.output(data, "data"), flag.data(), run.output(out));
      },
      [&] { return out[0] == 32 && out[31] == 1; });
}

TEST_CASE("producer and consumer warps are ordered by named barriers and by flags with fences") {
  std::vector<int> in(32 * 5);
  std::iota(in.begin(), in.end(), 1);
  std::vector<int> out(32);
  twin(
      "barriers", "produce", "consume",
      [&](Form f, Run& run) { named_barriers(f, run.input(in), run.output(out), 5); },
      [&] { return out[0] == 32 + 64 + 96 + 128 + 160; });
  std::vector<int> sum(1);
  twin(
      "barriers", "flag data", "flag use",
      [&](Form f, Run& run) { shared_flags(f, run.input(in), run.output(sum), 5); },
      [&] { return sum[0] == 15; });
}

TEST_CASE("blocks that meet in one element need atomics") {
  for (const int threads : {32, 256}) {
    const auto in = ones(6 * threads);
    std::vector<float> out(1);
    const auto right = [&] { return out[0] == static_cast<float>(6 * threads); };
    twin(
        "global", "zeroed inside", "zeroed add",
        [&](Form f, Run& run) { sum_zeroed_inside(f, 6, threads, run.input(in), run.output(out)); }, right);
    twin(
        "global", "plain add", "plain add",
        [&](Form f, Run& run) { sum_blocks(f, 6, threads, run.input(in), run.output(out)); }, right);
  }
  std::vector<unsigned char> bytes(300, 7);
  std::vector<unsigned> bins(16);
  twin(
      "global", "bin", "bin",
      [&](Form f, Run& run) { histogram(f, 64, run.input(bytes), 300, run.output(bins)); },
      [&] { return bins[7] == 300 && bins[6] == 0; });
}

TEST_CASE("the last block may read the others' sums only behind a fence") {
  for (const int threads : {32, 128, 1024}) {
    CAPTURE(threads);
    const auto in = ones(5 * threads);
    std::vector<float> partial(5), out(1);
    std::vector<unsigned> count(1);
    twin(
        "global", "partial write", "partial read",
        [&](Form f, Run& run) {
          last_block(f, 5, threads, run.input(in), run.output(partial, "partial"), run.output(count, "count"),
                     run.output(out));
        },
        [&] { return out[0] == static_cast<float>(5 * threads); });
  }
}

TEST_CASE("a chain of flags hands data from block to block, with a fence on each side") {
  std::vector<int> data(7), flags(8);
  twin(
      "global", "chain write", "chain read",
      [&](Form f, Run& run) { flag_chain(f, 7, run.output(data, "data"), run.output(flags, "flags")); },
      [&] { return data.back() == 7; });
}

TEST_CASE("scopes are told apart: neither a block's atomic nor a block's fence reaches another block") {
  std::vector<unsigned> counter(1);
  twin(
      "global", "block scope", "block scope",
      [&](Form f, Run& run) { block_scope(f, 3, run.output(counter)); },
      [&] { return counter[0] == 3 * 64; });
  std::vector<int> data(1), out(1);
  twin(
      "global", "scope write", "scope read",
      [&](Form f, Run& run) {
        fence_scope(f, run.output(data, "data"), run.output(counter, "flag"), run.output(out));
      },
      [&] { return out[0] == 42; });
}

TEST_CASE("words that many blocks have read are written by one that knows all of them, or it is reported") {
  std::vector<unsigned> count(1);
  for (const int blocks : {2, 3, 40}) {
    for (const int words : {1, 100, 3000}) {
      CAPTURE(blocks);
      CAPTURE(words);
      std::vector<int> read(static_cast<std::size_t>(words)), out(static_cast<std::size_t>(blocks) * 64);
      twin(
          "global", "read by all", "written by the last",
          [&](Form f, Run& run) {
            read_by_all(f, blocks, 64, words, run.output(read, "words"), run.output(count, "count"),
                        run.output(out));
          },
          [&] { return read.back() == 7; });
    }
  }
}

TEST_CASE("a lock without fences orders nothing") {
  std::vector<int> lock(1), value(1);
  twin(
      "global", "locked", "locked",
      [&](Form f, Run& run) { spin_lock(f, 3, 128, run.output(lock, "lock"), run.output(value, "value")); },
      [&] { return value[0] == 12; });
}

TEST_CASE("phases of a cooperative grid need the grid's barrier") {
  std::vector<int> in(4 * 64, 3), mid(in.size()), out(in.size());
  twin(
      "global", "phase write", "phase read",
      [&](Form f, Run& run) {
        grid_phases(f, 4, 64, run.input(in), run.output(mid, "mid"), run.output(out));
      },
      [&] { return out[9] == 6; });
}

TEST_CASE("launches are ordered in one stream, and in two only by an event") {
  std::vector<int> mid(100), out(100);
  int a = 0;
  int b = 0;
  twin(
      "global", "first launch", "second launch",
      [&](Form f, Run& run) { two_launches(f, 100, run.output(mid, "mid"), run.output(out), &a, &b); },
      [&] { return out[0] == 99; });
  Run run;
  run.output(mid, "mid");
  run.output(out);
  two_launches(Form::right, 100, mid.data(), out.data(), &a, &b);
  plumb::simt::order_streams(&b, &a);
  fill_then_add(mid.data(), 100, &b);
  expect_none();
  CHECK(mid[0] == 2);
  CHECK(mid[50] == 0);
}

TEST_CASE(
    "of the launches before it, a launch knows those of its stream, not the ones among them of another") {
  if (!plumb::simt_test::checked()) return;
  std::vector<int> mid(100), other(100), out(100);
  int a = 0;
  int b = 0;
  for (const bool between : {false, true}) {
    Run run;
    run.output(mid, "mid");
    run.output(other, "other");
    run.output(out);
    two_launches(Form::right, 100, other.data(), out.data(), &b, &b);
    fill_then_add(mid.data(), 100, &a);
    if (between) two_launches(Form::right, 100, other.data(), out.data(), &b, &b);
    fill_then_add(mid.data(), 100, &b);
    const auto findings = Run::findings();
    REQUIRE(!findings.empty());
    for (const Finding& f : findings) CHECK(f.array == "mid");
  }
}

TEST_CASE("a reader among the lanes of two warps that a flag does not count is reported") {
  std::vector<int> count(1), out(64);
  for (const unsigned silent : {5u, 37u}) {  // whichever warp is the first
    CAPTURE(silent);
    twin(
        "global", "counted read", "write behind the count",
        [&](Form f, Run& run) { counted_readers(f, silent, run.output(count, "count"), run.output(out)); },
        [&] { return out[0] == 1 && out[37] == 1 && out[63] == 1; });
  }
}

TEST_CASE("a launch that may begin early knows the one before it only after griddepcontrol.wait") {
  std::vector<int> mid(100), out(100);
  twin(
      "global", "first launch", "launch beside",
      [&](Form f, Run& run) {
        programmatic_launch(f, 100, run.output(mid, "mid"), run.output(out), true, false);
      },
      [&] { return out[0] == 99; });
  twin(
      "global", "first launch", "launch beside",
      [&](Form f, Run& run) { dependent_launch(f, 100, run.output(mid, "mid"), run.output(out)); },
      [&] { return out[0] == 99; });
  for (const bool allowed :
       {false, true}) {  // it waits for a fill, and is as any other where it must not begin early
    Run run;
    programmatic_launch(Form::wrong, 100, run.output(mid, "mid"), run.output(out), allowed, allowed);
    expect_none();
  }
}

TEST_CASE(
    "the end of a launch that began early shows the end of the one before it only if a thread of it waited") {
  std::vector<int> mid(100), out(100);
  twin(
      "global", "first launch", "launch beside",
      [&](Form f, Run& run) { chain_of_launches(f, 100, run.output(mid, "mid"), run.output(out)); },
      [&] { return out[0] == 99; });
}

TEST_CASE("memory that a program was given in one run is its own in the next, until it gives it back") {
  std::vector<int> out(100);
  int* memory = nullptr;
  int stream = 0;
  for (int run = 0; run < 3; ++run) {
    Run now;
    if (memory == nullptr) memory = own_memory(100);
    two_launches(Form::right, 100, memory, now.output(out), &stream, &stream);
    expect_none();
    CHECK(plumb::simt::held().arrays == 1);
  }
  give_back(memory);
  CHECK(plumb::simt::held().arrays == 0);
}

TEST_CASE("barriers as objects order what was written before an arrival with what follows a wait") {
  std::vector<int> in(64 * 6, 2), out(64);
  twin(
      "objects", "object write", "object read",
      [&](Form f, Run& run) { specialised(f, run.input(in), run.output(out), 6); },
      [&] { return out[0] == 12 && out[63] == 12; });
  std::vector<int> many(256), whole(256);
  std::iota(many.begin(), many.end(), 0);
  twin(
      "objects", "split write", "split read",
      [&](Form f, Run& run) { split_barrier(f, 256, run.input(many), run.output(whole)); },
      [&] { return whole[3] == 30 + 252; });
  twin(
      "objects", "wide write", "wide read",
      [&](Form f, Run& run) { wide_tiles(f, run.input(many), run.output(whole)); },
      [&] { return whole[64] == 127; });
}

TEST_CASE("a bulk copy that a barrier waits for is complete after the wait, and not before") {
  std::vector<int> in(132), out(128);
  std::iota(in.begin(), in.end(), 0);
  const auto skip = static_cast<int>((16 - reinterpret_cast<std::uintptr_t>(in.data()) % 16) % 16 / 4);
  const int read = line_of("objects", "bulk tile read");
  REQUIRE(read > 0);
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    CAPTURE(seed);
    for (const Form form : {Form::right, Form::wrong}) {
      if (form == Form::wrong && !checked()) continue;
      Run run(seed);
      bulk_tile(form, run.input(in) + skip, run.output(out));
      const auto findings = Run::findings();
      if (form == Form::right) {
        CHECK_MESSAGE(findings.empty(), all_of(findings));
        CHECK(out[0] == 127 + skip);
      } else {
        const auto at = std::count_if(findings.begin(), findings.end(), [&](const auto& f) {
          return f.place.line == read || f.other_place.line == read;
        });
        CHECK_MESSAGE(at > 0, all_of(findings));
      }
    }
  }
}

TEST_CASE("semaphores, latches and waits for an atomic order what they guard") {
  const int read = line_of("objects", "semaphore read");
  REQUIRE(read > 0);
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    CAPTURE(seed);
    for (const Form form : {Form::right, Form::wrong}) {
      std::vector<int> out(2);
      Run run(seed);
      semaphores(form, run.output(out));
      const auto findings = Run::findings();
      if (form == Form::right) {
        CHECK_MESSAGE(findings.empty(), all_of(findings));
        CHECK(out == std::vector<int>{1 + 33, 2 * 34});
      } else if (checked()) {
        CHECK_MESSAGE(
            std::any_of(findings.begin(), findings.end(),
                        [&](const auto& f) { return f.place.line == read || f.other_place.line == read; }),
            all_of(findings));
      }
    }
  }
}

TEST_CASE("a barrier of device scope orders blocks, and what its last arrival does") {
  const int write = line_of("objects", "meeting write"), read = line_of("objects", "meeting read");
  REQUIRE(write > 0);
  REQUIRE(read > 0);
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    CAPTURE(seed);
    for (const Form form : {Form::right, Form::wrong}) {
      std::vector<long long> meeting(static_cast<std::size_t>(meeting_bytes()));
      std::vector<int> parts(3), sum(1), out(6);
      Run run(seed, 3);
      run.output(meeting, "meeting");
      meetings(form, meeting.data(), run.output(parts, "parts"), run.output(sum, "sum"), run.output(out));
      const auto findings = Run::findings();
      if (form == Form::right) {
        CHECK_MESSAGE(findings.empty(), all_of(findings));
        CHECK(out == std::vector<int>{6, 6, 6, 21, 21, 21});
      } else if (checked()) {
        CHECK_MESSAGE(
            std::any_of(findings.begin(), findings.end(),
                        [&](const auto& f) { return f.place.line == read || f.other_place.line == read; }),
            all_of(findings));
      }
    }
  }
}

TEST_CASE("release and acquire hand a value on; relaxed does not") {
  std::vector<int> data(1), flag(1), out(1);
  twin(
      "objects", "ordered write", "ordered read",
      [&](Form f, Run& run) {
        ordered_flag(f, run.output(data, "data"), run.output(flag, "flag"), run.output(out));
      },
      [&] { return out[0] == 42; });
}

TEST_CASE("structures that the compiler copies by memcpy are watched too") {
  std::vector<float> in(40, 1.5f), out(40 * 64);
  twin(
      "objects", "large write", "large read",
      [&](Form f, Run& run) { large_structures(f, 64, run.input(in), run.output(out)); },
      [&] { return out.back() == 1.5f; });
}

TEST_CASE("several threads may store one value, but nobody may read it unordered") {
  std::vector<int> in(64), out(64);
  std::iota(in.begin(), in.end(), -30);
  twin(
      "global", "raised", "raised read",
      [&](Form f, Run& run) { raised_flag(f, 64, run.input(in), run.output(out)); },
      [&] { return out[0] == 1 && out[63] == 1; });
}

TEST_CASE("a store that is volatile or atomic reads nothing") {
  std::vector<int> flags(2), out(1);
  Run run;
  first_stores(run.output(flags, "flags"), run.output(out));
  expect_none();
  CHECK(out[0] == 6);
}

TEST_CASE("padding that no kernel writes is no finding") {
  std::vector<float> in(128, 1.0f), out(128);
  in[77] = 5.0f;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    Run run(seed);
    best_of(128, run.input(in), run.output(out));
    expect_none();
    CHECK(out[127] == 5077.0f);
  }
}

TEST_CASE("neighbouring bytes are different memory") {
  std::vector<unsigned char> out(64);
  twin(
      "global", "byte", "byte", [&](Form f, Run& run) { bytes_side_by_side(f, 64, run.output(out)); },
      [&] { return out[63] == 63; });
}

TEST_CASE("halves, bytes and words of one array are told apart and compared") {
  std::vector<unsigned> out(64), words(64);
  twin(
      "global", "part", "whole",
      [&](Form f, Run& run) { parts_of_words(f, 64, run.output(out), run.output(words)); },
      [&] { return out[63] == 0x013f003fu; });
}

TEST_CASE("a __device__ variable is watched like an array") {
  std::vector<int> out(5);
  twin(
      "global", "variable", "variable", [&](Form f, Run& run) { program_variable(f, 5, run.output(out)); },
      kAnything);
}

TEST_CASE("a thousand blocks are checked one by one") {
  const auto in = ones(1000 * 64);
  std::vector<float> out(1000);
  Run run(3);
  tree_sum(Form::right, 1000, 64, run.input(in), run.output(out));
  expect_none();
  CHECK(out == std::vector<float>(1000, 64.0f));
}
