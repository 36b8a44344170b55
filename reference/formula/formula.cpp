#include "reference/formula/formula.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "reference/cases/fills.hpp"
#include "reference/cases/sparse_cases.hpp"
#include "reference/core/csr.hpp"
#include "reference/core/error.hpp"
#include "reference/core/random.hpp"

namespace plumb {
namespace {

using Values = SignatureArray::Values;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::size_t place_of(const Signature& s, const std::string& extent) {
  const auto at = std::find(s.extents.begin(), s.extents.end(), extent);
  if (at != s.extents.end()) return static_cast<std::size_t>(at - s.extents.begin());
  std::size_t place = s.extents.size();  // the entries of a sparse operand
  for (const SignatureArray& a : s.inputs) {
    if (a.sparse && a.entries() == extent) return place;
    place += a.sparse ? 1 : 0;
  }
  return place;
}

// The expressions that a formula is called with.
std::vector<Expression> arguments_of(const Signature& s) {
  std::vector<Expression> all;
  for (const SignatureArray& a : s.inputs) {
    Node node;
    node.kind = Node::Kind::input, node.input = static_cast<int>(all.size()), node.extents = a.extents;
    if (a.sparse) node.extents = {a.entries()};
    all.emplace_back(std::make_shared<const Node>(std::move(node)));
  }
  for (std::size_t i = 0; i < s.scalars.size(); ++i) {
    Node node;
    node.kind = Node::Kind::input, node.input = static_cast<int>(all.size());
    all.emplace_back(std::make_shared<const Node>(std::move(node)));
  }
  return all;
}

// Words of a case: values of a scalar that a user has, the simplest first. Those that are 0 or huge leave nothing of an exponential.
std::vector<std::string> words_of(const SignatureScalar& s) {
  if (s.positive) return {"0.5", "0.00001"};
  return {"1", "0.7310586", "-2"};
}

// (rows, cols) of an array as a view has them.
std::pair<std::int64_t, std::int64_t> shape_of(const SignatureArray& a, const Signature& s,
                                               const std::vector<std::int64_t>& sizes) {
  std::int64_t rows = 1;
  for (std::size_t e = 0; e + 1 < a.extents.size(); ++e) rows *= sizes[place_of(s, a.extents[e])];
  return {rows, sizes[place_of(s, a.extents.back())]};
}

bool is_vector(const SignatureArray& a) { return a.extents.size() == 1; }

double number_at(const FormulaArray& a, std::int64_t i, std::int64_t j) {
  const std::int64_t at = i * a.ld + j;
  if (a.kind == Format::f32) return static_cast<const float*>(a.data)[at];
  if (a.kind == Format::f64) return static_cast<const double*>(a.data)[at];
  return static_cast<const std::int32_t*>(a.data)[at];
}

// What is wrong with a number in an array of these values; "" where nothing is.
std::string fault_of(const SignatureArray& a, double value, std::int64_t most) {
  switch (a.values) {
    case Values::positive:
      return value > 0 ? "" : "not above 0";
    case Values::flags:
      return value == 0 || value == 1 ? "" : "neither 0 nor 1";
    case Values::places:
      return value >= 0 && value < static_cast<double>(most)
                 ? ""
                 : fmt::format("not below {}, the size of {}", most, a.of);
    case Values::counts:
      return value >= 1 && value <= static_cast<double>(most)
                 ? ""
                 : fmt::format("not from 1 to {}, the size of {}", most, a.of);
    case Values::any:
      break;
  }
  return "";
}

template <class V>
void fill_array(V* data, const SignatureArray& a, std::int64_t rows, std::int64_t cols, const Case& c,
                std::size_t place, bool empty_masks) {
  const std::uint64_t stream = 2000 + place;
  if (a.values == Values::flags) {
    for (std::int64_t k = 0; k < rows * cols; ++k)
      data[k] = static_cast<V>(random_below(c.seed, stream, static_cast<std::uint64_t>(k), 2));
    for (std::int64_t i = 0; i < rows && cols > 0; ++i) {
      if (empty_masks && random_below(c.seed, stream + 1000, static_cast<std::uint64_t>(i), 4) == 0)
        std::fill_n(data + i * cols, cols, V(0));
      else
        data[i * cols] = 1;  // one of a row, or more
    }
    return;
  }
  fill_values(data, rows, cols, c, place == 0 ? Role::left : Role::right, stream);
  if (a.values != Values::positive) return;
  for (std::int64_t k = 0; k < rows * cols; ++k) data[k] = std::max(std::fabs(data[k]), V(0x1p-10));
}

// A case whose sparse operand has the names that make_sparse() reads.
Case with_rows_and_cols(const Case& c, const SignatureArray& a) {
  Case named = c;
  for (auto& [key, value] : named.params) {
    if (key == a.extents[0]) key = "rows";
    if (key == a.extents[1]) key = "cols";
  }
  return named;
}

}  // namespace

Formula::Formula(std::string op, std::string_view signature, Build build, Build other,
                 Arithmetic::Transform form, FormulaOptions options)
    : op_(std::move(op)),
      signature_(parse_signature(op_, signature)),
      graph_(op_, signature_, build(arguments_of(signature_))),
      form_(form),
      options_(std::move(options)) {
  // what subtracts a maximum is right where exponentials overflow without it, and where all underflow
  if (options_.spreads.size() == 2 && graph_.has_shift()) options_.spreads.emplace_back("1000");
  if (other != nullptr) other_.emplace(op_, signature_, other(arguments_of(signature_)));
  for (std::size_t e = 0; e < signature_.extents.size(); ++e)
    needed_.push_back(fixed_size(signature_.extents[e]) > 0 || !has_answer(e, 1));
  while (spread_ < signature_.inputs.size() &&
         !(signature_.inputs[spread_].values == Values::any && graph_.reads(static_cast<int>(spread_))))
    ++spread_;
  empty_masks_ = has_answer(signature_.extents.size(), 0);
}

FormulaGraph::Sizes Formula::sizes_at(const Point& p) const {
  return [this, &p](const std::string& extent) {
    if (const std::int64_t fixed = fixed_size(extent); fixed > 0) return static_cast<double>(fixed);
    if (extent.find('(') == std::string::npos) return p[extent];
    for (const SignatureArray& a : signature_.inputs) {
      if (a.entries() == extent) return expected_entries(p, a.extents[0], a.extents[1]);
    }
    return 0.0;
  };
}

// Elements of all arrays, entries of sparse ones; of arrays that are empty those of one element along each extent of 0: their rows, of which
// a view may have millions without any columns, are placed and guarded.
double Formula::elements(const FormulaGraph::Sizes& size) const {
  double all = 0;
  for (const auto* arrays : {&signature_.inputs, &signature_.outputs}) {
    for (const SignatureArray& a : *arrays) {
      double one = a.sparse ? size(a.entries()) : 1;
      for (const std::string& e : a.extents) one *= a.sparse ? 1 : std::max(size(e), 1.0);
      all += one;
    }
  }
  return all;
}

// The answer's rows and width, and what is summed; a sparse operand's rows and columns.
std::string Formula::role_of(const std::string& extent) const {
  const std::vector<std::string>& answer = signature_.outputs.front().extents;
  const auto sparse = std::find_if(signature_.inputs.begin(), signature_.inputs.end(),
                                   [](const SignatureArray& a) { return a.sparse; });
  const bool has_sparse = sparse != signature_.inputs.end();
  if (extent == (has_sparse ? sparse->extents[0] : answer.front())) return "rows";
  if (has_sparse && extent == sparse->extents[1]) return "cols";
  if (extent == answer.back()) return "width";
  const auto first_summed =
      std::find_if(signature_.extents.begin(), signature_.extents.end(), [&](const auto& e) {
        return graph_.reduces(e) && std::find(answer.begin(), answer.end(), e) == answer.end();
      });
  return first_summed != signature_.extents.end() && *first_summed == extent ? "depth" : "";
}

// Of nothing there is a sum, and no mean, no largest element and no place. The formula says which it has: it is evaluated where one extent is 0
// and all others are 1, and all flags are `flag`.
bool Formula::has_answer(std::size_t none, double flag) const {
  std::vector<std::int64_t> sizes;
  for (const std::string& e : signature_.extents) sizes.push_back(std::max<std::int64_t>(fixed_size(e), 1));
  const std::string extent = none < sizes.size() ? signature_.extents[none] : "";
  if (none < sizes.size()) sizes[none] = 0;
  for (const SignatureArray& a : signature_.inputs) {
    if (!a.of.empty() && a.of == extent && a.extents.front() != a.of) return false;
    if (a.sparse) sizes.push_back(0);
  }
  static constexpr std::int32_t kNone[2] = {};
  const auto most = static_cast<std::size_t>(
      std::accumulate(sizes.begin(), sizes.end(), std::int64_t{1},
                      [](std::int64_t all, std::int64_t s) { return all * std::max<std::int64_t>(s, 1); }));
  const std::vector<double> ones(most, 1), flags(most, flag);
  FormulaData on{{}, std::vector<double>(signature_.scalars.size(), 1), sizes};
  for (const SignatureArray& a : signature_.inputs) {
    const auto [rows, cols] = shape_of(a, signature_, sizes);
    if (a.of.empty())
      on.inputs.push_back({(a.values == Values::flags ? flags : ones).data(), Format::f64, rows, cols, cols,
                           kNone, kNone, 0, is_vector(a)});
    else
      on.inputs.push_back({kNone, Format::i32, rows, cols, cols, nullptr, nullptr, 0, true});
  }
  bool finite = true;
  graph_.evaluate(on, Compute(Format::f64), [&](std::size_t, std::size_t, const Bounded& b) {
    if (!std::isfinite(b.value) || !(b.error < kBeyond)) finite = false;
  });
  return finite;
}

bool Formula::has_answer(const FormulaGraph::Sizes& size) const {
  for (std::size_t e = 0; e < needed_.size(); ++e) {
    if (needed_[e] && size(signature_.extents[e]) == 0) return false;
  }
  return true;
}

Layout Formula::layout() const {
  Layout layout{.arrays = static_cast<int>(signature_.inputs.size() + signature_.outputs.size())};
  for (const auto* arrays : {&signature_.inputs, &signature_.outputs}) {
    for (const SignatureArray& a : *arrays) {
      layout.sparse = layout.sparse || a.sparse;
      const bool known =
          std::find(layout.widths.begin(), layout.widths.end(), a.extents.back()) != layout.widths.end();
      if (!a.sparse && !is_vector(a) && !known && fixed_size(a.extents.back()) == 0)
        layout.widths.push_back(a.extents.back());
    }
  }
  return layout;
}

void Formula::describe(CaseSpace& space) const {
  for (std::size_t e = 0; e < signature_.extents.size(); ++e) {
    const std::string& extent = signature_.extents[e];
    if (fixed_size(extent) > 0) continue;
    space.extent(extent,
                 {.role = role_of(extent), .never_none = needed_[e], .timed = timed_size(1, 1 << 20)});
  }
  space.layout(layout());
  for (const SignatureScalar& s : signature_.scalars) space.words(s.name, words_of(s));
  space.words("spread", options_.spreads).words("mean", options_.means);
  space.fills(options_.fills);
  const auto all = [this](const Point& p) { return elements(sizes_at(p)); };
  space.work({.multiply_adds = [this](const Point& p) { return graph_.most_operations(sizes_at(p)); },
              .elements = all,
              .terms = [this](const Point& p) { return graph_.terms(sizes_at(p)); },
              .where = {[this](const Point& p) { return has_answer(sizes_at(p)); }}});
  const std::vector<std::string>& answer = signature_.outputs.front().extents;
  if (answer.size() > 1 && fixed_size(answer.front()) + fixed_size(answer.back()) == 0)
    space.alike({answer.front(), answer.back()});
  space.count("elements", all);
}

// "n=37,d=41,eps=0.5,spread=1,mean=0": sizes, then the word of each parameter that stands at `word`, or the last it has.
std::string Formula::parameters(const std::vector<std::int64_t>& sizes, std::size_t word) const {
  std::string text;
  const auto add = [&](const std::string& key, const std::string& value) {
    text += fmt::format("{}{}={}", text.empty() ? "" : ",", key, value);
  };
  const auto one_of = [&](const std::vector<std::string>& words) {
    return words[std::min(word, words.size() - 1)];
  };
  for (std::size_t e = 0; e < sizes.size(); ++e) {
    if (fixed_size(signature_.extents[e]) == 0) add(signature_.extents[e], std::to_string(sizes[e]));
  }
  if (layout().sparse) add("density", "0.2");
  for (const SignatureScalar& s : signature_.scalars) add(s.name, one_of(words_of(s)));
  add("spread", one_of(options_.spreads)), add("mean", one_of(options_.means));
  return text;
}

// Sizes of every extent, of which a case is not dear whatever their number is.
std::vector<std::int64_t> Formula::primes() const {
  static constexpr std::int64_t kFew[] = {37, 41, 19}, kMany[] = {2, 3, 13, 19, 17, 5};
  std::vector<std::int64_t> sizes;
  for (std::size_t e = 0; e < signature_.extents.size(); ++e)
    sizes.push_back(signature_.extents.size() <= 3 ? kFew[e] : kMany[e % std::size(kMany)]);
  return sizes;
}

// Each extent in turn is nothing or one, all are primes, all are whole vectors. The covering array has all else.
void Formula::cases(CaseList& list) const {
  const Fill first = options_.fills.front();
  const std::vector<std::int64_t> primes = this->primes();
  for (std::size_t e = 0; e < primes.size(); ++e) {
    std::vector<std::int64_t> sizes = primes;
    if (fixed_size(signature_.extents[e]) > 0) continue;
    if (graph_.reduces(signature_.extents[e])) {
      sizes[e] = 1;
      list.add(Tier::smoke, parameters(sizes, 0), {first}, "one term, or one element of a row");
    }
    if (needed_[e]) continue;
    sizes[e] = 0;
    list.add(Tier::smoke, parameters(sizes, 0), {first}, "nothing to do, or sums of nothing");
  }
  for (const Fill fill : options_.fills) {
    list.add(Tier::smoke, parameters(primes, 0), {fill}, "primes in every extent");
    list.add(Tier::smoke, parameters(primes, 1), {fill}, "the same, larger and far from 0");
    if (options_.spreads.size() > 2)
      list.add(Tier::smoke, parameters(primes, 2), {fill}, "so large that exponentials overflow");
  }
  const std::size_t extents = primes.size();
  const std::vector<std::int64_t> whole(extents, extents <= 3 ? 64 : extents == 4 ? 32 : 16);
  list.add(Tier::smoke, parameters(whole, 0), {first}, "whole vectors in every extent");
}

// The values of the first input that the formula reads become as large, and as far from 0, as the case says. Of sums of its products that an exponential is taken of, the
// size does not grow with the terms, as that of attention's scores does not: else no digit of the exponential were sure.
template <class V>
void Formula::spread_out(V* data, std::int64_t count, const Case& c,
                         const std::vector<std::int64_t>& sizes) const {
  double terms = 1;
  for (const std::string& e : graph_.scores_along(static_cast<int>(spread_)))
    terms *= static_cast<double>(std::max<std::int64_t>(sizes[place_of(signature_, e)], 1));
  const auto factor = static_cast<V>(1 / std::sqrt(terms));
  const auto spread = static_cast<V>(c.number_or("spread", 1)), mean = static_cast<V>(c.number_or("mean", 0));
  for (std::int64_t k = 0; k < count; ++k) data[k] = (data[k] * spread + mean) * factor;
}

// Throws Error where a member of PLUMB_INPUTS or PLUMB_OUTPUTS is of another kind than its array of the signature.
void Formula::check_members(const FormulaCall& call) const {
  const auto check = [&](const SignatureArray& a, const FormulaArray& member) {
    const auto kind_of = [](bool sparse, bool indices, bool vector) {
      return sparse ? "Sparse" : indices ? "Indices" : vector ? "Vector" : "Matrix";
    };
    const std::string wanted = kind_of(a.sparse, !a.of.empty(), is_vector(a)),
                      found = kind_of(member.sparse, member.kind == Format::i32, member.vector);
    if (wanted != found)
      throw Error(fmt::format("{}: the signature's {} ({}) is a {}, its member a {}", op_, a.name,
                              fmt::join(a.extents, ", "), wanted, found));
  };
  for (std::size_t i = 0; i < call.inputs.size(); ++i) check(signature_.inputs[i], call.inputs[i]);
  for (std::size_t o = 0; o < call.outputs.size(); ++o) check(signature_.outputs[o], call.outputs[o]);
}

template <class V>
void Formula::make(const Case& c, Arena& arena, FormulaCall& call) const {
  check_members(call);
  std::vector<std::int64_t> sizes;
  call.extents.clear();
  for (const std::string& e : signature_.extents) {
    sizes.push_back(fixed_size(e) > 0 ? fixed_size(e) : c.integer(e));
    if (signature_.holds_extents() && fixed_size(e) == 0) call.extents.push_back(sizes.back());
  }
  for (const SignatureArray& a : signature_.inputs) {
    if (a.sparse) sizes.push_back(0);
  }
  for (std::size_t i = 0; i < signature_.inputs.size(); ++i) {
    const SignatureArray& a = signature_.inputs[i];
    FormulaArray& made = call.inputs[i];
    const auto [rows, cols] = shape_of(a, signature_, sizes);
    if (a.sparse) {
      Csr<V> csr = make_sparse<V>(with_rows_and_cols(c, a), kMatrixStream);
      if (i == spread_) spread_out(csr.val.data(), static_cast<std::int64_t>(csr.val.size()), c, sizes);
      made = detail::formula_array(keep(arena, csr));
      sizes[place_of(signature_, a.entries())] = made.entries;
    } else if (!a.of.empty()) {
      auto* const data = arena.allocate<std::int32_t>(cols);
      const auto most = static_cast<std::uint64_t>(sizes[place_of(signature_, a.of)]);
      for (std::int64_t k = 0; k < cols && most > 0; ++k)
        data[k] =
            static_cast<std::int32_t>(random_below(c.seed, 3000 + i, static_cast<std::uint64_t>(k), most)) +
            (a.values == Values::counts ? 1 : 0);
      made = {data, Format::i32, 1, cols, cols, nullptr, nullptr, 0, true};
    } else {
      V* const data = arena.allocate<V>(rows * cols);
      fill_array(data, a, rows, cols, c, i, empty_masks_);
      if (i == spread_) spread_out(data, rows * cols, c, sizes);
      made = {data, kFormat<V>, rows, cols, cols, nullptr, nullptr, 0, is_vector(a)};
    }
  }
  for (std::size_t o = 0; o < signature_.outputs.size(); ++o) {
    const auto [rows, cols] = shape_of(signature_.outputs[o], signature_, sizes);
    call.outputs[o] = {
        nullptr, kFormat<V>, rows, cols, cols, nullptr, nullptr, 0, is_vector(signature_.outputs[o])};
  }
  call.scalars.clear();
  for (const SignatureScalar& s : signature_.scalars)
    call.scalars.push_back(static_cast<V>(c.number(s.name)));
}
template void Formula::make<float>(const Case&, Arena&, FormulaCall&) const;
template void Formula::make<double>(const Case&, Arena&, FormulaCall&) const;

bool Formula::is_degenerate(const FormulaCall& call) const {
  const std::vector<std::int64_t> all = sizes(call);
  std::int64_t elements = 0;
  for (const FormulaArray& a : call.outputs) elements += a.rows * a.cols;
  for (const FormulaArray& a : call.inputs) {  // rows of one entry: what is normalised over a row is 1
    bool any_longer = a.row_ptr == nullptr;
    for (std::int64_t i = 0; !any_longer && i < a.rows; ++i) any_longer = a.row_ptr[i + 1] > a.row_ptr[i] + 1;
    if (!any_longer) return true;
  }
  return elements <= 16 || std::any_of(all.begin(), all.end(), [](std::int64_t s) { return s <= 1; });
}

// Of Problem, or of the first array that has an extent alone as its rows or columns.
std::vector<std::int64_t> Formula::sizes(const FormulaCall& call) const {
  std::vector<std::int64_t> all;
  auto held = call.extents.begin();
  for (const std::string& e : signature_.extents) {
    const bool is_held = fixed_size(e) == 0 && held != call.extents.end();
    all.push_back(is_held ? *held++ : fixed_size(e) > 0 ? fixed_size(e) : -1);
  }
  for (std::size_t i = 0; i < call.inputs.size(); ++i) {
    if (signature_.inputs[i].sparse) all.push_back(call.inputs[i].entries);
  }
  const auto take = [&](const std::string& extent, std::int64_t size) {
    std::int64_t& known = all[place_of(signature_, extent)];
    if (known < 0) known = size;
  };
  const auto take_all = [&](const std::vector<SignatureArray>& arrays,
                            const std::vector<FormulaArray>& views) {
    for (std::size_t i = 0; i < arrays.size(); ++i) {
      take(arrays[i].extents.back(), views[i].cols);
      if (arrays[i].extents.size() == 2) take(arrays[i].extents.front(), views[i].rows);
    }
  };
  take_all(signature_.inputs, call.inputs), take_all(signature_.outputs, call.outputs);
  return all;
}

FormulaData Formula::data(const FormulaCall& call) const { return {call.inputs, call.scalars, sizes(call)}; }

void Formula::validate(const FormulaCall& call) const {
  const std::vector<std::int64_t> all = sizes(call);
  const auto check = [&](const SignatureArray& a, const FormulaArray& view) {
    const auto [rows, cols] = shape_of(a, signature_, all);
    if (view.cols != cols || (!is_vector(a) && view.rows != rows))
      throw Error(fmt::format("{}: {} is {} x {}, its extents are {} x {}", op_, a.name, view.rows, view.cols,
                              rows, cols));
    if (!is_vector(a) && !a.sparse && view.ld < view.cols)
      throw Error(fmt::format("{}: the leading dimension of {} is {}, less than its width {}", op_, a.name,
                              view.ld, cols));
  };
  for (std::size_t o = 0; o < call.outputs.size(); ++o) check(signature_.outputs[o], call.outputs[o]);
  for (std::size_t i = 0; i < call.inputs.size(); ++i) {
    check(signature_.inputs[i], call.inputs[i]);
    validate_values(signature_.inputs[i], call.inputs[i], all);
  }
  for (std::size_t s = 0; s < call.scalars.size(); ++s) {
    if (signature_.scalars[s].positive && !(call.scalars[s] > 0))
      throw Error(fmt::format("{}: {} is {}, not above 0", op_, signature_.scalars[s].name, call.scalars[s]));
  }
}

void Formula::validate_values(const SignatureArray& a, const FormulaArray& view,
                              const std::vector<std::int64_t>& sizes) const {
  if (a.sparse) {  // rows and columns: its values are any
    validate_csr(CsrView<const float, Space::host>{view.rows, view.cols, view.entries, view.row_ptr, view.col,
                                                   static_cast<const float*>(view.data)},
                 a.name.c_str());
    return;
  }
  if (a.values == Values::any) return;
  const std::int64_t most = a.of.empty() ? 0 : sizes[place_of(signature_, a.of)];
  for (std::int64_t i = 0; i < view.rows; ++i) {
    for (std::int64_t j = 0; j < view.cols; ++j) {
      const std::string fault = fault_of(a, number_at(view, i, j), most);
      if (!fault.empty())
        throw Error(fmt::format("{}: {}({}, {}) is {}, {}", op_, a.name, i, j, number_at(view, i, j), fault));
    }
  }
}

void Formula::oracle(const FormulaCall& call, Format format, Reference& reference) const {
  const Compute compute(format, options_.math);
  const FormulaData on = data(call);
  graph_.check_shifts(on, compute);
  const auto size = [&](const std::string& extent) { return size_of(on, extent); };
  const auto terms = static_cast<std::int32_t>(std::min(graph_.terms(size), 2e9));
  for (const FormulaArray& output : call.outputs) {
    ReferenceArray& array = reference.outputs.emplace_back();
    array.resize(output.rows * output.cols);
    if (other_) array.transform = form_, array.transformed = LargeArray<double>(array.value.size());
  }
  // the reference is rounded to a double; allowed twice, as any rounding
  const double own = 2 * facts(Format::f64).unit / compute.unit();
  const auto units = [&](const Bounded& b) {
    return b.error == 0 || b.error == kBeyond ? 0 : b.error / compute.unit() + own * std::fabs(b.value);
  };
  graph_.evaluate(on, compute, [&](std::size_t o, std::size_t at, const Bounded& b) {
    ReferenceArray& array = reference.outputs[o];
    array.value[at] = b.error == kBeyond ? std::copysign(kInfinity, b.value) : b.value;
    array.terms[at] = terms, array.magnitude[at] = units(b);
  });
  if (!other_) return;
  other_->evaluate(on, compute, [&](std::size_t o, std::size_t at, const Bounded& b) {
    ReferenceArray& array = reference.outputs[o];
    array.transformed[at] = std::max(array.magnitude[at], units(b));
  });
}

double Formula::size_of(const FormulaData& on, const std::string& extent) const {
  return static_cast<double>(on.sizes[place_of(signature_, extent)]);
}

Work Formula::cost(const FormulaCall& call) const {
  const FormulaData on = data(call);
  Work work;
  work.flop = graph_.operations([&](const std::string& extent) { return size_of(on, extent); });
  for (const FormulaArray& a : call.inputs) {
    const bool sparse = a.row_ptr != nullptr;
    const auto elements = static_cast<double>(sparse ? a.entries : a.rows * a.cols);
    (a.kind == Format::i32 ? work.index_bytes : work.values_in) += (a.kind == Format::i32 ? 4 : 1) * elements;
    if (sparse) work.index_bytes += 4 * (elements + static_cast<double>(a.rows) + 1);
  }
  for (const FormulaArray& a : call.outputs) work.values_out += static_cast<double>(a.rows * a.cols);
  return work;
}

double formula_bound(const Tolerance& t, double units, std::int64_t terms) {
  if (units == 0) return 0;
  const bool cut = is_floating(t.arithmetic.operand) && !t.arithmetic.corrected;
  const double unit = cut ? std::max(t.unit(), facts(t.arithmetic.operand).unit) : t.unit();
  const double flushed = t.arithmetic.flushes ? static_cast<double>(terms + 1) * t.smallest_normal() : 0;
  return unit * units + flushed;
}

}  // namespace plumb
