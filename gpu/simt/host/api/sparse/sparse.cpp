// Sparse matrices of a program, read entry by entry; and the queue that a call's work goes to.
#include "gpu/simt/host/api/sparse/sparse.hpp"

#include <fmt/core.h>

#include <cstring>
#include <string>
#include <utility>

#include "gpu/simt/state.hpp"

namespace plumb::simt {

std::size_t index_bytes(int type) { return type == kIndexOf64Bits ? 8 : 4; }

std::int64_t index_at(const void* p, int type, std::int64_t i) {
  std::int64_t wide = 0;
  std::int32_t narrow = 0;
  const std::size_t bytes = index_bytes(type);
  std::memcpy(type == kIndexOf64Bits ? static_cast<void*>(&wide) : &narrow,
              static_cast<const unsigned char*>(p) + static_cast<std::size_t>(i) * bytes, bytes);
  return type == kIndexOf64Bits ? wide : narrow;
}

void set_index(void* p, int type, std::int64_t i, std::int64_t value) {
  const auto narrow = static_cast<std::int32_t>(value);
  const std::size_t bytes = index_bytes(type);
  std::memcpy(static_cast<unsigned char*>(p) + static_cast<std::size_t>(i) * bytes,
              type == kIndexOf64Bits ? static_cast<const void*>(&value) : &narrow, bytes);
}

HostRange range_of(const void* p, std::int64_t first, std::int64_t count, std::size_t size, bool writes) {
  return {static_cast<const unsigned char*>(p) + first * static_cast<std::int64_t>(size),
          static_cast<std::size_t>(count) * size, writes};
}

void add_whole(std::vector<HostRange>& ranges, const DenseMatrix& m, bool writes) {
  const std::int64_t lines = m.by_columns ? m.cols : m.rows, length = m.by_columns ? m.rows : m.cols;
  for (std::int64_t k = 0; k < lines; ++k)
    ranges.push_back(range_of(m.values, k * m.stride, length, bytes_of(m.type), writes));
}

bool touches(const SparseCall& call, const void* stream, const std::vector<HostRange>& ranges) {
  host_ranges(call.name, const_cast<void*>(stream), {"", 0}, ranges, call.pc);
  return !current().run.is_stopped;
}

void malformed(const SparseCall& call, const std::string& what, const char* hint) {
  RawFinding* f =
      note(FindingKind::trap, std::string(call.name) + " is given " + what, nullptr, locate(call.pc));
  if (f != nullptr) f->finding.hint = hint, f->finding.kernel = call.name, f->launch = f->other_launch = -1;
  current().run.is_stopped = true;
}

namespace {

bool is_multiple(const SparseCall& call, const void* p, std::size_t size, const char* what) {
  if (size == 0 || reinterpret_cast<std::uintptr_t>(p) % size == 0) return true;
  malformed(call, fmt::format("{} at an address that is no multiple of {}", what, size));
  return false;
}

// Of entries given one by one: that their rows rise, and lie in the matrix.
bool rise(const SparseCall& call, const SparseMatrix& a, const std::vector<std::int64_t>& lines) {
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (lines[i] < 0 || lines[i] >= a.rows) {
      malformed(call,
                fmt::format("an index outside of its matrix: entry {} is of row {} of {}, counted from 0", i,
                            lines[i], a.rows));
      return false;
    }
    if (i == 0 || lines[i] >= lines[i - 1]) continue;
    malformed(
        call,
        fmt::format("rows that do not rise: entry {} is of row {}, and entry {} of row {}", i - 1,
                    lines[i - 1], i, lines[i]),
        "cuSPARSE takes entries in COO as sorted by rows, and answers something else where they are not: "
        "cusparseXcoosortByRow sorts them");
    return false;
  }
  return true;
}

}  // namespace

bool is_aligned(const SparseCall& call, const SparseMatrix& m) {
  const char* const first = m.format == kCoo ? "row indices" : "offsets";
  return is_multiple(call, m.first, index_bytes(m.first_type), first) &&
         is_multiple(call, m.second, index_bytes(m.second_type), "indices") &&
         is_multiple(call, m.values, bytes_of(m.type), "values");
}
bool is_aligned(const SparseCall& call, const DenseMatrix& m) {
  return is_multiple(call, m.values, bytes_of(m.type), "elements");
}

bool read_lines(const SparseCall& call, const SparseMatrix& a, const void* stream,
                std::vector<std::int64_t>& lines) {
  const std::size_t size = index_bytes(a.first_type);
  const std::int64_t of = a.format == kCsr ? a.rows : a.cols;
  const std::int64_t count = a.format == kCoo ? a.count : of + 1;
  if (!is_aligned(call, a)) return false;
  if (!touches(call, stream, {range_of(a.first, 0, count, size, false)})) return false;
  for (std::int64_t i = 0; a.format == kCoo && i < count; ++i)
    lines.push_back(index_at(a.first, a.first_type, i) - a.base);
  if (a.format == kCoo) return a.any_order || rise(call, a, lines);
  for (std::int64_t i = 0; i < of; ++i) {
    const std::int64_t begin = index_at(a.first, a.first_type, i) - a.base;
    const std::int64_t end = index_at(a.first, a.first_type, i + 1) - a.base;
    if (begin != static_cast<std::int64_t>(lines.size()) || end < begin || end > a.count) {
      malformed(call, "offsets that do not rise from 0 to the number of entries");
      return false;
    }
    lines.insert(lines.end(), static_cast<std::size_t>(end - begin), i);
  }
  if (static_cast<std::int64_t>(lines.size()) == a.count) return true;
  malformed(call,
            fmt::format("offsets that end at {} where the matrix has {} entries", lines.size(), a.count));
  return false;
}

bool read_entries(const SparseCall& call, const SparseMatrix& a, bool transposed, const void* stream,
                  Entries& out, bool values) {
  std::vector<std::int64_t> lines;
  if (!read_lines(call, a, stream, lines)) return false;
  const auto count = static_cast<std::int64_t>(lines.size());
  std::vector<HostRange> ranges{range_of(a.second, 0, count, index_bytes(a.second_type), false)};
  if (values) ranges.push_back(range_of(a.values, 0, count, bytes_of(a.type), false));
  if (!touches(call, stream, ranges)) return false;
  std::vector<std::int64_t> others;
  for (std::int64_t i = 0; i < count; ++i) {
    others.push_back(index_at(a.second, a.second_type, i) - a.base);
    out.values.push_back(values ? load(a.values, a.type, i) : 0);
  }
  const bool lines_are_rows = (a.format != kCsc) != transposed;
  out.rows = std::move(lines), out.cols = std::move(others);
  if (!lines_are_rows) std::swap(out.rows, out.cols);
  return true;
}

void write_entries(const SparseCall& call, const SparseMatrix& m, const Entries& e, double alpha,
                   const void* stream) {
  const auto count = static_cast<std::int64_t>(e.values.size());
  const std::int64_t lines = m.format == kCsr ? m.rows : m.cols;
  const std::int64_t firsts = m.format == kCoo ? count : lines + 1;
  if (!is_aligned(call, m)) return;
  std::vector<HostRange> ranges{range_of(m.first, 0, firsts, index_bytes(m.first_type), true),
                                range_of(m.second, 0, count, index_bytes(m.second_type), true)};
  if (m.values != nullptr) ranges.push_back(range_of(m.values, 0, count, bytes_of(m.type), true));
  if (!touches(call, stream, ranges)) return;
  const std::vector<std::int64_t>& line_of = m.format == kCsc ? e.cols : e.rows;
  const std::vector<std::int64_t>& other = m.format == kCsc ? e.rows : e.cols;
  void* const first = const_cast<void*>(m.first);
  for (std::int64_t i = 0; i < count; ++i) {
    if (m.format == kCoo) set_index(first, m.first_type, i, line_of[static_cast<std::size_t>(i)] + m.base);
    set_index(const_cast<void*>(m.second), m.second_type, i, other[static_cast<std::size_t>(i)] + m.base);
    if (m.values != nullptr) store(m.values, m.type, i, alpha * e.values[static_cast<std::size_t>(i)]);
  }
  std::int64_t at = 0;
  for (std::int64_t line = 0; m.format != kCoo && line <= lines; ++line) {
    while (at < count && line_of[static_cast<std::size_t>(at)] < line) ++at;
    set_index(first, m.first_type, line, at + m.base);
  }
}

bool lies_within(const SparseCall& call, const Entries& entries, std::int64_t rows, std::int64_t cols) {
  for (std::size_t i = 0; i < entries.rows.size(); ++i) {
    const std::int64_t row = entries.rows[i], col = entries.cols[i];
    if (row >= 0 && row < rows && col >= 0 && col < cols) continue;
    malformed(call, "an index outside of its matrix");
    return false;
  }
  return true;
}

int queue_sparse(const SparseHandle* handle, const SparseCall& call, const Factors& factors,
                 SparseWork work) {
  if (handle == nullptr) return SparseStatus::kNotInitialized;
  if (factors.alpha == nullptr) return SparseStatus::kInvalidValue;
  if (factors.type != CUDA_R_32F && factors.type != CUDA_R_64F && factors.type != CUDA_R_32I)
    return SparseStatus::kNotSupported;
  begin_by_itself();
  const auto lock = enter_engine();
  const auto factor = [type = factors.type](const void* p) { return p == nullptr ? 0 : load(p, type, 0); };
  const bool later = is_plain_device(factors.alpha);  // read when its turn has come
  const double alpha = later ? 0 : factor(factors.alpha), beta = later ? 0 : factor(factors.beta);
  const cudaError_t e = queue(handle->stream, cudaGraphNodeTypeKernel, [=](const void* stream) {
    if (!later) return work(alpha, beta, stream);
    const std::size_t size = bytes_of(factors.type);
    std::vector<HostRange> ranges{{factors.alpha, size, false}};
    if (factors.beta != nullptr) ranges.push_back({factors.beta, size, false});
    if (touches(call, stream, ranges)) work(factor(factors.alpha), factor(factors.beta), stream);
  });
  return e == cudaSuccess ? SparseStatus::kSuccess : SparseStatus::kExecutionFailed;
}

int queue_sparse(const SparseHandle* handle, std::function<void(const void* stream)> work) {
  if (handle == nullptr) return SparseStatus::kNotInitialized;
  begin_by_itself();
  const auto lock = enter_engine();
  const cudaError_t e = queue(handle->stream, cudaGraphNodeTypeKernel, std::move(work));
  return e == cudaSuccess ? SparseStatus::kSuccess : SparseStatus::kExecutionFailed;
}

int wait_for_result(const SparseHandle* handle) {
  const bool waits = handle->pointer_mode == kResultOnHost;
  return !waits || wait_for(handle->stream) == cudaSuccess ? SparseStatus::kSuccess
                                                           : SparseStatus::kExecutionFailed;
}

}  // namespace plumb::simt
