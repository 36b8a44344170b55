// An operator from its formula. A header that derives from FormulaOf is a contract: data, oracle, bound, cases and cost follow from it.
// docs/formulas.md has the words of a signature and what each rule of the bound is. Read with every kernel: C++17, cheap.
//
//   /// y = x w / sqrt(mean(x x) + eps), row by row
//   struct RmsNorm : FormulaOf<RmsNorm> {
//     static constexpr const char* kName = "rmsnorm";
//     static constexpr const char* kSignature = "x: n d, w: d, eps>0 -> y: n d";
//     PLUMB_PROBLEM(Scalar eps;)
//     PLUMB_INPUTS(Matrix x; Vector w;)
//     PLUMB_OUTPUTS(Matrix y;)
//     template <class A>
//     static A formula(const A& x, const A& w, const A& eps) {
//       return x * w / sqrt(mean(x * x, -1) + eps);
//     }
//   };
#pragma once
#include <array>

#include "reference/core/contract.hpp"

namespace plumb {

/// What an operator by formula has beside its own members. Those of a contract are defined in formula.hpp, for the judge.
/// An operator may say more: kDtypes, kFills, kSpreads and kMeans (words of its cases), kMath; and a second form of its formula by the name of a
/// declared arithmetic: one_pass, by_lse.
template <class Op>
struct FormulaOf : Contract<Op> {
  static constexpr bool kIsFormula = true;
  static void describe(CaseSpace&);
  static void cases(CaseList&);
  template <class T>
  static void make(const Case&, Instance<Op, T>&);
  template <class T, class P, class In, class Out>
  static void validate(const P&, const In&, const Out&);
  template <class T, class P, class In, class Out>
  static void oracle(const P&, const In&, const Out&, Reference&);
  template <class T, class P, class In, class Out>
  static Work cost(const P&, const In&, const Out&);
  static double bound(const Tolerance&, int output, double value, double magnitude, std::int64_t terms);
};

}  // namespace plumb
