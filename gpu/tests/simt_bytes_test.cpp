// Copies, fills and comparisons of any number of bytes: in bounds, initialised and ordered, byte by byte.
#include <iterator>

#include "gpu/tests/simt_support.hpp"

using plumb::simt::Finding;
using plumb::simt::FindingKind;
using namespace plumb::simt_test;

namespace {

struct Way {
  Bytes how;
  const char* line;
  bool reads = false;
  bool constant = false;  // its size
};
const Way kWays[] = {{Bytes::read, "read", true},
                     {Bytes::written, "written"},
                     {Bytes::moved, "moved"},
                     {Bytes::filled, "filled"},
                     {Bytes::compared, "compared", true},
                     {Bytes::read_by_function, "read by function", true},
                     {Bytes::filled_by_function, "filled by function"},
                     {Bytes::compared_by_function, "compared by function", true},
                     {Bytes::assigned, "assigned", false, true},
                     {Bytes::placed, "placed", false, true}};
constexpr int kConstants[] = {1, 3, 4, 5, 7, 12, 16, 33};  // touch_bytes() has kernels for these
constexpr int kVariables[] = {2, 6, 13, 40};

// What is found where so many bytes from byte `at` on are touched.
std::vector<Finding> findings_of(const Way& way, bool shared, bool filled, int at, int bytes) {
  std::vector<unsigned char> global(kBytesHeld);
  std::vector<int> out(1);
  Run run;
  touch_bytes(way.how, shared, filled, run.output(global, "global"), run.output(out), at, bytes);
  return Run::findings();
}

template <class F>
void each_size(const Way& way, F&& f) {
  for (const int bytes : kConstants) f(bytes);
  if (!way.constant)
    for (const int bytes : kVariables) f(bytes);
}

}  // namespace

TEST_CASE("bytes that a copy, a fill or a comparison touches are in bounds, to the last one") {
  for (const Way& way : kWays) {
    CAPTURE(way.line);
    const int line = line_of("bytes", way.line);
    REQUIRE(line > 0);
    for (const bool shared : {false, true}) {
      CAPTURE(shared);
      each_size(way, [&](int bytes) {
        CAPTURE(bytes);
        const auto within = findings_of(way, shared, true, kBytesHeld - bytes, bytes);
        CHECK_MESSAGE(within.empty(), all_of(within));
        if (!checked()) return;
        const auto past = findings_of(way, shared, true, kBytesHeld - bytes + 1, bytes);
        CHECK_MESSAGE(reports(past, FindingKind::out_of_bounds, line), all_of(past));
        CHECK_MESSAGE(all_of(past).find(shared ? "'tile'" : "'global'") != std::string::npos, all_of(past));
      });
    }
  }
}

TEST_CASE("bytes that nothing wrote are read by no copy or comparison") {
  if (!checked()) return;
  for (const Way& way : kWays) {
    CAPTURE(way.line);
    for (const bool shared : {false, true}) {
      CAPTURE(shared);
      each_size(way, [&](int bytes) {
        CAPTURE(bytes);
        const auto found = findings_of(way, shared, false, 8, bytes);
        CHECK_MESSAGE(found.empty() == !way.reads, all_of(found));
        if (way.reads)
          CHECK_MESSAGE(reports(found, FindingKind::uninitialised, line_of("bytes", way.line)),
                        all_of(found));
      });
    }
  }
}

TEST_CASE("copies of five bytes race where one byte is shared, and not where they lie side by side") {
  const int line = line_of("bytes", "five each");
  REQUIRE(line > 0);
  for (const bool shared : {false, true}) {
    CAPTURE(shared);
    for (const int apart : {5, 4}) {
      CAPTURE(apart);
      std::vector<unsigned char> out(5 * 32);
      Run run;
      five_bytes_each(shared, apart, run.output(out));
      const auto findings = Run::findings();
      if (apart == 5) {
        CHECK_MESSAGE(findings.empty(), all_of(findings));
        CHECK(out[5 * 31] == 31);
        CHECK(out[5 * 31 + 4] == 4);
      } else if (checked()) {
        CHECK_MESSAGE(reports(findings, FindingKind::race, line, line), all_of(findings));
      }
    }
  }
}
