// What a formula is written with: expressions of arrays with named extents. A formula is called once per operator; what it returns is a graph
// that is evaluated for every case (evaluate.hpp). Shapes follow from names: x (n, d) times w (d) is (n, d), and x (n, d) divided by s (n) too.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "reference/core/format.hpp"

namespace plumb {

/// A node of the graph.
struct Node {
  enum class Kind : std::uint8_t {
    input,
    constant,
    index,
    size,  // without arguments
    add,
    multiply,
    divide,
    larger,
    smaller,
    less,
    at_most,
    leaky_relu,  // of two
    negate,
    absolute,
    sqrt,
    exp,
    log,
    tanh,
    erf,
    store,   // of one
    choose,  // of three
    sum,
    maximum,
    shift,  // along an extent
    of_row,
    of_column  // to the entries of a sparse operand
  };
  Kind kind = Kind::constant;
  std::vector<std::shared_ptr<const Node>> arguments = {};
  std::vector<std::string> extents =
      {};  // of the result; none: a number. "A(n,m)": the entries of a sparse operand
  std::vector<std::string> along =
      {};  // of sum, maximum, shift, index, size, of_row, of_column: the extent; of a sum of sums all
  double number = 0;             // constant
  bool running = false;          // a sum that is n times a mean
  int input = -1;                // its place in the signature
  Format format = Format::none;  // store
};

/// An array of named extents, or a number. Functions throw Error naming an extent that an argument lacks.
class Expression {
 public:
  Expression(double constant);  // NOLINT(google-explicit-constructor): x * 0.5
  explicit Expression(std::shared_ptr<const Node> node) : node_(std::move(node)) {}
  [[nodiscard]] const Node& node() const { return *node_; }
  [[nodiscard]] const std::shared_ptr<const Node>& shared() const { return node_; }
  /// 0, 1, ... along an extent: `A::index("m") <= A::index("n")` is a causal mask.
  [[nodiscard]] static Expression index(const std::string& extent);
  /// How long an extent is.
  [[nodiscard]] static Expression size(const std::string& extent);

 private:
  std::shared_ptr<const Node> node_;
};

/// An extent of an argument, by its name or by its place: -1 is the last.
struct Axis {
  Axis(int at) : place(at) {}                              // NOLINT(google-explicit-constructor)
  Axis(const char* called) : name(called), named(true) {}  // NOLINT(google-explicit-constructor)
  int place = 0;
  std::string name = {};
  bool named = false;
};

[[nodiscard]] Expression operator+(const Expression&, const Expression&);
[[nodiscard]] Expression operator-(const Expression&, const Expression&);
[[nodiscard]] Expression operator*(const Expression&, const Expression&);
/// Where the divisor is a difference that cancels, the case is mistrusted.
[[nodiscard]] Expression operator/(const Expression&, const Expression&);
[[nodiscard]] Expression operator-(const Expression&);
/// 1 where it holds, else 0. Where errors leave it open both are legal.
[[nodiscard]] Expression operator<(const Expression&, const Expression&);
[[nodiscard]] Expression operator<=(const Expression&, const Expression&);
[[nodiscard]] Expression operator>(const Expression&, const Expression&);
[[nodiscard]] Expression operator>=(const Expression&, const Expression&);
/// Of numbers that are exact, such as indices.
[[nodiscard]] Expression operator==(const Expression&, const Expression&);

[[nodiscard]] Expression abs(const Expression&);
[[nodiscard]] Expression sqrt(const Expression&);
[[nodiscard]] Expression rsqrt(const Expression&);
[[nodiscard]] Expression exp(const Expression&);
[[nodiscard]] Expression log(const Expression&);
[[nodiscard]] Expression tanh(const Expression&);
[[nodiscard]] Expression erf(const Expression&);
[[nodiscard]] Expression sigmoid(const Expression&);  // 1 / (1 + exp(-x))
[[nodiscard]] Expression silu(const Expression&);     // x / (1 + exp(-x))
[[nodiscard]] Expression gelu(const Expression&);     // x (1 + erf(x / sqrt 2)) / 2
[[nodiscard]] Expression relu(const Expression&);
[[nodiscard]] Expression leaky_relu(const Expression&, const Expression& slope);
[[nodiscard]] Expression max(const Expression&, const Expression&);
[[nodiscard]] Expression min(const Expression&, const Expression&);
[[nodiscard]] Expression clamp(const Expression&, const Expression& low, const Expression& high);
/// a where the condition is not 0, else b.
[[nodiscard]] Expression where(const Expression& condition, const Expression& a, const Expression& b);
/// As a variant keeps it between two operations, in a narrower format.
[[nodiscard]] Expression store(const Expression&, Format);

/// The result lacks the extent. A sum of products is one sum: sum(q * k, "d") is a matrix of scalar products. Along the entries of a sparse
/// operand A (n, m) each row's are taken together: sum(x, "A") is (n). A sum of sums is one sum, as kernels may take it: mean(mean(x, "s"), "c").
[[nodiscard]] Expression sum(const Expression&, const Axis&);
[[nodiscard]] Expression mean(const Expression&, const Axis&);
[[nodiscard]] Expression largest(const Expression&, const Axis&);
[[nodiscard]] Expression dot(const Expression&, const Expression&, const Axis&);
/// The elements at one place of an extent: `at(x, "2", 0)` of x (n, 2, d) is (n, d).
[[nodiscard]] Expression at(const Expression&, const Axis&, int place);
/// The mean of values along an extent, weighted by a softmax of scores: what all kinds of attention end in.
[[nodiscard]] Expression softmax_mean(const Expression& scores, const Expression& values, const Axis&);
/// The largest element, as something that the formula does not depend on, such as the number that a softmax subtracts: it has no error. That the
/// formula does not depend on it is tested with another one in its place.
[[nodiscard]] Expression shift(const Expression&, const Axis&);

/// Of a sparse operand A: csr n m, whose entries are an extent called A. x (n, ...) by the row of each entry, x (m, ...) by its column.
[[nodiscard]] Expression of_row(const Expression& entries, const Expression& x);
[[nodiscard]] Expression of_column(const Expression& entries, const Expression& x);

}  // namespace plumb
