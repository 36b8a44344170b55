// Planted faults of attention: each is a right kernel with one thing changed. `verify --mutants` must kill every one.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "reference/ops/attention.hpp"
#include "verify/mutants/host_mutant.hpp"

namespace plumb {
namespace {

template <class T>
using P = Attention::Problem<T>;
template <class T>
using In = Attention::In<T, Space::host>;
template <class T>
using Out = Attention::Out<T, Space::host>;

// Online, by blocks of 16 keys. seen(group, query, key); rescaled(block): whether what there is so far is rescaled at that block; `less`: keys that
// are not looked at; `factor` of the scale.
template <class T, class Seen, class Rescaled>
void attend_all(const P<T>& p, const In<T>& in, const Out<T>& out, std::int64_t less, T factor, Seen&& seen,
                Rescaled&& rescaled) {
  for (std::int64_t row = 0; row < p.g * p.r * p.n; ++row) {
    const std::int64_t group = row / (p.r * p.n), query = row % p.n;
    T max = -std::numeric_limits<T>::infinity(), sum = 0;
    T* const o = out.o.data + row * out.o.ld;
    std::fill_n(o, in.v.cols, T(0));
    for (std::int64_t j = 0; j < std::max<std::int64_t>(p.m - less, 1); ++j) {
      if (!seen(group, query, j)) continue;
      T score = 0;
      for (std::int64_t d = 0; d < in.q.cols; ++d) score += in.q(row, d) * in.k(group * p.m + j, d);
      score *= p.scale * factor;
      const T risen = std::max(max, score), rescale = rescaled(j) ? std::exp(max - risen) : T(1);
      const T weight = std::exp(score - risen);
      max = risen, sum = sum * rescale + weight;
      for (std::int64_t d = 0; d < in.v.cols; ++d) o[d] = o[d] * rescale + weight * in.v(group * p.m + j, d);
    }
    for (std::int64_t d = 0; d < in.v.cols; ++d) o[d] /= sum;
  }
}

constexpr auto always = [](std::int64_t) { return true; };

template <class T>
auto seen_by(const P<T>&, const In<T>&) {
  return [](std::int64_t, std::int64_t, std::int64_t) { return true; };
}

template <class T>
void last_key_dropped(const P<T>& p, const In<T>& in, const Out<T>& out, Context&) {
  attend_all(p, in, out, 1, T(1), seen_by(p, in), always);
}
const HostMutant<Attention> m1{"last_key_dropped",
                               last_key_dropped<float>,
                               last_key_dropped<double>,
                               {0, "the last key is not looked at", "a loop's bound", kNumeric}};

template <class T>
void one_rescale_left_out(const P<T>& p, const In<T>& in, const Out<T>& out, Context&) {
  attend_all(p, in, out, 0, T(1), seen_by(p, in), [&](std::int64_t j) { return j == 0 || j != p.m / 2; });
}
const HostMutant<Attention> m2{
    "one_rescale_left_out",
    one_rescale_left_out<float>,
    one_rescale_left_out<double>,
    {0, "where the maximum rises in the middle of the keys, what there is so far is not rescaled",
     "the seam between two blocks of keys", kNumeric}};

template <class T>
void scale_off_by_a_128th(const P<T>& p, const In<T>& in, const Out<T>& out, Context&) {
  attend_all(p, in, out, 0, T(1 + 0x1p-7), seen_by(p, in), always);
}
const HostMutant<Attention> m3{"scale_off_by_a_128th",
                               scale_off_by_a_128th<float>,
                               scale_off_by_a_128th<double>,
                               {0, "scores are larger by 2^-7", "a factor kept in bf16", kNumeric}};

}  // namespace
}  // namespace plumb
