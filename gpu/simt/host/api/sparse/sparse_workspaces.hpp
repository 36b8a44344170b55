// Workspaces of cuSPARSE's calls: how large they are, and what a preprocessing leaves in one.
#pragma once
#include "gpu/simt/host/api/sparse/sparse.hpp"

namespace plumb::simt {

/// What the size of a workspace depends on, and where it lies: null, or of no array that is known, in a call that does not use it.
struct Workspace {
  std::int64_t rows, entries;
  const void* at = nullptr;
};
/// Answers a ..._bufferSize.
int space_of(const Workspace& space, std::size_t* bytes);
int space_of_product(const SparseMatrix* a, std::size_t* bytes);
/// Whether a call may use its workspace; where not, a finding has stopped the run.
bool takes_workspace(const SparseCall& call, const Workspace& space, const void* stream);
/// cusparseSpMV_preprocess and cusparseSpMM_preprocess: `a` gets the active workspace that `with` names. Queued to the handle's stream.
int prepare(const SparseHandle* handle, const SparseCall& call, SparseMatrix* a, const Prepared& with);
/// A product with that workspace, which may be null: whether the library takes the call, by what it prepared. Where not, a finding has
/// stopped the run.
bool may_use(const SparseCall& call, const SparseMatrix& a, const Prepared& with, const Entries& entries,
             const void* stream);

}  // namespace plumb::simt
