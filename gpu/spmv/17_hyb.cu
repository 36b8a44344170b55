// spmv, rung 17: HYB, the regular part of every row in ELL and the rest in COO, converted in prepare().
//
// Change    the ELL part is as wide as a third of the rows are long at least, so it is mostly full; what
//           sticks out goes to rung 14.
// Traffic   ELL with bounded padding, plus 12 or 16 bytes for each entry that sticks out.
// Fails at  reproducibility and, in fp32, subnormal sums, by the atomic additions of its COO part (declared).
// Source    Bell and Garland, SC'09 (HYB).
#include "gpu/spmv/features.hpp"
#include "gpu/spmv/kernels/coo.hpp"
#include "gpu/spmv/kernels/ell.hpp"

namespace plumb {
namespace {

using namespace spmv;

template <class T>
struct Hyb {
  Ell<T> ell;
  Index tail = 0;                     // entries beyond the ELL part
  const Index* tail_start = nullptr;  // (rows + 1)
  std::int32_t* row = nullptr;        // (tail)
  std::int32_t* col = nullptr;
  T* val = nullptr;
};

// The widest ELL part that at least a third of the rows fill.
Index regular_width(const HostArray<std::int32_t>& row_ptr) {
  const Index rows = row_ptr.size() - 1, longest = longest_row(row_ptr);
  HostArray<Index> count(longest + 2);  // rows of each length
  count.fill(0);
  for (Index i = 0; i < rows; ++i) ++count[row_ptr[i + 1] - row_ptr[i]];
  Index reached = 0;
  for (Index width = longest; width > 0; --width) {
    reached += count[width];
    if (3 * reached >= rows) return width;
  }
  return 0;
}

template <class T>
__global__ void __launch_bounds__(kCooThreads) spmv_hyb_tail(In<T> in, Hyb<T> hyb) {
  const Index i = (static_cast<Index>(blockIdx.x) * kCooThreads + threadIdx.x) / 32;
  if (i >= in.A.rows) return;
  const Index to = hyb.tail_start[i], count = hyb.tail_start[i + 1] - to,
              from = in.A.row_ptr[i] + hyb.ell.width;
  for (Index s = threadIdx.x % 32; s < count; s += 32) {
    hyb.row[to + s] = static_cast<std::int32_t>(i);
    hyb.col[to + s] = in.A.col[from + s];
    hyb.val[to + s] = in.A.val[from + s];
  }
}

template <class T>
void* prepare(const Problem<T>&, const In<T>& in, const Out<T>&, Context& context) {
  const Index rows = in.A.rows;
  const HostCopy<std::int32_t> row_ptr(in.A.row_ptr, rows + 1, context.stream);
  auto* hyb = new Hyb<T>;
  hyb->ell = make_ell(regular_width(row_ptr), in, context);
  HostArray<Index> tail_start(rows + 1);
  for (Index i = 0; i < rows; ++i) {
    tail_start[i] = hyb->tail;
    const Index length = row_ptr[i + 1] - row_ptr[i];
    if (length > hyb->ell.width) hyb->tail += length - hyb->ell.width;
  }
  tail_start[rows] = hyb->tail;
  hyb->tail_start = upload(tail_start, context);
  hyb->row = workspace_of<std::int32_t>(hyb->tail, context);
  hyb->col = workspace_of<std::int32_t>(hyb->tail, context);
  hyb->val = workspace_of<T>(hyb->tail, context);
  launch(spmv_hyb_tail<T>, ceil_div(rows, kCooThreads / 32), kCooThreads, 0, context.stream, in, *hyb);
  return hyb;
}

template <class T>
void release(void* plan) {
  delete static_cast<Hyb<T>*>(plan);
}

template <class T>
void run(const Problem<T>& p, const In<T>& in, const Out<T>& out, Context& context) {
  const auto& hyb = *static_cast<const Hyb<T>*>(context.plan);
  run_ell(hyb.ell, p, in, out, context);
  run_coo(p.alpha, hyb.row, hyb.col, hyb.val, hyb.tail, in.x.data, out.y.data, context.stream);
}

const Register<Spmv, float, Space::device> f32{
    "17_hyb", run<float>,     Traits{}.not_reproducible().flushes_subnormals(),
    nullptr,  prepare<float>, release<float>};
const Register<Spmv, double, Space::device> f64{"17_hyb", run<double>,     Traits{}.not_reproducible(),
                                                nullptr,  prepare<double>, release<double>};

}  // namespace
}  // namespace plumb
