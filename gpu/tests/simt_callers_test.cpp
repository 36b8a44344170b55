// Two callers at once, each with a thread of the host and a stream: their launches overlap.
#include <atomic>
#include <mutex>
#include <stdexcept>

#include "gpu/tests/simt_support.hpp"

using plumb::simt::call_together;
using plumb::simt::Finding;
using namespace plumb::simt_test;

namespace {

constexpr int kBlocks = 8, kSum = kBlocks * (kBlocks - 1) / 2;

struct Caller {
  explicit Caller(Run& run, const char* parts_name) {
    run.output(parts, parts_name), run.output(count), run.output(out);
  }
  std::vector<int> parts = std::vector<int>(kBlocks, -1000), out = std::vector<int>(1);
  std::vector<unsigned> count = std::vector<unsigned>(1);
};

struct Outcome {
  int right = 0;  // of the two results
  std::vector<Finding> findings;
};

Outcome two_calls(std::uint64_t seed, const std::function<void(Caller&, void* stream)>& call) {
  Run run(seed);
  Caller one(run, "first"), other(run, "second");
  char first_stream = 0, second_stream = 0;
  call_together([&] { call(one, &first_stream); }, [&] { call(other, &second_stream); });
  return {(one.out[0] == kSum) + (other.out[0] == kSum), Run::findings()};
}

Outcome counted(Form form, std::uint64_t seed) {
  return two_calls(seed, [form](Caller& c, void* stream) {
    counted_blocks(form, kBlocks, c.parts.data(), c.count.data(), c.out.data(), stream);
  });
}

}  // namespace

TEST_CASE("of two calls at once each finds its last block by a counter of its own, and not by a common one") {
  int wrong = 0;
  for (std::uint64_t seed = 0; seed < 4 * kSeeds; ++seed) {
    CAPTURE(seed);
    const Outcome own = counted(Form::right, seed);
    CHECK_MESSAGE(own.findings.empty(), all_of(own.findings));
    CHECK(own.right == 2);
    const Outcome common = counted(Form::wrong, seed);
    if (common.right == 2) continue;  // the two did not overlap
    ++wrong;
    if (!checked()) continue;
    REQUIRE(!common.findings.empty());
    CHECK(common.findings[0].describe().find("g_common_count") != std::string::npos);
    CHECK(reports(common.findings, plumb::simt::FindingKind::race, line_of("callers", "part written"),
                  line_of("callers", "part read")));
  }
  CHECK(wrong >= 2 * static_cast<int>(kSeeds));
}

TEST_CASE("memory that two calls at once share is a race between their launches") {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    CAPTURE(seed);
    for (const Form form : {Form::right, Form::wrong}) {
      const Outcome outcome = two_calls(seed, [form](Caller& c, void* stream) {
        parts_of_two_launches(form, kBlocks, c.parts.data(), c.out.data(), stream);
      });
      CHECK(outcome.right == 2);  // equal values
      if (form == Form::right) CHECK_MESSAGE(outcome.findings.empty(), all_of(outcome.findings));
      if (form == Form::wrong && checked()) CHECK(!outcome.findings.empty());
    }
  }
}

TEST_CASE("a constant that is set in one stream while a launch of another reads it is reported") {
  std::vector<int> out(64);
  for (const bool before : {false, true}) {
    CAPTURE(before);
    twin(
        "callers", "constant read", "constant set",
        [&](Form f, Run& run) { constant_beside(f, 64, before, run.output(out)); },
        [&] { return out[21] == 63; });
  }
}

TEST_CASE("a lock of the device orders what two calls at once do under it, and lets both end") {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    CAPTURE(seed);
    Run run(seed);
    std::vector<int> value(1);
    plumb::simt::add_array("value", value.data(), sizeof(int), true, true);
    char first_stream = 0, second_stream = 0;
    call_together([&] { locked_sum(kBlocks, value.data(), &first_stream); },
                  [&] { locked_sum(kBlocks, value.data(), &second_stream); });
    expect_none();
    CHECK(value[0] == 2 * kBlocks);
  }
}

TEST_CASE("a lock of the host around a call keeps the other caller waiting, and both end") {
  std::mutex mutex;
  for (std::uint64_t seed = 0; seed < 2; ++seed) {
    CAPTURE(seed);
    char stream = 0;
    const Outcome outcome = two_calls(seed, [&](Caller& c, void*) {
      const std::lock_guard<std::mutex> lock(mutex);
      counted_blocks(Form::wrong, kBlocks, c.parts.data(), c.count.data(), c.out.data(), &stream);
    });
    CHECK_MESSAGE(outcome.findings.empty(), all_of(outcome.findings));
    CHECK(outcome.right == 2);
  }
}

TEST_CASE("what one of two callers throws is thrown when both have ended") {
  std::atomic<int> ended{0};
  for (const int which : {0, 1}) {
    Run run;
    Caller one(run, "first");
    const auto call = [&](int caller) {
      counted_blocks(Form::right, kBlocks, one.parts.data(), one.count.data(), one.out.data(), nullptr);
      ++ended;
      if (caller == which) throw std::runtime_error("this one");
    };
    CHECK_THROWS_WITH(call_together([&] { call(0); }, [&] { call(1); }), "this one");
    Run::findings();
  }
  CHECK(ended == 4);
}
