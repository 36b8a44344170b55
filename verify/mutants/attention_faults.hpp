// What the planted faults of attention, causal_attention and masked_attention share: a right kernel whose parts can be changed, and the three faults
// that all of them have.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "verify/mutants/host_mutant.hpp"
#include "verify/mutants/narrow_mutants.hpp"

namespace plumb {

/// What is changed in attend_all().
template <class T, class Seen, class Rescaled>
struct AttentionParts {
  Seen seen;              // seen(group, query, key): whether the key counts
  Rescaled rescaled;      // rescaled(key): whether what there is so far is rescaled at that key
  std::int64_t less = 0;  // keys that are not looked at
  T factor = 1;           // of the scale
};

/// Online, one key after another. Op's problem has extents n, m and, where queries share keys, r.
template <class Op, class T, class Seen, class Rescaled>
void attend_all(const typename Op::template Problem<T>& p, const typename Op::template In<T, Space::host>& in,
                const typename Op::template Out<T, Space::host>& out,
                const AttentionParts<T, Seen, Rescaled>& parts) {
  std::int64_t queries = p.n;  // of a group
  if constexpr (requires { p.r; }) queries *= p.r;
  for (std::int64_t row = 0; row < out.o.rows; ++row) {
    const std::int64_t group = row / queries, query = row % p.n;
    T max = -std::numeric_limits<T>::infinity(), sum = 0;
    T* const o = out.o.data + row * out.o.ld;
    std::fill_n(o, in.v.cols, T(0));
    for (std::int64_t j = 0; j < std::max<std::int64_t>(p.m - parts.less, 1); ++j) {
      if (!parts.seen(group, query, j)) continue;
      T score = 0;
      for (std::int64_t d = 0; d < in.q.cols; ++d) score += in.q(row, d) * in.k(group * p.m + j, d);
      score *= p.scale * parts.factor;
      const T risen = std::max(max, score), rescale = parts.rescaled(j) ? std::exp(max - risen) : T(1);
      const T weight = std::exp(score - risen);
      max = risen, sum = sum * rescale + weight;
      for (std::int64_t d = 0; d < in.v.cols; ++d) o[d] = o[d] * rescale + weight * in.v(group * p.m + j, d);
    }
    for (std::int64_t d = 0; d < in.v.cols; ++d) o[d] /= sum;
  }
}

/// The same with one set of keys, and nothing else changed: the faults of what is seen.
template <class Op, class T, class Seen>
void attend_seen(const typename Op::template Problem<T>& p,
                 const typename Op::template In<T, Space::host>& in,
                 const typename Op::template Out<T, Space::host>& out, Seen seen) {
  const auto always = [](std::int64_t) { return true; };
  attend_all<Op, T>(p, in, out, AttentionParts<T, Seen, decltype(always)>{seen, always});
}

/// The faults of narrow types: `Narrow` of NarrowMutants.
template <class Op, class SeenBy>
struct NarrowAttention {
  template <class T, class Fault>
  struct Narrow {
    static void run(const typename Op::template Problem<T>& p,
                    const typename Op::template In<T, Space::host>& in,
                    const typename Op::template Out<T, Space::host>& out, Context&) {
      const auto seen = SeenBy()(p, in);
      const std::int64_t queries = out.o.rows / std::max<std::int64_t>(p.g, 1);  // of a group
      std::vector<float> scores(static_cast<std::size_t>(p.m));
      for (std::int64_t row = 0; row < out.o.rows; ++row) {
        const std::int64_t group = row / queries, first = group * p.m;
        float max = -std::numeric_limits<float>::infinity();
        for (std::int64_t j = 0; j < p.m; ++j) {
          float score = 0;
          for (std::int64_t d = 0; d < in.q.cols; ++d)
            score += Fault::read(in.q(row, d)) * Fault::read(in.k(first + j, d));
          scores[static_cast<std::size_t>(j)] = score * p.scale;
          if (seen(group, row % p.n, j)) max = std::max(max, score * p.scale);
        }
        for (std::int64_t d = 0; d < in.v.cols; ++d) {
          float sum = 0, mean = 0;
          for (std::int64_t j = 0; j < p.m; ++j) {
            if (!seen(group, row % p.n, j) || !Fault::takes(j, p.m)) continue;
            const float weight = std::exp(scores[static_cast<std::size_t>(j)] - max);
            sum += weight, mean = Fault::kept(mean + weight * Fault::read(in.v(first + j, d)));
          }
          out.o(row, d) = Fault::template write<out_t<T>>(mean / sum);
        }
      }
    }
  };
};

/// The faults that all have. SeenBy()(problem, in) gives the operator's own seen(group, query, key).
template <class Op, class SeenBy>
class AttentionFaults {
  template <class T>
  using P = typename Op::template Problem<T>;
  template <class T>
  using In = typename Op::template In<T, Space::host>;
  template <class T>
  using Out = typename Op::template Out<T, Space::host>;

  template <class T, class Rescaled>
  static void attend(const P<T>& p, const In<T>& in, const Out<T>& out, Rescaled rescaled, std::int64_t less,
                     T factor) {
    const auto seen = SeenBy()(p, in);
    attend_all<Op, T>(p, in, out, AttentionParts<T, decltype(seen), Rescaled>{seen, rescaled, less, factor});
  }
  static bool always(std::int64_t) { return true; }

  template <class T>
  static void last_key_dropped(const P<T>& p, const In<T>& in, const Out<T>& out, Context&) {
    attend<T>(p, in, out, always, 1, T(1));
  }
  template <class T>
  static void one_rescale_left_out(const P<T>& p, const In<T>& in, const Out<T>& out, Context&) {
    attend<T>(
        p, in, out, [&](std::int64_t j) { return j == 0 || j != p.m / 2; }, 0, T(1));
  }
  template <class T>
  static void scale_off_by_a_128th(const P<T>& p, const In<T>& in, const Out<T>& out, Context&) {
    attend<T>(p, in, out, always, 0, T(1 + 0x1p-7));
  }

  HostMutant<Op> dropped_{"last_key_dropped",
                          last_key_dropped<float>,
                          last_key_dropped<double>,
                          {0, "the last key is not looked at", "a loop's bound", kNumeric}};
  HostMutant<Op> rescale_{
      "one_rescale_left_out",
      one_rescale_left_out<float>,
      one_rescale_left_out<double>,
      {0, "where the maximum rises in the middle of the keys, what there is so far is not rescaled",
       "the seam between two blocks of keys", kNumeric}};
  HostMutant<Op> scale_{"scale_off_by_a_128th",
                        scale_off_by_a_128th<float>,
                        scale_off_by_a_128th<double>,
                        {0, "scores are larger by 2^-7", "a factor kept in bf16", kNumeric}};
};

}  // namespace plumb
