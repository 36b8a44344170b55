// Plug-ins for plugin_test.cpp, one per -DPLUGIN_...: right and wrong kernels, and libraries that are none.
#include <cstdint>
#include <cstdlib>
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
    {sizeof(plumb_variant), PLUMB_F32, kOp, "fails", PLUMB_HOST, PLUMB_NATIVE, 0, 0, 0, 0, nullptr, fails},
    {sizeof(plumb_variant), PLUMB_F32, kOp, "declines", PLUMB_HOST, PLUMB_NATIVE, 0, 0, 0, 0, small_only,
     transpose<false>},
    {sizeof(plumb_variant), PLUMB_F32, kOp, "races", PLUMB_HOST, PLUMB_NATIVE, PLUMB_NOT_REPRODUCIBLE, 0, 0,
     0, nullptr, races},
};
[[maybe_unused]] const plumb_plugin kPlugin = {kVersion, sizeof(plumb_variant), "test", 5, kVariants};

}  // namespace

#if defined(PLUGIN_CRASHES)
__attribute__((constructor)) static void crash() { std::abort(); }
#endif
#if !defined(PLUGIN_NO_SYMBOL)
extern "C" PLUMB_EXPORT const plumb_plugin* plumb_plugin_entry(void) { return &kPlugin; }
#endif
