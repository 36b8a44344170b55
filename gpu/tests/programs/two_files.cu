// A program of a .cu and a .cpp file, with a folder of headers and definitions of the build's, DEVICES and M.
#include <two_files.hpp>

#include <cstdio>

__global__ void roots(float* out) {
  out[threadIdx.x] = rsqrtf(static_cast<float>(1 << (M / 2 * threadIdx.x)));
}

int main() {
  float* out;
  cudaMalloc(&out, 4 * sizeof(float));
  roots<<<1, 4>>>(out);
  float4 v;
  cudaMemcpy(&v, out, sizeof v, cudaMemcpyDeviceToHost);
  v = halved(v);
  std::printf("%g %g %g %g, %g\n", v.x, v.y, v.z, v.w, on_host(4));
  return v.x == 0.5f && v.w == 0.0625f && on_host(4) == 0.25f * DEVICES ? 0 : 1;
}
