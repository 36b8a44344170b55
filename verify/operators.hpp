// The one list of operators. A new operator is ops/<op>.hpp, ops/<op>.cpp and one line here.
#pragma once
#include "reference/ops/bias_relu.hpp"
#include "reference/ops/dense_to_csr.hpp"
#include "reference/ops/log_softmax.hpp"
#include "reference/ops/sddmm.hpp"
#include "reference/ops/spmm.hpp"
#include "reference/ops/spmv.hpp"

namespace plumb {

template <class... Ops>
struct OperatorList {};

using Operators = OperatorList<  //
    Spmv,                        //
    Spmm,                        //
    Sddmm,                       //
    BiasRelu,                    //
    LogSoftmax,                  //
    DenseToCsr>;

}  // namespace plumb
