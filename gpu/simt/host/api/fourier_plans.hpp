// cuFFT's plans: how they are described, made and run in a stream.
#pragma once
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "gpu/simt/host/api/fourier.hpp"
#include "gpu/simt/host/api/library_types.hpp"
#include "gpu/simt/host/api/types.hpp"

namespace plumb::simt {

/// cufftResult
struct FourierStatus {
  static constexpr int kSuccess = 0, kInvalidPlan = 1, kInvalidType = 3, kInvalidValue = 4, kExecFailed = 6,
                       kInvalidSize = 8, kNoWorkspace = 13;
};
constexpr int kFourierForward = -1, kFourierInverse = 1;

struct FourierPlan {
  std::optional<Fourier> fourier;  // none: created, and not made
  cudaStream_t stream = nullptr;
  bool own_space = true;  // cuFFT's working space is its own, not `space`
  void* space = nullptr;
};

/// The program's plans, by their handles. A plan stays where it is until it is taken out.
class FourierPlans {
 public:
  int add();
  FourierPlan* find(int handle);  // null for no plan's handle
  bool take_out(int handle);

 private:
  std::mutex mutex_;
  std::map<int, FourierPlan> by_handle_;
  int last_ = 0;
};
FourierPlans& fourier_plans();

/// What a plan is asked for. Empty `in.embed` or `out.embed`: both sides are packed, and nothing else of the two sides counts.
struct FourierRequest {
  int type = 0;  // cufftType
  std::vector<std::int64_t> sizes;
  std::int64_t batch = 1;
  FourierSide in = {}, out = {};
};
/// With the layouts of cufftPlanMany.
template <class Size>
FourierRequest fourier_request(int rank, const Size* sizes, const Size* in_embed, Size in_stride,
                               Size in_distance, const Size* out_embed, Size out_stride, Size out_distance,
                               int type, Size batch) {
  const auto listed = [&](const Size* values) {
    return values != nullptr && rank > 0 ? std::vector<std::int64_t>(values, values + rank)
                                         : std::vector<std::int64_t>();
  };
  return {type,
          listed(sizes),
          batch,
          {listed(in_embed), in_stride, in_distance},
          {listed(out_embed), out_stride, out_distance}};
}
/// cufftType of the two sides' types, which are single or double precision; 0 where there is none.
int fourier_type(cudaDataType_t in, cudaDataType_t out);

/// Each of these returns a FourierStatus. `bytes`, the working space that it needs, may be null.
int size_fourier(const FourierRequest& request, std::size_t* bytes);
int create_fourier(int* handle);
int make_fourier(int handle, const FourierRequest& request, std::size_t* bytes);
int create_and_make_fourier(int* handle, const FourierRequest& request);

struct FourierCall {
  const char* name;
  const void* pc;
};
/// Queues the plan's transform. sign: kFourierForward or kFourierInverse, of a real transform any of the two.
int queue_fourier(const FourierCall& call, int handle, const void* in, void* out, int sign);

}  // namespace plumb::simt
