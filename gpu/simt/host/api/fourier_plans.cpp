#include "gpu/simt/host/api/fourier_plans.hpp"

#include <new>
#include <utility>

#include "gpu/simt/host/api/operations.hpp"
#include "gpu/simt/state.hpp"

namespace plumb::simt {

namespace {

constexpr int kComplex = 0x29, kFromReal = 0x2a, kToReal = 0x2c, kDouble = 0x40;  // cufftType

bool take_type(int type, Fourier& f) {
  f.is_double = (type & kDouble) != 0;
  const int kind = type & ~kDouble;
  f.kind = kind == kFromReal ? FourierKind::real_to_complex
           : kind == kToReal ? FourierKind::complex_to_real
                             : FourierKind::complex;
  return kind == kComplex || kind == kFromReal || kind == kToReal;
}

int describe(const FourierRequest& request, Fourier& f) {
  if (!take_type(request.type, f)) return FourierStatus::kInvalidType;
  if (request.sizes.empty() || request.sizes.size() > 3) return FourierStatus::kInvalidValue;
  f.sizes = request.sizes;
  f.batch = request.batch;
  for (const std::int64_t n : f.sizes) {
    if (n < 1) return FourierStatus::kInvalidSize;
  }
  if (f.batch < 1) return FourierStatus::kInvalidSize;
  if (!request.in.embed.empty() && !request.out.embed.empty()) f.in = request.in, f.out = request.out;
  return FourierStatus::kSuccess;
}

void execute(const FourierCall& call, const FourierPlan& plan, const void* in, void* out, int sign,
             const void* stream) {
  const Fourier& f = *plan.fourier;
  try {
    const std::vector<HostRange> reads = fourier_reads(f, in, in == out);
    std::vector<HostRange> ranges = reads;
    const std::vector<HostRange> writes = fourier_writes(f, out, in == out);
    ranges.insert(ranges.end(), writes.begin(), writes.end());
    if (!plan.own_space) ranges.push_back({plan.space, fourier_bytes(f), true});
    host_ranges(call.name, const_cast<void*>(stream), {"", 0}, ranges, call.pc);
    if (!current().run.is_stopped && !run_fourier(f, reads, in, out, sign)) run_short("a plan of FFTW's");
  } catch (const std::bad_alloc&) { run_short("a transform's copy of its input"); }
}

}  // namespace

int FourierPlans::add() {
  const std::lock_guard<std::mutex> lock(mutex_);
  by_handle_[++last_] = {};
  return last_;
}
FourierPlan* FourierPlans::find(int handle) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto at = by_handle_.find(handle);
  return at == by_handle_.end() ? nullptr : &at->second;
}
bool FourierPlans::take_out(int handle) {
  const std::lock_guard<std::mutex> lock(mutex_);
  return by_handle_.erase(handle) > 0;
}
FourierPlans& fourier_plans() {
  static FourierPlans all;
  return all;
}

int fourier_type(cudaDataType_t in, cudaDataType_t out) {
  const auto sides = [&](cudaDataType_t a, cudaDataType_t b) { return in == a && out == b; };
  if (sides(CUDA_C_32F, CUDA_C_32F)) return kComplex;
  if (sides(CUDA_R_32F, CUDA_C_32F)) return kFromReal;
  if (sides(CUDA_C_32F, CUDA_R_32F)) return kToReal;
  if (sides(CUDA_C_64F, CUDA_C_64F)) return kComplex | kDouble;
  if (sides(CUDA_R_64F, CUDA_C_64F)) return kFromReal | kDouble;
  if (sides(CUDA_C_64F, CUDA_R_64F)) return kToReal | kDouble;
  return 0;
}

int size_fourier(const FourierRequest& request, std::size_t* bytes) {
  Fourier f;
  const int status = describe(request, f);
  if (status == FourierStatus::kSuccess && bytes != nullptr) *bytes = fourier_bytes(f);
  return status;
}

int create_fourier(int* handle) {
  if (handle == nullptr) return FourierStatus::kInvalidValue;
  *handle = fourier_plans().add();
  return FourierStatus::kSuccess;
}

int make_fourier(int handle, const FourierRequest& request, std::size_t* bytes) {
  FourierPlan* const plan = fourier_plans().find(handle);
  if (plan == nullptr || plan->fourier) return FourierStatus::kInvalidPlan;
  Fourier f;
  const int status = describe(request, f);
  if (status != FourierStatus::kSuccess) return status;
  if (bytes != nullptr) *bytes = fourier_bytes(f);
  plan->fourier = std::move(f);
  return status;
}

int create_and_make_fourier(int* handle, const FourierRequest& request) {
  if (handle == nullptr) return FourierStatus::kInvalidValue;
  const int made = fourier_plans().add();
  const int status = make_fourier(made, request, nullptr);
  if (status == FourierStatus::kSuccess) {
    *handle = made;
  } else {
    fourier_plans().take_out(made);
  }
  return status;
}

int queue_fourier(const FourierCall& call, int handle, const void* in, void* out, int sign) {
  const FourierPlan* const plan = fourier_plans().find(handle);
  if (plan == nullptr || !plan->fourier) return FourierStatus::kInvalidPlan;
  if (in == nullptr || out == nullptr || (sign != kFourierForward && sign != kFourierInverse))
    return FourierStatus::kInvalidValue;
  if (!plan->own_space && plan->space == nullptr) return FourierStatus::kNoWorkspace;
  begin_by_itself();
  const auto lock = enter_engine();
  auto operation = [call, kept = *plan, in, out, sign](const void* stream) {
    execute(call, kept, in, out, sign, stream);
  };
  return queue(plan->stream, cudaGraphNodeTypeKernel, std::move(operation)) == cudaSuccess
             ? FourierStatus::kSuccess
             : FourierStatus::kExecFailed;
}

}  // namespace plumb::simt
