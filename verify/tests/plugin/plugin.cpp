// Plug-ins for plugin_test.cpp, one per -DPLUGIN_...: right and wrong kernels, and libraries that are none.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <vector>

#include "gpu/plugin/plugin_abi.h"

namespace {

// y = x transposed, declining more than 1000 rows; short: the last row of the answer is not written.
template <bool kShort>
const char* transpose(const plumb_call* call) {
  const plumb_array *a = plumb_find_array(call, "A"), *b = plumb_find_array(call, "B");
  if (a == nullptr || b == nullptr) return "an array is missing";
  if (a->rank != 2 || a->is_output != 0 || b->is_output != 1 || a->shape[0] != b->shape[1])
    return "the arrays are not described as they are";
  call->context->explain(call->context, "chose the plain loop");
  if (call->context->workspace(call->context, 64) == nullptr) return "no workspace";
  const auto* in = static_cast<const float*>(a->data);
  auto* out = static_cast<float*>(b->data);
  for (std::int64_t i = 0; i < a->shape[0]; ++i) {
    for (std::int64_t j = 0; j < a->shape[1] - (kShort ? 1 : 0); ++j) out[j * b->ld + i] = in[i * a->ld + j];
  }
  return nullptr;
}

// Rows pass through one buffer that all threads share.
const char* races(const plumb_call* call) {
  const plumb_array *a = plumb_find_array(call, "A"), *b = plumb_find_array(call, "B");
  if (a == nullptr || b == nullptr) return "an array is missing";
  const auto* in = static_cast<const float*>(a->data);
  auto* out = static_cast<float*>(b->data);
  const std::int64_t cols = a->shape[1];
  std::vector<float> row(static_cast<std::size_t>(cols));
#pragma omp parallel for schedule(dynamic)
  for (std::int64_t i = 0; i < a->shape[0]; ++i) {
    for (std::int64_t j = 0; j < cols; ++j) row[static_cast<std::size_t>(j)] = in[i * a->ld + j];
    for (std::int64_t j = 0; j < cols; ++j) out[j * b->ld + i] = row[static_cast<std::size_t>(j)];
  }
  return nullptr;
}

float of_bf16(std::uint16_t bits) {
  const std::uint32_t wide = static_cast<std::uint32_t>(bits) << 16;
  float x;
  std::memcpy(&x, &wide, sizeof x);
  return x;
}
std::uint16_t to_bf16(float x, bool nearest) {
  std::uint32_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return static_cast<std::uint16_t>(bits >> 16 | 0x40u);
  return static_cast<std::uint16_t>((bits + (nearest ? 0x7fffu + (bits >> 16 & 1u) : 0u)) >> 16);
}

enum class Mistake : std::uint8_t { none, truncates, sums_in_bf16 };

// C = alpha A B + beta C in bf16, or with an output in fp32.
template <class Out, Mistake kMistake>
const char* gemm(const plumb_call* call) {
  const plumb_array *a = plumb_find_array(call, "A"), *b = plumb_find_array(call, "B"),
                    *c = plumb_find_array(call, "C");
  if (a == nullptr || b == nullptr || c == nullptr) return "an array is missing";
  if (a->dtype != PLUMB_TYPE_BF16 || c->dtype != (sizeof(Out) == 2 ? PLUMB_TYPE_BF16 : PLUMB_F32) ||
      a->stride[0] != a->ld || a->stride[1] != 1 || a->shape[2] != 1 || a->stride[3] != 0)
    return "the arrays are not described as they are";
  const auto alpha = static_cast<float>(plumb_find_scalar(call, "alpha", 1)),
             beta = static_cast<float>(plumb_find_scalar(call, "beta", 0));
  const auto* x = static_cast<const std::uint16_t*>(a->data);
  const auto* y = static_cast<const std::uint16_t*>(b->data);
  auto* z = static_cast<Out*>(c->data);
  for (std::int64_t i = 0; i < c->shape[0]; ++i) {
    for (std::int64_t j = 0; j < c->shape[1]; ++j) {
      float sum = 0;
      for (std::int64_t k = 0; alpha != 0 && k < a->shape[1]; ++k) {
        sum += of_bf16(x[i * a->ld + k]) * of_bf16(y[k * b->ld + j]);
        if (kMistake == Mistake::sums_in_bf16) sum = of_bf16(to_bf16(sum, true));
      }
      Out& at = z[i * c->ld + j];
      if constexpr (sizeof(Out) == 2) {
        at = to_bf16(beta == 0 ? alpha * sum : alpha * sum + beta * of_bf16(at),
                     kMistake != Mistake::truncates);
      } else {
        at = beta == 0 ? alpha * sum : alpha * sum + beta * at;
      }
    }
  }
  return nullptr;
}

const char* writes_nothing(const plumb_call*) { return nullptr; }
const char* fails(const plumb_call*) { return "no luck today"; }
[[maybe_unused]] const char* small_only(const plumb_call* call) {
  return call->arrays[0].shape[0] > 10 ? "more than 10 rows" : nullptr;
}

#if defined(PLUGIN_UNKNOWN_OPERATOR)
constexpr const char* kOp = "transpoze";
#else
constexpr const char* kOp = "transpose";
#endif
#if defined(PLUGIN_OTHER_VERSION)
constexpr std::uint32_t kVersion = 999;
#else
constexpr std::uint32_t kVersion = PLUMB_PLUGIN_VERSION;
#endif

const plumb_variant kVariants[] = {
    {sizeof(plumb_variant), PLUMB_F32, kOp, "right", PLUMB_HOST, PLUMB_NATIVE, 0, 0, 0, 0, nullptr,
     transpose<false>},
    {sizeof(plumb_variant), PLUMB_F32, kOp, "short", PLUMB_HOST, PLUMB_NATIVE, 0, 0, 0, 0, nullptr,
     transpose<true>},
    {sizeof(plumb_variant), PLUMB_F32, kOp, "writes_nothing", PLUMB_HOST, PLUMB_NATIVE, 0, 0, 0, 0, nullptr,
     writes_nothing},
    {sizeof(plumb_variant), PLUMB_F32, kOp, "fails", PLUMB_HOST, PLUMB_NATIVE, 0, 0, 0, 0, nullptr, fails},
    {sizeof(plumb_variant), PLUMB_F32, kOp, "declines", PLUMB_HOST, PLUMB_NATIVE, 0, 0, 0, 0, small_only,
     transpose<false>},
    {sizeof(plumb_variant), PLUMB_F32, kOp, "races", PLUMB_HOST, PLUMB_NATIVE, PLUMB_NOT_REPRODUCIBLE, 0, 0,
     0, nullptr, races},
    {sizeof(plumb_variant), PLUMB_TYPE_BF16, "gemm", "right_bf16", PLUMB_HOST, PLUMB_NATIVE, 0, 0, 0, 0,
     nullptr, gemm<std::uint16_t, Mistake::none>},
    {sizeof(plumb_variant), PLUMB_MIXED(PLUMB_TYPE_BF16, PLUMB_F32), "gemm", "right_bf16_f32", PLUMB_HOST,
     PLUMB_NATIVE, 0, 0, 0, 0, nullptr, gemm<float, Mistake::none>},
    {sizeof(plumb_variant), PLUMB_TYPE_BF16, "gemm", "truncates", PLUMB_HOST, PLUMB_NATIVE, 0, 0, 0, 0,
     nullptr, gemm<std::uint16_t, Mistake::truncates>},
    {sizeof(plumb_variant), PLUMB_TYPE_BF16, "gemm", "sums_in_bf16", PLUMB_HOST, PLUMB_NATIVE, 0, 0, 0, 0,
     nullptr, gemm<std::uint16_t, Mistake::sums_in_bf16>},
    {sizeof(plumb_variant), PLUMB_TYPE_BF16, "gemm", "declares_bf16_sums", PLUMB_HOST, PLUMB_NATIVE, 0, 0, 0,
     PLUMB_SUMS_IN(PLUMB_TYPE_BF16), nullptr, gemm<std::uint16_t, Mistake::sums_in_bf16>},
};
[[maybe_unused]] const plumb_plugin kPlugin = {kVersion, sizeof(plumb_variant), "test", std::size(kVariants),
                                               kVariants};

}  // namespace

#if defined(PLUGIN_CRASHES)
__attribute__((constructor)) static void crash() { std::abort(); }
#endif
#if !defined(PLUGIN_NO_SYMBOL)
extern "C" PLUMB_EXPORT const plumb_plugin* plumb_plugin_entry(void) { return &kPlugin; }
#endif
