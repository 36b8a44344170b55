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

template <class T>
using P = GatLayer::Problem<T>;
template <class T>
using In = GatLayer::In<T, Space::host>;
template <class T>
using Out = GatLayer::Out<T, Space::host>;

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

template <class T>
void slope_of_another_paper(const P<T>&, const In<T>& in, const Out<T>& out, Context&) {
  layer(in, out, T(0.01), true, all);
}
const HostMutant<GatLayer> m1{"slope_of_another_paper",
                              slope_of_another_paper<float>,
                              slope_of_another_paper<double>,
                              {0, "the slope is 0.01", "the default of a library", kNumeric}};

template <class T>
void weights_not_normalised(const P<T>&, const In<T>& in, const Out<T>& out, Context&) {
  layer(in, out, T(0.2), false, all);
}
const HostMutant<GatLayer> m2{
    "weights_not_normalised",
    weights_not_normalised<float>,
    weights_not_normalised<double>,
    {0, "the sum of weighted features is not divided", "a pass left out", kNumeric}};

template <class T>
void rows_cut_at_32(const P<T>&, const In<T>& in, const Out<T>& out, Context&) {
  layer(in, out, T(0.2), true, [](std::int32_t e, std::int32_t begin) { return e < begin + 32; });
}
const HostMutant<GatLayer> m3{
    "rows_cut_at_32",
    rows_cut_at_32<float>,
    rows_cut_at_32<double>,
    {0, "entries behind 32 do not count", "one warp per row without a loop", kNumeric}};

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
