// An operator with its types erased: what the engine works with. OperatorAdapter (adapter.hpp) makes one from a contract.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reference/cases/case_space.hpp"
#include "reference/cases/operator.hpp"
#include "reference/core/reason.hpp"
#include "verify/engine/operator/invocation.hpp"
#include "verify/image/image.hpp"
#include "verify/mutants/mutant.hpp"

namespace plumb {

/// A registered variant or mutant, as lists show it.
struct VariantInfo {
  std::string op, name;  // name: "cpu/02_row_static", "mutant/k_tail_dropped"
  Dtype dtype = Dtype::f32;
  Device device = Device::cpu;
  Traits traits;
  bool mutant = false;
  MutantInfo fault{0, "", "", 0};
  std::string plugin = {};   // the shared library that holds it; "" for a registered one
  Reason why_not = {};       // why its device cannot run it
  std::string program = {};  // the worker that holds it; "" for the judge's own
  bool prepares = false;     // runs of one plan may differ

  /// Whether a worker of another language runs it on a GPU (tools/python).
  [[nodiscard]] bool is_of_framework_on_gpu() const {
    return device == Device::gpu && !plugin.empty() && !program.empty();
  }
};

/// What is another in a twin of a case: its last operand of values is negated; or the others are, but for their first, middle and last
/// elements, by which a variant may recognise them; or one element of the last operand alone, which a checksum of some elements may miss;
/// or the arrays are the same, and the problem is another one; or the rows of a sparse
/// operand have the lengths that they had in the opposite order.
enum class Twin : std::uint8_t { last_operand, other_operands, one_element, problem, pattern };

/// One case's data: made once, staged for every run, judged against one oracle.
class PreparedCase {
 public:
  virtual ~PreparedCase() = default;
  /// Adds this case's arrays to `layout`, and returns the views of that placement.
  [[nodiscard]] virtual StagedViews place(ImageLayout& layout) const = 0;
  /// Whose data these are; no other case of this process has had the same.
  [[nodiscard]] virtual Contents contents() const = 0;
  /// The oracle's answer, computed at first use.
  [[nodiscard]] virtual const Reference& reference() = 0;
  /// Bounds for every element of output `o` under `arithmetic`; kept for the next variant. `tensor_cores`: as in Tolerance.
  [[nodiscard]] virtual const LargeArray<double>& bounds(int output, Arithmetic arithmetic,
                                                         bool tensor_cores = false) = 0;
  [[nodiscard]] virtual Cost cost() const = 0;
  [[nodiscard]] virtual bool degenerate() const = 0;
  /// The case's extents, as its contract names them.
  [[nodiscard]] virtual const std::vector<double>& extents() const = 0;
  /// The same case with other values or another problem: as many bytes in the same places, another answer. Meets variants that remember an
  /// answer, or an operand in a form of their own, by its addresses, or a problem by some of its numbers. Null where there is no
  /// floating-point input, or no other problem. Valid as long as this case.
  [[nodiscard]] virtual PreparedCase* twin(Twin which) = 0;
  /// The n-th of the problems that differ from this one in one number, or in as few as the contract allows: a factor, an extent that is one
  /// less, a pad with its dilation. All their arrays have this case's addresses and contents. Null: there are no more. Valid as long as this
  /// case.
  [[nodiscard]] virtual PreparedCase* neighbour(int n) = 0;
  /// Which of its factors are 0 or 1, which numbers are 0, and which arrays have no elements: "alpha=0 beta=other, no A.val".
  [[nodiscard]] virtual std::string problem_class() = 0;
};

/// An Invocation in the process that makes it: arrays at their addresses, and what the engine does around the variant's own call.
struct Call {
  std::string variant;  // "cpu/02_row_static"
  Dtype dtype = Dtype::f32;
  Device device = Device::cpu;
  std::byte* views = nullptr;  // a copy of StagedViews; rebased in place
  std::byte* base = nullptr;   // of the image, in the variant's space
  Context* context = nullptr;
  std::function<void()> before_run, after_run;  // around the variant's call alone: clocks and synchronisation
  std::function<void()> before_prepare;  // where the variant has a prepare() that may be timed; may be empty
  std::function<bool()> again;           // after each run: shall there be another? empty: no
  int callers = 1;                       // 2: a second one calls it at the same time
  void* second_stream = nullptr;         // on which it does; on the host it has a thread
  /// Calls both at once, by two threads; empty: the first, then the second.
  std::function<void(const std::function<void()>&, const std::function<void()>&)> together = nullptr;
  bool plan_of_other_vectors = false;  // prepare() is told of vectors of ones in place of the run's
  bool plan_of_other_numbers = false;  // prepare() is told of other factors than run(), a bias, or a cap
};

/// The least leading dimension of rows that are mapped far apart: twice it is beyond a 32-bit number with a sign, four times it beyond one
/// without.
inline constexpr std::int64_t kFarElements = std::int64_t{1} << 30;

/// One array of a call, as a plug-in sees it.
struct ArrayInfo {
  std::string name;  // "A.row_ptr", "x"
  Format kind = Format::f32;
  bool output = false, vector = false;
  std::int64_t rows = 0, cols = 0, ld = 0;
  void* data = nullptr;

  [[nodiscard]] std::int64_t element_bytes() const { return facts(kind).bytes; }
  /// From the first element to the end of the last, padding between rows included; 0 where there is none.
  [[nodiscard]] std::int64_t span_bytes() const {
    return rows > 0 && cols > 0 ? ((rows - 1) * ld + cols) * element_bytes() : 0;
  }
  /// Whether its rows are mapped far apart (FarRows): between them there is no memory.
  [[nodiscard]] bool is_far() const { return !vector && ld >= kFarElements; }
};

/// A call with its types erased: arrays in the order of the contract, and every number beside them by name.
struct CallInfo {
  std::vector<ArrayInfo> arrays;
  std::vector<std::pair<std::string, double>> scalars;  // "alpha", "A.rows"
};

/// Where an array goes that lies at `offset` in the staged image, and how far apart its rows are there: ArrayInfo::ld.
using Placer = std::function<void*(ArrayInfo&, std::int64_t offset)>;

/// A call that somebody has made by himself: the operands of one problem, packed row-major as they are stored, and the numbers beside them.
struct GivenCall {
  Dtype dtype = Dtype::f32;
  /// Inputs, and the outputs with their shapes; data of an output is what it held before, null where that was not read.
  std::vector<ArrayInfo> arrays;
  std::vector<std::pair<std::string, double>> scalars;  // every one, also "A.rows"

  /// Both throw Error where there is none of that name.
  [[nodiscard]] const ArrayInfo& array(const std::string& name) const;
  [[nodiscard]] double scalar(const std::string& name) const;
};

class OperatorEntry {
 public:
  virtual ~OperatorEntry() = default;
  [[nodiscard]] virtual std::string name() const = 0;
  /// Of an operator that is a formula: its arrays with the names of their extents (docs/formulas.md). Else empty.
  [[nodiscard]] virtual std::string signature() const { return {}; }
  /// The types that it has.
  [[nodiscard]] virtual std::span<const Dtype> dtypes() const = 0;
  [[nodiscard]] virtual std::vector<Case> cases() const = 0;
  /// The parameters of its cases and their classes: what drawn cases come from.
  [[nodiscard]] virtual CaseSpace space() const = 0;
  /// Every registered variant and mutant of this process.
  [[nodiscard]] virtual std::vector<VariantInfo> variants(Device device_of_device_space) const = 0;
  /// Makes and validates the data of a case. Throws Error on a case that cannot be made.
  [[nodiscard]] virtual std::unique_ptr<PreparedCase> prepare(const Case&) const = 0;
  /// The same of arrays that the caller has; they are copied. Throws Error where shapes or values are not as the contract has them.
  [[nodiscard]] virtual std::unique_ptr<PreparedCase> prepare(const GivenCall&) const = 0;
  /// Calls a variant. Returns the reason when it does not support the problem, else "". Throws Error for an unknown variant.
  [[nodiscard]] virtual std::string invoke(const Call&) const = 0;
  /// The arrays and numbers of a call, from its staged views. Each array is put where `placer` says, in the views too.
  [[nodiscard]] virtual CallInfo relocate(Dtype, std::byte* views, const Placer&) const = 0;
  /// The same with all arrays in an image at `base`.
  [[nodiscard]] CallInfo unpack(Dtype dtype, std::byte* views, std::byte* base) const {
    return relocate(dtype, views, [base](const ArrayInfo&, std::int64_t offset) { return base + offset; });
  }
};

/// Throws ResourceError: the memory for this case ran out.
[[noreturn]] void throw_no_memory(const Case&, const std::bad_alloc&);

/// Throws Error: the oracle of `op` gives no magnitude for variants that compute in `arithmetic`.
[[noreturn]] void throw_no_bound(const std::string& op, Arithmetic arithmetic);

/// Throws Error: no variant of that name is registered in this process.
[[noreturn]] void throw_unknown_variant(const std::string& op, const std::string& variant);

}  // namespace plumb
