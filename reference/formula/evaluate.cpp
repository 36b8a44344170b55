#include "reference/formula/evaluate.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <exception>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "reference/core/error.hpp"

namespace plumb {
namespace {

using Kind = Node::Kind;
constexpr std::size_t kMostExtents = 8;
constexpr std::int64_t kBlock = 4096;  // elements of an array that are evaluated together
using Places = std::array<std::int64_t, kMostExtents>;

// Calls f(offset of each array) for every element of `sizes`, the last extent fastest.
template <std::size_t K, class F>
void each_element(const std::vector<std::int64_t>& sizes, const std::array<Places, K>& strides, F&& f) {
  const std::size_t rank = sizes.size();
  for (const std::int64_t s : sizes) {
    if (s == 0) return;
  }
  std::array<std::int64_t, K> at{};
  if (rank == 0) return f(at);
  Places place{};
  for (;;) {
    std::array<std::int64_t, K> inner = at;
    for (std::int64_t i = 0; i < sizes[rank - 1]; ++i) {
      f(inner);
      for (std::size_t k = 0; k < K; ++k) inner[k] += strides[k][rank - 1];
    }
    std::size_t e = rank - 1;
    for (;;) {
      if (e == 0) return;
      --e;
      for (std::size_t k = 0; k < K; ++k) at[k] += strides[k][e];
      if (++place[e] < sizes[e]) break;
      for (std::size_t k = 0; k < K; ++k) at[k] -= strides[k][e] * sizes[e];
      place[e] = 0;
    }
  }
}

double element_of(const FormulaArray& a, std::int64_t at) {
  if (a.kind == Format::f32) return static_cast<const float*>(a.data)[at];
  if (a.kind == Format::f64) return static_cast<const double*>(a.data)[at];
  return static_cast<const std::int32_t*>(a.data)[at];
}

Bounded unary(const Compute& c, const Node& node, const Bounded& a) {
  switch (node.kind) {
    case Kind::negate:
      return negated(a);
    case Kind::absolute:
      return absolute(a);
    case Kind::sqrt:
      return c.sqrt(a);
    case Kind::exp:
      return c.exp(a);
    case Kind::log:
      return c.log(a);
    case Kind::tanh:
      return c.tanh(a);
    case Kind::erf:
      return c.erf(a);
    default:
      return c.store(a, node.format);
  }
}

Bounded binary(const Compute& c, Kind kind, const Bounded& a, const Bounded& b) {
  switch (kind) {
    case Kind::add:
      return c.add(a, b);
    case Kind::multiply:
      return c.multiply(a, b);
    case Kind::divide:
      return c.divide(a, b);
    case Kind::larger:
      return larger(a, b);
    case Kind::smaller:
      return smaller(a, b);
    case Kind::leaky_relu:
      return c.leaky_relu(a, b);
    default:
      return less(a, b, kind == Kind::at_most);
  }
}

}  // namespace

// The values of a part of all steps: those of one stretch of one extent, or those that do not depend on it.
class FormulaGraph::Evaluation {
 public:
  Evaluation(const FormulaGraph& graph, const FormulaData& data, const Compute& compute, double shift_by)
      : graph_(graph),
        data_(data),
        compute_(compute),
        shift_by_(shift_by),
        values_(graph.steps_.size()),
        begin_(graph.extents_.size(), 0),
        size_(data.sizes) {}

  // Values of steps that do not depend on the extent; they may be shared.
  void evaluate_independent(int extent) {
    for (std::size_t s = 0; s < graph_.steps_.size(); ++s) {
      if (extent < 0 || !graph_.depends_on(graph_.steps_[s], extent)) evaluate(s);
    }
  }

  // Those that depend on it, for a stretch of it.
  void evaluate_stretch(int extent, std::int64_t begin, std::int64_t end, const Evaluation& independent) {
    independent_ = &independent;
    set_stretch(extent, begin, end);
    for (std::size_t s = 0; s < graph_.steps_.size(); ++s) {
      if (graph_.depends_on(graph_.steps_[s], extent)) evaluate(s);
    }
  }

  // Gives an output's part away.
  void write(std::size_t output, const Sink& to) const {
    const SignatureArray& array = graph_.signature_.outputs[output];
    const auto step = static_cast<std::size_t>(graph_.outputs_[output]);
    std::vector<int> extents;
    for (const std::string& e : array.extents) extents.push_back(graph_.extent_number(e));
    std::array<Places, 2> strides{};
    strides[0] = strides_of(graph_.steps_[step], extents);
    std::int64_t offset = 0, stride = 1;
    std::vector<std::int64_t> sizes(extents.size());
    for (std::size_t e = extents.size(); e-- > 0;) {
      const auto number = static_cast<std::size_t>(extents[e]);
      strides[1][e] = stride, sizes[e] = size_[number];
      offset += begin_[number] * stride, stride *= data_.sizes[number];
    }
    const std::vector<Bounded>& values = values_of(static_cast<int>(step));
    each_element(sizes, strides, [&](const std::array<std::int64_t, 2>& at) {
      to(output, static_cast<std::size_t>(offset + at[1]), values[static_cast<std::size_t>(at[0])]);
    });
  }

 private:
  [[nodiscard]] const std::vector<Bounded>& values_of(int step) const {
    const auto s = static_cast<std::size_t>(step);
    return independent_ != nullptr && !done_here(s) ? independent_->values_[s] : values_[s];
  }
  [[nodiscard]] bool done_here(std::size_t s) const {
    return graph_.depends_on(graph_.steps_[s], stretched_);
  }
  [[nodiscard]] const FormulaArray& sparse_of(int entries) const {
    return data_.inputs[static_cast<std::size_t>(graph_.sparse_[static_cast<std::size_t>(entries)])];
  }

  void set_stretch(int extent, std::int64_t begin, std::int64_t end) {
    stretched_ = extent;
    begin_[static_cast<std::size_t>(extent)] = begin, size_[static_cast<std::size_t>(extent)] = end - begin;
    for (std::size_t e = 0; e < graph_.extents_.size(); ++e) {
      if (graph_.rows_[e] != extent) continue;
      const std::int32_t* const row_ptr = sparse_of(static_cast<int>(e)).row_ptr;
      begin_[e] = row_ptr[begin], size_[e] = row_ptr[end] - row_ptr[begin];
    }
  }

  [[nodiscard]] std::vector<std::int64_t> sizes_of(const std::vector<int>& extents) const {
    std::vector<std::int64_t> sizes;
    for (const int e : extents) sizes.push_back(size_[static_cast<std::size_t>(e)]);
    return sizes;
  }

  // How far apart neighbours along `extents` lie in the values of a step.
  [[nodiscard]] Places strides_of(const Step& step, const std::vector<int>& extents) const {
    Places strides{};
    std::int64_t stride = 1;
    for (std::size_t e = step.extents.size(); e-- > 0;) {
      for (std::size_t of = 0; of < extents.size(); ++of) {
        if (extents[of] == step.extents[e]) strides[of] = stride;
      }
      stride *= size_[static_cast<std::size_t>(step.extents[e])];
    }
    return strides;
  }
  [[nodiscard]] const Step& argument(const Step& s, std::size_t n) const {
    return graph_.steps_[static_cast<std::size_t>(s.arguments[n])];
  }

  void evaluate(std::size_t number) {
    const Step& s = graph_.steps_[number];
    std::int64_t elements = 1;
    for (const int e : s.extents) elements *= size_[static_cast<std::size_t>(e)];
    std::vector<Bounded>& out = values_[number];
    out.resize(static_cast<std::size_t>(elements));
    switch (s.node->kind) {
      case Kind::input:
        return read(s, out);
      case Kind::constant:
        out[0] = compute_.constant(s.node->number);
        return;
      case Kind::size:
        out[0].value = static_cast<double>(data_.sizes[static_cast<std::size_t>(s.along[0])]);
        return;
      case Kind::index:
        for (std::int64_t i = 0; i < elements; ++i)
          out[static_cast<std::size_t>(i)].value =
              static_cast<double>(begin_[static_cast<std::size_t>(s.along[0])] + i);
        return;
      case Kind::sum:
      case Kind::maximum:
      case Kind::shift:
        return reduce(s, out);
      case Kind::of_row:
      case Kind::of_column:
        return gather(s, out);
      default:
        return elementwise(s, out);
    }
  }

  void read(const Step& s, std::vector<Bounded>& out) const {
    const auto place = static_cast<std::size_t>(s.node->input);
    if (place >= data_.inputs.size()) {
      out[0].value = data_.scalars[place - data_.inputs.size()];
      return;
    }
    const FormulaArray& a = data_.inputs[place];
    std::array<Places, 2> strides{};
    strides[0] = strides_of(s, s.extents);
    std::int64_t offset = 0, stride = 1;
    for (std::size_t e = s.extents.size(); e-- > 0;) {
      const auto number = static_cast<std::size_t>(s.extents[e]);
      strides[1][e] = stride, offset += begin_[number] * stride;
      const bool line = e + 1 == s.extents.size() && s.extents.size() > 1;
      stride = line ? a.ld : stride * data_.sizes[number];
    }
    each_element(sizes_of(s.extents), strides, [&](const std::array<std::int64_t, 2>& at) {
      out[static_cast<std::size_t>(at[0])].value = element_of(a, offset + at[1]);
    });
  }

  void elementwise(const Step& s, std::vector<Bounded>& out) const {
    std::array<Places, 4> strides{};
    std::array<const Bounded*, 3> from{};
    strides[0] = strides_of(s, s.extents);
    for (std::size_t a = 0; a < s.arguments.size(); ++a) {
      strides[a + 1] = strides_of(argument(s, a), s.extents);
      from[a] = values_of(s.arguments[a]).data();
    }
    const Node& node = *s.node;
    const std::vector<std::int64_t> sizes = sizes_of(s.extents);
    if (s.arguments.size() == 1) {
      each_element(sizes, strides,
                   [&](const auto& at) { out[at[0]] = unary(compute_, node, from[0][at[1]]); });
    } else if (s.arguments.size() == 2) {
      each_element(sizes, strides, [&](const auto& at) {
        out[at[0]] = binary(compute_, node.kind, from[0][at[1]], from[1][at[2]]);
      });
    } else {
      each_element(sizes, strides, [&](const auto& at) {
        out[at[0]] = chosen(from[0][at[1]], from[1][at[2]], from[2][at[3]]);
      });
    }
  }

  // Of one line of terms.
  Bounded reduced(const Step& s, const std::vector<Bounded>& terms) const {
    const auto count = static_cast<std::int64_t>(terms.size());
    if (s.node->kind == Kind::sum) return compute_.sum(terms.data(), count, s.products, s.node->running);
    Bounded most{-std::numeric_limits<double>::infinity()};
    for (const Bounded& t : terms) most = larger(most, t);
    if (s.node->kind == Kind::shift) most = {most.value + shift_by_, most.low, 0};
    return most;
  }

  void reduce(const Step& s, std::vector<Bounded>& out) const {
    const std::vector<std::int64_t> sizes = sizes_of(s.extents);
    const std::size_t last = s.arguments.size() - 1;  // the same argument, or the second factor
    const Bounded *const a = values_of(s.arguments[0]).data(), *const b = values_of(s.arguments[last]).data();
    std::array<Places, 4> strides{};
    strides[0] = strides_of(s, s.extents), strides[1] = strides_of(argument(s, 0), s.extents),
    strides[2] = strides_of(argument(s, last), s.extents);
    const std::array<Places, 2> within = {strides_of(argument(s, 0), s.along),
                                          strides_of(argument(s, last), s.along)};
    std::vector<std::int64_t> line = sizes_of(s.along);
    std::size_t entries = line.size();  // which of them is that of the entries of rows
    for (std::size_t l = 0; l < line.size(); ++l) {
      const int rows = graph_.rows_of_lines(s, s.along[l]);
      if (rows < 0) continue;
      entries = l;
      for (std::size_t e = 0; e < s.extents.size(); ++e) strides[3][e] = s.extents[e] == rows ? 1 : 0;
    }
    std::vector<Bounded> terms;
    each_element(sizes, strides, [&](const std::array<std::int64_t, 4>& at) {
      std::array<std::int64_t, 2> first = {at[1], at[2]};
      if (entries < line.size()) {
        const auto [begin, end] = line_of(s.along[entries], at[3]);
        line[entries] = end - begin;
        for (std::size_t k = 0; k < 2; ++k) first[k] += begin * within[k][entries];
      }
      terms.clear();
      each_element(line, within, [&](const std::array<std::int64_t, 2>& k) {
        const Bounded& left = a[first[0] + k[0]];
        terms.push_back(s.products ? Compute::product_term(left, b[first[1] + k[1]]) : left);
      });
      out[static_cast<std::size_t>(at[0])] = reduced(s, terms);
    });
  }

  // The entries of a sparse operand's row (its number in the stretch).
  [[nodiscard]] std::pair<std::int64_t, std::int64_t> line_of(int entries, std::int64_t row) const {
    const int rows = graph_.rows_[static_cast<std::size_t>(entries)];
    const std::int32_t* const row_ptr =
        sparse_of(entries).row_ptr + begin_[static_cast<std::size_t>(rows)] + row;
    const std::int64_t first = begin_[static_cast<std::size_t>(entries)];
    return {row_ptr[0] - first, row_ptr[1] - first};
  }

  void gather(const Step& s, std::vector<Bounded>& out) const {
    const int entries = argument(s, 0).extents[0];
    const FormulaArray& a = sparse_of(entries);
    const std::int64_t first = begin_[static_cast<std::size_t>(entries)];
    std::vector<std::int64_t> from(static_cast<std::size_t>(size_[static_cast<std::size_t>(entries)]));
    const auto rows = static_cast<std::size_t>(graph_.rows_[static_cast<std::size_t>(entries)]);
    for (std::int64_t r = 0; r < size_[rows]; ++r) {
      const std::int32_t* const row_ptr = a.row_ptr + begin_[rows] + r;
      for (std::int64_t e = row_ptr[0]; e < row_ptr[1]; ++e)
        from[static_cast<std::size_t>(e - first)] = s.node->kind == Kind::of_row ? r : a.col[e];
    }
    std::array<Places, 3> strides{};
    strides[0] = strides_of(s, s.extents), strides[1] = strides_of(argument(s, 1), s.extents);
    for (std::size_t e = 0; e < s.extents.size(); ++e) {
      if (s.extents[e] == entries) strides[2][e] = 1;
    }
    const std::int64_t stride = strides_of(argument(s, 1), s.along)[0];
    const Bounded* const x = values_of(s.arguments[1]).data();
    each_element(sizes_of(s.extents), strides, [&](const std::array<std::int64_t, 3>& at) {
      out[static_cast<std::size_t>(at[0])] = x[at[1] + from[static_cast<std::size_t>(at[2])] * stride];
    });
  }

  const FormulaGraph& graph_;
  const FormulaData& data_;
  const Compute& compute_;
  double shift_by_;
  std::vector<std::vector<Bounded>> values_;  // of each step that was evaluated here
  std::vector<std::int64_t> begin_, size_;    // of each extent: the part that is evaluated
  const Evaluation* independent_ = nullptr;
  int stretched_ = -1;
};

FormulaGraph::FormulaGraph(const std::string& op, const Signature& signature,
                           const std::vector<Expression>& outputs)
    : op_(op), signature_(signature), expressions_(outputs), extents_(signature.extents) {
  rows_.assign(extents_.size(), -1), sparse_.assign(extents_.size(), -1);
  for (std::size_t i = 0; i < signature.inputs.size(); ++i) {
    const SignatureArray& a = signature.inputs[i];
    if (!a.sparse) continue;
    extents_.push_back(a.entries());
    rows_.push_back(extent_number(a.extents[0])), sparse_.push_back(static_cast<int>(i));
  }
  if (outputs.size() != signature.outputs.size())
    throw Error(fmt::format("{}: the formula gives {} outputs, its signature names {}", op, outputs.size(),
                            signature.outputs.size()));
  for (const Expression& e : expressions_) outputs_.push_back(add(e.node()));
  for (std::size_t o = 0; o < outputs_.size(); ++o) check_output(o);
}

void FormulaGraph::check_output(std::size_t number) const {
  const SignatureArray& array = signature_.outputs[number];
  const std::vector<std::string>& found = steps_[static_cast<std::size_t>(outputs_[number])].node->extents;
  if (std::is_permutation(found.begin(), found.end(), array.extents.begin(), array.extents.end())) return;
  throw Error(fmt::format("{}: the formula's result has the extents ({}), its output {} has ({})", op_,
                          fmt::join(found, ", "), array.name, fmt::join(array.extents, ", ")));
}

int FormulaGraph::extent_number(const std::string& name) const {
  const auto at = std::find(extents_.begin(), extents_.end(), name);
  if (at == extents_.end()) throw Error(fmt::format("{}: no array has the extent {}", op_, name));
  return static_cast<int>(at - extents_.begin());
}

int FormulaGraph::add(const Node& node) {
  for (std::size_t s = 0; s < steps_.size(); ++s) {
    if (steps_[s].node == &node) return static_cast<int>(s);
  }
  Step step;
  step.node = &node;
  const bool products = node.kind == Kind::sum && node.arguments.front()->kind == Kind::multiply;
  step.products = products;
  for (const auto& a : products ? node.arguments.front()->arguments : node.arguments)
    step.arguments.push_back(add(*a));
  for (const std::string& e : node.extents) step.extents.push_back(extent_number(e));
  for (const std::string& e : node.along) step.along.push_back(extent_number(e));
  for (const int entries : std::vector<int>(step.along))  // along them and their rows: along all entries
    std::erase(step.along, rows_[static_cast<std::size_t>(entries)]);
  if (step.extents.size() > kMostExtents)
    throw Error(fmt::format("{}: an array of the formula has more than {} extents", op_, kMostExtents));
  steps_.push_back(std::move(step));
  return static_cast<int>(steps_.size()) - 1;
}

bool FormulaGraph::depends_on(const Step& s, int extent) const {
  return std::any_of(s.extents.begin(), s.extents.end(),
                     [&](int e) { return e == extent || rows_[static_cast<std::size_t>(e)] == extent; });
}

// The largest extent that every output has and that nothing is taken along; -1: there is none.
int FormulaGraph::parallel_extent(const FormulaData& data) const {
  int best = -1;
  for (int e = 0; e < static_cast<int>(data.sizes.size()); ++e) {
    if (sparse_[static_cast<std::size_t>(e)] >= 0) continue;
    const auto has = [&](int o) { return depends_on(steps_[static_cast<std::size_t>(o)], e); };
    if (!std::all_of(outputs_.begin(), outputs_.end(), has) || reduces(extents_[static_cast<std::size_t>(e)]))
      continue;
    if (best < 0 || data.sizes[static_cast<std::size_t>(e)] > data.sizes[static_cast<std::size_t>(best)])
      best = e;
  }
  return best;
}

bool FormulaGraph::reduces(const std::string& extent) const {
  return std::any_of(steps_.begin(), steps_.end(), [&](const Step& s) {
    const Kind k = s.node->kind;
    const std::vector<std::string>& along = s.node->along;
    return std::find(along.begin(), along.end(), extent) != along.end() &&
           (k == Kind::sum || k == Kind::maximum || k == Kind::shift || k == Kind::of_column);
  });
}

bool FormulaGraph::has_shift() const {
  return std::any_of(steps_.begin(), steps_.end(), [](const Step& s) { return s.node->kind == Kind::shift; });
}

bool FormulaGraph::reads(int input) const {
  const auto is_read = [&](int step) { return steps_[static_cast<std::size_t>(step)].node->input == input; };
  return std::any_of(outputs_.begin(), outputs_.end(), is_read) ||
         std::any_of(steps_.begin(), steps_.end(), [&](const Step& s) {
           const bool gathers = s.node->kind == Kind::of_row || s.node->kind == Kind::of_column;
           return std::any_of(s.arguments.begin() + (gathers ? 1 : 0), s.arguments.end(), is_read);
         });
}

bool FormulaGraph::uses(const Step& s, const Step& argument) const {
  return std::any_of(s.arguments.begin(), s.arguments.end(), [&](int a) {
    const Step& used = steps_[static_cast<std::size_t>(a)];
    return &used == &argument || uses(used, argument);
  });
}

std::vector<std::string> FormulaGraph::scores_along(int input) const {
  std::vector<std::string> extents;
  for (const Step& sum : steps_) {
    const bool of_input = sum.products && std::any_of(sum.arguments.begin(), sum.arguments.end(), [&](int a) {
                            return steps_[static_cast<std::size_t>(a)].node->input == input;
                          });
    const bool in_exponent = std::any_of(steps_.begin(), steps_.end(), [&](const Step& s) {
      return s.node->kind == Kind::exp && uses(s, sum);
    });
    if (of_input && in_exponent)
      extents.insert(extents.end(), sum.node->along.begin(), sum.node->along.end());
  }
  return extents;
}

// How many places of an extent are evaluated together: as many as an array has room for.
std::int64_t FormulaGraph::stretch_of(const FormulaData& data, int extent) const {
  const std::int64_t size = std::max<std::int64_t>(data.sizes[static_cast<std::size_t>(extent)], 1);
  double most = 1;  // elements of one place of the extent
  for (const Step& s : steps_) {
    if (!depends_on(s, extent)) continue;
    double elements = 1;
    for (const int e : s.extents) {
      const auto of_extent = static_cast<double>(data.sizes[static_cast<std::size_t>(e)]);
      const bool entries = rows_[static_cast<std::size_t>(e)] == extent;
      elements *= entries ? of_extent / static_cast<double>(size) : e == extent ? 1 : of_extent;
    }
    most = std::max(most, elements);
  }
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(static_cast<double>(kBlock) / most));
}

void FormulaGraph::evaluate(const FormulaData& data, const Compute& compute, const Sink& to) const {
  const int extent = parallel_extent(data);
  Evaluation independent(*this, data, compute, 0);
  independent.evaluate_independent(extent);
  if (extent < 0) {
    for (std::size_t o = 0; o < outputs_.size(); ++o) independent.write(o, to);
    return;
  }
  const std::int64_t size = data.sizes[static_cast<std::size_t>(extent)], stretch = stretch_of(data, extent);
  const std::int64_t stretches = (size + stretch - 1) / stretch;
  std::exception_ptr thrown;
#pragma omp parallel for schedule(dynamic, 1) if (stretches > 1)
  for (std::int64_t n = 0; n < stretches; ++n) {
    try {
      Evaluation part(*this, data, compute, 0);
      part.evaluate_stretch(extent, n * stretch, std::min(size, (n + 1) * stretch), independent);
      for (std::size_t o = 0; o < outputs_.size(); ++o) part.write(o, to);
    } catch (...) {
#pragma omp critical(plumb_formula)
      thrown = std::current_exception();
    }
  }
  if (thrown) std::rethrow_exception(thrown);
}

void FormulaGraph::check_shifts(const FormulaData& data, const Compute& compute) const {
  const int extent = parallel_extent(data);
  if (!has_shift() || extent < 0 || data.sizes[static_cast<std::size_t>(extent)] == 0) return;
  std::vector<double> before;  // of the elements in the order in which they come
  for (const double by : {0.0, 0.6875}) {
    Evaluation independent(*this, data, compute, by), part(*this, data, compute, by);
    independent.evaluate_independent(extent);
    part.evaluate_stretch(extent, 0, 1, independent);
    std::size_t next = 0;
    const Sink compare = [&](std::size_t o, std::size_t i, const Bounded& now) {
      if (by == 0) return before.push_back(now.value);
      const double a = before[next++];
      if (!std::isfinite(a) || std::fabs(a - now.value) <= 1e-7 * std::fabs(a) + 1e-9) return;
      throw Error(
          fmt::format("{}: the formula depends on what stands for shift(): element {} of {} is {:.9g}, and "
                      "{:.9g} where the shift is another",
                      op_, i, signature_.outputs[o].name, a, now.value));
    };
    for (std::size_t o = 0; o < outputs_.size(); ++o) part.write(o, compare);
  }
}

// Of a step along the entries of each row of a sparse operand: the extent of the rows. -1: of any other extent, and of all entries together.
int FormulaGraph::rows_of_lines(const Step& s, int along) const {
  const int rows = rows_[static_cast<std::size_t>(along)];
  return std::find(s.extents.begin(), s.extents.end(), rows) != s.extents.end() ? rows : -1;
}

double FormulaGraph::terms_of(const Step& s, const Sizes& size) const {
  double terms = 1;
  for (const int e : s.along) terms *= size(extents_[static_cast<std::size_t>(e)]);
  return terms;
}

double FormulaGraph::operations_of(const Step& s, const Sizes& size) const {
  const Kind k = s.node->kind;
  if (k == Kind::input || k == Kind::constant) return 0;
  double elements = k == Kind::sum || k == Kind::maximum || k == Kind::shift ? terms_of(s, size) : 1;
  for (const int e : s.extents) {
    const bool of_lines =
        std::any_of(s.along.begin(), s.along.end(), [&](int along) { return rows_of_lines(s, along) == e; });
    if (!of_lines) elements *= size(extents_[static_cast<std::size_t>(e)]);
  }
  return elements;
}

double FormulaGraph::operations(const Sizes& size) const {
  double all = 0;
  for (const Step& s : steps_) all += operations_of(s, size);
  return all;
}

double FormulaGraph::most_operations(const Sizes& size) const {
  double most = 0;
  for (const Step& s : steps_) most = std::max(most, operations_of(s, size));
  return most;
}

double FormulaGraph::terms(const Sizes& size) const {
  double most = 1;
  for (const Step& s : steps_) {
    if (s.node->kind == Kind::sum) most = std::max(most, terms_of(s, size));
  }
  return most;
}

}  // namespace plumb
