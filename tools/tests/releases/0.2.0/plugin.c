/* A plug-in as somebody built it for release 0.2.0, with that release's plugin_abi.h: kernels that are right, and one that is wrong.
 *   git show v0.2.0:gpu/plugin/plugin_abi.h >plugin_abi.h
 *   cc -O2 -ffp-contract=off -shared -fPIC -s -nostdlib -Wl,-z,noseparate-code,--build-id=none plugin.c -o plugin.x86_64.so */
#include "plugin_abi.h"

#define SPMV(function, entries_left_out)                                                                         \
  static const char* function(const plumb_call* call) {                                                          \
    const int32_t* begin = (const int32_t*)plumb_find_array(call, "A.row_ptr")->data;                            \
    const int32_t* col = (const int32_t*)plumb_find_array(call, "A.col")->data;                                  \
    const float* val = (const float*)plumb_find_array(call, "A.val")->data;                                      \
    const float* x = (const float*)plumb_find_array(call, "x")->data;                                            \
    const plumb_array* y = plumb_find_array(call, "y");                                                          \
    const float alpha = (float)plumb_find_scalar(call, "alpha", 1), beta = (float)plumb_find_scalar(call, "beta", 0); \
    float* out = (float*)y->data;                                                                                \
    for (int64_t i = 0; i < y->shape[0]; ++i) {                                                                  \
      float sum = 0;                                                                                             \
      const int32_t end = alpha == 0 ? begin[i] : begin[i + 1] - entries_left_out;                               \
      for (int32_t k = begin[i]; k < end; ++k) sum += val[k] * x[col[k]];                                        \
      out[i] = beta == 0 ? alpha * sum : alpha * sum + beta * out[i];                                            \
    }                                                                                                            \
    return NULL;                                                                                                 \
  }
SPMV(right_spmv, 0)
SPMV(wrong_spmv, 1)

static const char* right_gemv(const plumb_call* call) {
  const plumb_array *a = plumb_find_array(call, "A"), *y = plumb_find_array(call, "y");
  const float *m = (const float*)a->data, *x = (const float*)plumb_find_array(call, "x")->data;
  const float alpha = (float)plumb_find_scalar(call, "alpha", 1), beta = (float)plumb_find_scalar(call, "beta", 0);
  float* out = (float*)y->data;
  for (int64_t i = 0; i < a->shape[0]; ++i) {
    float sum = 0;
    for (int64_t k = 0; alpha != 0 && k < a->shape[1]; ++k) sum += m[i * a->ld + k] * x[k];
    out[i] = beta == 0 ? alpha * sum : alpha * sum + beta * out[i];
  }
  return NULL;
}

#define VARIANT(op, name, run) {sizeof(plumb_variant), PLUMB_F32, op, name, PLUMB_HOST, PLUMB_NATIVE, 0, 0, 0, 0, NULL, run}
static const plumb_variant kVariants[] = {
    VARIANT("spmv", "right", right_spmv), VARIANT("spmv", "wrong", wrong_spmv), VARIANT("gemv", "right", right_gemv)};
static const plumb_plugin kPlugin = {PLUMB_PLUGIN_VERSION, sizeof(plumb_variant), "release_0_2_0",
                                     sizeof kVariants / sizeof kVariants[0], kVariants};

PLUMB_EXPORT const plumb_plugin* plumb_plugin_entry(void) { return &kPlugin; }
