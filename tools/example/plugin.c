/* spmv as a plug-in: y = alpha A x + beta y, one row after another. */
#include "plugin_abi.h"

static const char *run(const plumb_call *call) {
  const int32_t *begin = plumb_find_array(call, "A.row_ptr")->data, *col = plumb_find_array(call, "A.col")->data;
  const float *val = plumb_find_array(call, "A.val")->data, *x = plumb_find_array(call, "x")->data;
  const plumb_array *y = plumb_find_array(call, "y");
  const float alpha = (float)plumb_find_scalar(call, "alpha", 1), beta = (float)plumb_find_scalar(call, "beta", 0);
  float *out = y->data;
  for (int64_t i = 0; i < y->shape[0]; ++i) {
    float sum = 0;
    const int32_t end = alpha == 0 ? begin[i] : begin[i + 1];
    for (int32_t k = begin[i]; k < end; ++k) sum += val[k] * x[col[k]];
    out[i] = beta == 0 ? alpha * sum : alpha * sum + beta * out[i];
  }
  return NULL;
}

static const plumb_variant kVariants[] = {
    {sizeof(plumb_variant), PLUMB_F32, "spmv", "03_plugin", PLUMB_HOST, PLUMB_NATIVE, 0, 0, 0, 0, NULL, run}};
static const plumb_plugin kPlugin = {PLUMB_PLUGIN_VERSION, sizeof(plumb_variant), "mine", 1, kVariants};

PLUMB_EXPORT const plumb_plugin *plumb_plugin_entry(void) { return &kPlugin; }
