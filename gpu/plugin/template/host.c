/* spmv on the host: y = alpha A x + beta y, one row after another. */
#include "plugin_abi.h"

/* With beta == 0, y is written and never read: what lies there may be NaN. With alpha == 0, A and x do not count. */
#define SPMV(T, function)                                                            \
  const char *function(const plumb_call *call) {                                     \
    const plumb_array *row_ptr = plumb_find_array(call, "A.row_ptr");                \
    const plumb_array *col = plumb_find_array(call, "A.col");                        \
    const plumb_array *val = plumb_find_array(call, "A.val");                        \
    const plumb_array *x = plumb_find_array(call, "x");                              \
    const plumb_array *y = plumb_find_array(call, "y");                              \
    if (!row_ptr || !col || !val || !x || !y) return "an array of spmv is missing";  \
    const T alpha = (T)plumb_find_scalar(call, "alpha", 1);                          \
    const T beta = (T)plumb_find_scalar(call, "beta", 0);                            \
    const int32_t *begin = (const int32_t *)row_ptr->data;                           \
    const int32_t *c = (const int32_t *)col->data;                                   \
    const T *a = (const T *)val->data, *in = (const T *)x->data;                     \
    T *out = (T *)y->data;                                                           \
    for (int64_t i = 0; i < y->shape[0]; ++i) {                                      \
      T sum = 0;                                                                     \
      const int32_t end = alpha == 0 ? begin[i] : begin[i + 1];                      \
      for (int32_t k = begin[i]; k < end; ++k) sum += a[k] * in[c[k]];               \
      out[i] = beta == 0 ? alpha * sum : alpha * sum + beta * out[i];                \
    }                                                                                \
    return NULL;                                                                     \
  }

SPMV(float, spmv_host_f32)
SPMV(double, spmv_host_f64)
