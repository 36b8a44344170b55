#include "verify/selection/matrix_cases.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "datasets/formats/load_matrix.hpp"
#include "reference/cases/case_words.hpp"
#include "reference/cases/sparse_cases.hpp"
#include "reference/core/error.hpp"
#include "reference/core/exhaustion.hpp"
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
  c.why = "the user's own matrix";
  return c;
}

// Multiply-adds, and words of all arrays, of a case of `space` on a matrix.
double cost_of(const CaseSpace& space, const Case& on_file, const Csr<double>& a) {
  Case c = on_file;
  std::erase_if(c.params, [&](const auto& one) { return !space.has(one.first); });
  const auto rows = static_cast<double>(std::max<std::int64_t>(a.rows, 1)),
             cols = static_cast<double>(a.cols);
  const double mean = static_cast<double>(a.nnz()) / rows;
  c.params.insert(c.params.begin(), {{"rows", std::to_string(a.rows)},
                                     {"cols", std::to_string(a.cols)},
                                     {"density", fmt::format("{:.6g}", cols > 0 ? mean / cols : 0)}});
  if (c.fill == Fill::own) c.fill = Fill::real;
  const std::optional<Point> p = space.locate(c);
  return p ? space.multiply_adds(*p) + space.bytes(*p) / 4 : std::numeric_limits<double>::infinity();
}

// What a case on a matrix has that others may lack: its fill in its type, and every other value, sizes and factors by their kind.
std::vector<std::string> traits_of(const Case& c) {
  std::vector<std::string> traits{fmt::format("{} {}", name(c.fill), name(c.dtype))};
  for (const auto& [key, value] : c.params) {
    if (key == "matrix") continue;
    const double number = number_of(value);
    const bool factor = key == "alpha" || key == "beta", size = key == "n" || key == "k";
    const char* const kind = factor ? (number == 0   ? "0"
                                       : number == 1 ? "1"
                                                     : "any")
                             : size ? (number <= 1    ? "one"
                                       : number <= 8  ? "few"
                                       : number <= 32 ? "up to a warp"
                                                      : "many")
                                    : value.c_str();
    traits.push_back(fmt::format("{}={}", key, kind));
  }
  return traits;
}

constexpr double kCostOfMatrix = 1e7;  // of all cases of an operator on one matrix, in tier smoke

// The cases of one matrix that tier smoke has: its own values in each type, then those that have most of what the others lack, cheap ones
// first, until all is met or the cost is spent. The others are of tier full.
void choose_for_smoke(const CaseSpace& space, const Csr<double>& a, std::vector<Case>& cases) {
  std::vector<std::pair<double, Case*>> left;
  for (Case& c : cases) {
    c.tier = Tier::full;
    left.emplace_back(cost_of(space, c, a), &c);
  }
  std::stable_sort(left.begin(), left.end(), [](const auto& x, const auto& y) { return x.first < y.first; });
  std::set<std::string> met;
  double spent = 0;
  const auto worth = [&](const Case& c) {
    const std::vector<std::string> traits = traits_of(c);
    return std::count_if(traits.begin(), traits.end(),
                         [&](const std::string& t) { return met.count(t) == 0; }) +
           (c.fill == Fill::own && met.count(traits.front()) == 0 ? 100 : 0);
  };
  while (true) {
    const auto best = std::max_element(left.begin(), left.end(), [&](const auto& x, const auto& y) {
      return worth(*x.second) < worth(*y.second);
    });
    if (best == left.end() || worth(*best->second) == 0) return;
    const auto [cost, chosen] = *best;
    left.erase(best);
    if (spent + cost > kCostOfMatrix) continue;
    spent += cost, chosen->tier = Tier::smoke;
    for (const std::string& trait : traits_of(*chosen)) met.insert(trait);
  }
}

// The listed cases on one matrix, each once.
std::vector<Case> cases_on_matrix(const std::vector<Case>& listed, const std::string& file,
                                  std::vector<std::string>& notes) {
  std::vector<Case> all;
  std::set<std::string> seen;
  const auto add = [&](const Case& c) {
    if (seen.insert(c.id()).second) all.push_back(c);
  };
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
  return all;
}

}  // namespace

std::vector<Case> cases_on_matrices(const CaseSpace& space, const std::vector<Case>& listed,
                                    const std::vector<std::string>& files,
                                    const std::function<bool(const Case&)>& wanted,
                                    std::vector<std::string>& notes) {
  std::vector<Case> all;
  add_notes(files, notes);
  for (const std::string& file : files) {
    std::vector<Case> on_file = cases_on_matrix(listed, file, notes);
    std::erase_if(on_file, [&](const Case& c) { return !wanted(c); });
    choose_for_smoke(space, matrix(file), on_file);
    all.insert(all.end(), on_file.begin(), on_file.end());
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
