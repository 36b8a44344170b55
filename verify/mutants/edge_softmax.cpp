// Planted faults of edge_softmax: each is a right kernel with one thing changed. `verify --mutants` must kill every one.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "reference/ops/edge_softmax.hpp"
#include "verify/mutants/host_mutant.hpp"
#include "verify/mutants/narrow_mutants.hpp"

namespace plumb {
namespace {

PLUMB_FAULTS_OF(EdgeSoftmax);

// keep(e, begin, end): whether the entry is in the sum.
template <class T, class Keep>
void by_row(const In<T>& in, const Out<T>& out, bool from_max, Keep&& keep) {
  for (std::int64_t i = 0; i < in.A.rows; ++i) {
    const std::int32_t begin = in.A.row_ptr[i], end = in.A.row_ptr[i + 1];
    T max = from_max && begin < end ? *std::max_element(in.A.val + begin, in.A.val + end) : T(0), sum = 0;
    for (std::int32_t e = begin; e < end; ++e)
      sum += keep(e, begin, end) ? std::exp(in.A.val[e] - max) : T(0);
    for (std::int32_t e = begin; e < end; ++e) out.y[e] = std::exp(in.A.val[e] - max) / sum;
  }
}

PLUMB_FAULT(last_entry_dropped, "last_entry_dropped", 0, "the last entry of a row is not in the sum",
            "a loop's bound", kNumeric) {
  by_row(in, out, true,
         [](std::int32_t e, std::int32_t begin, std::int32_t end) { return e == begin || e + 1 < end; });
}

PLUMB_FAULT(rows_cut_at_32, "rows_cut_at_32", 0, "entries behind 32 are not in the sum",
            "one warp per row without a loop", kNumeric) {
  by_row(in, out, true, [](std::int32_t e, std::int32_t begin, std::int32_t) { return e < begin + 32; });
}

template <class T, class Fault>
struct Narrow {
  static void run(const P<T>&, const In<T>& in, const Out<T>& out, Context&) {
    for (std::int64_t i = 0; i < in.A.rows; ++i) {
      const std::int32_t begin = in.A.row_ptr[i], end = in.A.row_ptr[i + 1];
      const auto a = [&](std::int32_t e) { return Fault::read(in.A.val[e]); };
      float max = -std::numeric_limits<float>::infinity(), sum = 0;
      for (std::int32_t e = begin; e < end; ++e) max = std::max(max, a(e));
      for (std::int32_t e = begin; e < end; ++e) {
        if (Fault::takes(e - begin, end - begin)) sum = Fault::kept(sum + std::exp(a(e) - max));
      }
      for (std::int32_t e = begin; e < end; ++e)
        out.y[e] = Fault::template write<out_t<T>>(std::exp(a(e) - max) / sum);
    }
  }
};
const NarrowMutants<EdgeSoftmax, Narrow, narrow_faults::OfSums, f16, bf16> narrow_types_m;

}  // namespace
}  // namespace plumb
