// The graph of a formula, and its evaluation for one case: values with their bounds.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "reference/arithmetic/bounded.hpp"
#include "reference/core/large_array.hpp"
#include "reference/formula/expression.hpp"
#include "reference/formula/signature.hpp"

namespace plumb {

/// One array of a call. A vector is one row. Of a sparse operand `data` are the values of its entries.
struct FormulaArray {
  const void* data = nullptr;
  Format kind = Format::f32;  // f32, f64 or i32
  std::int64_t rows = 0, cols = 0, ld = 0;
  const std::int32_t *row_ptr = nullptr, *col = nullptr;  // of a sparse operand
  std::int64_t entries = 0;
  bool vector = false, sparse = false;
};

/// What a formula is evaluated on.
struct FormulaData {
  std::vector<FormulaArray> inputs;  // in the order of the signature
  std::vector<double> scalars;
  std::vector<std::int64_t>
      sizes;  // of the signature's extents, then the entries of each input that is sparse
};

/// One node of the graph, its extents as numbers: those of the signature, then the entries of each input that is sparse.
struct Step {
  const Node* node = nullptr;
  std::vector<int> arguments;  // steps; of a sum of products the two factors
  std::vector<int> extents;
  std::vector<int> along;  // extents that are summed, or whatever it is, together
  bool products = false;   // a sum of products
};

class FormulaGraph {
 public:
  /// Throws Error where the formula does not fit the signature.
  FormulaGraph(const std::string& op, const Signature& signature, const std::vector<Expression>& outputs);

  /// Calls to(output, its place in the order of the output's extents, value) for every element, from many threads.
  using Sink = std::function<void(std::size_t output, std::size_t place, const Bounded& value)>;
  void evaluate(const FormulaData&, const Compute&, const Sink& to) const;
  /// Throws Error where an output depends on what stands for shift(). Looks at a part of the outputs.
  void check_shifts(const FormulaData&, const Compute&) const;
  /// Operations of one evaluation, and the most terms of a sum, where `size` gives a size by the name of an extent, "A" that of its entries.
  using Sizes = std::function<double(const std::string&)>;
  [[nodiscard]] double operations(const Sizes& size) const;
  /// Those of its largest node: products and sums of a kernel that fuses the others.
  [[nodiscard]] double most_operations(const Sizes& size) const;
  [[nodiscard]] double terms(const Sizes& size) const;
  /// Whether a sum, or what is taken along an extent, is along this one.
  [[nodiscard]] bool reduces(const std::string& extent) const;
  [[nodiscard]] bool has_shift() const;
  /// Whether the formula uses the values of this input; of a sparse operand it may use nothing but the places.
  [[nodiscard]] bool reads(int input) const;
  /// The extents along which products of this input are summed, of whose sum an exponential is taken: attention's scores.
  [[nodiscard]] std::vector<std::string> scores_along(int input) const;

 private:
  class Evaluation;
  int add(const Node&);
  [[nodiscard]] bool uses(const Step&, const Step& argument) const;
  [[nodiscard]] int rows_of_lines(const Step&, int along) const;
  [[nodiscard]] double terms_of(const Step&, const Sizes& size) const;
  [[nodiscard]] double operations_of(const Step&, const Sizes& size) const;
  [[nodiscard]] int extent_number(const std::string& name) const;
  [[nodiscard]] bool depends_on(const Step&, int extent) const;
  [[nodiscard]] int parallel_extent(const FormulaData&) const;
  [[nodiscard]] std::int64_t stretch_of(const FormulaData&, int extent) const;
  void check_output(std::size_t number) const;

  std::string op_;
  Signature signature_;
  std::vector<Expression> expressions_;  // keep the nodes
  std::vector<std::string> extents_;     // names
  std::vector<int> rows_;                // of the entries of a sparse operand: its row extent; -1 of others
  std::vector<int> sparse_;              // the input
  std::vector<Step> steps_;              // arguments before what uses them
  std::vector<int> outputs_;             // steps
};

}  // namespace plumb
