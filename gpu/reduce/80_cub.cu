// requires: cub
// reduce, vendor: cub::DeviceReduce.
//
// Change    the library's two-pass reduction with its tuned tile sizes; the maximum with an operation of
//           ours, since its own loses NaN.
// Traffic   as rung 7.
// Fails at  nothing by size.
// Source    NVIDIA CUB, "cub::DeviceReduce".
#include <cub/device/device_reduce.cuh>

#include "gpu/reduce/common.hpp"
#include "gpu/runtime/check.hpp"

namespace plumb {
namespace {

using namespace reduce;

template <class Op>
struct Join {
  template <class T>
  PLUMB_HOST_DEVICE T operator()(T a, T b) const {
    return Op::join(a, b);
  }
};

template <class Op, class T>
void run_as(const In<T>& in, const Out<T>& out, Context& context) {
  auto* stream = static_cast<cudaStream_t>(context.stream);
  std::size_t bytes = 0;
  PLUMB_CUDA(cub::DeviceReduce::Reduce(nullptr, bytes, in.x.data, out.result.data, in.x.size, Join<Op>{},
                                       Op::template nothing<T>(), stream));
  void* workspace = context.workspace(static_cast<Index>(bytes));
  PLUMB_CUDA(cub::DeviceReduce::Reduce(workspace, bytes, in.x.data, out.result.data, in.x.size, Join<Op>{},
                                       Op::template nothing<T>(), stream));
}

template <class T>
void run(const Problem<T>& p, const In<T>& in, const Out<T>& out, Context& context) {
  if (p.kind == Reduce::Kind::sum)
    run_as<Sum>(in, out, context);
  else
    run_as<Max>(in, out, context);
}

PLUMB_REGISTER_WITH(Reduce, "80_cub", (run<T>, Traits{}.of_library()), float, double);

}  // namespace
}  // namespace plumb
