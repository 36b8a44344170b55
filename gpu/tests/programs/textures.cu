// Textures and surfaces of every shape, by the runtime and by the driver. Right as it is; "outside" writes past a surface's row, "early" reads a texture while another
// stream still fills it.
#include <cuda.h>
#include <cuda_runtime.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <vector>

namespace {

int failures = 0;
void expect(bool good, const char* what, int line) {
  if (good) return;
  std::printf("textures.cu:%d: not %s\n", line, what);
  ++failures;
}
#define EXPECT(condition) expect(condition, #condition, __LINE__)

constexpr int kWide = 4, kHigh = 3, kDeep = 2;

}  // namespace

__global__ void read_line(cudaTextureObject_t t, const float* at, float* out, int n) {
  const int i = threadIdx.x;
  if (i < n) out[i] = tex1D<float>(t, at[i]);
}
__global__ void read_plane(cudaTextureObject_t t, const float2* at, float4* out, int n) {
  const int i = threadIdx.x;
  if (i < n) tex2D(&out[i], t, at[i].x, at[i].y);
}
__global__ void gather(cudaTextureObject_t t, float4* out) {
  out[0] = tex2Dgather<float4>(t, 1.0f, 1.0f);
  tex2Dgather(&out[1], t, 1.0f, 1.0f, 2);
  out[2] = tex2Dgather<float4>(t, 4.0f, 0.0f, 0);
}
__global__ void fetch(cudaTextureObject_t t, int2* out, int n) {
  const int i = threadIdx.x;
  if (i < n) out[i] = tex1Dfetch<int2>(t, i - 1);
}
__global__ void read_volume(cudaTextureObject_t t, float* out) {
  out[0] = tex3D<float>(t, 1.0f, 1.0f, 1.0f);
  out[1] = tex3D<float>(t, 1.5f, 2.5f, 0.5f);
}
__global__ void read_layers(cudaTextureObject_t t, int* out) {
  out[threadIdx.x] = tex2DLayered<int>(t, 1.5f, 2.5f, static_cast<int>(threadIdx.x) - 1);
}
__global__ void read_faces(cudaTextureObject_t t, float* out) {
  const float3 to[] = {{1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}, {0, 0, 1}, {0, 0, -1}};
  const int i = threadIdx.x;
  out[i] = texCubemap<float>(t, to[i].x, to[i].y, to[i].z);
}
__global__ void turn(cudaSurfaceObject_t from, cudaSurfaceObject_t to) {
  const int x = threadIdx.x, y = threadIdx.y;
  const uchar4 v = surf2Dread<uchar4>(from, x * 4, y);
  surf2Dwrite(uchar4{v.w, v.z, v.y, v.x}, to, x * 4, y);
}
__global__ void around(cudaSurfaceObject_t s, int x, cudaSurfaceBoundaryMode mode, unsigned* out) {
  *out = surf2Dread<unsigned>(s, x, 0, mode);
}

// References, as before CUDA 12.
texture<float2, cudaTextureType1D, cudaReadModeElementType> pairs;
texture<unsigned char, 2, cudaReadModeNormalizedFloat> shades(0, cudaFilterModeLinear, cudaAddressModeClamp);
surface<void, cudaSurfaceType2D> marks;
__global__ void read_references(float* out) {
  out[0] = tex1Dfetch(pairs, 1).y;
  out[1] = tex2D(shades, 1.0f, 0.5f);
  surf2Dwrite(static_cast<unsigned char>(9), marks, 2, 1);
}

namespace {

template <class T>
T* on_device(const std::vector<T>& x) {
  T* p;
  cudaMalloc(&p, x.size() * sizeof(T));
  cudaMemcpy(p, x.data(), x.size() * sizeof(T), cudaMemcpyHostToDevice);
  return p;
}
template <class T>
std::vector<T> back(const T* p, std::size_t n) {
  std::vector<T> x(n);
  cudaMemcpy(x.data(), p, n * sizeof(T), cudaMemcpyDeviceToHost);
  return x;
}
cudaTextureObject_t texture(cudaArray_t array, cudaTextureAddressMode mode, cudaTextureFilterMode filter,
                            bool normalized = false, cudaTextureReadMode read = cudaReadModeElementType) {
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaTextureDesc how{};
  for (auto& m : how.addressMode) m = mode;
  how.filterMode = filter;
  how.readMode = read;
  how.normalizedCoords = normalized;
  how.borderColor[0] = -7;
  cudaTextureObject_t t = 0;
  EXPECT(cudaCreateTextureObject(&t, &resource, &how, nullptr) == cudaSuccess);
  return t;
}
cudaSurfaceObject_t surface(cudaArray_t array) {
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaSurfaceObject_t s = 0;
  EXPECT(cudaCreateSurfaceObject(&s, &resource) == cudaSuccess);
  return s;
}

// Values 10, 20, 30, 40 in a line, read at places whose result the programming guide gives.
void lines() {
  const std::vector<float> values = {10, 20, 30, 40};
  const auto format = cudaCreateChannelDesc<float>();
  cudaArray_t array;
  EXPECT(cudaMallocArray(&array, &format, kWide) == cudaSuccess);
  cudaMemcpyToArray(array, 0, 0, values.data(), sizeof(float) * kWide, cudaMemcpyHostToDevice);
  const auto read = [&](cudaTextureObject_t t, std::vector<float> at) {
    float *where = on_device(at), *out;
    cudaMalloc(&out, at.size() * sizeof(float));
    read_line<<<1, 32>>>(t, where, out, static_cast<int>(at.size()));
    const std::vector<float> got = back(out, at.size());
    cudaFree(where);
    cudaFree(out);
    EXPECT(cudaDestroyTextureObject(t) == cudaSuccess);
    return got;
  };
  using V = std::vector<float>;
  const auto point = cudaFilterModePoint, linear = cudaFilterModeLinear;
  EXPECT(read(texture(array, cudaAddressModeClamp, point), {-3, 0.9f, 1, 3.5f, 9}) ==
         V({10, 10, 20, 40, 40}));
  EXPECT(read(texture(array, cudaAddressModeBorder, point), {-0.5f, 0, 3.9f, 4}) == V({-7, 10, 40, -7}));
  EXPECT(read(texture(array, cudaAddressModeWrap, point, true), {0.25f, 1.25f, -0.25f}) == V({20, 20, 40}));
  EXPECT(read(texture(array, cudaAddressModeMirror, point, true), {1.1f, -0.1f, 1.9f}) == V({40, 10, 10}));
  EXPECT(read(texture(array, cudaAddressModeClamp, linear), {0.5f, 1, 1.25f, 0, 4}) ==
         V({10, 15, 17.5f, 10, 40}));
  EXPECT(read(texture(array, cudaAddressModeWrap, linear, true), {0, 1}) == V({25, 25}));
  // weights have 8 bits behind the point: 1/1024 of the way is none of it
  EXPECT(read(texture(array, cudaAddressModeClamp, linear), {1.5f + 1.0f / 1024}) == V({20}));
  cudaFreeArray(array);
}

// Four bytes in a texel, as they are and as fractions; rows with a pitch.
void planes() {
  const auto format = cudaCreateChannelDesc<uchar4>();
  std::vector<uchar4> texels(kWide * kHigh);
  for (int i = 0; i < kWide * kHigh; ++i) texels[i] = make_uchar4(static_cast<unsigned char>(i), 255, 51, 0);
  uchar4* rows;
  size_t pitch;
  cudaMallocPitch(&rows, &pitch, kWide * sizeof(uchar4), kHigh);
  cudaMemcpy2D(rows, pitch, texels.data(), kWide * sizeof(uchar4), kWide * sizeof(uchar4), kHigh,
               cudaMemcpyHostToDevice);
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypePitch2D;
  resource.res.pitch2D = {rows, format, kWide, kHigh, pitch};
  cudaTextureDesc how{};
  how.addressMode[0] = how.addressMode[1] = cudaAddressModeClamp;
  how.filterMode = cudaFilterModeLinear;
  cudaTextureObject_t t;
  EXPECT(cudaCreateTextureObject(&t, &resource, &how, nullptr) == cudaErrorInvalidFilterSetting);
  cudaGetLastError();
  how.readMode = cudaReadModeNormalizedFloat;
  EXPECT(cudaCreateTextureObject(&t, &resource, &how, nullptr) == cudaSuccess);
  float2* at = on_device(std::vector<float2>{{0.5f, 0.5f}, {1, 1}, {3.5f, 2.5f}});
  float4* out;
  cudaMalloc(&out, 3 * sizeof(float4));
  read_plane<<<1, 32>>>(t, at, out, 3);
  const std::vector<float4> got = back(out, 3);
  EXPECT(got[0].x == 0 && got[0].y == 1 && got[0].z == 0.2f && got[0].w == 0);
  EXPECT(std::fabs(got[1].x - 2.5f / 255) < 1e-7f);  // of texels 0, 1, 4 and 5
  EXPECT(got[2].x == 11.0f / 255);
  gather<<<1, 1>>>(t, out);
  const std::vector<float4> corners = back(out, 3);
  const auto holds = [](float4 v, float x, float y, float z, float w) {
    return v.x == x / 255 && v.y == y / 255 && v.z == z / 255 && v.w == w / 255;
  };
  EXPECT(holds(corners[0], 4, 5, 1, 0));
  EXPECT(holds(corners[1], 51, 51, 51, 51));
  EXPECT(holds(corners[2], 3, 3, 3, 3));  // clamped
}

void memory() {
  int2* values = on_device(std::vector<int2>{{1, 2}, {3, 4}, {5, 6}});
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear = {values, cudaCreateChannelDesc<int2>(), 3 * sizeof(int2)};
  cudaTextureDesc how{};
  cudaTextureObject_t t;
  EXPECT(cudaCreateTextureObject(&t, &resource, &how, nullptr) == cudaSuccess);
  int2* out;
  cudaMalloc(&out, 5 * sizeof(int2));
  fetch<<<1, 32>>>(t, out, 5);
  const std::vector<int2> got = back(out, 5);
  EXPECT(got[0].x == 0 && got[1].x == 1 && got[1].y == 2 && got[3].y == 6 && got[4].y == 0);
}

void references() {
  float2* values = on_device(std::vector<float2>{{1, 2}, {3, 4}});
  const std::vector<unsigned char> bytes = {51, 102, 0, 0, 0, 0, 0, 0};
  const auto format = cudaCreateChannelDesc<unsigned char>();
  cudaArray_t array;
  EXPECT(cudaMallocArray(&array, &format, 4, 2, cudaArraySurfaceLoadStore) == cudaSuccess);
  cudaMemcpyToArray(array, 0, 0, bytes.data(), bytes.size(), cudaMemcpyHostToDevice);
  size_t offset = 1;
  EXPECT(cudaBindTexture(&offset, pairs, values, 2 * sizeof(float2)) == cudaSuccess && offset == 0);
  EXPECT(cudaBindTextureToArray(shades, array) == cudaSuccess);
  EXPECT(cudaBindSurfaceToArray(marks, array) == cudaSuccess);
  float* out;
  cudaMalloc(&out, 2 * sizeof(float));
  read_references<<<1, 1>>>(out);
  EXPECT(back(out, 2) == std::vector<float>({4, (51 + 102) / 2.0f / 255}));
  unsigned char mark = 0;
  cudaMemcpy2DFromArray(&mark, 1, array, 2, 1, 1, 1, cudaMemcpyDeviceToHost);
  EXPECT(mark == 9);
  EXPECT(cudaUnbindTexture(pairs) == cudaSuccess);
  EXPECT(cudaGetTextureAlignmentOffset(&offset, pairs) == cudaErrorInvalidTextureBinding);
  EXPECT(cudaBindTexture(nullptr, &pairs, nullptr, &format, 8) == cudaErrorInvalidValue);
  cudaGetLastError();
}

cudaArray_t filled(const cudaChannelFormatDesc& format, cudaExtent extent, unsigned flags, const void* texels,
                   size_t texel) {
  cudaArray_t array;
  EXPECT(cudaMalloc3DArray(&array, &format, extent, flags) == cudaSuccess);
  cudaMemcpy3DParms p{};
  p.srcPtr =
      make_cudaPitchedPtr(const_cast<void*>(texels), extent.width * texel, extent.width, extent.height);
  p.dstArray = array;
  p.extent = extent;
  p.kind = cudaMemcpyHostToDevice;
  EXPECT(cudaMemcpy3D(&p) == cudaSuccess);
  return array;
}

void volumes() {
  std::vector<float> values(kWide * kHigh * kDeep);
  std::vector<int> numbers(values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<float>(i);
    numbers[i] = -static_cast<int>(i);
  }
  const cudaExtent extent = make_cudaExtent(kWide, kHigh, kDeep);
  float* out;
  cudaMalloc(&out, 6 * sizeof(float));
  const auto floats = cudaCreateChannelDesc<float>();
  read_volume<<<1, 1>>>(texture(filled(floats, extent, 0, values.data(), sizeof(float)), cudaAddressModeClamp,
                                cudaFilterModeLinear),
                        out);
  std::vector<float> got = back(out, 2);
  EXPECT(got[0] == (0 + 1 + 4 + 5 + 12 + 13 + 16 + 17) / 8.0f && got[1] == 9);
  int* layers;
  cudaMalloc(&layers, 4 * sizeof(int));
  read_layers<<<1, 4>>>(
      texture(filled(cudaCreateChannelDesc<int>(), extent, cudaArrayLayered, numbers.data(), sizeof(int)),
              cudaAddressModeClamp, cudaFilterModePoint),
      layers);
  EXPECT(back(layers, 4) == std::vector<int>({-9, -9, -21, -21}));  // layers -1 to 2, of which two are there
  std::vector<float> faces(6);
  for (int i = 0; i < 6; ++i) faces[i] = static_cast<float>(i);
  read_faces<<<1, 6>>>(
      texture(filled(floats, make_cudaExtent(1, 1, 6), cudaArrayCubemap, faces.data(), sizeof(float)),
              cudaAddressModeClamp, cudaFilterModePoint, true),
      out);
  EXPECT(back(out, 6) == faces);
}

void surfaces(bool outside) {
  const auto format = cudaCreateChannelDesc(8, 8, 8, 8, cudaChannelFormatKindUnsigned);
  cudaArray_t from, to;
  cudaMallocArray(&from, &format, kWide, kHigh, cudaArraySurfaceLoadStore);
  cudaMallocArray(&to, &format, kWide, kHigh, cudaArraySurfaceLoadStore);
  std::vector<unsigned> texels(kWide * kHigh), turned(texels.size());
  for (size_t i = 0; i < texels.size(); ++i) texels[i] = static_cast<unsigned>(i) << 24 | 0x010203;
  cudaMemcpy2DToArray(from, 0, 0, texels.data(), kWide * 4, kWide * 4, kHigh, cudaMemcpyHostToDevice);
  turn<<<1, dim3(kWide + outside, kHigh)>>>(surface(from), surface(to));
  cudaMemcpy2DFromArray(turned.data(), kWide * 4, to, 0, 0, kWide * 4, kHigh, cudaMemcpyDeviceToHost);
  for (size_t i = 0; i < texels.size(); ++i) EXPECT(turned[i] == (0x03020100u | static_cast<unsigned>(i)));
  unsigned* out;
  cudaMalloc(&out, sizeof(unsigned));
  around<<<1, 1>>>(surface(from), kWide * 4, cudaBoundaryModeClamp, out);
  EXPECT(back(out, 1)[0] == texels[kWide - 1]);
  around<<<1, 1>>>(surface(from), kWide * 4, cudaBoundaryModeZero, out);
  EXPECT(back(out, 1)[0] == 0);
}

void too_early() {
  const auto format = cudaCreateChannelDesc<float>();
  cudaArray_t array;
  cudaMallocArray(&array, &format, kWide);
  cudaStream_t one, other;
  cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
  float *values, *at = on_device(std::vector<float>(kWide)), *out;
  cudaMallocHost(&values, kWide * sizeof(float));
  std::memset(values, 0, kWide * sizeof(float));
  cudaMalloc(&out, kWide * sizeof(float));
  cudaMemcpy2DToArrayAsync(array, 0, 0, values, kWide * 4, kWide * 4, 1, cudaMemcpyHostToDevice, one);
  read_line<<<1, kWide, 0, other>>>(texture(array, cudaAddressModeClamp, cudaFilterModePoint), at, out,
                                    kWide);
  cudaDeviceSynchronize();
}

// The same by the driver's names: an array filled by rows that lie apart, read by a texture object, written through a surface object.
void by_driver() {
  CUDA_ARRAY3D_DESCRIPTOR what{kWide, kHigh, 0, CU_AD_FORMAT_UNSIGNED_INT8, 4, CUDA_ARRAY3D_SURFACE_LDST};
  CUarray from, to;
  EXPECT(cuArray3DCreate(&from, &what) == CUDA_SUCCESS);
  CUDA_ARRAY_DESCRIPTOR flat{kWide, kHigh, CU_AD_FORMAT_FLOAT, 3};
  EXPECT(cuArrayCreate(&to, &flat) == CUDA_ERROR_INVALID_VALUE);
  EXPECT(cuArray3DCreate(&to, &what) == CUDA_SUCCESS);
  constexpr int kPitch = kWide * 4 + 8;
  std::vector<unsigned char> rows(kPitch * kHigh), got(kWide * 4 * kHigh);
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<unsigned char>(i);
  CUDA_MEMCPY2D copy{};
  copy.srcMemoryType = CU_MEMORYTYPE_HOST, copy.srcHost = rows.data(), copy.srcPitch = kPitch;
  copy.dstMemoryType = CU_MEMORYTYPE_ARRAY, copy.dstArray = from;
  copy.WidthInBytes = kWide * 4, copy.Height = kHigh;
  EXPECT(cuMemcpy2D(&copy) == CUDA_SUCCESS);
  CUDA_RESOURCE_DESC resource{};
  CUsurfObject in, out;
  resource.res.array.hArray = from;
  EXPECT(cuSurfObjectCreate(&in, &resource) == CUDA_SUCCESS);
  resource.res.array.hArray = to;
  EXPECT(cuSurfObjectCreate(&out, &resource) == CUDA_SUCCESS);
  turn<<<1, dim3(kWide, kHigh)>>>(in, out);
  CUDA_MEMCPY3D back_copy{};
  back_copy.srcMemoryType = CU_MEMORYTYPE_ARRAY, back_copy.srcArray = to;
  back_copy.dstMemoryType = CU_MEMORYTYPE_HOST, back_copy.dstHost = got.data();
  back_copy.srcXInBytes = 4, back_copy.srcY = 1;
  back_copy.WidthInBytes = 8, back_copy.Height = 2, back_copy.Depth = 1;
  EXPECT(cuMemcpy3D(&back_copy) == CUDA_SUCCESS);
  for (int y = 0; y < 2; ++y) {
    for (int x = 0; x < 8; ++x)  // the four bytes of a texel are turned round
      EXPECT(got[y * 8 + x] == rows[(y + 1) * kPitch + 4 + x / 4 * 4 + 3 - x % 4]);
  }
  back_copy.srcXInBytes = 2;  // within a texel
  EXPECT(cuMemcpy3D(&back_copy) == CUDA_ERROR_INVALID_VALUE);
  CUDA_ARRAY3D_DESCRIPTOR said{};
  EXPECT(cuArray3DGetDescriptor(&said, to) == CUDA_SUCCESS && said.Format == what.Format &&
         said.NumChannels == 4 && said.Height == kHigh);

  CUdeviceptr linear;
  std::size_t pitch;
  const std::vector<int2> pairs_of = {{1, 2}, {3, 4}, {5, 6}};
  EXPECT(cuMemAllocPitch(&linear, &pitch, sizeof(int2) * 3, 1, 8) == CUDA_SUCCESS);
  EXPECT(cuMemcpyHtoD(linear, pairs_of.data(), sizeof(int2) * 3) == CUDA_SUCCESS);
  resource.resType = CU_RESOURCE_TYPE_LINEAR;
  resource.res.linear = {linear, CU_AD_FORMAT_SIGNED_INT32, 2, sizeof(int2) * 3};
  CUDA_TEXTURE_DESC how{};
  CUtexObject t;
  EXPECT(cuTexObjectCreate(&t, &resource, &how, nullptr) == CUDA_SUCCESS);
  int2* fetched;
  cudaMalloc(&fetched, sizeof(int2) * 4);
  fetch<<<1, 4>>>(t, fetched, 4);
  const std::vector<int2> seen = back(fetched, 4);
  EXPECT(seen[0].x == 0 && seen[1].y == 2 && seen[3].x == 5);
  EXPECT(cuTexObjectDestroy(t) == CUDA_SUCCESS && cuSurfObjectDestroy(in) == CUDA_SUCCESS);
  EXPECT(cuArrayDestroy(from) == CUDA_SUCCESS);
}

}  // namespace

// What a program asks of a device before it makes any.
void limits() {
  cudaDeviceProp p{};
  EXPECT(cudaGetDeviceProperties(&p, 0) == cudaSuccess);
  EXPECT(p.maxTexture1D == 131072 && p.maxTexture2D[1] == 65536 && p.maxTexture2DLayered[2] == 2048);
  EXPECT(p.maxTexture3D[2] == 16384 && p.maxTexture2DLinear[2] > 0 && p.maxTextureCubemapLayered[1] == 2046);
  EXPECT(p.maxSurface2D[0] == 131072 && p.maxSurface3D[1] == 16384 && p.surfaceAlignment == 512);
  int width = 0, layers = 0, none = 0;
  EXPECT(cudaDeviceGetAttribute(&width, cudaDevAttrMaxTexture1DWidth, 0) == cudaSuccess);
  EXPECT(cudaDeviceGetAttribute(&layers, cudaDevAttrMaxSurface2DLayeredLayers, 0) == cudaSuccess);
  EXPECT(width == p.maxTexture1D && layers == p.maxSurface2DLayered[2]);
  EXPECT(cudaDeviceGetAttribute(&none, static_cast<cudaDeviceAttr>(9999), 0) == cudaErrorInvalidValue);
  EXPECT(cudaGetLastError() == cudaErrorInvalidValue);
}

int main(int argc, char** argv) {
  const char* wrong = argc > 1 ? argv[1] : "";
  if (std::strcmp(wrong, "early") == 0) {
    too_early();
    return 0;
  }
  limits();
  lines();
  planes();
  memory();
  references();
  volumes();
  by_driver();
  surfaces(std::strcmp(wrong, "outside") == 0);
  EXPECT(cudaGetLastError() == cudaSuccess);
  return failures > 0 ? 3 : 0;
}
