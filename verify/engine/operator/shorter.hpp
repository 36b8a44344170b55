// Problems of which one extent is one less, over the same arrays. Which sizes of views are one extent is found by asking the contract.
#pragma once
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <set>
#include <vector>

#include "reference/core/abi.hpp"

namespace plumb {

namespace detail {

template <class E, Space S, class F>
void each_size(VecView<E, S>& v, F&& f) {
  f(v.size);
}
template <class E, Space S, class F>
void each_size(DenseView<E, S>& v, F&& f) {
  f(v.rows), f(v.cols);
}
template <class E, Space S, class F>
void each_size(CsrView<E, S>& v, F&& f) {
  f(v.rows), f(v.cols);
}

}  // namespace detail

/// Every size of all views, inputs first. The number of entries of a sparse operand follows from its rows, and is not among them.
template <class Op, class In, class Out>
std::vector<std::int64_t*> sizes_of(In& in, Out& out) {
  std::vector<std::int64_t*> all;
  const auto add = [&](const char*, auto& view) {
    detail::each_size(view, [&](std::int64_t& size) { all.push_back(&size); });
  };
  Op::each_input(in, add), Op::each_output(out, add);
  return all;
}

/// Makes these of the sizes one less. A sparse operand keeps the entries of the rows that are left, and so does a vector with a place for
/// each entry.
template <class Op, class In, class Out>
void shorten(In& in, Out& out, const std::vector<std::size_t>& which) {
  const std::vector<std::int64_t*> sizes = sizes_of<Op>(in, out);
  for (const std::size_t n : which) --*sizes[n];
  Op::each_input(in, [&](const char*, auto& view) {
    if constexpr (requires { view.nnz; }) {
      const std::int64_t before = view.nnz;
      view.nnz = view.row_ptr[view.rows];
      if (view.nnz == before) return;
      for (std::int64_t* size : sizes) *size = *size == before ? view.nnz : *size;
    }
  });
}

/// Calls valid(numbers of sizes) with sets of sizes that are equal and at least 2, small sets first. A set that holds a valid one is left
/// out.
template <class F>
void each_extent(const std::vector<std::int64_t*>& sizes, F&& valid) {
  constexpr std::size_t kMostAlike = 8;
  std::set<std::int64_t> values;
  for (const std::int64_t* size : sizes) values.insert(*size);
  for (const std::int64_t value : values) {
    std::vector<std::size_t> alike;
    for (std::size_t n = 0; n < sizes.size() && alike.size() < kMostAlike; ++n) {
      if (*sizes[n] == value && value >= 2) alike.push_back(n);
    }
    std::vector<unsigned> sets;
    for (unsigned set = 1; set < 1u << alike.size(); ++set) sets.push_back(set);
    std::stable_sort(sets.begin(), sets.end(),
                     [](unsigned a, unsigned b) { return std::popcount(a) < std::popcount(b); });
    std::vector<unsigned> found;
    for (const unsigned set : sets) {
      if (std::any_of(found.begin(), found.end(), [&](unsigned f) { return (f & set) == f; })) continue;
      std::vector<std::size_t> members;
      for (std::size_t n = 0; n < alike.size(); ++n) {
        if ((set >> n & 1u) != 0) members.push_back(alike[n]);
      }
      if (valid(members)) found.push_back(set);
    }
  }
}

}  // namespace plumb
