// Planted faults of gat_layer: each is a right kernel with one thing changed. `verify --mutants` must kill every one.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "reference/ops/gat_layer.hpp"
#include "verify/mutants/host_mutant.hpp"
#include "verify/mutants/narrow_mutants.hpp"

namespace plumb {
namespace {

PLUMB_FAULTS_OF(GatLayer);

// slope of the rectifier; keep(e, begin): whether an entry counts; `weighted`: whether the mean is divided by its weights.
template <class T, class Keep>
void layer(const In<T>& in, const Out<T>& out, T slope, bool weighted, Keep&& keep) {
  for (std::int64_t i = 0; i < in.A.rows; ++i) {
    const std::int32_t begin = in.A.row_ptr[i], end = in.A.row_ptr[i + 1];
    T weight = 0;
    for (std::int64_t j = 0; j < in.h.cols; ++j) out.y(i, j) = 0;
    for (std::int32_t e = begin; e < end; ++e) {
      if (!keep(e, begin)) continue;
      const T x = in.s[i] + in.t[in.A.col[e]], p = std::exp(x < 0 ? slope * x : x);
      weight += p;
      for (std::int64_t j = 0; j < in.h.cols; ++j) out.y(i, j) += p * in.h(in.A.col[e], j);
    }
    for (std::int64_t j = 0; j < in.h.cols && begin < end && weighted; ++j) out.y(i, j) /= weight;
  }
}
constexpr auto all = [](std::int32_t, std::int32_t) { return true; };

PLUMB_FAULT(slope_of_another_paper, "slope_of_another_paper", 0, "the slope is 0.01",
            "the default of a library", kNumeric) {
  layer(in, out, T(0.01), true, all);
}

PLUMB_FAULT(weights_not_normalised, "weights_not_normalised", 0,
            "the sum of weighted features is not divided", "a pass left out", kNumeric) {
  layer(in, out, T(0.2), false, all);
}

PLUMB_FAULT(rows_cut_at_32, "rows_cut_at_32", 0, "entries behind 32 do not count",
            "one warp per row without a loop", kNumeric) {
  layer(in, out, T(0.2), true, [](std::int32_t e, std::int32_t begin) { return e < begin + 32; });
}

template <class T, class Fault>
struct Narrow {
  static void run(const P<T>&, const In<T>& in, const Out<T>& out, Context&) {
    for (std::int64_t i = 0; i < in.A.rows; ++i) {
      const std::int32_t begin = in.A.row_ptr[i], end = in.A.row_ptr[i + 1];
      const auto score = [&](std::int32_t e) {
        const float x = Fault::read(in.s[i]) + Fault::read(in.t[in.A.col[e]]);
        return x < 0 ? 0.2F * x : x;
      };
      float max = -std::numeric_limits<float>::infinity();
      for (std::int32_t e = begin; e < end; ++e) max = std::max(max, score(e));
      for (std::int64_t j = 0; j < in.h.cols; ++j) {
        float sum = 0, weight = 0;
        for (std::int32_t e = begin; e < end; ++e) {
          if (!Fault::takes(e - begin, end - begin)) continue;
          const float p = std::exp(score(e) - max);
          weight += p, sum = Fault::kept(sum + p * Fault::read(in.h(in.A.col[e], j)));
        }
        out.y(i, j) = Fault::template write<out_t<T>>(weight > 0 ? sum / weight : 0);
      }
    }
  }
};
const NarrowMutants<GatLayer, Narrow, narrow_faults::OfSums, f16, bf16> narrow_types_m;

}  // namespace
}  // namespace plumb
