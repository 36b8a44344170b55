#include "gpu/simt/host/api/sparse/sparse_workspaces.hpp"

#include <fmt/core.h>

#include <cstring>

#include "gpu/simt/state.hpp"

namespace plumb::simt {

namespace {

// The library's own sizes are no part of its contract. These differ from matrix to matrix, so that a workspace that was sized for
// another is too small; they are never 0, which some programs take for a failure.
std::size_t bytes_of_space(const Workspace& space) {
  return 16 + 8 * static_cast<std::size_t>((space.rows + space.entries) / 256);
}

std::uint64_t hash_of(const Entries& e) {
  std::uint64_t h = 1469598103934665603u;
  for (std::size_t i = 0; i < e.rows.size(); ++i) {
    for (const std::int64_t index : {e.rows[i], e.cols[i]})
      h = (h ^ static_cast<std::uint64_t>(index)) * 1099511628211u;
  }
  return h;
}

bool is_known(const void* workspace) {
  return workspace != nullptr && array_of(static_cast<const unsigned char*>(workspace)) != nullptr;
}
bool touches_workspace(const SparseCall& call, const Workspace& space, bool writes, const void* stream) {
  return !is_known(space.at) ||
         touches(call, stream, {{space.at, bytes_of_space(space), writes, false, false}});
}
Workspace workspace_of(const SparseMatrix& a, const void* at) { return {a.rows, a.count, at}; }

}  // namespace

int space_of(const Workspace& space, std::size_t* bytes) {
  if (bytes == nullptr) return SparseStatus::kInvalidValue;
  *bytes = bytes_of_space(space);
  return SparseStatus::kSuccess;
}
int space_of_product(const SparseMatrix* a, std::size_t* bytes) {
  return a == nullptr ? SparseStatus::kInvalidValue : space_of(workspace_of(*a, nullptr), bytes);
}

bool takes_workspace(const SparseCall& call, const Workspace& space, const void* stream) {
  return touches_workspace(call, space, true, stream);
}

int prepare(const SparseHandle* handle, const SparseCall& call, SparseMatrix* a, const Prepared& with) {
  if (a == nullptr) return SparseStatus::kInvalidValue;
  a->prepared = a->batches == 1 ? with : Prepared{};  // a batch's matrices have a pattern each
  return queue_sparse(handle, [=, m = *a](const void* stream) {
    Entries entries;
    if (!read_entries(call, m, false, stream, entries, false) ||
        !touches_workspace(call, workspace_of(m, with.workspace), true, stream))
      return;
    const std::uint64_t hash = hash_of(entries);
    if (is_known(with.workspace)) std::memcpy(const_cast<void*>(with.workspace), &hash, sizeof hash);
  });
}

bool may_use(const SparseCall& call, const SparseMatrix& a, const Prepared& with, const Entries& entries,
             const void* stream) {
  const Prepared& before = a.prepared;
  const bool prepared = is_known(with.workspace) && with.workspace == before.workspace &&
                        std::strcmp(with.product, before.product) == 0;
  if (!touches_workspace(call, workspace_of(a, with.workspace), !prepared, stream)) return false;
  if (!prepared) return true;
  const std::string from = fmt::format("{}_preprocess", before.product);
  if (with.operation != before.operation || with.algorithm != before.algorithm ||
      with.scalar != before.scalar) {
    malformed(
        call, "the workspace of " + from + ", and another operation, algorithm or type than that",
        "with that workspace alpha, beta, the vectors and the matrix' values may differ, and nothing else");
    return false;
  }
  const std::uint64_t hash = hash_of(entries);
  if (std::memcmp(with.workspace, &hash, sizeof hash) == 0) return true;
  malformed(
      call, "a workspace or a pattern that has changed since " + from,
      "what was prepared there holds for the pattern as it was, and for a workspace that nobody writes");
  return false;
}

}  // namespace plumb::simt
