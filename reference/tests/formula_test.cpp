// Bounds of formulas against orders of evaluation that kernels have, emulated in the element type: no right row may fail, and a row with a fault
// must. A part runs by default; the nightly part (skipped here) has 10^5 rows a formula and type.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include <fmt/format.h>

#include "reference/arithmetic/cell.hpp"
#include "reference/core/error.hpp"
#include "reference/formula/formula.hpp"
#include "reference/ops/attention.hpp"
#include "reference/ops/bias_relu.hpp"
#include "reference/ops/cross_entropy.hpp"
#include "reference/ops/edge_softmax.hpp"
#include "reference/ops/gat_layer.hpp"
#include "reference/ops/layernorm.hpp"
#include "reference/ops/rmsnorm.hpp"
#include "reference/ops/softmax.hpp"

namespace plumb {

// bias_relu, whose bound is derived by hand, once more.
struct BiasReluByFormula : FormulaOf<BiasReluByFormula> {
  static constexpr const char* kName = "bias_relu_by_formula";
  static constexpr const char* kSignature = "x: rows cols, b: cols, cap -> y: rows cols";
  PLUMB_PROBLEM(Scalar cap;)
  PLUMB_INPUTS(Matrix x; Vector b;)
  PLUMB_OUTPUTS(Matrix y;)
  template <class A>
  static A formula(const A& x, const A& b, const A& cap) {
    return clamp(x + b, A(0), cap);
  }
};
// A softmax's weights are kept in bf16 for their product with the values.
struct NarrowWeights : FormulaOf<NarrowWeights> {
  static constexpr const char* kName = "narrow_weights";
  static constexpr const char* kSignature = "s: n m, v: m d -> o: n d";
  PLUMB_INPUTS(Matrix s, v;)
  PLUMB_OUTPUTS(Matrix o;)
  template <class A>
  static A formula(const A& s, const A& v) {
    const A e = store(exp(s - shift(s, "m")), Format::bf16);
    return dot(e, v, "m") / sum(e, "m");
  }
};
struct WideWeights : FormulaOf<WideWeights> {
  static constexpr const char* kName = "wide_weights";
  static constexpr const char* kSignature = "s: n m, v: m d -> o: n d";
  PLUMB_INPUTS(Matrix s, v;)
  PLUMB_OUTPUTS(Matrix o;)
  template <class A>
  static A formula(const A& s, const A& v) {
    return softmax_mean(s, v, "m");
  }
};
struct NotAShift : FormulaOf<NotAShift> {
  static constexpr const char* kName = "not_a_shift";
  static constexpr const char* kSignature = "x: n d -> y: n d";
  PLUMB_INPUTS(Matrix x;)
  PLUMB_OUTPUTS(Matrix y;)
  template <class A>
  static A formula(const A& x) {
    return exp(x - shift(x, -1));
  }
};
struct Cancels : FormulaOf<Cancels> {
  static constexpr const char* kName = "cancels";
  static constexpr const char* kSignature = "x: n d -> y: n d";
  PLUMB_INPUTS(Matrix x;)
  PLUMB_OUTPUTS(Matrix y;)
  template <class A>
  static A formula(const A& x) {
    return x / (mean(x * A(3), -1) - A(3) * mean(x, -1));
  }
};
// A mean over two extents, which kernels take in one loop, and the same of one extent.
struct MeanOfMeans : FormulaOf<MeanOfMeans> {
  static constexpr const char* kName = "mean_of_means";
  static constexpr const char* kSignature = "x: n c s -> y: n";
  PLUMB_PROBLEM(Size n, c, s;)
  PLUMB_INPUTS(Matrix x;)
  PLUMB_OUTPUTS(Vector y;)
  template <class A>
  static A formula(const A& x) {
    return mean(mean(x, "s"), "c");
  }
};
struct OneMean : FormulaOf<OneMean> {
  static constexpr const char* kName = "one_mean";
  static constexpr const char* kSignature = "x: n d -> y: n";
  PLUMB_INPUTS(Matrix x;)
  PLUMB_OUTPUTS(Vector y;)
  template <class A>
  static A formula(const A& x) {
    return mean(x, "d");
  }
};
// Each entry divided by the sum of all, and by that of its row.
struct Shares : FormulaOf<Shares> {
  static constexpr const char* kName = "shares";
  static constexpr const char* kSignature = "A: csr n m -> y: A, z: A";
  PLUMB_INPUTS(Sparse A;)
  PLUMB_OUTPUTS(Vector y, z;)
  template <class X>
  static std::array<X, 2> formula(const X& a) {
    const X of_rows = sum(abs(a), "A");
    return {a / sum(of_rows, "n"), a / of_row(a, of_rows)};
  }
};
// Pairs of numbers, each turned by an angle of its own.
struct Rotary : FormulaOf<Rotary> {
  static constexpr const char* kName = "rotary";
  static constexpr const char* kSignature = "x: n h 2 d, c: n d, s: n d -> y: n h 2 d";
  PLUMB_PROBLEM(Size n, h, d;)
  PLUMB_INPUTS(Matrix x, c, s;)
  PLUMB_OUTPUTS(Matrix y;)
  template <class A>
  static A formula(const A& x, const A& c, const A& s) {
    const A first = at(x, "2", 0), second = at(x, "2", 1);
    return where(A::index("2") == A(0), first * c - second * s, second * c + first * s);
  }
};
// Of rows of which a mask leaves nothing one formula has an answer, and the other has none.
struct MaskedMean : FormulaOf<MaskedMean> {
  static constexpr const char* kName = "masked_mean";
  static constexpr const char* kSignature = "x: n d, m: n d flag -> y: n";
  PLUMB_INPUTS(Matrix x, m;)
  PLUMB_OUTPUTS(Vector y;)
  template <class A>
  static A formula(const A& x, const A& m) {
    return sum(x * m, "d") / sum(m, "d");
  }
};
struct MaskedMeanOr0 : FormulaOf<MaskedMeanOr0> {
  static constexpr const char* kName = "masked_mean_or_0";
  static constexpr const char* kSignature = "x: n d, m: n d flag -> y: n";
  PLUMB_INPUTS(Matrix x, m;)
  PLUMB_OUTPUTS(Vector y;)
  template <class A>
  static A formula(const A& x, const A& m) {
    const A count = sum(m, "d");
    return where(count > A(0), sum(x * m, "d") / count, A(0));
  }
};

namespace {

enum class Order : std::uint8_t { loop, reverse, tree, lanes };
constexpr Order kOrders[] = {Order::loop, Order::reverse, Order::tree, Order::lanes};

template <class T>
T tree_of(const T* x, std::int64_t count) {
  if (count <= 1) return count == 1 ? x[0] : T(0);
  return tree_of(x, count / 2) + tree_of(x + count / 2, count - count / 2);
}

// The sum of `count` terms in one of the orders.
template <class T, class Term>
T summed(Order order, std::int64_t count, Term&& term) {
  std::vector<T> all(static_cast<std::size_t>(count));
  for (std::int64_t k = 0; k < count; ++k) all[static_cast<std::size_t>(k)] = term(k);
  if (order == Order::tree) return tree_of(all.data(), count);
  if (order == Order::lanes) {
    T lanes[32] = {};
    for (std::int64_t k = 0; k < count; ++k) lanes[k % 32] += all[static_cast<std::size_t>(k)];
    return tree_of(lanes, 32);
  }
  if (order == Order::reverse) std::reverse(all.begin(), all.end());
  T sum = 0;
  for (const T x : all) sum += x;
  return sum;
}

struct Tally {
  std::int64_t rows = 0, failed = 0;         // rows
  std::int64_t cases = 0, failed_cases = 0;  // one row failed, or more
  double worst = 0;                          // err/bound
};

// The type of the cases of a run: kernels compute in T, what they read and write is stored in it.
template <class T>
struct Stored {
  Dtype dtype = kDtype<T>;
  [[nodiscard]] bool narrow() const { return is_narrow(facts(dtype).out); }
};

// How far an answer, as it is stored, is from what is expected.
template <class T>
double distance(Stored<T> stored, T answer, double expected) {
  if (!stored.narrow()) return std::fabs(static_cast<double>(answer) - expected);
  const Format out = facts(stored.dtype).out;
  return distance_from_cell(out, representable(out, static_cast<double>(answer)), expected);
}

// Makes a case, lets `kernel` compute it, and counts the rows of the answer with an element beyond its bound.
template <class Op, class T, class Kernel>
void judge(Tally& tally, Stored<T> stored, const std::string& parameters, Arithmetic arithmetic,
           Kernel&& kernel) {
  const Case c = parse_case(fmt::format("{}.{}({})", Op::kName, facts(stored.dtype).name, parameters));
  Instance<Op, T> instance;
  Op::template make<T>(c, instance);
  Op::each_input(instance.in, [&](const char*, auto& view) {
    if constexpr (std::is_same_v<std::remove_reference_t<decltype(view.data[0])>, const T>) {
      std::int64_t elements = 0;
      if constexpr (requires { view.cols; })
        elements = view.rows * view.cols;
      else
        elements = view.size;
      quantise(facts(stored.dtype).in, const_cast<T*>(view.data), elements);
    }
  });
  Op::template validate<T>(instance.problem, instance.in, instance.out);
  Reference reference;
  Op::template oracle<T>(instance.problem, instance.in, instance.out, reference);
  const ReferenceArray& expected = reference.outputs.front();
  std::vector<T> answer(expected.value.size());
  Op::each_output(instance.out, [&](const char*, auto& view) { view.data = answer.data(); });
  kernel(instance.problem, instance.in, instance.out);
  std::int64_t width = 1;
  Op::each_output(instance.out, [&](const char*, auto& view) {
    if constexpr (requires { view.cols; }) width = view.cols;
  });
  const LargeArray<double>& magnitude = expected.magnitude_under(arithmetic);
  const std::int64_t failed_before = tally.failed;
  for (std::int64_t row = 0; row * width < static_cast<std::int64_t>(answer.size()); ++row) {
    bool failed = false;
    for (std::int64_t j = 0; j < width; ++j) {
      const auto at = static_cast<std::size_t>(row * width + j);
      const double bound =
          Op::bound({c.fill, arithmetic, c.dtype}, 0, expected.value[at], magnitude[at], expected.terms[at]);
      const double error = distance(stored, answer[at], expected.value[at]);
      failed = failed || !(error <= bound);
      if (bound > 0) tally.worst = std::max(tally.worst, error / bound);
    }
    ++tally.rows, tally.failed += failed ? 1 : 0;
  }
  ++tally.cases, tally.failed_cases += tally.failed > failed_before ? 1 : 0;
}

// The state of a softmax over scores: its maximum and sum, by one order, or online by blocks.
template <class T>
struct State {
  T max, sum;
};
template <class T, class Score>
State<T> state_of(Order order, std::int64_t block, std::int64_t count, Score&& score) {
  State<T> s{-std::numeric_limits<T>::infinity(), 0};
  const std::int64_t size = block > 0 ? block : count;
  for (std::int64_t begin = 0; begin < count; begin += size) {
    const std::int64_t end = std::min(count, begin + size);
    T risen = s.max;
    for (std::int64_t j = begin; j < end; ++j) risen = std::max(risen, score(j));
    s.sum = s.sum * std::exp(s.max - risen) +
            summed<T>(order, end - begin, [&](std::int64_t k) { return std::exp(score(begin + k) - risen); });
    s.max = risen;
  }
  return s;
}

template <class T>
void softmax_by(Order order, std::int64_t block, T factor, std::int64_t dropped,
                const Softmax::In<T, Space::host>& in, const Softmax::Out<T, Space::host>& out) {
  for (std::int64_t i = 0; i < in.x.rows; ++i) {
    const auto x = [&](std::int64_t j) { return in.x(i, j); };
    const State<T> s = state_of<T>(order, block, in.x.cols - dropped, x);
    for (std::int64_t j = 0; j < in.x.cols; ++j) out.y(i, j) = std::exp(in.x(i, j) - s.max) / s.sum * factor;
  }
}

// The root of rmsnorm and layernorm by squares in some order; epsilon inside of it or not.
template <class T, class Square>
T root_of(Order order, std::int64_t count, std::int64_t summands, T eps, bool inside, Square&& square) {
  const T mean = summed<T>(order, summands, square) / static_cast<T>(count);
  return inside ? std::sqrt(mean + eps) : std::sqrt(mean) + eps;
}

template <class T>
void rmsnorm_by(Order order, bool inside, std::int64_t dropped, T factor, const RmsNorm::Problem<T>& p,
                const RmsNorm::In<T, Space::host>& in, const RmsNorm::Out<T, Space::host>& out) {
  for (std::int64_t i = 0; i < in.x.rows; ++i) {
    const T root = root_of<T>(order, in.x.cols, in.x.cols - dropped, p.eps, inside,
                              [&](std::int64_t j) { return in.x(i, j) * in.x(i, j); });
    for (std::int64_t j = 0; j < in.x.cols; ++j) out.y(i, j) = in.x(i, j) * (1 / root) * in.w[j] * factor;
  }
}

enum class Variance : std::uint8_t { two_pass, welford, one_pass };

template <class T>
void layernorm_by(Order order, Variance variance, bool inside, const LayerNorm::Problem<T>& p,
                  const LayerNorm::In<T, Space::host>& in, const LayerNorm::Out<T, Space::host>& out) {
  const std::int64_t cols = in.x.cols;
  for (std::int64_t i = 0; i < in.x.rows; ++i) {
    T mean = summed<T>(order, cols, [&](std::int64_t j) { return in.x(i, j); }) / static_cast<T>(cols),
      squares = 0;
    if (variance == Variance::welford) {
      mean = 0;
      for (std::int64_t j = 0; j < cols; ++j) {
        const T away = in.x(i, j) - mean;
        mean += away / static_cast<T>(j + 1), squares += away * (in.x(i, j) - mean);
      }
    } else if (variance == Variance::two_pass) {
      squares =
          summed<T>(order, cols, [&](std::int64_t j) { return (in.x(i, j) - mean) * (in.x(i, j) - mean); });
    } else {
      squares = summed<T>(order, cols, [&](std::int64_t j) { return in.x(i, j) * in.x(i, j); }) -
                mean * mean * static_cast<T>(cols);
    }
    const T v = std::max(squares / static_cast<T>(cols), T(0));
    const T root = inside ? std::sqrt(v + p.eps) : std::sqrt(v) + p.eps;
    for (std::int64_t j = 0; j < cols; ++j) out.y(i, j) = (in.x(i, j) - mean) / root * in.w[j] + in.b[j];
  }
}

// Keys in `parts`, whose results are joined at the end; online by blocks within a part. dropped: keys that are not looked at.
template <class T>
void attention_by(Order order, std::int64_t block, std::int64_t parts, std::int64_t dropped, T factor,
                  const Attention::Problem<T>& p, const Attention::In<T, Space::host>& in,
                  const Attention::Out<T, Space::host>& out) {
  for (std::int64_t row = 0; row < p.g * p.r * p.n; ++row) {
    const std::int64_t first = row / (p.r * p.n) * p.m, keys = p.m - dropped;
    std::vector<T> scores(static_cast<std::size_t>(keys));
    for (std::int64_t j = 0; j < keys; ++j)
      scores[static_cast<std::size_t>(j)] =
          summed<T>(order, p.d, [&](std::int64_t d) { return in.q(row, d) * in.k(first + j, d); }) * p.scale *
          factor;
    State<T> all{-std::numeric_limits<T>::infinity(), 0};
    std::vector<T> value(static_cast<std::size_t>(p.d));
    for (std::int64_t part = 0; part < parts; ++part) {
      const std::int64_t begin = keys * part / parts, count = keys * (part + 1) / parts - begin;
      if (count == 0) continue;
      const State<T> s = state_of<T>(
          order, block, count, [&](std::int64_t j) { return scores[static_cast<std::size_t>(begin + j)]; });
      const T risen = std::max(all.max, s.max), old = std::exp(all.max - risen),
              added = std::exp(s.max - risen);
      for (std::int64_t d = 0; d < p.d; ++d) {
        const T mine = summed<T>(order, count, [&](std::int64_t j) {
          return std::exp(scores[static_cast<std::size_t>(begin + j)] - s.max) * in.v(first + begin + j, d);
        });
        value[static_cast<std::size_t>(d)] = value[static_cast<std::size_t>(d)] * old + mine * added;
      }
      all = {risen, all.sum * old + s.sum * added};
    }
    for (std::int64_t d = 0; d < p.d; ++d) out.o(row, d) = value[static_cast<std::size_t>(d)] / all.sum;
  }
}

void check_right(const std::string& what, const Tally& t) {
  CAPTURE(what);
  CAPTURE(t.worst);
  CHECK(t.failed == 0);
  MESSAGE(what, ": ", t.rows, " rows, largest err/bound ", t.worst);
}
// Faults are found in 99 of 100 cases; in one row nothing may show, such as an epsilon in a row of zeros.
void check_found(const std::string& what, const Tally& t, bool shows = true) {
  CAPTURE(what);
  CAPTURE(t.cases);
  if (shows) CHECK(static_cast<double>(t.failed_cases) >= 0.99 * static_cast<double>(t.cases));
  MESSAGE(what, ": found in ", t.failed_cases, " of ", t.cases, " cases, ", t.failed, " of ", t.rows,
          " rows");
}

// Of each fill and spread in turn, so many rows of each width.
template <class F>
void each_case(std::int64_t rows, const std::string& more, const char* far, F&& f) {
  for (const char* const fill : {"real", "positive", "few"})
    for (const int width : {5, 33, 257})
      f(fmt::format("n={},d={}{},spread=1,mean=0,fill={},seed=3", rows, width, more, fill)),
          f(fmt::format("n={},d={}{},spread=30,mean={},fill={},seed=4", rows, width, more, far, fill));
}

template <class T>
void softmax_rows(std::int64_t rows, Stored<T> stored) {
  Tally right, dropped, scaled;
  each_case(rows, "", "8", [&](const std::string& c) {
    const auto run = [&](Tally& t, Order order, std::int64_t block, T factor, std::int64_t less) {
      judge<Softmax, T>(t, stored, c, Arithmetic::native, [&](const auto&, const auto& in, const auto& out) {
        softmax_by<T>(order, block, factor, less, in, out);
      });
    };
    for (const Order order : kOrders) run(right, order, 0, T(1), 0);
    for (const std::int64_t block : {4, 16, 64}) run(right, Order::loop, block, T(1), 0);
    run(scaled, Order::lanes, 0, T(1 + 0x1p-7), 0);
    if (c.find("spread=1,") != std::string::npos) run(dropped, Order::loop, 0, T(1), 1);
  });
  check_right("softmax", right), check_found("softmax, a term dropped", dropped),
      check_found("softmax, 2^-7", scaled);
}

template <class T>
void rmsnorm_rows(std::int64_t rows, Stored<T> stored) {
  Tally right, outside, dropped, scaled;
  each_case(rows, ",eps=0.5", "8", [&](const std::string& c) {
    const auto run = [&](Tally& t, Order order, bool inside, std::int64_t less, T factor) {
      judge<RmsNorm, T>(t, stored, c, Arithmetic::native,
                        [&](const auto& p, const auto& in, const auto& out) {
                          rmsnorm_by<T>(order, inside, less, factor, p, in, out);
                        });
    };
    for (const Order order : kOrders) run(right, order, true, 0, T(1));
    run(outside, Order::tree, false, 0, T(1)), run(scaled, Order::loop, true, 0, T(1 + 0x1p-7));
    run(dropped, Order::loop, true, 1, T(1));
  });
  check_right("rmsnorm", right), check_found("rmsnorm, epsilon outside", outside);
  check_found("rmsnorm, 2^-7", scaled);
  CHECK(static_cast<double>(dropped.failed) >=
        (stored.narrow() ? 0.8 : 0.9) * static_cast<double>(dropped.rows));  // the last one may be nearly 0
}

template <class T>
void layernorm_rows(std::int64_t rows, Stored<T> stored) {
  Tally right, one_pass, undeclared, outside;
  each_case(rows, ",eps=0.5", "100", [&](const std::string& c) {
    const auto run = [&](Tally& t, const std::string& id, Arithmetic a, Order order, Variance v,
                         bool inside) {
      judge<LayerNorm, T>(t, stored, id, a, [&](const auto& p, const auto& in, const auto& out) {
        layernorm_by<T>(order, v, inside, p, in, out);
      });
    };
    for (const Order order : kOrders) {
      run(right, c, Arithmetic::native, order, Variance::two_pass, true);
      run(one_pass, c, Arithmetic::one_pass, order, Variance::one_pass, true);
    }
    run(right, c, Arithmetic::native, Order::loop, Variance::welford, true);
    if (c.find("spread=1,") != std::string::npos)
      run(outside, c, Arithmetic::native, Order::loop, Variance::two_pass, false);
  });
  const std::string far = fmt::format("n={},d=768,eps=0.00001,spread=1,mean=100,fill=real,seed=5",
                                      std::min<std::int64_t>(rows, 100));
  judge<LayerNorm, T>(undeclared, stored, far, Arithmetic::native,
                      [&](const auto& p, const auto& in, const auto& out) {
                        layernorm_by<T>(Order::loop, Variance::one_pass, true, p, in, out);
                      });
  check_right("layernorm", right), check_right("layernorm, one_pass declared", one_pass);
  // squares of narrow numbers are exact in fp32, and little is lost
  const bool narrow_inputs = facts(facts(stored.dtype).in).digits < facts(Format::f32).digits;
  check_found("layernorm, one_pass undeclared", undeclared, !narrow_inputs),
      check_found("layernorm, epsilon outside", outside);
}

template <class T>
void attention_rows(std::int64_t rows, Stored<T> stored) {
  Tally right, dropped, scaled;
  for (const char* const fill : {"real", "positive", "few"}) {
    const auto id = [&](int spread) {
      return fmt::format("g=2,r=2,n={},d=16,m=70,scale=0.25,spread={},mean=0,fill={},seed=6", rows, spread,
                         fill);
    };
    const auto run = [&](Tally& t, const std::string& c, Order order, std::int64_t block, std::int64_t parts,
                         std::int64_t less, T factor) {
      judge<Attention, T>(t, stored, c, Arithmetic::native,
                          [&](const auto& p, const auto& in, const auto& out) {
                            attention_by<T>(order, block, parts, less, factor, p, in, out);
                          });
    };
    for (const int spread : {1, 30}) {
      for (const Order order : kOrders) run(right, id(spread), order, 0, 1, 0, T(1));
      for (const std::int64_t block : {4, 16, 64}) run(right, id(spread), Order::loop, block, 1, 0, T(1));
      run(right, id(spread), Order::lanes, 16, 3, 0, T(1));
    }
    run(dropped, id(1), Order::loop, 0, 1, 1, T(1));
    if (std::string(fill) != "few") run(scaled, id(30), Order::loop, 0, 1, 0, T(1 + 0x1p-7));
  }
  check_right("attention", right), check_found("attention, the last key dropped", dropped);
  check_found("attention, scores off by 2^-7", scaled);
}

template <class T>
void all_rows(std::int64_t rows, Stored<T> stored = {}) {
  const std::string type = facts(stored.dtype).name;
  CAPTURE(type);
  MESSAGE(type);
  softmax_rows<T>(rows, stored), rmsnorm_rows<T>(rows, stored), layernorm_rows<T>(rows, stored),
      attention_rows<T>(std::max<std::int64_t>(rows * 3 / 8, 2), stored);
}

TEST_CASE("formulas: no right order of evaluation fails its bound, and faults do") {
  all_rows<float>(20);
  all_rows<double>(20);
  all_rows<float>(20, {Dtype::f16});
  all_rows<float>(20, {Dtype::bf16});
  all_rows<float>(40, {Dtype::bf16_f32});  // sums that are exact, beside Welford's mean, which is not
}

// The mean of values by weights that are kept in bf16.
template <class Op>
void mean_by_narrow_weights(const typename Op::template In<float, Space::host>& in,
                            const typename Op::template Out<float, Space::host>& out) {
  for (std::int64_t i = 0; i < in.s.rows; ++i) {
    float max = in.s(i, 0), sum = 0;
    for (std::int64_t j = 1; j < in.s.cols; ++j) max = std::max(max, in.s(i, j));
    const auto weight = [&](std::int64_t j) {
      return static_cast<float>(representable(Format::bf16, std::exp(in.s(i, j) - max)));
    };
    for (std::int64_t j = 0; j < in.s.cols; ++j) sum += weight(j);
    for (std::int64_t d = 0; d < in.v.cols; ++d) {
      float mean = 0;
      for (std::int64_t j = 0; j < in.s.cols; ++j) mean += weight(j) * in.v(j, d);
      out.o(i, d) = mean / sum;
    }
  }
}

TEST_CASE("formulas: what is stored in between is right where the formula says so, and else is found") {
  for (const Dtype dtype : {Dtype::f32, Dtype::bf16_f32}) {
    Tally declared, undeclared;
    for (const char* const fill : {"real", "positive", "few"}) {
      const std::string c = fmt::format("n=40,m=129,d=5,spread=1,mean=0,fill={},seed=8", fill);
      judge<NarrowWeights, float>(declared, {dtype}, c, Arithmetic::native,
                                  [](const auto&, const auto& in, const auto& out) {
                                    mean_by_narrow_weights<NarrowWeights>(in, out);
                                  });
      judge<WideWeights, float>(
          undeclared, {dtype}, c, Arithmetic::native,
          [](const auto&, const auto& in, const auto& out) { mean_by_narrow_weights<WideWeights>(in, out); });
    }
    check_right("weights in bf16, declared", declared);
    check_found("weights in bf16, undeclared", undeclared);
  }
}

TEST_CASE("formulas, nightly: the same of 100,000 rows a formula and type" * doctest::skip()) {
  all_rows<float>(1400);
  all_rows<double>(1400);
  for (const Dtype narrow : {Dtype::f16, Dtype::bf16, Dtype::f16_f32, Dtype::bf16_f32})
    all_rows<float>(1400, {narrow});
}

template <class Op>
std::vector<double> bounds_of(const Instance<Op, float>& instance, Fill fill) {
  Reference reference;
  Op::template oracle<float>(instance.problem, instance.in, instance.out, reference);
  const ReferenceArray& y = reference.outputs.front();
  std::vector<double> all;
  for (std::size_t i = 0; i < y.value.size(); ++i)
    all.push_back(
        Op::bound({fill, Arithmetic::native, Dtype::f32}, 0, y.value[i], y.magnitude[i], y.terms[i]));
  return all;
}

// The bound by formula is the one by hand, up to a factor, where neither is 0.
void check_alike(const std::vector<double>& formula, const std::vector<double>& hand, double least,
                 double most) {
  REQUIRE(formula.size() == hand.size());
  double smallest = 1e9, largest = 0;
  for (std::size_t i = 0; i < hand.size(); ++i) {
    if (hand[i] == 0 || formula[i] == 0) continue;
    smallest = std::min(smallest, formula[i] / hand[i]), largest = std::max(largest, formula[i] / hand[i]);
  }
  MESSAGE("bound by formula over bound by hand: " << smallest << " to " << largest);
  CHECK(smallest >= least);
  CHECK(largest <= most);
}

TEST_CASE("formulas: the bounds of bias_relu by hand and by formula are alike") {
  Instance<BiasRelu, float> hand;
  BiasRelu::make<float>(parse_case("bias_relu.f32(rows=37,cols=41,bias=column,cap=5,fill=real,seed=1)"),
                        hand);
  Instance<BiasReluByFormula, float> formula;
  formula.in.x = hand.in.x, formula.in.b = hand.in.b, formula.out.y = hand.out.y;
  formula.problem.cap = hand.problem.cap;
  check_alike(bounds_of(formula, Fill::real), bounds_of(hand, Fill::real), 0, 2.01);
}

TEST_CASE("formulas: a division by a difference that cancels has no bound") {
  Instance<Cancels, float> instance;
  Cancels::make<float>(parse_case("cancels.f32(n=9,d=33,spread=1,mean=0,fill=real,seed=1)"), instance);
  Reference reference;
  Cancels::oracle<float>(instance.problem, instance.in, instance.out, reference);
  const ReferenceArray& y = reference.outputs.front();
  for (std::size_t i = 0; i < y.value.size(); ++i)
    CHECK(std::isinf(Cancels::bound({Fill::real, Arithmetic::native, Dtype::f32}, 0, y.value[i],
                                    y.magnitude[i], y.terms[i])));
}

TEST_CASE("formulas: a mean of means is one mean, whose terms are taken in any order") {
  for (const char* const fill : {"real", "positive", "few"}) {
    Instance<MeanOfMeans, float> nested;
    MeanOfMeans::make<float>(
        parse_case(fmt::format("mean_of_means.f32(n=3,c=70,s=90,spread=1,mean=0,fill={},seed=1)", fill)),
        nested);
    Instance<OneMean, float> flat;
    flat.in.x = {nested.in.x.data, 3, 70 * 90, 70 * 90}, flat.out.y = nested.out.y;
    const Fill f = parse_fill(fill, "fill");
    const std::vector<double> two = bounds_of(nested, f), one = bounds_of(flat, f);
    REQUIRE(two.size() == 3);
    for (std::size_t i = 0; i < 3; ++i) CHECK(two[i] == doctest::Approx(one[i]));
  }
}

TEST_CASE("formulas: entries of a sparse operand are summed row by row, and all of them over its rows") {
  Instance<Shares, double> instance;
  Shares::make<double>(parse_case("shares.f64(n=7,m=9,density=0.5,spread=1,mean=0,fill=real,seed=1)"),
                       instance);
  Reference reference;
  Shares::oracle<double>(instance.problem, instance.in, instance.out, reference);
  double all = 0, of_rows = 0;
  for (const double share : reference.outputs[0].value) all += std::fabs(share);
  for (const double share : reference.outputs[1].value) of_rows += std::fabs(share);
  const auto& a = instance.in.A;
  std::int64_t rows = 0;
  for (std::int64_t i = 0; i < a.rows; ++i) rows += a.row_ptr[i + 1] > a.row_ptr[i] ? 1 : 0;
  CHECK(all == doctest::Approx(1));
  CHECK(of_rows == doctest::Approx(static_cast<double>(rows)));
}

TEST_CASE("formulas: an extent that is a number has that size in every case") {
  CaseSpace space("rotary");
  formula_of<Rotary>().describe(space);
  CHECK(std::none_of(space.parameters().begin(), space.parameters().end(),
                     [](const Parameter& p) { return p.key == "2"; }));
  Instance<Rotary, double> instance;
  Rotary::make<double>(parse_case("rotary.f64(n=3,h=2,d=5,spread=1,mean=0,fill=real,seed=1)"), instance);
  REQUIRE(instance.in.x.rows == 12);
  CHECK(instance.problem.d == 5);
  Rotary::validate<double>(instance.problem, instance.in, instance.out);
  Reference reference;
  Rotary::oracle<double>(instance.problem, instance.in, instance.out, reference);
  const auto& in = instance.in;
  for (std::int64_t i = 0; i < 6; ++i) {
    for (std::int64_t j = 0; j < 5; ++j) {
      const double x = in.x(2 * i, j), z = in.x(2 * i + 1, j), c = in.c(i / 2, j), s = in.s(i / 2, j);
      const LargeArray<double>& y = reference.outputs.front().value;
      CHECK(y[static_cast<std::size_t>(2 * i * 5 + j)] == doctest::Approx(x * c - z * s));
      CHECK(y[static_cast<std::size_t>((2 * i + 1) * 5 + j)] == doctest::Approx(z * c + x * s));
    }
  }
}

// How many rows of a formula's mask are all 0.
template <class Op>
std::int64_t empty_masks() {
  Instance<Op, float> instance;
  Op::template make<float>(
      parse_case(fmt::format("{}.f32(n=40,d=9,spread=1,mean=0,fill=real,seed=1)", Op::kName)), instance);
  std::int64_t empty = 0;
  for (std::int64_t i = 0; i < 40; ++i) {
    float flags = 0;
    for (std::int64_t j = 0; j < 9; ++j) flags += instance.in.m(i, j);
    empty += flags == 0 ? 1 : 0;
  }
  return empty;
}

TEST_CASE("formulas: masks leave nothing of a row where the formula has an answer there, and only there") {
  CHECK(empty_masks<MaskedMean>() == 0);
  CHECK(empty_masks<MaskedMeanOr0>() > 0);
}

TEST_CASE("formulas: what subtracts a maximum meets values of which every exponential underflows") {
  for (const Formula* const f : {&formula_of<Attention>(), &formula_of<GatLayer>(), &formula_of<Softmax>()}) {
    CaseSpace space("op");
    f->describe(space);
    const std::vector<ValueClass>& classes = space.parameters()[space.index("spread")].classes;
    CHECK(std::any_of(classes.begin(), classes.end(), [](const ValueClass& c) { return c.name == "1000"; }));
  }
  Instance<GatLayer, float> far;  // s: A's own values are not read
  GatLayer::make<float>(
      parse_case("gat_layer.f32(n=99,m=9,d=2,density=0.2,spread=1000,mean=0,fill=positive,seed=1)"), far);
  double most = 0;
  for (std::int64_t i = 0; i < 99; ++i) most = std::max(most, std::fabs(static_cast<double>(far.in.s[i])));
  CHECK(most > 100);
  Instance<EdgeSoftmax, float> sparse;
  EdgeSoftmax::make<float>(
      parse_case("edge_softmax.f32(n=9,m=99,density=0.5,spread=1000,mean=0,fill=positive,seed=1)"), sparse);
  most = 0;
  for (std::int64_t e = 0; e < sparse.in.A.nnz; ++e)
    most = std::max(most, std::fabs(static_cast<double>(sparse.in.A.val[e])));
  CHECK(most > 100);
}

TEST_CASE("formulas: an extent without which there is no answer is never 0, and the others may be") {
  const auto may_be_none = [](const Formula& f, const char* extent) {
    CaseSpace space("op");
    f.describe(space);
    return space.parameters()[space.index(extent)].classes.front().name == "zero";
  };
  const Formula& attention = formula_of<Attention>();
  CHECK(!may_be_none(attention, "m"));  // no key
  CHECK(may_be_none(attention, "d"));   // nothing is asked for
  CHECK(may_be_none(attention, "n"));
  CHECK(!may_be_none(formula_of<CrossEntropy>(), "c"));
  CHECK(may_be_none(formula_of<Softmax>(), "d"));
  CHECK(may_be_none(formula_of<GatLayer>(), "m"));  // no entries: the formula says what that gives
}

TEST_CASE("formulas: a known trap with a fill that an operator lacks is none of it") {
  CaseSpace space("op");
  formula_of<Attention>().describe(space);
  space.complete();
  bool scaled = false, tiles = false;
  for (const Parameter& p : space.parameters()) {
    scaled = scaled || p.key.find("fill=hostile") != std::string::npos ||
             p.key.find("fill=scaled") != std::string::npos;
    tiles = tiles || p.key.find("fill=real") != std::string::npos;
  }
  CHECK(!scaled);
  CHECK(tiles);  // those of a fill that it has are there
}

TEST_CASE("formulas: the scores of attention do not grow with the terms of their products") {
  CHECK(formula_of<Attention>().graph().scores_along(0) == std::vector<std::string>{"d"});
  CHECK(formula_of<Attention>().graph().scores_along(2).empty());  // the values
  CHECK(formula_of<Softmax>().graph().scores_along(0).empty());
}

TEST_CASE("formulas: a member of another kind than its array is named, and so is a result of other extents") {
  const auto message = [](const Formula& f, const FormulaCall& call) -> std::string {
    Arena arena;
    FormulaCall made = call;
    try {
      f.make<float>(parse_case("softmax.f32(n=3,d=4,spread=1,mean=0,fill=real,seed=1)"), arena, made);
    } catch (const Error& e) { return e.what(); }
    return "";
  };
  FormulaCall call;
  call.inputs.push_back({nullptr, Format::f32, 0, 0, 0, nullptr, nullptr, 0, true});  // a Vector
  call.outputs.push_back({nullptr, Format::f32, 0, 0, 0, nullptr, nullptr, 0, false});
  CHECK(message(formula_of<Softmax>(), call) ==
        "softmax: the signature's x (n, d) is a Matrix, its member a Vector");
  CHECK_THROWS_WITH_AS(
      Formula("op", "x: n d -> y: n d",
              [](const std::vector<Expression>& a) -> Formula::Outputs { return {mean(a[0], "d")}; }, nullptr,
              Arithmetic::Transform::none, {}),
      "op: the formula's result has the extents (n), its output y has (n, d)", Error);
}

TEST_CASE("formulas: what is no shift is refused") {
  Instance<NotAShift, float> instance;
  NotAShift::make<float>(parse_case("not_a_shift.f32(n=9,d=33,spread=1,mean=0,fill=real,seed=1)"), instance);
  Reference reference;
  CHECK_THROWS_AS(NotAShift::oracle<float>(instance.problem, instance.in, instance.out, reference), Error);
}

TEST_CASE("formulas: rules of single operations") {
  const Compute c(Format::f32);
  const double u = facts(Format::f32).unit;
  CHECK(c.add({1, 0, 0}, {0.5, 0, 0}).error == 0);  // exact
  CHECK(c.add({1, 0, 0}, {0x1p-30, 0, 0}).error == doctest::Approx(2 * u).epsilon(1e-6));
  CHECK(c.add({0.1, 0, 0.5}, {0, 0, 0}).error == 0.5);        // nothing is rounded
  CHECK(c.multiply({0.1, 0, 0.5}, {-1, 0, 0}).error == 0.5);  // nor here
  CHECK(c.exp({0, 0, 0}).error == 0);
  CHECK(c.constant(0.1).error > 0);
  CHECK(std::isinf(c.divide({1, 0, 0}, {1, 0, 0.5}).error));
  const Bounded unknown = c.divide({0, 0, 0}, {0, 0, 0});  // a mean of nothing
  CHECK(std::isinf(unknown.error));
  CHECK(std::isinf(c.divide({1, 0, 0}, {0, 0, 0}).error));
  CHECK(std::isinf(c.sqrt({-1, 0, 0}).error));
  CHECK(std::isinf(c.log({-1, 0, 0}).error));
  for (const Bounded& f :
       {c.exp(unknown), c.tanh(unknown), c.erf(unknown), c.log(unknown), c.sqrt(unknown),
        c.add(unknown, {-1000, 0, 0}), c.multiply(unknown, {0, 0, 0}), c.sum(&unknown, 1, false)})
    CHECK(std::isinf(f.error));
  CHECK(std::isinf(c.exp(c.add(unknown, {-1000, 0, 0})).error));
  CHECK(chosen({0, 0, 0}, unknown, {3, 0, 0}).error == 0);  // where() leaves it out
  const Compute fast(Format::f32, Math::fast);
  CHECK(fast.log({1, 0, 0}).error == doctest::Approx(2 * std::exp2(-21.41)));  // near 0 an absolute error
  CHECK(fast.log({100, 0, 0}).error < 16 * u * std::log(100));
  CHECK(fast.exp({-10, 0, 0}).error == doctest::Approx(2 * (5 + 23.46) * u * std::exp(-10)).epsilon(1e-3));
  CHECK(c.exp({-std::numeric_limits<double>::infinity()}).error == 0);
  CHECK(c.exp({100}).error == kBeyond);                                       // fp32
  CHECK(c.divide({1, 0, 0}, c.exp({100})).error < 1e-37);                     // 0, or nearly
  CHECK(c.sqrt({1, 0, 2}).error == std::numeric_limits<double>::infinity());  // may be negative
  CHECK(larger({1, 0, 0.1}, {0.95, 0, 0.3}).error == 0.3);                    // either may be it
  CHECK(larger({1, 0, 0.1}, {0, 0, 0.3}).error == 0.1);
  CHECK(less({1, 0, 0.1}, {1.05, 0, 0}, false).error == 1);
  const std::vector<Bounded> ones(100, {1, 0, 0}), tenths(100, {0.1, 0, 0});
  CHECK(c.sum(ones.data(), 100, false).error == 0);                                     // integers
  CHECK(c.sum(ones.data(), 100, false, true).error == doctest::Approx(103 * u * 100));  // of a running mean
  CHECK(c.sum(tenths.data(), 100, false).error ==
        doctest::Approx(103 * u * 10));  // equal terms: the worst case
}

TEST_CASE("formulas: a log-softmax of numbers of which no digit is sure moves by their errors") {
  const Bounded row[] = {{0, 0, 2}, {1, 0, 3}};
  Bounded y[2];
  Compute(Format::f32).log_softmax(row, 2, y);
  CHECK(y[0].value == doctest::Approx(-1 - std::log1p(std::exp(-1))));
  CHECK(y[0].error == doctest::Approx(2 + 3));
  CHECK(y[1].error == doctest::Approx(3 + 3));
}

TEST_CASE(
    "formulas: what is beyond the range in every evaluation is an infinity, and what may be is unknown") {
  const Compute c(Format::f32);
  const Bounded beyond = c.add({3e38}, {2e38});
  CHECK(beyond.error == kBeyond);
  CHECK(c.add(beyond, {1e38, 0, 1e37}).error == kBeyond);
  CHECK(c.add({1e38, 0, 1e37}, beyond).error == kBeyond);
  CHECK(std::isinf(c.add(beyond, {-1e38}).error));          // the sum is in the range
  CHECK(std::isinf(c.add(beyond, {1e30, 0, 1e31}).error));  // of either sign
  CHECK(std::isinf(c.multiply(beyond, {1e-10}).error));
  CHECK(std::isinf(c.add({3.4e38, 0, 1e37}, {1e36}).error));
}

TEST_CASE("signatures: what is wrong is named") {
  const Signature s = parse_signature("op", "q: n d, t: n in d, A: csr n m, w: d >0, eps>0 -> o: n d, y: A");
  CHECK(s.inputs.size() == 4);
  CHECK(s.scalars.front().positive);
  CHECK(s.extents == std::vector<std::string>{"n", "d", "m"});
  CHECK(s.outputs.back().extents.front() == "A(n,m)");
  constexpr SignatureNames names("q: n d, t: n in d, A: csr n m, w: d >0, eps>0 -> o: n d, y: A");
  static_assert(names.input_count == 4 && names.scalar_count == 1 && names.extent_count == 3);
  CHECK(std::string(names.extent(2)) == "m");
  for (const char* const wrong : {"x: n d", "x: n n -> y: n", "x: n, x: n -> y: n", "x: -> y: n",
                                  "t: n in k -> y: n", "x: n -> y", "A: csr n -> y: n", "3: n -> y: n"}) {
    CAPTURE(wrong);
    CHECK_THROWS_AS((void)parse_signature("op", wrong), Error);
  }
}

}  // namespace
}  // namespace plumb
