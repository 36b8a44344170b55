// spmv, host 08: diagonals, converted in prepare().
//
// Change    entries are stored by diagonal, so that neither a column index nor a gather is needed: y[i] +=
//           d[i] * x[i + k] is a plain vector loop.
// Traffic   diagonals * rows values, padding included, and one mask byte each: bounded to three times nnz +
//           rows.
// Limits    memory bandwidth, on banded matrices.
// Fails at  everything but bands: refused, with the reason. Repeated columns have no place on a diagonal:
//           refused too.
// Source    Bell and Garland, SC'09 (DIA).
#include <algorithm>
#include <vector>

#include "reference/core/csr.hpp"
#include "reference/cpu/spmv/finish_row.hpp"
#include "reference/ops/spmv.hpp"

namespace plumb {
namespace {

template <class T>
using In = Spmv::In<T, Space::host>;
template <class T>
using Out = Spmv::Out<T, Space::host>;

// Offsets col - row of the diagonals that hold something, ascending.
template <class T>
std::vector<std::int64_t> offsets_of(const In<T>& in) {
  std::vector<bool> used(static_cast<std::size_t>(in.A.rows + in.A.cols));
  for (std::int64_t i = 0; i < in.A.rows; ++i) {
    for (std::int32_t k = in.A.row_ptr[i]; k < in.A.row_ptr[i + 1]; ++k)
      used[in.A.col[k] - i + in.A.rows] = true;
  }
  std::vector<std::int64_t> offsets;
  for (std::int64_t d = 0; d < in.A.rows + in.A.cols; ++d) {
    if (used[static_cast<std::size_t>(d)]) offsets.push_back(d - in.A.rows);
  }
  return offsets;
}

template <class T>
const char* supports(const Spmv::Problem<T>&, const In<T>& in, const Out<T>&) {
  if (has_repeated_columns(in.A.rows, in.A.cols, in.A.row_ptr, in.A.col))
    return "DIA has one place per row and diagonal: a column is repeated";
  return static_cast<std::int64_t>(offsets_of(in).size()) * in.A.rows > 3 * (in.A.nnz + in.A.rows)
             ? "DIA would pad to more than three times the entries: they lie on too many diagonals"
             : nullptr;
}

template <class T>
struct Dia {
  std::vector<std::int64_t> offset;  // (diagonals)
  std::vector<T> val;                // (diagonals, rows)
  std::vector<unsigned char> there;  // (diagonals, rows): 1 where the matrix has an entry, if only a 0
};

template <class T>
void* prepare(const Spmv::Problem<T>&, const In<T>& in, const Out<T>&, Context&) {
  auto* dia = new Dia<T>;
  dia->offset = offsets_of(in);
  dia->val.assign(dia->offset.size() * static_cast<std::size_t>(in.A.rows), T(0));
  dia->there.assign(dia->val.size(), 0);
  for (std::int64_t i = 0; i < in.A.rows; ++i) {
    for (std::int32_t k = in.A.row_ptr[i]; k < in.A.row_ptr[i + 1]; ++k) {
      const auto d =
          std::lower_bound(dia->offset.begin(), dia->offset.end(), in.A.col[k] - i) - dia->offset.begin();
      dia->val[d * in.A.rows + i] = in.A.val[k];
      dia->there[d * in.A.rows + i] = 1;
    }
  }
  return dia;
}

template <class T>
void release(void* plan) {
  delete static_cast<Dia<T>*>(plan);
}

template <class T>
void run(const Spmv::Problem<T>& p, const In<T>& in, const Out<T>& out, Context& context) {
  const auto& dia = *static_cast<const Dia<T>*>(context.plan);
  const std::int64_t rows = in.A.rows, cols = in.A.cols;
  constexpr std::int64_t kBlock = 512;  // rows whose sums stay in the first-level cache
#pragma omp parallel for schedule(static)
  for (std::int64_t begin = 0; begin < rows; begin += kBlock) {
    const std::int64_t end = std::min(rows, begin + kBlock);
    T sum[kBlock] = {};
    for (std::size_t d = 0; d < dia.offset.size(); ++d) {
      const std::int64_t offset = dia.offset[d];
      const std::int64_t first = std::max(begin, -offset), last = std::min(end, cols - offset);
      const T* val = dia.val.data() + static_cast<std::int64_t>(d) * rows;
      const unsigned char* there = dia.there.data() + static_cast<std::int64_t>(d) * rows;
      const T* x = in.x.data + offset;  // only x[i] with 0 <= i + offset < cols is touched
                                        // padding adds nothing, not 0 * x: x may hold NaN there
#pragma omp simd
      for (std::int64_t i = first; i < last; ++i) sum[i - begin] += there[i] != 0 ? val[i] * x[i] : T(0);
    }
    for (std::int64_t i = begin; i < end; ++i) { spmv::finish_row(p, sum[i - begin], out.y[i]); }
  }
}

PLUMB_REGISTER_WITH(Spmv, "08_dia", (run<T>, {}, supports<T>, prepare<T>, release<T>), float, double);

}  // namespace
}  // namespace plumb
