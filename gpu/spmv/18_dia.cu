// spmv, rung 18: DIA, one array per occupied diagonal, converted in prepare().
//
// Change    no column numbers: the diagonal's offset says which x a row needs, and neighbouring rows need
//           neighbouring x.
// Traffic   one value per row and diagonal, padding included, and one bit that says whether there is an
//           entry; x coalesced.
// Fails at  entries off a few diagonals: refused beyond three times the entries. Repeated columns:
//           refused.
// Source    Y. Saad, "Iterative Methods for Sparse Linear Systems", 2nd ed. (2003), section 3.4; Bell and
//           Garland, SC'09.
#include "gpu/spmv/features.hpp"
#include "reference/core/csr.hpp"

namespace plumb {
namespace {

using namespace spmv;

constexpr int kThreads = 256;

template <class T>
struct Dia {
  Index diagonals = 0, words = 0;        // words: of 32 rows
  const std::int32_t* offset = nullptr;  // (diagonals): column - row
  const std::int32_t* slot = nullptr;    // (rows + cols): diagonal of offset + rows, for the conversion
  T* val = nullptr;                      // (diagonals, rows)
  unsigned* present = nullptr;  // (diagonals, words): an empty slot adds nothing, since 0 * NaN would
};

// slot[offset + rows] = number of that diagonal, ascending, or -1; returns how many there are, or most + 1.
template <class T>
Index find_diagonals(const In<T>& in, Index most, HostArray<std::int32_t>& slot, void* stream) {
  const HostCopy<std::int32_t> row_ptr(in.A.row_ptr, in.A.rows + 1, stream), col(in.A.col, in.A.nnz, stream);
  slot.fill(-1);
  Index found = 0;
  for (Index i = 0; i < in.A.rows && found <= most; ++i) {
    for (Index k = row_ptr[i]; k < row_ptr[i + 1]; ++k) {
      std::int32_t& s = slot[col[k] - i + in.A.rows];
      if (s < 0) s = 0, ++found;
    }
  }
  if (found > most) return most + 1;
  std::int32_t number = 0;
  for (Index o = 0; o < slot.size(); ++o) {
    if (slot[o] == 0) slot[o] = number++;
  }
  return found;
}

template <class T>
Index most_diagonals(const In<T>& in) {
  Index most = 0;
  while (most < in.A.rows + in.A.cols && !explodes((most + 1) * in.A.rows, in.A.rows, in.A.nnz)) ++most;
  return most;
}

template <class T>
__global__ void __launch_bounds__(kThreads) spmv_dia_fill(In<T> in, Dia<T> dia) {
  const Index rows = in.A.rows, i = static_cast<Index>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= rows) return;
  for (Index k = in.A.row_ptr[i]; k < in.A.row_ptr[i + 1]; ++k) {
    const Index d = dia.slot[in.A.col[k] - i + rows];
    dia.val[d * rows + i] += in.A.val[k];
    atomicOr(dia.present + d * dia.words + i / 32, 1u << (i % 32));
  }
}

template <class T>
__global__ void __launch_bounds__(kThreads) spmv_dia(Problem<T> p, In<T> in, Out<T> out, Dia<T> dia) {
  const Index rows = in.A.rows, i = static_cast<Index>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= rows) return;
  T sum = T(0);
  for (Index d = 0; d < dia.diagonals; ++d) {
    if ((dia.present[d * dia.words + i / 32] >> (i % 32) & 1u) != 0) {
      sum += dia.val[d * rows + i] * __ldg(in.x.data + i + dia.offset[d]);
    }
  }
  finish_row(p, out.y.data, i, sum);
}

template <class T>
const char* supports(const Problem<T>&, const In<T>& in, const Out<T>&) {
  HostArray<std::int32_t> slot(in.A.rows + in.A.cols);
  const Index most = most_diagonals(in);
  if (find_diagonals(in, most, slot, nullptr) > most)
    return "DIA would store more than three times the entries: too many diagonals";
  const HostCopy<std::int32_t> row_ptr(in.A.row_ptr, in.A.rows + 1, nullptr),
      col(in.A.col, in.A.nnz, nullptr);
  return has_repeated_columns(in.A.rows, in.A.cols, row_ptr.data(), col.data())
             ? "DIA has one place per row and diagonal: a column is repeated"
             : nullptr;
}

template <class T>
void* prepare(const Problem<T>&, const In<T>& in, const Out<T>&, Context& context) {
  HostArray<std::int32_t> slot(in.A.rows + in.A.cols);
  auto* dia = new Dia<T>;
  dia->diagonals = find_diagonals(in, in.A.rows + in.A.cols, slot, context.stream);
  dia->words = ceil_div(in.A.rows, 32);
  HostArray<std::int32_t> offset(dia->diagonals);
  for (Index o = 0; o < slot.size(); ++o) {
    if (slot[o] >= 0) offset[slot[o]] = static_cast<std::int32_t>(o - in.A.rows);
  }
  dia->offset = upload(offset, context);
  dia->slot = upload(slot, context);
  dia->val = workspace_of<T>(dia->diagonals * in.A.rows, context);
  dia->present = workspace_of<unsigned>(dia->diagonals * dia->words, context);
  device_fill(dia->val, 0, static_cast<std::size_t>(dia->diagonals * in.A.rows) * sizeof(T), context.stream);
  device_fill(dia->present, 0, static_cast<std::size_t>(dia->diagonals * dia->words) * sizeof(unsigned),
              context.stream);
  launch(spmv_dia_fill<T>, ceil_div(in.A.rows, kThreads), kThreads, 0, context.stream, in, *dia);
  return dia;
}

template <class T>
void release(void* plan) {
  delete static_cast<Dia<T>*>(plan);
}

template <class T>
void run(const Problem<T>& p, const In<T>& in, const Out<T>& out, Context& context) {
  launch(spmv_dia<T>, ceil_div(in.A.rows, kThreads), kThreads, 0, context.stream, p, in, out,
         *static_cast<const Dia<T>*>(context.plan));
}

PLUMB_REGISTER_WITH(Spmv, "18_dia", (run<T>, {}, supports<T>, prepare<T>, release<T>), float, double);

}  // namespace
}  // namespace plumb
