// The host's part: a host compiler's own file, which sees the runtime and the vector types, and no device functions. cuBLAS's header
// brings <math.h>.
#include <cublas_v2.h>

#include <two_files.hpp>

float on_host(float x) {
  int devices = 0;
  cudaGetDeviceCount(&devices);
  return umin(3, static_cast<unsigned>(devices)) * rsqrtf(static_cast<float>(fabs(x)));
}
float4 halved(float4 v) { return make_float4(v.x / 2, v.y / 2, v.z / 2, v.w / 2); }
