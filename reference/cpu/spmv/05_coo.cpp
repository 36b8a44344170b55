// spmv, host 05: coordinate format, converted in prepare().
//
// Change    entries carry their row; threads take equal runs of entries, and a row cut by a run boundary is finished by a carry.
// Traffic   4 bytes per entry more than CSR: 12 instead of 8 in fp32.
// Limits    memory bandwidth, one third more of it than CSR needs.
// Fails at  speed, because of the row index. It needs no row pointers.
#include <omp.h>

#include <vector>

#include "reference/cpu/spmv/finish_row.hpp"
#include "reference/ops/spmv.hpp"

namespace plumb {
namespace {

template <class T>
using In = Spmv::In<T, Space::host>;
template <class T>
using Out = Spmv::Out<T, Space::host>;

struct Coo {
  std::vector<std::int32_t> row;  // (nnz), ascending
};

template <class T>
void* prepare(const Spmv::Problem<T>&, const In<T>& in, const Out<T>&, Context&) {
  auto* plan = new Coo;
  plan->row.resize(static_cast<std::size_t>(in.A.nnz));
  for (std::int64_t i = 0; i < in.A.rows; ++i) {
    for (std::int32_t k = in.A.row_ptr[i]; k < in.A.row_ptr[i + 1]; ++k)
      plan->row[k] = static_cast<std::int32_t>(i);
  }
  return plan;
}

void release(void* plan) { delete static_cast<Coo*>(plan); }

template <class T>
void run(const Spmv::Problem<T>& p, const In<T>& in, const Out<T>& out, Context& context) {
  const auto A = in.A;
  const std::vector<std::int32_t>& row = static_cast<const Coo*>(context.plan)->row;
  struct Ends {
    std::int64_t first_row, last_row;
    T first, last;
  };
  const std::int64_t threads = omp_get_max_threads();
  auto* ends = static_cast<Ends*>(context.workspace(threads * static_cast<std::int64_t>(sizeof(Ends))));
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < A.rows; ++i) out.y[i] = p.beta == T(0) ? T(0) : p.beta * out.y[i];
#pragma omp parallel for schedule(static, 1)
  for (std::int64_t t = 0; t < threads; ++t) {
    const std::int64_t begin = A.nnz * t / threads, end = A.nnz * (t + 1) / threads;
    Ends mine{-1, -1, 0, 0};
    for (std::int64_t k = begin; k < end;) {
      const std::int32_t i = row[k];
      T sum = 0;
      for (; k < end && row[k] == i; ++k) sum += A.val[k] * in.x[A.col[k]];
      // the first and the last row of a run may be shared with the neighbours: theirs are added after the barrier
      if (mine.first_row < 0) {
        mine.first_row = i, mine.first = sum;
      } else if (k == end) {
        mine.last_row = i, mine.last = sum;
      } else {
        out.y[i] += spmv::scaled(p, sum);
      }
    }
    ends[t] = mine;
  }
  for (std::int64_t t = 0; t < threads; ++t) {
    if (ends[t].first_row >= 0) out.y[ends[t].first_row] += spmv::scaled(p, ends[t].first);
    if (ends[t].last_row >= 0) out.y[ends[t].last_row] += spmv::scaled(p, ends[t].last);
  }
}

PLUMB_REGISTER_WITH(Spmv, "05_coo", (run<T>, {}, nullptr, prepare<T>, release), float, double);

}  // namespace
}  // namespace plumb
