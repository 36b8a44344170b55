// Sums in every order in which a correct kernel may take them, beside their bounds. Equal terms are rounded by equal amounts, so their
// roundings add up; beside one huge term each later addition rounds at its size. A bound for other data fails correct kernels there.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "reference/cases/operator.hpp"
#include "reference/ops/conv2d.hpp"
#include "reference/ops/gemm.hpp"
#include "reference/ops/gemv.hpp"
#include "reference/ops/log_softmax.hpp"
#include "reference/ops/reduce.hpp"
#include "reference/ops/sddmm.hpp"
#include "reference/ops/skinny_gemm.hpp"
#include "reference/ops/spmm.hpp"
#include "reference/ops/spmv.hpp"

using namespace plumb;

namespace {

// One output element: alpha sum a b + addend, or addend - log(sum).
template <class T>
struct Sum {
  std::vector<T> a, b;
  T alpha = 1, addend = 0;
  bool logarithm = false;
  void take(T left, T right) { a.push_back(left), b.push_back(right); }
  [[nodiscard]] T product(std::size_t k) const {
    volatile T p = a[k] * b[k];  // rounded here: no compiler joins it with an addition
    return p;
  }
  [[nodiscard]] T answer(T sum) const { return logarithm ? addend - std::log(sum) : alpha * sum + addend; }
};

template <class T>
Sum<T> terms_of(const Gemm::Problem<T>& p, const Gemm::In<T, Space::host>& in,
                const Gemm::Out<T, Space::host>& out, std::int64_t e) {
  Sum<T> sum;
  const std::int64_t i = e / in.B.cols, j = e % in.B.cols;
  for (std::int64_t k = 0; k < in.A.cols; ++k) sum.take(in.A(i, k), in.B(k, j));
  sum.alpha = p.alpha, sum.addend = p.beta == 0 ? T(0) : p.beta * out.C(i, j);
  return sum;
}

template <class T>
Sum<T> terms_of(const Gemv::Problem<T>& p, const Gemv::In<T, Space::host>& in,
                const Gemv::Out<T, Space::host>& out, std::int64_t e) {
  Sum<T> sum;
  for (std::int64_t k = 0; k < in.A.cols; ++k) sum.take(in.A(e, k), in.x[k]);
  sum.alpha = p.alpha, sum.addend = p.beta == 0 ? T(0) : p.beta * out.y[e];
  return sum;
}

template <class T>
Sum<T> terms_of(const SkinnyGemm::Problem<T>&, const SkinnyGemm::In<T, Space::host>& in,
                const SkinnyGemm::Out<T, Space::host>&, std::int64_t e) {
  Sum<T> sum;
  for (std::int64_t k = 0; k < in.X.cols; ++k) sum.take(in.X(e / in.W.cols, k), in.W(k, e % in.W.cols));
  return sum;
}

template <class T>
Sum<T> terms_of(const Spmv::Problem<T>& p, const Spmv::In<T, Space::host>& in,
                const Spmv::Out<T, Space::host>& out, std::int64_t e) {
  Sum<T> sum;
  for (std::int32_t k = in.A.row_ptr[e]; k < in.A.row_ptr[e + 1]; ++k)
    sum.take(in.A.val[k], in.x[in.A.col[k]]);
  sum.alpha = p.alpha, sum.addend = p.beta == 0 ? T(0) : p.beta * out.y[e];
  return sum;
}

template <class T>
Sum<T> terms_of(const Spmm::Problem<T>&, const Spmm::In<T, Space::host>& in, const Spmm::Out<T, Space::host>&,
                std::int64_t e) {
  Sum<T> sum;
  const std::int64_t i = e / in.B.cols;
  for (std::int32_t k = in.A.row_ptr[i]; k < in.A.row_ptr[i + 1]; ++k)
    sum.take(in.A.val[k], in.B(in.A.col[k], e % in.B.cols));
  return sum;
}

template <class T>
Sum<T> terms_of(const Sddmm::Problem<T>&, const Sddmm::In<T, Space::host>& in,
                const Sddmm::Out<T, Space::host>&, std::int64_t e) {
  Sum<T> sum;
  const std::int32_t* const end = in.A.row_ptr + in.A.rows + 1;
  const std::int64_t i = std::upper_bound(in.A.row_ptr, end, static_cast<std::int32_t>(e)) - in.A.row_ptr - 1;
  for (std::int64_t k = 0; k < in.X.cols; ++k) sum.take(in.X(i, k), in.Y(in.A.col[e], k));
  return sum;
}

// No padding, no strides.
template <class T>
Sum<T> terms_of(const Conv2d::Problem<T>& p, const Conv2d::In<T, Space::host>& in,
                const Conv2d::Out<T, Space::host>& out, std::int64_t e) {
  Sum<T> sum;
  const std::int64_t plane = e / out.Y.cols, y = e % out.Y.cols / p.ow, x = e % out.Y.cols % p.ow;
  for (std::int64_t ch = 0; ch < p.c; ++ch) {
    for (std::int64_t at = 0; at < std::int64_t{p.r} * p.s; ++at)
      sum.take(in.F(plane % p.k, ch * p.r * p.s + at),
               in.X(plane / p.k * p.c + ch, (y + at / p.s) * p.w + x + at % p.s));
  }
  return sum;
}

template <class T>
Sum<T> terms_of(const Reduce::Problem<T>&, const Reduce::In<T, Space::host>& in,
                const Reduce::Out<T, Space::host>&, std::int64_t) {
  Sum<T> sum;
  for (std::int64_t k = 0; k < in.x.size; ++k) sum.take(in.x[k], T(1));
  return sum;
}

template <class T>
Sum<T> terms_of(const LogSoftmax::Problem<T>&, const LogSoftmax::In<T, Space::host>& in,
                const LogSoftmax::Out<T, Space::host>& out, std::int64_t e) {
  Sum<T> sum;
  const T* const row = in.x.data + e / out.y.cols * in.x.ld;
  const T most = *std::max_element(row, row + in.x.cols);
  for (std::int64_t j = 0; j < in.x.cols; ++j) sum.take(std::exp(row[j] - most), T(1));
  sum.addend = row[e % out.y.cols] - most, sum.logarithm = true;
  return sum;
}

// Terms k = begin, begin + step, ... before end, with or without FMA, from `start` on.
template <class T>
T serial(const Sum<T>& of, std::size_t begin, std::size_t end, std::size_t step, bool fma, T start = 0) {
  T sum = start;
  for (std::size_t k = begin; k < end; k += step)
    sum = fma ? std::fma(of.a[k], of.b[k], sum) : sum + of.product(k);
  return sum;
}

template <class T>
T by_halves(const Sum<T>& of, std::size_t begin, std::size_t end, std::size_t leaf) {
  if (end - begin <= leaf) return serial(of, begin, end, 1, false);
  const std::size_t middle = begin + (end - begin) / 2;
  return by_halves(of, begin, middle, leaf) + by_halves(of, middle, end, leaf);
}

// Threads take every threads-th term, or each a part of them; their sums are added one by one.
template <class T>
T by_threads(const Sum<T>& of, std::size_t threads, bool strided, bool fma) {
  T sum = 0;
  const std::size_t n = of.a.size(), part = (n + threads - 1) / threads;
  for (std::size_t t = 0; t < threads; ++t)
    sum += strided ? serial(of, t, n, threads, fma)
                   : serial(of, std::min(n, t * part), std::min(n, (t + 1) * part), 1, fma);
  return sum;
}

template <class T>
T compensated(const Sum<T>& of) {
  KahanSum<T> sum;
  for (std::size_t k = 0; k < of.a.size(); ++k) sum.add(of.product(k));
  return sum.value();
}

// The sum in every order that kernels take, each with a name.
template <class T>
std::vector<std::pair<std::string, T>> orders(const Sum<T>& of) {
  const std::size_t n = of.a.size();
  const Sum<T> backwards{{of.a.rbegin(), of.a.rend()}, {of.b.rbegin(), of.b.rend()}};
  std::vector<std::pair<std::string, T>> sums = {{"by halves", by_halves(of, 0, n, 1)},
                                                 {"backwards", serial(backwards, 0, n, 1, true)},
                                                 {"by halves down to 128", by_halves(of, 0, n, 128)},
                                                 {"compensated", compensated(of)}};
  for (const bool fma : {false, true}) {
    sums.emplace_back(fma ? "serial, fma" : "serial", serial(of, 0, n, 1, fma));
    for (const std::size_t threads : {std::size_t{4}, std::size_t{32}, std::size_t{256}}) {
      sums.emplace_back(fmt::format("{} strided threads", threads), by_threads(of, threads, true, fma));
      sums.emplace_back(fmt::format("{} parts", threads), by_threads(of, threads, false, fma));
    }
  }
  for (auto& [name, sum] : sums) sum = of.answer(sum);
  if (of.alpha == 1 && of.addend != 0 && !of.logarithm)
    sums.emplace_back("from the addend on", serial(of, 0, n, 1, true, of.addend));
  return sums;
}

// What has been judged so far.
struct Tally {
  std::int64_t outputs = 0, failed = 0;
  double worst = 0;  // error over bound
  std::string where;
  double worst_as_real = 0;  // over the bound of zero-mean data
};

// Rounds the operands to the format in which variants get them.
template <class Op, class T>
void quantise_inputs(Instance<Op, T>& made, Dtype dtype) {
  const auto in_place = [&](const T* data, std::int64_t count) {
    quantise(facts(dtype).in, const_cast<T*>(data), count);
  };
  Op::each_input(made.in, [&](const char*, auto& view) {
    if constexpr (requires { view.val; })
      in_place(view.val, view.row_ptr[view.rows]);
    else if constexpr (requires { view.ld; })
      in_place(view.data, view.rows * view.cols);
    else
      in_place(view.data, view.size);
  });
}

// Judges some elements of the case, in every order, as fp32 or fp64 outputs: before a narrower one is rounded.
template <class Op, class T>
void judge_case(const std::string& id, std::size_t at_most, Tally& tally) {
  const Case c = parse_case(id);
  Instance<Op, T> made;
  Op::template make<T>(c, made);
  quantise_inputs<Op, T>(made, c.dtype);
  Reference reference;
  Op::template oracle<T>(made.problem, made.in, made.out, reference);
  const ReferenceArray& want = reference.outputs.at(0);
  const Tolerance t{c.fill, Arithmetic::native, c.dtype};
  const std::size_t elements = want.value.size(), step = std::max<std::size_t>(1, elements / at_most);
  for (std::size_t e = 0; e < elements; e += step) {
    if (!(want.magnitude[e] < static_cast<double>(std::numeric_limits<T>::max()))) continue;
    const auto bound_of = [&](const Tolerance& of) {
      return Op::bound(of, 0, want.value[e], want.magnitude[e], want.terms[e]);
    };
    const double bound = bound_of(t), bound_as_real = bound_of({Fill::real, Arithmetic::native, c.dtype});
    ++tally.outputs;
    bool failed = false;
    for (const auto& [order, sum] :
         orders(terms_of<T>(made.problem, made.in, made.out, static_cast<std::int64_t>(e)))) {
      const double error = std::fabs(static_cast<double>(sum) - want.value[e]);
      failed = failed || !(error <= bound);
      if (error > 0) tally.worst_as_real = std::max(tally.worst_as_real, error / bound_as_real);
      if (error <= tally.worst * bound) continue;
      tally.worst = error / bound, tally.where = fmt::format("{}, element {}, {}", id, e, order);
    }
    tally.failed += failed ? 1 : 0;
  }
}

// CHECKs some elements of the case in every order.
template <class Op, class T>
void check_case(const std::string& id) {
  Tally tally;
  judge_case<Op, T>(id, 4, tally);
  CHECK_MESSAGE(tally.failed == 0, tally.where);
}

// `parameters` with {} in place of the length of a sum.
template <class Op>
void check_operator(const std::string& parameters) {
  for (const int length : {20, 100, 1000, 7001, 70001}) {
    for (int seed = 1; seed <= (length > 7001 ? 4 : 24); ++seed) {
      const std::string rest =
          fmt::format("({},fill=few,seed={})", fmt::format(fmt::runtime(parameters), length), seed);
      check_case<Op, float>(fmt::format("{}.f32{}", Op::kName, rest));
      check_case<Op, double>(fmt::format("{}.f64{}", Op::kName, rest));
    }
  }
}

// Cases of many outputs. {0}: the length of a sum.
constexpr int kLengths[] = {20, 100, 480, 1600};

template <class Op>
void judge_outputs(const std::string& parameters, const std::vector<Fill>& fills, int seeds, Tally& tally) {
  for (const Fill fill : fills) {
    for (const int length : kLengths) {
      for (int seed = 1; seed <= seeds; ++seed) {
        const auto judge = [&]<class T>(T, Dtype dtype) {
          judge_case<Op, T>(fmt::format("{}.{}({},fill={},seed={})", Op::kName, facts(dtype).name,
                                        fmt::format(fmt::runtime(parameters), length), name(fill), seed),
                            128, tally);
        };
        for (const Dtype dtype : {Dtype::f32, Dtype::f16_f32, Dtype::bf16_f32}) judge(float{}, dtype);
        judge(double{}, Dtype::f64);
      }
    }
  }
}

Tally judge_operators(const std::vector<Fill>& fills, int seeds) {
  Tally tally;
  judge_outputs<Gemm>("m=13,n=21,k={}", fills, seeds, tally);
  judge_outputs<Gemm>("m=13,n=21,k={},alpha=0.7310586,beta=-1.6180339", fills, seeds, tally);
  judge_outputs<Gemv>("rows=157,cols={},alpha=2.7182819,beta=1", fills, seeds, tally);
  judge_outputs<SkinnyGemm>("v=37,k={},n=5", fills, seeds, tally);
  judge_outputs<Conv2d>("n=2,c={},h=5,w=9,k=9,r=1,s=2", fills, seeds, tally);
  judge_outputs<Spmv>("rows=157,cols={},density=0.9", fills, seeds, tally);
  judge_outputs<Spmm>("rows=37,cols={},n=5,density=0.9", fills, seeds, tally);
  judge_outputs<Sddmm>("rows=17,cols=23,k={},density=0.5", fills, seeds, tally);
  judge_outputs<Reduce>("kind=sum,n={}", fills, 8 * seeds, tally);  // one output each
  return tally;
}

}  // namespace

TEST_CASE("dense products of few values stay within their bounds in every order of summation") {
  check_operator<Gemm>("m=2,n=2,k={}");
  check_operator<Gemm>("m=2,n=2,k={},alpha=0.7310586,beta=-1.6180339");
  check_operator<Gemm>("m=2,n=2,k={},alpha=1,beta=2049");
  check_operator<Gemv>("rows=3,cols={},alpha=2.7182819,beta=1");
  check_operator<SkinnyGemm>("v=2,k={},n=2");
  check_operator<Conv2d>("n=1,c={},h=2,w=3,k=2,r=1,s=2");
}

TEST_CASE("sparse products of few values stay within their bounds in every order of summation") {
  check_operator<Spmv>("rows=3,cols={},density=0.9");
  check_operator<Spmv>("rows=3,cols={},density=0.9,alpha=-2.7182819,beta=0.7310586");
  check_operator<Spmm>("rows=2,cols={},n=3,density=0.9");
  check_operator<Sddmm>("rows=3,cols=3,k={},density=0.7");
}

TEST_CASE("reduce and log_softmax of few values stay within their bounds in every order of summation") {
  check_operator<Reduce>("kind=sum,n={}");
  check_operator<LogSoftmax>("rows=2,cols={}");
  check_operator<LogSoftmax>("rows=4,cols={},scale=10,special=shift");
}

TEST_CASE("sums of terms of many sizes stay within their bounds in every order of summation") {
  for (const Fill fill : {Fill::hostile, Fill::scaled}) {
    const Tally tally = judge_operators({fill}, 2);
    CHECK(tally.outputs > 20000);
    CHECK_MESSAGE(tally.failed == 0, tally.where);
  }
}

TEST_CASE("the scale of a term of a sparse product in one operand is the inverse of that in the other") {
  const Case c = parse_case("spmm.f64(rows=3,cols=400,n=1,density=0.9,fill=scaled,seed=5)");
  Instance<Spmm, double> made;
  Spmm::make<double>(c, made);
  const auto& [A, B] = made.in;
  double magnitude = 0, squares = 0;
  for (std::int32_t k = A.row_ptr[0]; k < A.row_ptr[1]; ++k) {
    const double term = A.val[k] * B(A.col[k], 0);
    magnitude += std::fabs(term), squares += term * term;
  }
  const double terms = A.row_ptr[1];
  CHECK(terms > 300);
  // products of two uniform numbers: a mean size of 1/4, a mean square of 1/9
  CHECK(std::sqrt(squares / terms) < 1.6 * magnitude / terms);
}

TEST_CASE("orders of summation, nightly: 10^6 outputs of every fill whose sums are rounded" *
          doctest::skip()) {
  for (const Fill fill : {Fill::real, Fill::positive, Fill::scaled, Fill::hostile, Fill::few}) {
    SUBCASE(std::string(name(fill)).c_str()) {
      const Tally tally = judge_operators({fill}, 100);
      MESSAGE(fmt::format(
          "{}: {} outputs, {} beyond their bounds; at most {:.3g} of one ({}), {:.3g} of that of real",
          name(fill), tally.outputs, tally.failed, tally.worst, tally.where, tally.worst_as_real));
      CHECK(tally.outputs > 1000000);
      CHECK(tally.failed == 0);
    }
  }
}
