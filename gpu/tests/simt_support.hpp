// What the executor's tests share: a run over named arrays, and the line that a finding must name.
#pragma once
#include <doctest/doctest.h>

#include <fstream>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "gpu/simt/executor.hpp"
#include "gpu/tests/checked.hpp"
#include "gpu/tests/kernels/simt_kernels.hpp"

namespace plumb::simt_test {

/// Line of the comment `// <- mark` in gpu/tests/kernels/<file>.cu; 0 where there is none.
inline int line_of(const std::string& file, const std::string& mark) {
  std::ifstream in(std::string(PLUMB_SOURCE_DIR) + "/gpu/tests/kernels/" + file + ".cu");
  std::string line;
  const std::string wanted = "// <- " + mark;
  for (int n = 1; std::getline(in, line); ++n) {
    const std::size_t at = line.find(wanted);
    if (at != std::string::npos && at + wanted.size() == line.size()) return n;
  }
  return 0;
}

/// One run of the executor: begins on construction; findings() ends it.
class Run {
 public:
  explicit Run(std::uint64_t seed = 0, int resident = 1) {
    simt::Options options;
    options.seed = seed;
    options.resident_blocks = resident;
    options.check = checked();
    options.volatile_is_atomic = true;  // the kernels' flags; simt_rules_test.cpp has what holds otherwise
    simt::begin_run(options);
  }
  template <class T>
  const T* input(const std::vector<T>& v) {
    simt::add_array("in", v.data(), v.size() * sizeof(T), true, false);
    return v.data();
  }
  template <class T>
  T* output(std::vector<T>& v, const char* name = "out") {
    simt::add_array(name, v.data(), v.size() * sizeof(T), false, true);
    return v.data();
  }
  static std::vector<simt::Finding> findings() { return simt::end_run(); }
};

inline std::string all_of(const std::vector<simt::Finding>& findings) {
  std::string out;
  for (const auto& f : findings) out += f.describe();
  return out;
}

/// Whether some finding of that kind joins the two lines, in either order. 0 matches any line.
inline bool reports(const std::vector<simt::Finding>& findings, simt::FindingKind kind, int line,
                    int other = 0) {
  for (const auto& f : findings) {
    if (f.kind != kind) continue;
    if (f.place.line == line && (other == 0 || f.other_place.line == other)) return true;
    if (other != 0 && f.place.line == other && f.other_place.line == line) return true;
  }
  return false;
}

/// Ends the run; it must have found nothing.
inline void expect_none() {
  const auto findings = Run::findings();
  CHECK_MESSAGE(findings.empty(), all_of(findings));
}
/// Ends the run; it must have found that, at the line of `file` marked `mark`, and joined with the one marked `other`, if there is one. Returns
/// all findings.
inline std::vector<simt::Finding> expect_finding(simt::FindingKind kind, const char* file, const char* mark,
                                                 const char* other = nullptr) {
  const auto findings = Run::findings();
  CAPTURE(mark);
  CHECK_MESSAGE(reports(findings, kind, line_of(file, mark), other == nullptr ? 0 : line_of(file, other)),
                all_of(findings));
  return findings;
}

/// from, from + 1, ...: n values.
inline std::vector<int> counting(int n, int from = 0) {
  std::vector<int> v(static_cast<std::size_t>(n));
  std::iota(v.begin(), v.end(), from);
  return v;
}

inline const int kBlockSizes[] = {32, 64, 128, 256, 512, 1024};
inline constexpr std::uint64_t kSeeds = 8;

/// Runs `launch` right and wrong over seeds. The right form must be silent and pass `check`; in checked runs
/// the wrong one must be reported as a race between the lines marked so.
inline void twin(const char* file, const char* one, const char* other,
                 const std::function<void(Form, Run&)>& launch, const std::function<bool()>& check) {
  const int first = line_of(file, one);
  const int second = line_of(file, other);
  REQUIRE(first > 0);
  REQUIRE(second > 0);
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    CAPTURE(seed);
    {
      Run run(seed);
      launch(Form::right, run);
      expect_none();
      CHECK(check());
    }
    if (!checked()) continue;
    Run run(seed);
    launch(Form::wrong, run);
    const auto findings = Run::findings();
    CHECK_MESSAGE(reports(findings, simt::FindingKind::race, first, second), all_of(findings));
  }
}

}  // namespace plumb::simt_test
