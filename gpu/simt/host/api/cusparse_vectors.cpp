// cuSPARSE's sparse vectors, beside vectors that are stored whole: sums, products, gathers, scatters and rotations. An index that occurs
// twice is taken twice, in the order of the vector; a device may take another.
#include "gpu/simt/host/api/sparse.hpp"

namespace plumb::simt {

struct SparseVector {
  std::int64_t size, count;
  void *indices, *values;
  int index_type, base;
  cudaDataType_t type;
};

namespace {

/// What a call reads and writes of a sparse vector's values and of the elements at their places.
struct Uses {
  bool reads_x = false, writes_x = false, reads_y = false, writes_y = false;
};
struct VectorPair {
  SparseCall call;
  SparseVector x;
  DenseMatrix y;
};

/// Where the elements stand in a whole vector. False: a finding has stopped the run.
bool read_places(const SparseCall& call, const SparseVector& x, const void* stream,
                 std::vector<std::int64_t>& places) {
  if (!touches(call, stream, {range_of(x.indices, 0, x.count, index_bytes(x.index_type), false)}))
    return false;
  for (std::int64_t i = 0; i < x.count; ++i) {
    places.push_back(index_at(x.indices, x.index_type, i) - x.base);
    if (places.back() >= 0 && places.back() < x.size) continue;
    malformed(call, "an index outside of its vector");
    return false;
  }
  return true;
}

/// Gives each element of x, and the one at its place in y, to `work`, which may change what `uses` says.
template <class Work>
bool for_elements(const VectorPair& p, const Uses& uses, const void* stream, Work&& work) {
  std::vector<std::int64_t> places;
  if (!read_places(p.call, p.x, stream, places)) return false;
  std::vector<HostRange> ranges;
  const std::size_t size_x = bytes_of(p.x.type), size_y = bytes_of(p.y.type);
  if (uses.reads_x) ranges.push_back(range_of(p.x.values, 0, p.x.count, size_x, false));
  if (uses.writes_x) ranges.push_back(range_of(p.x.values, 0, p.x.count, size_x, true));
  for (const std::int64_t place : places) {
    if (uses.reads_y) ranges.push_back(range_of(p.y.values, place, 1, size_y, false));
    if (uses.writes_y) ranges.push_back(range_of(p.y.values, place, 1, size_y, true));
  }
  if (!touches(p.call, stream, ranges)) return false;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const auto at = static_cast<std::int64_t>(i);
    double x = uses.reads_x ? load(p.x.values, p.x.type, at) : 0;
    double y = uses.reads_y ? load(p.y.values, p.y.type, places[i]) : 0;
    work(x, y, places[i]);
    if (uses.writes_x) store(p.x.values, p.x.type, at, x);
    if (uses.writes_y) store(p.y.values, p.y.type, places[i], y);
  }
  return true;
}

/// y = alpha x + beta y: all of y, rounded once.
void add_scaled(const VectorPair& p, double alpha, double beta, const void* stream) {
  std::vector<HostRange> ranges;
  if (beta != 0) add_whole(ranges, p.y, false);
  add_whole(ranges, p.y, true);
  if (!touches(p.call, stream, ranges)) return;
  std::vector<double> sums(static_cast<std::size_t>(p.y.rows));
  for (std::int64_t i = 0; beta != 0 && i < p.y.rows; ++i)
    sums[static_cast<std::size_t>(i)] = beta * load(p.y.values, p.y.type, i);
  Uses uses;
  uses.reads_x = true;
  if (!for_elements(p, uses, stream, [&](double x, double, std::int64_t place) {
        sums[static_cast<std::size_t>(place)] += alpha * x;
      }))
    return;
  for (std::int64_t i = 0; i < p.y.rows; ++i)
    store(p.y.values, p.y.type, i, sums[static_cast<std::size_t>(i)]);
}

void multiply(const VectorPair& p, void* result, cudaDataType_t type, const void* stream) {
  double sum = 0;
  Uses uses;
  uses.reads_x = uses.reads_y = true;
  if (for_elements(p, uses, stream, [&](double x, double y, std::int64_t) { sum += x * y; }) &&
      touches(p.call, stream, {range_of(result, 0, 1, bytes_of(type), true)}))
    store(result, type, 0, sum);
}

/// Of the factors that a call takes for vectors of that type.
cudaDataType_t factor_type(const SparseVector& x) { return x.type == CUDA_R_64F ? CUDA_R_64F : CUDA_R_32F; }

/// Whether a call may take the two; SparseStatus.
int are_a_pair(const VectorPair& p) {
  if (bytes_of(p.x.type) == 0 || bytes_of(p.y.type) == 0) return SparseStatus::kNotSupported;
  return p.x.size == p.y.rows ? SparseStatus::kSuccess : SparseStatus::kInvalidValue;
}

int queue_pair(const SparseHandle* handle, const VectorPair& p, const Factors& factors,
               const std::function<void(const VectorPair&, double, double, const void*)>& work) {
  if (const int e = are_a_pair(p); e != SparseStatus::kSuccess) return e;
  return queue_sparse(handle, p.call, factors,
                      [=](double alpha, double beta, const void* stream) { work(p, alpha, beta, stream); });
}
int queue_pair(const SparseHandle* handle, const VectorPair& p,
               const std::function<void(const VectorPair&, const void*)>& work) {
  if (const int e = are_a_pair(p); e != SparseStatus::kSuccess) return e;
  return queue_sparse(handle, [=](const void* stream) { work(p, stream); });
}

}  // namespace

}  // namespace plumb::simt

using plumb::simt::DenseMatrix;
using plumb::simt::SparseHandle;
using plumb::simt::SparseStatus;
using plumb::simt::SparseVector;
using plumb::simt::VectorPair;

extern "C" {

int cusparseCreateSpVec(SparseVector** v, std::int64_t size, std::int64_t count, void* indices, void* values,
                        int index_type, int base, cudaDataType_t type) {
  if (count < 0 || count > size) return SparseStatus::kInvalidValue;
  return plumb::simt::make_object(v, SparseVector{size, count, indices, values, index_type, base, type});
}
int cusparseCreateConstSpVec(SparseVector** v, std::int64_t size, std::int64_t count, void* indices,
                             void* values, int index_type, int base, cudaDataType_t type) {
  return cusparseCreateSpVec(v, size, count, indices, values, index_type, base, type);
}
int cusparseDestroySpVec(const SparseVector* v) { return plumb::simt::delete_object(v); }
int cusparseSpVecGet(const SparseVector* v, std::int64_t* size, std::int64_t* count, void** indices,
                     void** values, int* index_type, int* base, cudaDataType_t* type) {
  *size = v->size, *count = v->count, *indices = v->indices, *values = v->values;
  *index_type = v->index_type, *base = v->base, *type = v->type;
  return SparseStatus::kSuccess;
}
int cusparseConstSpVecGet(const SparseVector* v, std::int64_t* size, std::int64_t* count, void** indices,
                          void** values, int* index_type, int* base, cudaDataType_t* type) {
  return cusparseSpVecGet(v, size, count, indices, values, index_type, base, type);
}
int cusparseSpVecGetIndexBase(const SparseVector* v, int* base) {
  *base = v->base;
  return SparseStatus::kSuccess;
}
int cusparseSpVecGetValues(const SparseVector* v, void** values) {
  *values = v->values;
  return SparseStatus::kSuccess;
}
int cusparseConstSpVecGetValues(const SparseVector* v, void** values) {
  return cusparseSpVecGetValues(v, values);
}
int cusparseSpVecSetValues(SparseVector* v, void* values) {
  v->values = values;
  return SparseStatus::kSuccess;
}

int cusparseAxpby(SparseHandle* handle, const void* alpha, const SparseVector* x, const void* beta,
                  DenseMatrix* y) {
  if (beta == nullptr) return SparseStatus::kInvalidValue;
  return plumb::simt::queue_pair(handle, {PLUMB_SPARSE_CALL, *x, *y},
                                 {alpha, beta, plumb::simt::factor_type(*x)}, plumb::simt::add_scaled);
}
int cusparseGather(SparseHandle* handle, const DenseMatrix* y, SparseVector* x) {
  return plumb::simt::queue_pair(
      handle, {PLUMB_SPARSE_CALL, *x, *y}, [](const VectorPair& p, const void* stream) {
        plumb::simt::Uses uses;
        uses.writes_x = uses.reads_y = true;
        plumb::simt::for_elements(p, uses, stream, [](double& to, double from, std::int64_t) { to = from; });
      });
}
int cusparseScatter(SparseHandle* handle, const SparseVector* x, DenseMatrix* y) {
  return plumb::simt::queue_pair(
      handle, {PLUMB_SPARSE_CALL, *x, *y}, [](const VectorPair& p, const void* stream) {
        plumb::simt::Uses uses;
        uses.reads_x = uses.writes_y = true;
        plumb::simt::for_elements(p, uses, stream, [](double from, double& to, std::int64_t) { to = from; });
      });
}
int cusparseRot(SparseHandle* handle, const void* cosine, const void* sine, SparseVector* x, DenseMatrix* y) {
  if (sine == nullptr) return SparseStatus::kInvalidValue;
  return plumb::simt::queue_pair(handle, {PLUMB_SPARSE_CALL, *x, *y},
                                 {cosine, sine, plumb::simt::factor_type(*x)},
                                 [](const VectorPair& p, double c, double s, const void* stream) {
                                   const auto rotate = [=](double& at_x, double& at_y, std::int64_t) {
                                     const double before = at_x;
                                     at_x = c * before + s * at_y;
                                     at_y = c * at_y - s * before;
                                   };
                                   plumb::simt::for_elements(p, {true, true, true, true}, stream, rotate);
                                 });
}
int cusparseSpVV_bufferSize(SparseHandle*, int, const SparseVector*, const DenseMatrix*, const void*,
                            cudaDataType_t, std::size_t* bytes) {
  return plumb::simt::no_space(bytes);
}
int cusparseSpVV(SparseHandle* handle, int, const SparseVector* x, const DenseMatrix* y, void* result,
                 cudaDataType_t type, void*) {
  if (plumb::simt::bytes_of(type) == 0) return SparseStatus::kNotSupported;
  const int e = plumb::simt::queue_pair(
      handle, {PLUMB_SPARSE_CALL, *x, *y},
      [=](const VectorPair& p, const void* stream) { plumb::simt::multiply(p, result, type, stream); });
  return e == SparseStatus::kSuccess ? plumb::simt::wait_for_result(handle) : e;
}

}  // extern "C"
