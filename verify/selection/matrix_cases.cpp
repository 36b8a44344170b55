#include "verify/selection/matrix_cases.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "datasets/formats/load_matrix.hpp"
#include "reference/core/error.hpp"
#include "reference/core/exhaustion.hpp"
#include "reference/core/sparse_cases.hpp"
#include "verify/selection/selection.hpp"

namespace plumb {
namespace {

// Files read by this process, each once, however many cases are made of it.
const ReadMatrix<double>& read_once(const std::string& path) {
  static std::mutex reading;
  static std::map<std::string, std::unique_ptr<ReadMatrix<double>>> known;
  const std::lock_guard lock(reading);
  std::unique_ptr<ReadMatrix<double>>& a = known[path];
  if (!a) {
    try {
      a = std::make_unique<ReadMatrix<double>>(read_matrix<double>(path));
    } catch (const std::bad_alloc&) {
      throw input_error(path, 0, "out of memory while reading it" + memory_limit_text());
    }
  }
  return *a;
}

const Csr<double>& matrix(const std::string& path) { return read_once(path).a; }

void add_notes(const std::vector<std::string>& files, std::vector<std::string>& notes) {
  for (const std::string& path : files) {
    for (const std::string& note : read_once(path).found.notes)
      notes.push_back(fmt::format("{}: {} (options of `dataset convert`)", path, note));
  }
}

// Why the file's own values cannot be judged in `dtype`, or "". Sums stay below 2^27 times the largest value.
std::string unfit(const Csr<double>& a, Dtype dtype) {
  const double limit = std::min(std::ldexp(1.0, facts(facts(dtype).accumulate).max_exponent - 27),
                                facts(facts(dtype).in).largest);
  for (const double v : a.val) {
    if (!std::isfinite(v)) return "it holds NaN or infinities";
    if (std::fabs(v) > limit)
      return fmt::format("sums with its value {} leave the range of {}", v, name(dtype));
  }
  return {};
}

Case on_file(const Case& listed, const std::string& file) {
  Case c = listed;
  c.params = {{"matrix", file}};
  for (const auto& [key, value] : listed.params) {
    if (key != "rows" && key != "cols" && key != "density" && key != "pattern")
      c.params.emplace_back(key, value);
  }
  c.tier = Tier::smoke;
  c.why = "the user's own matrix";
  return c;
}

}  // namespace

std::vector<Case> cases_on_matrices(const std::vector<Case>& listed, const std::vector<std::string>& files,
                                    std::vector<std::string>& notes) {
  std::vector<Case> all;
  std::set<std::string> seen;
  const auto add = [&](const Case& c) {
    if (seen.insert(c.id()).second) all.push_back(c);
  };
  add_notes(files, notes);
  for (const std::string& file : files) {
    for (const Case& from : listed) {
      if (!from.has("density") || from.fill == Fill::index) continue;
      // operands that are one array have one shape
      if (from.has("same") && matrix(file).rows != matrix(file).cols) continue;
      Case c = on_file(from, file);
      add(c);
      // a file's values stay as they are, and do not cancel
      if (c.fill != Fill::real || c.text_or("facing", "") == "cancels") continue;
      c.fill = Fill::own, c.why = "the user's own matrix, with its own values";
      if (const std::string why = unfit(matrix(file), c.dtype); why.empty()) {
        add(c);
      } else {
        notes.push_back(fmt::format("{}: fill=own of {} is left out: {}", file, name(c.dtype), why));
      }
    }
  }
  return all;
}

std::vector<Case> timed_cases_on_matrices(const CaseSpace& space, const std::vector<Case>& drawn,
                                          const std::vector<std::string>& files, const TimedSize& size,
                                          std::vector<std::string>& notes) {
  std::vector<Case> all;
  for (const std::string& file : files) {
    const Csr<double>& a = matrix(file);
    std::set<Dtype> seen;
    for (const Case& from : drawn) {
      std::optional<Point> p = space.locate(from);
      if (!p || !from.has("density") || !seen.insert(from.dtype).second) continue;
      const auto set = [&](const char* key, const std::string& value) {
        space.set(*p, space.index(key), value);
      };
      set("pattern", "uniform"), set("rows", std::to_string(a.rows)), set("cols", std::to_string(a.cols));
      set("row_mean", fmt::format("{}", static_cast<double>(a.nnz()) /
                                            static_cast<double>(std::max<std::int64_t>(a.rows, 1))));
      if (space.bytes(*p) <= 4 * size.most_bytes && space.multiply_adds(*p) <= 4 * size.most_work) {
        all.push_back(on_file(from, file));
      } else {
        notes.push_back(
            fmt::format("{}: left out of {}.{}: {:.3g} bytes and {:.3g} multiply-adds are too many", file,
                        from.op, name(from.dtype), space.bytes(*p), space.multiply_adds(*p)));
      }
    }
  }
  return all;
}

void read_matrices_once() {
  set_matrix_reader([](const std::string& path) { return matrix(path); });
}

}  // namespace plumb
