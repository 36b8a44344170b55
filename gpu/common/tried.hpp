// What an adaptive rung measures where a plan has many runs. Header only; trial.cpp does the timing.
#pragma once
#include "gpu/common/cost_model.hpp"
#include "gpu/common/trial.hpp"

namespace plumb {

/// The candidates of a list.
template <class List>
constexpr int kCountOf = static_cast<int>(sizeof List::kNames / sizeof *List::kNames);

/// What an adaptive rung says of its choice.
struct Text {
  char of[256];
};

/// The few candidates of least time by their models, measured: where a plan has so many runs that this pays.
template <template <class> class L, class T>
class Tried {
 public:
  using List = L<T>;
  static constexpr int kCount = kCountOf<List>;
  using Problem = typename List::Problem;
  using In = typename List::In;
  using Out = typename List::Out;

  Tried(const Problem& p, const In& in, const Out& out, Context& context)
      : p_(p), in_(in), out_(out), context_(context) {}

  /// Makes the fastest the `candidate`, and says so. Leaves both as they are where only one fits, or where measuring would take more than
  /// kShare of what the runs take.
  void take(const Terms (&terms)[kCount], const Preparation<kCount>& preparation, int& candidate,
            Text& text) {
    const Foreseen<kCount> foreseen = foresee(List::kModels, terms, preparation);
    count_ = foreseen.least(kTried, of_);
    if (count_ < 2 || !pays(foreseen)) return;
    const TrialTimes times = time(terms);
    if (times.seconds < 0) return;
    if (times.known) context_.count_as_preparation(times.seconds);
    Foreseen<kCount> found;
    for (int i = 0; i < count_; ++i) {
      const int c = of_[i];
      const double share = foreseen.time[c] - foreseen.run[c];
      found.fits[c] = true, found.run[c] = times.us[i], found.time[c] = times.us[i] + share;
    }
    int least[2];
    found.least(2, least);
    candidate = least[0];
    std::snprintf(text.of, sizeof text.of, "%s: %.3g us measured; %s: %.3g us; %d candidates in %.3g ms",
                  List::kNames[least[0]], found.run[least[0]], List::kNames[least[1]], found.run[least[1]],
                  count_, times.seconds * 1e3);
  }

 private:
  static constexpr double kShare = 0.01;

  [[nodiscard]] bool pays(const Foreseen<kCount>& foreseen) const {
    double trial = 0;
    for (int i = 0; i < count_; ++i) trial += kRunsOfTrial * foreseen.run[of_[i]] + foreseen.before[of_[i]];
    return trial <= kShare * static_cast<double>(context_.uses) * foreseen.time[of_[0]];
  }

  struct Key {  // without padding: it is compared by its bytes
    const void* list;
    double terms[kCount][kTerms + 1];
    double candidates[kTried];
  };

  TrialTimes time(const Terms (&terms)[kCount]) {
    Key key{List::kNames, {}, {}};
    for (int c = 0; c < kCount; ++c) {
      key.terms[c][kTerms] = terms[c].fits ? 1 : 0;
      for (int i = 0; i < kTerms; ++i) key.terms[c][i] = terms[c].of[i];
    }
    for (int i = 0; i < count_; ++i) key.candidates[i] = 1 + of_[i];
    return try_candidates({count_, this, prepare, run, &key, sizeof key}, context_.stream);
  }

  // Outputs of the trial's own, as far from a line of 256 bytes as the caller's: kernels read what they may copy at once from that.
  struct Elsewhere {
    Context& context;
    template <class V>
    void place(VecView<V, Space::device>& view) const {
      view.data = place(view.data, view.size);
    }
    template <class V>
    void place(DenseView<V, Space::device>& view) const {
      view.data = place(view.data, view.rows * view.ld);
    }
    template <class V>
    V* place(V* at, std::int64_t elements) const {
      constexpr std::uintptr_t kLine = 256;
      auto* const memory = static_cast<unsigned char*>(context.workspace(
          elements * static_cast<std::int64_t>(sizeof(V)) + static_cast<std::int64_t>(kLine)));
      return reinterpret_cast<V*>(memory + reinterpret_cast<std::uintptr_t>(at) % kLine);
    }
  };

  static void prepare(void* self, int i, Context& context) {
    auto& t = *static_cast<Tried*>(self);
    t.outs_[i] = t.out_;
    List::Operator::each_output(t.outs_[i], [&](const char*, auto& view) { Elsewhere{context}.place(view); });
    t.kept_[i] = List(t.p_, t.in_, t.outs_[i], context).keep(t.of_[i], context);
  }
  static void run(void* self, int i, Context& context) {
    auto& t = *static_cast<Tried*>(self);
    List::run(t.of_[i], t.kept_[i], t.p_, t.in_, t.outs_[i], context);
  }

  const Problem& p_;
  const In& in_;
  const Out& out_;
  Context& context_;
  int count_ = 0, of_[kTried] = {};
  Out outs_[kTried] = {};
  typename List::Kept kept_[kTried] = {};
};

}  // namespace plumb
