// What a kernel is called with, wherever it runs: the part of a request that every worker needs. What the judge does beside the call to
// find faults is in instruments.hpp.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "reference/cases/case_id.hpp"

namespace plumb {

/// Where a variant runs.
enum class Device : std::uint8_t { cpu, gpu, simt };
[[nodiscard]] std::string_view name(Device);

/// The views of a case as bytes, pointers replaced by offsets: what a child process is sent beside the image.
using StagedViews = std::vector<std::byte>;

/// Raised by one with every field of Invocation that is added, removed, or means something else. It is the first field of a request. A
/// worker of another version answers nothing and ends.
inline constexpr int kInvocationVersion = 1;

/// One call of one variant. A worker of another language is sent this and the image, a block of memory that it shares with the judge:
///   operator   `op` names the contract, `variant` the kernel, `plugin` the shared library that holds it.
///   types      `dtype` gives the element types of all arrays, by the contract.
///   arrays     `views` holds the contract's In and Out, each pointer as the byte offset of its first element in the image.
///              OperatorEntry::unpack() gives them as CallInfo::arrays: name, element type, rows, columns, leading dimension, whether the
///              kernel writes it. A kernel may write the elements of outputs and nothing else.
///   scalars    `views` also holds the contract's Problem; CallInfo::scalars has every number by its name.
///   stream     is the worker's own: what the kernel starts must be ordered by Context::stream.
/// The answer is a RunReply. A kernel that does not support the problem gives its reason, and is not called.
struct Invocation {
  std::string op = {}, variant = {};  // "spmm", "cpu/02_row_static"
  Dtype dtype = Dtype::f32;
  Device device = Device::cpu;
  StagedViews views = {};
  std::int64_t image_bytes = 0;
  std::string plugin = {};  // "": the variant is registered in the worker
  int min_sm = 0;           // compute capability * 10 that the variant needs
  std::int64_t uses = 0;    // Context::uses
};

}  // namespace plumb
