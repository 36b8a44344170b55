// GCN: the two small passes that are in no operator's ladder: a sparse X made dense, and a bias without a
// ReLU.
//
// Change    a warp per row; a thread per element.
// Traffic   compulsory, except for the scattered writes.
// Limits    both are bound by memory; neither is part of the fused pipeline's usual pass.
// Fails at  nothing by design.
// Source    the definitions.
#include "gpu/models/gcn/execution.hpp"

namespace plumb {
namespace gcn {

namespace {

constexpr int kThreads = 256;

// Columns may repeat, so one lane adds the entries of a row, in the order of the row.
template <class T>
__global__ void __launch_bounds__(kThreads)
    gcn_scatter_rows(CsrView<const T, Space::device> from, T* x /* (rows, ld) */, Index ld) {
  const Index i = static_cast<Index>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= from.rows) return;
  for (Index k = from.row_ptr[i]; k < from.row_ptr[i + 1]; ++k) x[i * ld + from.col[k]] += from.val[k];
}

template <class T>
__global__ void __launch_bounds__(kThreads)
    gcn_add_bias(T* x /* (rows, ld) */, Index rows, Index columns, Index ld, const T* bias /* (columns) */) {
  const Index at = static_cast<Index>(blockIdx.x) * kThreads + threadIdx.x;
  if (at >= rows * columns) return;
  x[at / columns * ld + at % columns] += bias[at % columns];
}

}  // namespace

template <class T>
void scatter_rows(const CsrView<const T, Space::device>& from, T* x, Index ld, void* stream) {
  launch(gcn_scatter_rows<T>, (from.rows + kThreads - 1) / kThreads, kThreads, 0, stream, from, x, ld);
}

template <class T>
void add_bias(T* x, Index rows, Index columns, Index ld, const T* bias, void* stream) {
  launch(gcn_add_bias<T>, (rows * columns + kThreads - 1) / kThreads, kThreads, 0, stream, x, rows, columns,
         ld, bias);
}

template void scatter_rows<float>(const CsrView<const float, Space::device>&, float*, Index, void*);
template void scatter_rows<double>(const CsrView<const double, Space::device>&, double*, Index, void*);
template void add_bias<float>(float*, Index, Index, Index, const float*, void*);
template void add_bias<double>(double*, Index, Index, Index, const double*, void*);

}  // namespace gcn
}  // namespace plumb
