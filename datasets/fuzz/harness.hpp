// The common part of every harness: it reads bytes and gives either a sound result or an Error. Anything else ends the
// process.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "reference/core/csr.hpp"
#include "reference/core/error.hpp"
#include "reference/core/matrix.hpp"

namespace plumb::fuzz {

template <class Read>
int run(const std::uint8_t* data, std::size_t size, const Read& read) {
  try {
    read(std::string_view(reinterpret_cast<const char*>(data), size));
  } catch (const Error& e) {
    for (const char* c = e.what(); *c != '\0'; ++c) {
      if (*c == '\n') std::abort();  // errors are one line, whatever the file holds
    }
  }
  return 0;
}

inline void must(bool holds) {
  if (!holds) std::abort();
}

/// A reader's CSR is sound: row_ptr rises from 0 to nnz, columns are inside and ascend.
template <class T>
void must_be_sound(const Csr<T>& a) {
  must(csr_fault(a).empty());
  for (std::size_t i = 0; i + 1 < a.row_ptr.size(); ++i) {
    must(std::is_sorted(a.col.begin() + a.row_ptr[i], a.col.begin() + a.row_ptr[i + 1]));
  }
}

constexpr std::int64_t kLargest = std::int64_t{1} << 20;  // rows a harness lets a reader allocate

}  // namespace plumb::fuzz
