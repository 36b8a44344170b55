// The one list of operators. A new operator is ops/<op>.hpp, ops/<op>.cpp and one line here.
#pragma once
#include "reference/ops/gemm.hpp"
#include "reference/ops/skinny_gemm.hpp"
#include "reference/ops/spmv.hpp"

namespace plumb {

template <class... Ops>
struct OperatorList {};

using Operators = OperatorList<  //
    Spmv,                        //
    Gemm,                        //
    SkinnyGemm>;

}  // namespace plumb
