// cuFFT's calls for one device, computed by FFTW on the host. The declarations are the toolkit's own (cufft.h, cufftXt.h), whose types these
// functions take as what they are: pointers and integers. Others are not there, and the linker names them.
#include "gpu/simt/host/api/fourier_plans.hpp"
#include "gpu/simt/host/api/operations.hpp"

using plumb::simt::fourier_plans;
using plumb::simt::fourier_request;
using plumb::simt::FourierKind;
using plumb::simt::FourierPlan;
using plumb::simt::FourierStatus;

namespace {

// A transform whose plan is one of these; `kind` and `is_double` are what the call is for.
int execute(const plumb::simt::FourierCall& call, int handle, FourierKind kind, bool is_double,
            const void* in, void* out, int sign) {
  const FourierPlan* const plan = fourier_plans().find(handle);
  const bool is_made = plan != nullptr && plan->fourier;
  if (is_made && (plan->fourier->kind != kind || plan->fourier->is_double != is_double))
    return FourierStatus::kInvalidType;
  return plumb::simt::queue_fourier(call, handle, in, out, sign);
}

// Type of a cufftXt plan; ends a program that asks for half precision.
int type_of(cudaDataType_t in, cudaDataType_t out, const char* call) {
  const int type = plumb::simt::fourier_type(in, out);
  if (type == 0) {
    plumb::simt::begin_by_itself();
    plumb::simt::end_unsupported("a transform of cuFFT in half precision", {call, 0});
  }
  return type;
}

}  // namespace

#define PLUMB_FFT_CALL \
  { __func__, __builtin_return_address(0) }

extern "C" {

int cufftCreate(int* plan) { return plumb::simt::create_fourier(plan); }
int cufftDestroy(int plan) {
  return fourier_plans().take_out(plan) ? FourierStatus::kSuccess : FourierStatus::kInvalidPlan;
}
int cufftGetVersion(int* version) {
  *version = 12000;
  return FourierStatus::kSuccess;
}
int cufftGetProperty(int type, int* value) {
  *value = type == 0 ? 12 : 0;  // MAJOR_VERSION
  return FourierStatus::kSuccess;
}
int cufftSetStream(int plan, cudaStream_t stream) {
  FourierPlan* const p = fourier_plans().find(plan);
  if (p == nullptr) return FourierStatus::kInvalidPlan;
  p->stream = stream;
  return FourierStatus::kSuccess;
}
int cufftSetAutoAllocation(int plan, int own) {
  FourierPlan* const p = fourier_plans().find(plan);
  if (p == nullptr) return FourierStatus::kInvalidPlan;
  p->own_space = own != 0;
  return FourierStatus::kSuccess;
}
int cufftSetWorkArea(int plan, void* space) {
  FourierPlan* const p = fourier_plans().find(plan);
  if (p == nullptr) return FourierStatus::kInvalidPlan;
  p->space = space;
  p->own_space = p->own_space && space == nullptr;
  return FourierStatus::kSuccess;
}
int cufftGetSize(int plan, std::size_t* bytes) {
  const FourierPlan* const p = fourier_plans().find(plan);
  if (p == nullptr || !p->fourier) return FourierStatus::kInvalidPlan;
  *bytes = fourier_bytes(*p->fourier);
  return FourierStatus::kSuccess;
}

int cufftPlan1d(int* plan, int nx, int type, int batch) {
  return plumb::simt::create_and_make_fourier(plan, {type, {nx}, batch});
}
int cufftPlan2d(int* plan, int nx, int ny, int type) {
  return plumb::simt::create_and_make_fourier(plan, {type, {nx, ny}});
}
int cufftPlan3d(int* plan, int nx, int ny, int nz, int type) {
  return plumb::simt::create_and_make_fourier(plan, {type, {nx, ny, nz}});
}
int cufftPlanMany(int* plan, int rank, int* n, int* in_embed, int in_stride, int in_distance, int* out_embed,
                  int out_stride, int out_distance, int type, int batch) {
  return plumb::simt::create_and_make_fourier(
      plan, fourier_request(rank, n, in_embed, in_stride, in_distance, out_embed, out_stride, out_distance,
                            type, batch));
}

int cufftMakePlan1d(int plan, int nx, int type, int batch, std::size_t* bytes) {
  return plumb::simt::make_fourier(plan, {type, {nx}, batch}, bytes);
}
int cufftMakePlan2d(int plan, int nx, int ny, int type, std::size_t* bytes) {
  return plumb::simt::make_fourier(plan, {type, {nx, ny}}, bytes);
}
int cufftMakePlan3d(int plan, int nx, int ny, int nz, int type, std::size_t* bytes) {
  return plumb::simt::make_fourier(plan, {type, {nx, ny, nz}}, bytes);
}
int cufftMakePlanMany(int plan, int rank, int* n, int* in_embed, int in_stride, int in_distance,
                      int* out_embed, int out_stride, int out_distance, int type, int batch,
                      std::size_t* bytes) {
  return plumb::simt::make_fourier(plan,
                                   fourier_request(rank, n, in_embed, in_stride, in_distance, out_embed,
                                                   out_stride, out_distance, type, batch),
                                   bytes);
}
int cufftMakePlanMany64(int plan, int rank, long long* n, long long* in_embed, long long in_stride,
                        long long in_distance, long long* out_embed, long long out_stride,
                        long long out_distance, int type, long long batch, std::size_t* bytes) {
  return plumb::simt::make_fourier(plan,
                                   fourier_request(rank, n, in_embed, in_stride, in_distance, out_embed,
                                                   out_stride, out_distance, type, batch),
                                   bytes);
}
int cufftXtMakePlanMany(int plan, int rank, long long* n, long long* in_embed, long long in_stride,
                        long long in_distance, cudaDataType_t in_type, long long* out_embed,
                        long long out_stride, long long out_distance, cudaDataType_t out_type,
                        long long batch, std::size_t* bytes, cudaDataType_t /*execution_type*/) {
  return cufftMakePlanMany64(plan, rank, n, in_embed, in_stride, in_distance, out_embed, out_stride,
                             out_distance, type_of(in_type, out_type, __func__), batch, bytes);
}

int cufftEstimate1d(int nx, int type, int batch, std::size_t* bytes) {
  return plumb::simt::size_fourier({type, {nx}, batch}, bytes);
}
int cufftEstimate2d(int nx, int ny, int type, std::size_t* bytes) {
  return plumb::simt::size_fourier({type, {nx, ny}}, bytes);
}
int cufftEstimate3d(int nx, int ny, int nz, int type, std::size_t* bytes) {
  return plumb::simt::size_fourier({type, {nx, ny, nz}}, bytes);
}
int cufftEstimateMany(int rank, int* n, int* in_embed, int in_stride, int in_distance, int* out_embed,
                      int out_stride, int out_distance, int type, int batch, std::size_t* bytes) {
  return plumb::simt::size_fourier(fourier_request(rank, n, in_embed, in_stride, in_distance, out_embed,
                                                   out_stride, out_distance, type, batch),
                                   bytes);
}
int cufftGetSize1d(int /*plan*/, int nx, int type, int batch, std::size_t* bytes) {
  return cufftEstimate1d(nx, type, batch, bytes);
}
int cufftGetSize2d(int /*plan*/, int nx, int ny, int type, std::size_t* bytes) {
  return cufftEstimate2d(nx, ny, type, bytes);
}
int cufftGetSize3d(int /*plan*/, int nx, int ny, int nz, int type, std::size_t* bytes) {
  return cufftEstimate3d(nx, ny, nz, type, bytes);
}
int cufftGetSizeMany(int /*plan*/, int rank, int* n, int* in_embed, int in_stride, int in_distance,
                     int* out_embed, int out_stride, int out_distance, int type, int batch,
                     std::size_t* bytes) {
  return cufftEstimateMany(rank, n, in_embed, in_stride, in_distance, out_embed, out_stride, out_distance,
                           type, batch, bytes);
}
int cufftGetSizeMany64(int /*plan*/, int rank, long long* n, long long* in_embed, long long in_stride,
                       long long in_distance, long long* out_embed, long long out_stride,
                       long long out_distance, int type, long long batch, std::size_t* bytes) {
  return plumb::simt::size_fourier(fourier_request(rank, n, in_embed, in_stride, in_distance, out_embed,
                                                   out_stride, out_distance, type, batch),
                                   bytes);
}

int cufftExecC2C(int plan, void* in, void* out, int direction) {
  return execute(PLUMB_FFT_CALL, plan, FourierKind::complex, false, in, out, direction);
}
int cufftExecZ2Z(int plan, void* in, void* out, int direction) {
  return execute(PLUMB_FFT_CALL, plan, FourierKind::complex, true, in, out, direction);
}
int cufftExecR2C(int plan, void* in, void* out) {
  return execute(PLUMB_FFT_CALL, plan, FourierKind::real_to_complex, false, in, out,
                 plumb::simt::kFourierForward);
}
int cufftExecD2Z(int plan, void* in, void* out) {
  return execute(PLUMB_FFT_CALL, plan, FourierKind::real_to_complex, true, in, out,
                 plumb::simt::kFourierForward);
}
int cufftExecC2R(int plan, void* in, void* out) {
  return execute(PLUMB_FFT_CALL, plan, FourierKind::complex_to_real, false, in, out,
                 plumb::simt::kFourierInverse);
}
int cufftExecZ2D(int plan, void* in, void* out) {
  return execute(PLUMB_FFT_CALL, plan, FourierKind::complex_to_real, true, in, out,
                 plumb::simt::kFourierInverse);
}
int cufftXtExec(int plan, void* in, void* out, int direction) {
  return plumb::simt::queue_fourier(PLUMB_FFT_CALL, plan, in, out, direction);
}

}  // extern "C"
#undef PLUMB_FFT_CALL
