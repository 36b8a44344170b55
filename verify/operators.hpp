// The one list of operators. A new operator is ops/<op>.hpp, ops/<op>.cpp and one line here (and its include).
#pragma once
#include "reference/ops/attention.hpp"
#include "reference/ops/bias_gelu_residual.hpp"
#include "reference/ops/bias_relu.hpp"
#include "reference/ops/causal_attention.hpp"
#include "reference/ops/conv2d.hpp"
#include "reference/ops/cross_entropy.hpp"
#include "reference/ops/dense_to_csr.hpp"
#include "reference/ops/edge_softmax.hpp"
#include "reference/ops/gat_layer.hpp"
#include "reference/ops/gelu.hpp"
#include "reference/ops/gemm.hpp"
#include "reference/ops/gemv.hpp"
#include "reference/ops/layernorm.hpp"
#include "reference/ops/log_softmax.hpp"
#include "reference/ops/masked_attention.hpp"
#include "reference/ops/reduce.hpp"
#include "reference/ops/rmsnorm.hpp"
#include "reference/ops/sddmm.hpp"
#include "reference/ops/skinny_gemm.hpp"
#include "reference/ops/softmax.hpp"
#include "reference/ops/spmm.hpp"
#include "reference/ops/spmv.hpp"
#include "reference/ops/swiglu.hpp"
#include "reference/ops/topk.hpp"
#include "reference/ops/transpose.hpp"

namespace plumb {

template <class... Ops>
struct OperatorList {};

// One line per operator, a new one on top; reports follow this order.
// clang-format off
using Operators = OperatorList<
    TopK,
    LayerNorm,
    Attention,
    CausalAttention,
    MaskedAttention,
    SwiGlu,
    Gelu,
    BiasGeluResidual,
    CrossEntropy,
    EdgeSoftmax,
    GatLayer,
    RmsNorm,
    Softmax,
    Spmv,
    Gemm,
    SkinnyGemm,
    Gemv,
    Transpose,
    Reduce,
    Spmm,
    Sddmm,
    Conv2d,
    BiasRelu,
    LogSoftmax,
    DenseToCsr>;
// clang-format on

}  // namespace plumb
