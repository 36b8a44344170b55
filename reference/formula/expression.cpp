#include "reference/formula/expression.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "reference/core/error.hpp"

namespace plumb {
namespace {

using Kind = Node::Kind;

bool holds(const std::vector<std::string>& extents, const std::string& name) {
  return std::find(extents.begin(), extents.end(), name) != extents.end();
}

Expression expression(Node node) { return Expression(std::make_shared<const Node>(std::move(node))); }

// Of the extents of all arguments, each once, in the order in which they are met.
Expression made(Kind kind, const std::vector<Expression>& arguments, Node node = {}) {
  node.kind = kind;
  for (const Expression& a : arguments) {
    node.arguments.push_back(a.shared());
    for (const std::string& e : a.node().extents) {
      if (!holds(node.extents, e)) node.extents.push_back(e);
    }
  }
  return expression(std::move(node));
}

// "A" of "A(n,m)".
std::string short_name(const std::string& extent) { return extent.substr(0, extent.find('(')); }

// Of the entries of a sparse operand: "n", and "m"; "" of another extent.
std::string rows_of(const std::string& entries) {
  const std::size_t open = entries.find('('), comma = entries.find(',');
  return open == std::string::npos ? "" : entries.substr(open + 1, comma - open - 1);
}
std::string columns_of(const std::string& entries) {
  const std::size_t comma = entries.find(',');
  return comma == std::string::npos ? "" : entries.substr(comma + 1, entries.size() - comma - 2);
}

std::string extent_of(const Expression& x, const Axis& axis) {
  const std::vector<std::string>& all = x.node().extents;
  for (const std::string& e : all) {
    if (axis.named && (e == axis.name || short_name(e) == axis.name)) return e;
  }
  const int places = static_cast<int>(all.size());
  const int place = axis.place < 0 ? axis.place + places : axis.place;
  if (!axis.named && place >= 0 && place < places) return all[static_cast<std::size_t>(place)];
  throw Error(fmt::format("a formula names the extent {} of an array that has ({})",
                          axis.named ? axis.name : std::to_string(axis.place), fmt::join(all, ", ")));
}

Node along(Kind kind, const Expression& x, const std::string& extent) {
  Node node;
  node.kind = kind, node.along = {extent}, node.arguments = {x.shared()};
  for (const std::string& e : x.node().extents) {
    if (e != extent) node.extents.push_back(e);
    if (e == extent && !rows_of(e).empty()) node.extents.push_back(rows_of(e));
  }
  return node;
}

// How long extents are, or a product of that: what a mean is divided by.
bool is_count(const Node& n) {
  return n.kind == Kind::size ||
         (n.kind == Kind::multiply && is_count(*n.arguments[0]) && is_count(*n.arguments[1]));
}

// A sum of sums is one sum, whose terms a kernel may take in any order; a sum of means is that sum, divided.
Expression summed(const Expression& x, const std::string& extent, bool running) {
  const Node& inner = x.node();
  if (inner.kind == Kind::divide && inner.arguments[0]->kind == Kind::sum && is_count(*inner.arguments[1]))
    return summed(Expression(inner.arguments[0]), extent, running) / Expression(inner.arguments[1]);
  Node total = along(Kind::sum, x, extent);
  if (inner.kind == Kind::sum) {
    total.arguments = inner.arguments,
    total.along.insert(total.along.end(), inner.along.begin(), inner.along.end());
    running = running || inner.running;
  }
  total.running = running;
  return expression(std::move(total));
}

// The sparse operand's row extent, or its column extent, becomes its entries.
Expression to_entries(Kind kind, const Expression& entries, const Expression& x) {
  const Node& a = entries.node();
  if (a.kind != Kind::input || a.extents.size() != 1 || rows_of(a.extents.front()).empty())
    throw Error("of_row and of_column take a sparse operand of the signature first");
  Node node;
  node.kind = kind, node.arguments = {entries.shared(), x.shared()};
  const std::string from = kind == Kind::of_row ? rows_of(a.extents.front()) : columns_of(a.extents.front());
  if (!holds(x.node().extents, from))
    throw Error(fmt::format("an array of ({}) has no extent {} to be taken for the entries of {}",
                            fmt::join(x.node().extents, ", "), from, short_name(a.extents.front())));
  node.along = {from}, node.extents = x.node().extents;
  std::replace(node.extents.begin(), node.extents.end(), from, a.extents.front());
  return expression(std::move(node));
}

}  // namespace

Expression::Expression(double constant) {
  Node node;
  node.number = constant;
  node_ = std::make_shared<const Node>(std::move(node));
}
Expression Expression::index(const std::string& extent) {
  Node node;
  node.kind = Kind::index, node.along = {extent}, node.extents = {extent};
  return expression(std::move(node));
}

Expression Expression::size(const std::string& extent) {
  Node node;
  node.kind = Kind::size, node.along = {extent};
  return expression(std::move(node));
}

Expression operator+(const Expression& a, const Expression& b) { return made(Kind::add, {a, b}); }
Expression operator-(const Expression& a, const Expression& b) { return made(Kind::add, {a, -b}); }
Expression operator*(const Expression& a, const Expression& b) { return made(Kind::multiply, {a, b}); }
Expression operator/(const Expression& a, const Expression& b) { return made(Kind::divide, {a, b}); }
Expression operator-(const Expression& a) { return made(Kind::negate, {a}); }
Expression operator<(const Expression& a, const Expression& b) { return made(Kind::less, {a, b}); }
Expression operator<=(const Expression& a, const Expression& b) { return made(Kind::at_most, {a, b}); }
Expression operator>(const Expression& a, const Expression& b) { return b < a; }
Expression operator>=(const Expression& a, const Expression& b) { return b <= a; }
Expression operator==(const Expression& a, const Expression& b) { return (a <= b) * (b <= a); }

Expression abs(const Expression& x) { return made(Kind::absolute, {x}); }
Expression sqrt(const Expression& x) { return made(Kind::sqrt, {x}); }
Expression rsqrt(const Expression& x) { return Expression(1) / sqrt(x); }
Expression exp(const Expression& x) { return made(Kind::exp, {x}); }
Expression log(const Expression& x) { return made(Kind::log, {x}); }
Expression tanh(const Expression& x) { return made(Kind::tanh, {x}); }
Expression erf(const Expression& x) { return made(Kind::erf, {x}); }
Expression sigmoid(const Expression& x) { return Expression(1) / (Expression(1) + exp(-x)); }
Expression silu(const Expression& x) { return x / (Expression(1) + exp(-x)); }
Expression gelu(const Expression& x) {
  return Expression(0.5) * x * (Expression(1) + erf(x * Expression(0.70710678118654752)));
}
Expression relu(const Expression& x) { return max(x, Expression(0)); }
Expression leaky_relu(const Expression& x, const Expression& slope) {
  return made(Kind::leaky_relu, {x, slope});
}
Expression max(const Expression& a, const Expression& b) { return made(Kind::larger, {a, b}); }
Expression min(const Expression& a, const Expression& b) { return made(Kind::smaller, {a, b}); }
Expression clamp(const Expression& x, const Expression& low, const Expression& high) {
  return min(max(x, low), high);
}
Expression where(const Expression& condition, const Expression& a, const Expression& b) {
  return made(Kind::choose, {condition, a, b});
}
Expression store(const Expression& x, Format format) {
  Node node;
  node.format = format;
  return made(Kind::store, {x}, std::move(node));
}

Expression sum(const Expression& x, const Axis& axis) { return summed(x, extent_of(x, axis), false); }
Expression mean(const Expression& x, const Axis& axis) {
  const std::string extent = extent_of(x, axis);
  if (!rows_of(extent).empty())
    throw Error("a formula takes a mean along the entries of a sparse operand: divide by their number");
  const Expression total = summed(x, extent, true);
  const Node& inner = total.node();  // of means: divided already
  if (inner.kind != Kind::divide) return total / Expression::size(extent);
  return Expression(inner.arguments[0]) / (Expression(inner.arguments[1]) * Expression::size(extent));
}
Expression largest(const Expression& x, const Axis& axis) {
  return expression(along(Kind::maximum, x, extent_of(x, axis)));
}
Expression at(const Expression& x, const Axis& axis, int place) {
  const std::string extent = extent_of(x, axis);
  return sum(where(Expression::index(extent) == Expression(place), x, Expression(0)), extent.c_str());
}
Expression dot(const Expression& a, const Expression& b, const Axis& axis) { return sum(a * b, axis); }
Expression shift(const Expression& x, const Axis& axis) {
  return expression(along(Kind::shift, x, extent_of(x, axis)));
}
Expression softmax_mean(const Expression& scores, const Expression& values, const Axis& axis) {
  const Expression weights = exp(scores - shift(scores, axis));
  return dot(weights, values, axis) / sum(weights, axis);
}

Expression of_row(const Expression& entries, const Expression& x) {
  return to_entries(Kind::of_row, entries, x);
}
Expression of_column(const Expression& entries, const Expression& x) {
  return to_entries(Kind::of_column, entries, x);
}

}  // namespace plumb
