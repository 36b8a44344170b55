// What every contract must hold beyond what concept Operator can ask.
#include <doctest/doctest.h>

#include <set>
#include <string>
#include <type_traits>

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

namespace {

template <class Op>
void names_every_scalar() {
  using Problem = typename Op::template Problem<double>;
  std::size_t covered = 0;
  std::set<std::string> names;
  int count = 0;
  Problem problem{};
  Op::each_scalar(problem, [&](const char* name, const auto& value) {
    covered += sizeof value, ++count;
    names.insert(name);
  });
  CHECK_MESSAGE((std::is_empty_v<Problem> ? count == 0 : covered == sizeof(Problem)), Op::kName);
  CHECK_MESSAGE(static_cast<int>(names.size()) == count, Op::kName);
}

}  // namespace

TEST_CASE("each_scalar of every contract names every member of its Problem, each once") {
  names_every_scalar<plumb::BiasRelu>();
  names_every_scalar<plumb::Conv2d>();
  names_every_scalar<plumb::DenseToCsr>();
  names_every_scalar<plumb::Gemm>();
  names_every_scalar<plumb::Gemv>();
  names_every_scalar<plumb::LogSoftmax>();
  names_every_scalar<plumb::Reduce>();
  names_every_scalar<plumb::Sddmm>();
  names_every_scalar<plumb::SkinnyGemm>();
  names_every_scalar<plumb::Spmm>();
  names_every_scalar<plumb::Spmv>();
  names_every_scalar<plumb::TopK>();
  names_every_scalar<plumb::Transpose>();
  names_every_scalar<plumb::Attention>();
  names_every_scalar<plumb::BiasGeluResidual>();
  names_every_scalar<plumb::CausalAttention>();
  names_every_scalar<plumb::CrossEntropy>();
  names_every_scalar<plumb::EdgeSoftmax>();
  names_every_scalar<plumb::GatLayer>();
  names_every_scalar<plumb::Gelu>();
  names_every_scalar<plumb::LayerNorm>();
  names_every_scalar<plumb::MaskedAttention>();
  names_every_scalar<plumb::RmsNorm>();
  names_every_scalar<plumb::Softmax>();
  names_every_scalar<plumb::SwiGlu>();
}
