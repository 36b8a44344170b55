// spmv, host 10: blocks of 4 x 4, converted in prepare().
//
// Change    entries are grouped in dense 4 x 4 blocks: one column index per block, four elements of x loaded
//           once for four rows, and no gather.
// Traffic   16 values, 16 mask bits and one index per block, bounded to four slots per entry.
// Limits    memory bandwidth, where blocks are full (finite elements with several unknowns per node).
// Fails at  scattered entries: refused, with the reason. Repeated columns have no place in a block: refused
//           too.
// Source    Im, Yelick and Vuduc, "Sparsity: optimization framework for sparse matrix kernels", IJHPCA 18
//           (2004).
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

constexpr std::int64_t kEdge = 4;

template <class T>
struct Bsr {
  std::vector<std::int64_t> begin{0};  // (block rows + 1)
  std::vector<std::int32_t> col;       // block columns, ascending within a block row
  std::vector<std::uint16_t> there;    // bit r * 4 + c: the matrix has an entry there, if only a 0
  std::vector<T> val;                  // (blocks, 4, 4)
};

// Block columns of block row b, ascending, each once.
template <class T>
void block_columns(const In<T>& in, std::int64_t b, std::vector<std::int32_t>& columns) {
  columns.clear();
  const std::int64_t first = in.A.row_ptr[b * kEdge],
                     last = in.A.row_ptr[std::min(in.A.rows, (b + 1) * kEdge)];
  for (std::int64_t k = first; k < last; ++k)
    columns.push_back(static_cast<std::int32_t>(in.A.col[k] / kEdge));
  std::sort(columns.begin(), columns.end());
  columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
}

template <class T>
const char* supports(const Spmv::Problem<T>&, const In<T>& in, const Out<T>&) {
  if (has_repeated_columns(in.A.rows, in.A.cols, in.A.row_ptr, in.A.col))
    return "BSR has one place per row and column: a column is repeated";
  std::int64_t blocks = 0;
  std::vector<std::int32_t> columns;
  for (std::int64_t b = 0; b * kEdge < in.A.rows; ++b) {
    block_columns(in, b, columns);
    blocks += static_cast<std::int64_t>(columns.size());
  }
  return blocks * kEdge * kEdge > 4 * (in.A.nnz + in.A.rows)
             ? "BSR would pad to more than four times the entries: they do not come in 4 x 4 blocks"
             : nullptr;
}

template <class T>
void* prepare(const Spmv::Problem<T>&, const In<T>& in, const Out<T>&, Context&) {
  auto* bsr = new Bsr<T>;
  std::vector<std::int32_t> columns;
  for (std::int64_t b = 0; b * kEdge < in.A.rows; ++b) {
    block_columns(in, b, columns);
    const std::int64_t base = bsr->begin.back();
    bsr->col.insert(bsr->col.end(), columns.begin(), columns.end());
    bsr->begin.push_back(base + static_cast<std::int64_t>(columns.size()));
    bsr->there.resize(bsr->col.size(), 0);
    bsr->val.resize(bsr->col.size() * kEdge * kEdge, T(0));
    for (std::int64_t i = b * kEdge; i < std::min(in.A.rows, (b + 1) * kEdge); ++i) {
      for (std::int32_t k = in.A.row_ptr[i]; k < in.A.row_ptr[i + 1]; ++k) {
        const auto at =
            std::lower_bound(columns.begin(), columns.end(), in.A.col[k] / kEdge) - columns.begin();
        const std::int64_t place = (i % kEdge) * kEdge + in.A.col[k] % kEdge;
        bsr->val[(base + at) * kEdge * kEdge + place] = in.A.val[k];
        bsr->there[base + at] = static_cast<std::uint16_t>(bsr->there[base + at] | 1 << place);
      }
    }
  }
  return bsr;
}

template <class T>
void release(void* plan) {
  delete static_cast<Bsr<T>*>(plan);
}

template <class T>
void run(const Spmv::Problem<T>& p, const In<T>& in, const Out<T>& out, Context& context) {
  const auto& bsr = *static_cast<const Bsr<T>*>(context.plan);
  const auto block_rows = static_cast<std::int64_t>(bsr.begin.size()) - 1;
#pragma omp parallel for schedule(static)
  for (std::int64_t b = 0; b < block_rows; ++b) {
    T sum[kEdge * kEdge] = {};
    for (std::int64_t k = bsr.begin[b]; k < bsr.begin[b + 1]; ++k) {
      const std::int64_t column = bsr.col[k] * kEdge;
      T x[kEdge] = {};
      for (std::int64_t c = 0; c < std::min(kEdge, in.A.cols - column); ++c) x[c] = in.x[column + c];
      const T* val = bsr.val.data() + k * kEdge * kEdge;
      const unsigned there = bsr.there[k];
      // padding adds nothing, not 0 * x: x may hold NaN there
#pragma omp simd
      for (unsigned e = 0; e < kEdge * kEdge; ++e)
        sum[e] += (there >> e & 1u) != 0 ? val[e] * x[e % kEdge] : T(0);
    }
    for (std::int64_t r = 0; r < std::min(kEdge, in.A.rows - b * kEdge); ++r) {
      const T total = (sum[r * kEdge] + sum[r * kEdge + 1]) + (sum[r * kEdge + 2] + sum[r * kEdge + 3]);
      T& y = out.y[b * kEdge + r];
      spmv::finish_row(p, total, y);
    }
  }
}

PLUMB_REGISTER_WITH(Spmv, "10_bsr", (run<T>, {}, supports<T>, prepare<T>, release<T>), float, double);

}  // namespace
}  // namespace plumb
