/* A plug-in as somebody built it for release 0.3.0, with that release's plugin_abi.h: kernels that are right, and two that are wrong; fp32
 * and bfloat16, arrays by their strides, an operator that is given by a formula.
 *   git show v0.3.0:gpu/plugin/plugin_abi.h >plugin_abi.h
 *   cc -O2 -ffp-contract=off -fno-math-errno -shared -fPIC -s -nostdlib -Wl,-z,noseparate-code,--build-id=none plugin.c -o plugin.x86_64.so */
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

typedef union bits {
  uint32_t u;
  float f;
} bits;

static float widened(uint16_t narrow) {
  bits b;
  b.u = (uint32_t)narrow << 16;
  return b.f;
}

static uint16_t nearest_even(float wide) {
  bits b;
  b.f = wide;
  if (wide != wide) return (uint16_t)(b.u >> 16 | 0x40);
  return (uint16_t)((b.u + 0x7fff + (b.u >> 16 & 1)) >> 16);
}

static uint16_t cut(float wide) {
  bits b;
  b.f = wide;
  return (uint16_t)(b.u >> 16);
}

#define GEMV(function, rounded)                                                                                  \
  static const char* function(const plumb_call* call) {                                                          \
    const plumb_array *a = plumb_find_array(call, "A"), *x = plumb_find_array(call, "x"), *y = plumb_find_array(call, "y"); \
    const uint16_t *m = (const uint16_t*)a->data, *v = (const uint16_t*)x->data;                                 \
    const float alpha = (float)plumb_find_scalar(call, "alpha", 1), beta = (float)plumb_find_scalar(call, "beta", 0); \
    uint16_t* out = (uint16_t*)y->data;                                                                          \
    for (int64_t i = 0; i < a->shape[0]; ++i) {                                                                  \
      float sum = 0;                                                                                             \
      for (int64_t k = 0; alpha != 0 && k < a->shape[1]; ++k)                                                    \
        sum += widened(m[i * a->stride[0] + k * a->stride[1]]) * widened(v[k * x->stride[0]]);                   \
      uint16_t* at = out + i * y->stride[0];                                                                     \
      *at = rounded(beta == 0 ? alpha * sum : alpha * sum + beta * widened(*at));                                \
    }                                                                                                            \
    return NULL;                                                                                                 \
  }
GEMV(right_gemv, nearest_even)
GEMV(wrong_gemv, cut)

static const char* right_rmsnorm(const plumb_call* call) {
  const plumb_array *x = plumb_find_array(call, "x"), *y = plumb_find_array(call, "y");
  const float* w = (const float*)plumb_find_array(call, "w")->data;
  const float eps = (float)plumb_find_scalar(call, "eps", 0);
  const int64_t rows = x->shape[0], columns = x->shape[1];
  for (int64_t i = 0; i < rows; ++i) {
    const float* in = (const float*)x->data + i * x->stride[0];
    float* out = (float*)y->data + i * y->stride[0];
    float sum = 0;
    for (int64_t j = 0; j < columns; ++j) sum += in[j] * in[j];
    const float root = __builtin_sqrtf(sum / (float)columns + eps);
    for (int64_t j = 0; j < columns; ++j) out[j] = in[j] * w[j] / root;
  }
  return NULL;
}

#define VARIANT(type, op, name, run) {sizeof(plumb_variant), type, op, name, PLUMB_HOST, PLUMB_NATIVE, 0, 0, 0, 0, NULL, run}
static const plumb_variant kVariants[] = {
    VARIANT(PLUMB_F32, "spmv", "right", right_spmv), VARIANT(PLUMB_F32, "spmv", "wrong", wrong_spmv),
    VARIANT(PLUMB_TYPE_BF16, "gemv", "right", right_gemv), VARIANT(PLUMB_TYPE_BF16, "gemv", "wrong", wrong_gemv),
    VARIANT(PLUMB_F32, "rmsnorm", "right", right_rmsnorm)};
static const plumb_plugin kPlugin = {PLUMB_PLUGIN_VERSION, sizeof(plumb_variant), "release_0_3_0",
                                     sizeof kVariants / sizeof kVariants[0], kVariants};

PLUMB_EXPORT const plumb_plugin* plumb_plugin_entry(void) { return &kPlugin; }
