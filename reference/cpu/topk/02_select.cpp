// topk, host 02: rows by threads; the columns of a row are parted at the k-th largest element, and those before it sorted.
//
// Change    against 01: an OpenMP loop over rows; a selection in linear time and a sort of k columns.
// Traffic   x once, and then from the cache where a row fits.
// Limits    four bytes of column per element; rows that are fewer than cores.
// Fails at  one long row: it has one core.
// Source    Hoare, "Algorithm 65: find" (1961), as std::nth_element.
#include <algorithm>
#include <numeric>
#include <vector>

#include "reference/cpu/topk/order.hpp"

namespace plumb {
namespace {

template <class T>
void run(const TopK::Problem<T>&, const TopK::In<T, Space::host>& in, const TopK::Out<T, Space::host>& out,
         Context&) {
  const std::int64_t k = out.values.cols;
#pragma omp parallel
  {
    std::vector<std::int32_t> columns(static_cast<std::size_t>(in.x.cols));
#pragma omp for schedule(static)
    for (std::int64_t i = 0; i < in.x.rows; ++i) {
      const in_t<T>* const x = in.x.data + i * in.x.ld;
      const auto before = [x](std::int32_t a, std::int32_t b) { return is_before(x[a], x[b]); };
      std::iota(columns.begin(), columns.end(), 0);
      const auto end_of_largest = columns.begin() + k;
      if (end_of_largest != columns.end())
        std::nth_element(columns.begin(), end_of_largest, columns.end(), before);
      std::sort(columns.begin(), end_of_largest, before);
      for (std::int64_t p = 0; p < k; ++p) {
        const std::int32_t column = columns[static_cast<std::size_t>(p)];
        out.values(i, p) = x[column], out.indices(i, p) = column;
      }
    }
  }
}

PLUMB_REGISTER(TopK, "02_select", run, float, double, f16, bf16);

}  // namespace
}  // namespace plumb
