// The one list of operators. A new operator is ops/<op>.hpp, ops/<op>.cpp and one line here.
#pragma once
#include "reference/ops/spmv.hpp"

namespace plumb {

template <class... Ops>
struct OperatorList {};

using Operators = OperatorList<  //
    Spmv>;

}  // namespace plumb
