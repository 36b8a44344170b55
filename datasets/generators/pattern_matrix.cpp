#include "datasets/generators/pattern_matrix.hpp"

#include <utility>

#include "reference/cases/sparse_cases.hpp"
#include "reference/core/error.hpp"

namespace plumb {

template <class T>
Csr<T> pattern_matrix(const Pattern& what, Fill fill) {
  if (fill == Fill::own)
    throw Error("fill 'own' needs a matrix file; generated patterns have no values: use another fill");
  Pattern pattern = what;
  pattern.stream = kMatrixStream;
  Places places = place(pattern, "pattern");
  Csr<T> a;
  a.rows = what.rows;
  a.cols = what.cols;
  a.row_ptr = std::move(places.row_ptr);
  a.col = std::move(places.col);
  fill_csr_values(a, fill, what.seed, kMatrixStream);
  return a;
}

template Csr<float> pattern_matrix(const Pattern&, Fill);
template Csr<double> pattern_matrix(const Pattern&, Fill);

}  // namespace plumb
