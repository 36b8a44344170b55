/* The list: what `verify --plugin` finds in this library. One entry per operator, kernel and type. */
#include "plugin_abi.h"

const char *spmv_host_f32(const plumb_call *call);
const char *spmv_host_f64(const plumb_call *call);
#if defined(WITH_CUDA)
const char *spmv_cuda_f32(const plumb_call *call);
const char *spmv_cuda_f64(const plumb_call *call);
#endif

#define VARIANT(op, name, dtype, device, run) \
  {sizeof(plumb_variant), dtype, op, name, device, PLUMB_NATIVE, 0, 0, 0, 0, NULL, run}

static const plumb_variant kVariants[] = {
    VARIANT("spmv", "01_host", PLUMB_F32, PLUMB_HOST, spmv_host_f32),
    VARIANT("spmv", "01_host", PLUMB_F64, PLUMB_HOST, spmv_host_f64),
#if defined(WITH_CUDA)
    VARIANT("spmv", "02_cuda", PLUMB_F32, PLUMB_CUDA, spmv_cuda_f32),
    VARIANT("spmv", "02_cuda", PLUMB_F64, PLUMB_CUDA, spmv_cuda_f64),
#endif
};

static const plumb_plugin kPlugin = {PLUMB_PLUGIN_VERSION, sizeof(plumb_variant), "template",
                                     sizeof kVariants / sizeof kVariants[0], kVariants};

PLUMB_EXPORT const plumb_plugin *plumb_plugin_entry(void) { return &kPlugin; }
