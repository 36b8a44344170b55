// From a contract to an OperatorEntry: the only place where the engine is instantiated per operator.
#pragma once
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <map>
#include <memory>
#include <new>
#include <string>
#include <thread>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "reference/core/threads.hpp"
#include "verify/engine/entry.hpp"
#include "verify/engine/other_problem.hpp"
#include "verify/engine/resources.hpp"
#include "verify/engine/shorter.hpp"

namespace plumb {

namespace detail {

template <class E>
constexpr Segment::Kind kind_of() {
  using Plain = std::remove_const_t<E>;
  if constexpr (std::is_same_v<Plain, float>)
    return Segment::Kind::f32;
  else if constexpr (std::is_same_v<Plain, double>)
    return Segment::Kind::f64;
  else {
    static_assert(std::is_same_v<Plain, std::int32_t>, "arrays hold float, double or int32");
    return Segment::Kind::i32;
  }
}

// f(name, pointer, rows, cols, ld&, is_vector) for every array of a view. Pointers are passed by reference.
template <class E, Space S, class F>
void each_array(const std::string& name, VecView<E, S>& v, F&& f) {
  std::int64_t ld = v.size;
  f(name, v.data, std::int64_t{1}, v.size, ld, true);
}
template <class E, Space S, class F>
void each_array(const std::string& name, DenseView<E, S>& v, F&& f) {
  f(name, v.data, v.rows, v.cols, v.ld, false);
}
template <class E, Space S, class F>
void each_array(const std::string& name, CsrView<E, S>& v, F&& f) {
  std::int64_t pointers = v.rows + 1, entries = v.nnz, values = v.nnz;
  f(name + ".row_ptr", v.row_ptr, std::int64_t{1}, v.rows + 1, pointers, true);
  f(name + ".col", v.col, std::int64_t{1}, v.nnz, entries, true);
  f(name + ".val", v.val, std::int64_t{1}, v.nnz, values, true);
}

// What travels: problem, inputs and outputs as they are, pointers as offsets.
template <class Op, class T, Space S>
struct Views {
  typename Op::template Problem<T> problem;
  typename Op::template In<T, S> in;
  typename Op::template Out<T, S> out;
};

template <class P>
void set_pointer(P*& pointer, std::int64_t value) {
  pointer = reinterpret_cast<P*>(value);
}

}  // namespace detail

template <class Op, class T>
class PreparedCaseOf final : public PreparedCase {
 public:
  explicit PreparedCaseOf(const Case& c) : fill_(c.fill) {
    for (const char* key : Op::kExtents) extents_.push_back(c.number_or(key, 0));
    Op::template make<T>(c, instance_);
    Op::template validate<T>(instance_.problem, instance_.in, instance_.out);
  }

  StagedViews place(ImageLayout& layout) const override {
    detail::Views<Op, T, Space::host> views{instance_.problem, instance_.in, instance_.out};
    static_assert(std::is_trivially_copyable_v<decltype(views)>,
                  "Problem, In and Out travel to child processes as bytes");
    std::size_t at = 0;
    std::map<std::size_t, std::pair<std::int64_t, std::int64_t>> kept;
    const auto add = [&](bool output) {
      return [&, output](const char* view_name, auto& view) {
        detail::each_array(
            view_name, view,
            [&](const std::string& name, auto*& data, std::int64_t rows, std::int64_t cols, std::int64_t& ld,
                bool vector) {
              Segment s;
              s.name = name;
              s.kind = detail::kind_of<std::remove_pointer_t<std::remove_reference_t<decltype(data)>>>();
              s.output = output;
              const auto [all_rows, all_cols] = room_.empty() ? std::pair(rows, cols) : room_[at++];
              s.rows = all_rows, s.cols = all_cols;
              s.source = data, s.source_ld = ld;
              const std::size_t index = layout.add_once(std::move(s), vector);
              auto& [kept_rows, kept_cols] = kept[index];  // of all views of one array
              kept_rows = std::max(kept_rows, rows), kept_cols = std::max(kept_cols, cols);
              const Segment& placed = layout.segments()[index];
              ld = placed.ld;
              detail::set_pointer(data, placed.offset);
            });
      };
    };
    Op::each_input(views.in, add(false));
    Op::each_output(views.out, add(true));
    if (!room_.empty()) {  // when all are placed: what was shrunk is no longer found to be the same
      for (const auto& [index, size] : kept) layout.shrink(index, size.first, size.second);
    }
    StagedViews bytes(sizeof views);
    std::memcpy(bytes.data(), &views, sizeof views);
    return bytes;
  }

  const Reference& reference() override {
    if (reference_.outputs.empty()) {
      const Cost work = cost();
      const ThreadsForWork threads(work.flop + work.bytes / 4);
      Op::template oracle<T>(instance_.problem, instance_.in, instance_.out, reference_);
    }
    return reference_;
  }

  const LargeArray<double>& bounds(int output, Arithmetic arithmetic) override {
    LargeArray<double>& bound = bounds_[{output, arithmetic}];
    const ReferenceArray& array = reference().outputs[static_cast<std::size_t>(output)];
    if (bound.size() != array.value.size()) {
      const Tolerance tolerance{fill_, arithmetic, kDtype<T>};
      const LargeArray<double>& magnitude = array.magnitude_under(arithmetic);
      if (magnitude.size() != array.value.size()) throw_no_bound(Op::kName, arithmetic);
      bound = LargeArray<double>(array.value.size());
      const auto elements = static_cast<std::int64_t>(bound.size());
#pragma omp parallel for schedule(static) if (elements > 8 * kStretch)
      for (std::int64_t at = 0; at < elements; ++at) {
        const auto i = static_cast<std::size_t>(at);
        // a NaN or an infinity is compared by class: its distance is 0 or infinite, and no magnitude speaks of it
        bound[i] = std::isfinite(array.value[i])
                       ? Op::bound(tolerance, output, array.value[i], magnitude[i], array.terms[i])
                       : 0;
      }
    }
    return bound;
  }

  Cost cost() const override { return Op::template cost<T>(instance_.problem, instance_.in, instance_.out); }
  bool degenerate() const override { return instance_.degenerate; }
  const std::vector<double>& extents() const override { return extents_; }

  PreparedCase* twin(Twin which) override {
    const auto [at, fresh] = twins_.try_emplace(which);
    if (fresh) {
      at->second = which == Twin::problem   ? with_other_problem()
                   : which == Twin::pattern ? with_other_pattern()
                                            : with_negated(which);
    }
    return at->second.get();
  }

  PreparedCase* neighbour(int n) override {
    if (!knows_neighbours_) find_neighbours();
    return static_cast<std::size_t>(n) < neighbours_.size() ? neighbours_[static_cast<std::size_t>(n)].get()
                                                            : nullptr;
  }

  std::string problem_class() override {
    std::string text;
    Op::each_scalar(instance_.problem, [&](const char* name, const auto& v) {
      const bool factor = std::is_floating_point_v<std::decay_t<decltype(v)>>;
      const auto number = static_cast<double>(v);
      if (number == 0 || factor)
        text += std::string(name) + (number == 0 ? "=0 " : number == 1 ? "=1 " : "=other ");
    });
    const auto note_empty = [&](const char* view_name, auto& view) {
      detail::each_array(view_name, view,
                         [&](const std::string& name, auto*&, std::int64_t rows, std::int64_t cols,
                             std::int64_t&, bool) { text += rows * cols == 0 ? "no " + name + " " : ""; });
    };
    Op::each_input(instance_.in, note_empty), Op::each_output(instance_.out, note_empty);
    return text;
  }

 private:
  PreparedCaseOf() = default;

  static constexpr std::size_t kMostNeighbours = 20;

  // Rows and columns of every array.
  std::vector<std::pair<std::int64_t, std::int64_t>> rooms() {
    std::vector<std::pair<std::int64_t, std::int64_t>> all;
    const auto add = [&](const char* view_name, auto& view) {
      detail::each_array(view_name, view,
                         [&](const std::string&, auto*&, std::int64_t rows, std::int64_t cols, std::int64_t&,
                             bool) { all.emplace_back(rows, cols); });
    };
    Op::each_input(instance_.in, add), Op::each_output(instance_.out, add);
    return all;
  }

  void find_neighbours() {
    knows_neighbours_ = true;
    for (int n = 0; neighbours_.size() < kMostNeighbours; ++n) {
      std::unique_ptr<PreparedCaseOf> other = copied();
      const Other what = make_other_problem<Op>(other->instance_.problem, n);
      if (what == Other::no_more) break;
      if (what == Other::another && other->is_valid()) neighbours_.push_back(std::move(other));
    }
    const auto add_shorter = [&](const auto& shorter) {
      std::unique_ptr<PreparedCaseOf> other = copied();
      if (!shorter(other->instance_.in, other->instance_.out) || !other->is_valid()) return false;
      other->room_ = rooms();
      if (neighbours_.size() < kMostNeighbours) neighbours_.push_back(std::move(other));
      return true;
    };
    if constexpr (requires { Op::template shorten<T>(instance_.in, instance_.out, 0); }) {
      for (int n = 0; n < 2; ++n)
        add_shorter([n](auto& in, auto& out) { return Op::template shorten<T>(in, out, n); });
      return;
    }
    const auto valid = [&](const std::vector<std::size_t>& members) {
      return add_shorter([&](auto& in, auto& out) {
        plumb::shorten<Op>(in, out, members);
        return true;
      });
    };
    each_extent(sizes_of<Op>(instance_.in, instance_.out), valid);
  }

  // Its arrays are this case's.
  std::unique_ptr<PreparedCaseOf> copied() const {
    std::unique_ptr<PreparedCaseOf> other(new PreparedCaseOf);
    other->fill_ = fill_, other->extents_ = extents_;
    other->instance_.problem = instance_.problem, other->instance_.in = instance_.in,
    other->instance_.out = instance_.out;
    other->instance_.degenerate = instance_.degenerate;
    return other;
  }
  // Whether the contract allows it: it may ask for a sign.
  bool is_valid() const {
    try {
      Op::template validate<T>(instance_.problem, instance_.in, instance_.out);
      return true;
    } catch (const std::exception&) { return false; }
  }

  std::unique_ptr<PreparedCaseOf> with_other_problem() const {
    std::unique_ptr<PreparedCaseOf> other = copied();
    const bool another = make_other_problem<Op>(other->instance_.problem, 0) == Other::another;
    return another && other->is_valid() ? std::move(other) : nullptr;
  }

  // As many rows, columns and entries, and all entries in their order. A row may hold one column of several rows: terms that repeat, for
  // which the bound of few values holds (docs/bounds.md).
  std::unique_ptr<PreparedCaseOf> with_other_pattern() const {
    if constexpr (requires { instance_.in.A.row_ptr; }) {
      std::unique_ptr<PreparedCaseOf> other = copied();
      if (!is_bitwise(fill_)) other->fill_ = Fill::few;
      const auto& before = instance_.in.A;
      auto* const row_ptr = other->instance_.arena.template allocate<std::int32_t>(before.rows + 1);
      row_ptr[0] = 0;
      bool same = true;
      for (std::int64_t i = 0; i < before.rows; ++i) {
        const std::int64_t from = before.rows - 1 - i;
        row_ptr[i + 1] = row_ptr[i] + before.row_ptr[from + 1] - before.row_ptr[from];
        same = same && row_ptr[i + 1] == before.row_ptr[i + 1];
      }
      other->instance_.in.A.row_ptr = row_ptr;
      return !same && other->is_valid() ? std::move(other) : nullptr;
    } else {
      return nullptr;
    }
  }

  std::unique_ptr<PreparedCaseOf> with_negated(Twin which) const {
    std::unique_ptr<PreparedCaseOf> other = copied();
    int first = -1, last = -1, at = 0;  // operands of values: the last one's sign shows in every answer
    const auto each_operand = [&](auto&& f) {
      at = 0;
      Op::each_input(other->instance_.in, [&](const char* view_name, auto& view) {
        detail::each_array(
            view_name, view,
            [&](const std::string&, auto*& data, std::int64_t rows, std::int64_t cols, std::int64_t& ld,
                bool) {
              if constexpr (std::is_floating_point_v<
                                std::remove_pointer_t<std::remove_reference_t<decltype(data)>>>) {
                if (data != nullptr && rows * cols > 0) f(data, rows, cols, ld);
                ++at;
              }
            });
      });
    };
    each_operand(
        [&](auto*&, std::int64_t, std::int64_t, std::int64_t) { first = first < 0 ? at : first, last = at; });
    if (last < 0) return nullptr;
    const bool of_last = which != Twin::other_operands;
    each_operand([&](auto*& data, std::int64_t rows, std::int64_t cols, std::int64_t ld) {
      if (of_last || first == last ? at != last : at == last) return;
      T* copy = other->instance_.arena.template allocate<T>(rows * ld);
      const std::int64_t all = rows * cols, one = telling_element<T>(data, rows, cols, ld);
      for (std::int64_t i = 0; i < rows; ++i) {
        for (std::int64_t j = 0; j < cols; ++j) {
          const std::int64_t e = i * cols + j;
          const bool known = e == 0 || e == all / 2 || e == all - 1;
          const bool kept = which == Twin::one_element ? e != one : !of_last && known;
          copy[i * ld + j] = kept ? data[i * ld + j] : -data[i * ld + j];
        }
      }
      data = copy;
    });
    return other->is_valid() ? std::move(other) : nullptr;
  }

  // Of a (rows, cols) matrix the first element behind five eighths of all whose sign an answer shows; 0 where there is none.
  template <class E>
  static std::int64_t telling_element(const E* data, std::int64_t rows, std::int64_t cols, std::int64_t ld) {
    for (std::int64_t e = rows * cols * 5 / 8 + 1; e < rows * cols; ++e) {
      const E value = data[e / cols * ld + e % cols];
      if (value != 0 && std::isfinite(value)) return e;
    }
    return 0;
  }

  Fill fill_ = Fill::real;
  std::vector<double> extents_;
  Instance<Op, T> instance_;
  Reference reference_;
  std::map<std::pair<int, Arithmetic>, LargeArray<double>> bounds_;
  std::map<Twin, std::unique_ptr<PreparedCaseOf>> twins_;
  std::vector<std::unique_ptr<PreparedCaseOf>> neighbours_;
  bool knows_neighbours_ = false;
  std::vector<std::pair<std::int64_t, std::int64_t>>
      room_;  // rows and columns of each array's place, where that is larger
};

// A second caller of the same problem and inputs, with a plan and outputs of its own, which nobody looks at: what the variant keeps beside
// its plan is used by both. On the host it has a thread, elsewhere a stream, and on the CPU executor both.
template <class Op, class T, Space S>
class SecondCaller {
 public:
  using Kernel = Variant<Op, T, S>;
  SecondCaller(const Kernel& variant, const detail::Views<Op, T, S>& views, const Call& i)
      : variant_(variant), views_(views), context_(*i.context), together_(i.together), calls_(i.callers > 1) {
    if (!calls_) return;
    context_.stream = i.second_stream, context_.plan = nullptr;
    Op::each_output(views_.out, [this](const char* view_name, auto& view) {
      detail::each_array(
          view_name, view,
          [this](const std::string&, auto*& data, std::int64_t rows, std::int64_t, std::int64_t& ld, bool) {
            const auto bytes = rows * ld * static_cast<std::int64_t>(sizeof *data);
            detail::set_pointer(
                data, reinterpret_cast<std::int64_t>(context_.workspace(std::max<std::int64_t>(bytes, 1))));
          });
    });
    if (variant_.prepare != nullptr)
      context_.plan = variant_.prepare(views_.problem, views_.in, views_.out, context_);
  }
  ~SecondCaller() {
    if (calls_ && variant_.release != nullptr) variant_.release(context_.plan);
  }
  SecondCaller(const SecondCaller&) = delete;
  SecondCaller& operator=(const SecondCaller&) = delete;

  // Both calls.
  template <class First>
  void beside(First&& first) {
    if (!calls_) return first();
    if constexpr (S == Space::host) {
      std::exception_ptr thrown;
      std::atomic<int> there{0};
      const auto meet = [&there] {  // a start takes longer than a small case
        for (++there; there < 2;) std::this_thread::yield();
      };
      std::thread other = start_thread([&] {
        try {
          meet();
          run();
        } catch (...) { thrown = std::current_exception(); }
      });
      try {
        meet();
        first();
      } catch (...) { thrown = std::current_exception(); }
      other.join();
      if (thrown) std::rethrow_exception(thrown);
    } else if (together_) {
      together_(first, [this] { run(); });
    } else {
      first();
      run();
    }
  }

 private:
  void run() { variant_.run(views_.problem, views_.in, views_.out, context_); }

  const Kernel& variant_;
  detail::Views<Op, T, S> views_;
  Context context_;
  const decltype(Call::together)& together_;
  bool calls_;
};

// A plan of another problem, which is alive while that of the invocation is used: each must be its own. Not where the call is timed.
template <class Op, class T, Space S>
class SecondPlan {
 public:
  using Kernel = Variant<Op, T, S>;
  SecondPlan(const Kernel& variant, detail::Views<Op, T, S> views, const Call& i)
      : variant_(variant), context_(*i.context) {
    if (variant.prepare == nullptr || i.again || !make_rowless(views.in, views.out)) return;
    if (variant.supports != nullptr && variant.supports(views.problem, views.in, views.out) != nullptr)
      return;
    plan_ = variant.prepare(views.problem, views.in, views.out, context_);
  }
  ~SecondPlan() {
    if (plan_ != nullptr && variant_.release != nullptr) variant_.release(plan_);
  }
  SecondPlan(const SecondPlan&) = delete;
  SecondPlan& operator=(const SecondPlan&) = delete;

 private:
  const Kernel& variant_;
  Context context_;  // a copy: what it says of its choice is lost, and its plan is another
  void* plan_ = nullptr;
};

template <Operator Op>
class OperatorAdapter final : public OperatorEntry {
 public:
  std::string name() const override { return Op::kName; }

  std::vector<Case> cases() const override {
    CaseList list(Op::kName);
    Op::cases(list);
    return list.all();
  }

  CaseSpace space() const override {
    CaseSpace described(Op::kName);
    Op::describe(described);
    return described;
  }

  std::vector<VariantInfo> variants(Device device) const override {
    std::vector<VariantInfo> all;
    collect<float, Space::host>(all, Device::cpu), collect<double, Space::host>(all, Device::cpu);
    collect<float, Space::device>(all, device), collect<double, Space::device>(all, device);
    std::sort(all.begin(), all.end(), [](const VariantInfo& a, const VariantInfo& b) {
      return std::tie(a.mutant, a.device, a.name, a.dtype) < std::tie(b.mutant, b.device, b.name, b.dtype);
    });
    return all;
  }

  std::unique_ptr<PreparedCase> prepare(const Case& c) const override {
    try {
      if (c.dtype == Dtype::f32) return std::make_unique<PreparedCaseOf<Op, float>>(c);
      return std::make_unique<PreparedCaseOf<Op, double>>(c);
    } catch (const std::bad_alloc& e) { throw_no_memory(c, e); }
  }

  std::string invoke(const Call& i) const override {
    const bool host = i.device == Device::cpu;
    if (i.dtype == Dtype::f32) return host ? call<float, Space::host>(i) : call<float, Space::device>(i);
    return host ? call<double, Space::host>(i) : call<double, Space::device>(i);
  }

  CallInfo relocate(Dtype dtype, std::byte* views, const Placer& placer) const override {
    return dtype == Dtype::f32 ? unpack_as<float>(views, placer) : unpack_as<double>(views, placer);
  }

 private:
  template <class T, Space S>
  static std::string full_name(const Variant<Op, T, S>& v, Device device) {
    if (v.origin[0] != '\0') return std::string(v.origin) + "/" + v.name;
    return std::string(device == Device::cpu ? "cpu/" : "gpu/") + v.name;
  }

  template <class T, Space S>
  void collect(std::vector<VariantInfo>& all, Device device) const {
    for (const auto* v = plumb::variants<Op, T, S>; v != nullptr; v = v->next) {
      all.push_back({Op::kName, full_name(*v, device), kDtype<T>, device, v->traits, false, {0, "", "", 0}});
      all.back().prepares = v->prepare != nullptr;
    }
    for (const auto* m = mutants<Op, T, S>; m != nullptr; m = m->next) {
      all.push_back({Op::kName, std::string("mutant/") + m->variant.name, kDtype<T>, device,
                     m->variant.traits, true, m->info});
      all.back().prepares = m->variant.prepare != nullptr;
    }
  }

  // Views of a device and of the host differ in what may index them, not in what they hold.
  template <class T>
  CallInfo unpack_as(std::byte* bytes, const Placer& placer) const {
    CallInfo info;
    auto& views = *reinterpret_cast<detail::Views<Op, T, Space::host>*>(bytes);
    const auto number = [&](const std::string& name, double v) { info.scalars.emplace_back(name, v); };
    Op::each_scalar(views.problem, [&](const char* name, auto v) { number(name, static_cast<double>(v)); });
    const auto add = [&](bool output) {
      return [&, output](const char* view_name, auto& view) {
        if constexpr (requires { view.nnz; }) {
          number(std::string(view_name) + ".rows", static_cast<double>(view.rows));
          number(std::string(view_name) + ".cols", static_cast<double>(view.cols));
          number(std::string(view_name) + ".nnz", static_cast<double>(view.nnz));
        }
        detail::each_array(view_name, view,
                           [&](const std::string& name, auto*& data, std::int64_t rows, std::int64_t cols,
                               std::int64_t& ld, bool vector) {
                             using Element = std::remove_pointer_t<std::remove_reference_t<decltype(data)>>;
                             ArrayInfo& array = info.arrays.emplace_back();
                             array = {name,   detail::kind_of<Element>(), output, vector, rows, cols, ld,
                                      nullptr};
                             array.data = placer(array, reinterpret_cast<std::int64_t>(data));
                             ld = array.ld;
                             detail::set_pointer(data, reinterpret_cast<std::int64_t>(array.data));
                           });
      };
    };
    Op::each_input(views.in, add(false));
    Op::each_output(views.out, add(true));
    return info;
  }

  // What prepare() is told: in some runs other factors, which the variant must support as well.
  template <class T, Space S>
  static auto problem_of_plan(const Variant<Op, T, S>& variant, const detail::Views<Op, T, S>& views,
                              const Call& i) {
    auto other = views.problem;
    if (!i.plan_of_other_numbers || !make_other_numbers(other)) return views.problem;
    const bool refused =
        variant.supports != nullptr && variant.supports(other, views.in, views.out) != nullptr;
    return refused ? views.problem : other;
  }

  // The inputs that prepare() is told of: in some runs vectors have other values, which it may not keep. Where memory is the host's.
  template <class T, Space S>
  static auto inputs_of_plan(const typename Op::template In<T, S>& in, const Call& i) {
    auto other = in;
    if (!i.plan_of_other_vectors) return other;
    Op::each_input(other, [&](const char*, auto& view) {
      if constexpr (requires { view.size; }) {
        auto* const ones = static_cast<T*>(i.context->workspace(std::max<std::int64_t>(view.size, 1) *
                                                                static_cast<std::int64_t>(sizeof(T))));
        std::fill_n(ones, view.size, T(1));
        view.data = ones;
      }
    });
    return other;
  }

  template <class T, Space S>
  std::string call(const Call& i) const {
    const Variant<Op, T, S>* variant = nullptr;
    const Device device = S == Space::host ? Device::cpu : Device::gpu;
    for (const auto* v = plumb::variants<Op, T, S>; v != nullptr; v = v->next) {
      if (full_name(*v, device) == i.variant) variant = v;
    }
    for (const auto* m = mutants<Op, T, S>; m != nullptr; m = m->next) {
      if (std::string("mutant/") + m->variant.name == i.variant) variant = &m->variant;
    }
    if (variant == nullptr) throw_unknown_variant(Op::kName, i.variant);
    auto& views = *reinterpret_cast<detail::Views<Op, T, S>*>(i.views);
    const auto rebase = [&](const char* view_name, auto& view) {
      detail::each_array(
          view_name, view,
          [&](const std::string&, auto*& data, std::int64_t, std::int64_t, std::int64_t&, bool) {
            detail::set_pointer(
                data, reinterpret_cast<std::int64_t>(i.base) + reinterpret_cast<std::int64_t>(data));
          });
    };
    Op::each_input(views.in, rebase);
    Op::each_output(views.out, rebase);
    if (variant->supports != nullptr) {
      if (const char* reason = variant->supports(views.problem, views.in, views.out)) return reason;
    }
    if (variant->prepare != nullptr) {
      if (i.before_prepare) i.before_prepare();
      i.context->plan = variant->prepare(problem_of_plan(*variant, views, i),
                                         inputs_of_plan<T, S>(views.in, i), views.out, *i.context);
    }
    const SecondPlan second(*variant, views, i);
    SecondCaller other(*variant, views, i);
    do {
      i.before_run();
      other.beside([&] { variant->run(views.problem, views.in, views.out, *i.context); });
      i.after_run();
    } while (i.again && i.again());
    if (variant->release != nullptr) variant->release(i.context->plan);
    return {};
  }
};

}  // namespace plumb
