// topk, host 01: one sweep over a row; what is larger than the last one kept goes to its place among those kept.
//
// Change    first rung: the definition. The kept elements stand in the outputs.
// Traffic   x once; the outputs as often as they are shifted.
// Limits    one core; up to k moves per element where a row ascends.
// Fails at  large k.
// Source    the definition: insertion sort.
#include "reference/cpu/topk/order.hpp"

namespace plumb {
namespace {

template <class T>
void run(const TopK::Problem<T>&, const TopK::In<T, Space::host>& in, const TopK::Out<T, Space::host>& out,
         Context&) {
  const std::int64_t k = out.values.cols;
  for (std::int64_t i = 0; i < in.x.rows; ++i) {
    std::int64_t kept = 0;
    for (std::int64_t j = 0; j < in.x.cols; ++j) {
      if (kept == k && !is_before(in.x(i, j), out.values(i, k - 1))) continue;
      std::int64_t p = kept < k ? kept++ : k - 1;
      for (; p > 0 && is_before(in.x(i, j), out.values(i, p - 1)); --p) {
        out.values(i, p) = out.values(i, p - 1);
        out.indices(i, p) = out.indices(i, p - 1);
      }
      out.values(i, p) = in.x(i, j);
      out.indices(i, p) = static_cast<std::int32_t>(j);
    }
  }
}

PLUMB_REGISTER(TopK, "01_serial", run, float, double, f16, bf16);

}  // namespace
}  // namespace plumb
