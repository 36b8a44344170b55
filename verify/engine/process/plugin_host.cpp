#include "verify/engine/process/plugin_host.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>

#include <fmt/format.h>

#include "gpu/plugin/loader.hpp"
#include "reference/core/error.hpp"
#include "reference/core/text.hpp"
#include "verify/engine/operator/operators.hpp"
#include "verify/engine/process/simt_device.hpp"
#include "verify/engine/process/worker.hpp"

namespace plumb {
namespace {

static_assert(kArithmetics[PLUMB_FP8_FAST].arithmetic == Arithmetic::fp8_fast &&
                  kArithmetics[PLUMB_ONE_PASS].arithmetic == Arithmetic::one_pass &&
                  kArithmetics[PLUMB_BY_LSE].arithmetic == Arithmetic::by_lse &&
                  kArithmetics[PLUMB_FLUSHED].arithmetic == Arithmetic::flushed &&
                  kArithmetics[PLUMB_WINOGRAD].arithmetic == Arithmetic::winograd &&
                  kArithmetics[PLUMB_FP16].arithmetic == Arithmetic::fp16 &&
                  kArithmetics[PLUMB_TF32].arithmetic == Arithmetic::tf32 &&
                  kArithmetics[PLUMB_COMPENSATED].arithmetic == Arithmetic::compensated,
              "plugin_abi.h numbers arithmetic as abi.hpp does");

// How plugin_abi.h numbers formats.
constexpr std::pair<Format, int> kFormatNumbers[] = {
    {Format::f32, PLUMB_F32},       {Format::f64, PLUMB_F64},        {Format::i32, PLUMB_I32},
    {Format::f16, PLUMB_TYPE_F16},  {Format::bf16, PLUMB_TYPE_BF16}, {Format::e4m3, PLUMB_TYPE_E4M3},
    {Format::e5m2, PLUMB_TYPE_E5M2}};

int number_of(Format format) {
  for (const auto& [known, number] : kFormatNumbers) {
    if (known == format) return number;
  }
  throw Error(fmt::format("plug-ins know no format {}", facts(format).name));
}

int number_of(Dtype dtype) {
  const DtypeFacts& d = facts(dtype);
  const int in = number_of(d.in), out = number_of(d.out);
  return in == out ? in : PLUMB_MIXED(in, out);
}

// An array as version 1 has it.
struct ArrayOfVersion1 {
  const char* name;
  std::int32_t dtype, rank;
  std::int64_t shape[2], ld;
  std::int32_t is_output, reserved;
  void* data;
};

// The arrays of a call as the library's version of the interface has them.
class CallArrays {
 public:
  CallArrays(const std::vector<ArrayInfo>& arrays, std::uint32_t version) : version_(version) {
    for (const ArrayInfo& a : arrays) {
      const int kind = number_of(a.kind), output = a.output ? 1 : 0;
      const std::int64_t rows = a.vector ? a.cols : a.rows, cols = a.vector ? 1 : a.cols,
                         ld = a.vector ? 1 : a.ld;
      const char* const name = a.name.c_str();
      if (version == 1) {
        old_.push_back({name, kind, a.vector ? 1 : 2, {rows, cols}, ld, output, 0, a.data});
      } else {
        now_.push_back({name,
                        kind,
                        a.vector ? 1 : 2,
                        {rows, cols, 1, 1},
                        {ld, a.vector ? 0 : 1, 0, 0},
                        ld,
                        output,
                        0,
                        a.data});
      }
    }
  }
  [[nodiscard]] const plumb_array* data() const {
    return version_ == 1 ? reinterpret_cast<const plumb_array*>(old_.data()) : now_.data();
  }
  [[nodiscard]] std::int32_t count() const { return static_cast<std::int32_t>(old_.size() + now_.size()); }

 private:
  std::uint32_t version_;
  std::vector<ArrayOfVersion1> old_;
  std::vector<plumb_array> now_;
};

const Plugin& opened(const std::string& path) {
  static std::map<std::string, std::unique_ptr<Plugin>> open;
  std::unique_ptr<Plugin>& plugin = open[path];
  if (plugin) return *plugin;
  if (open_plugin == nullptr) {
    plugin = std::make_unique<Plugin>(path);
  } else {
    const char* trouble = "it does not say why";
    const plumb_plugin* const list = open_plugin(path.c_str(), &trouble);
    if (list == nullptr) throw input_error(path, 0, trouble);
    plugin = std::make_unique<Plugin>(path, list);
  }
  return *plugin;
}

void* allocate(plumb_context* c, std::int64_t bytes) {
  try {
    return static_cast<Context*>(c->owner)->workspace(bytes);
  } catch (const std::exception&) {
    return nullptr;  // an exception must not pass through C
  }
}

void explain_choice(plumb_context* c, const char* text) {
  if (text != nullptr) static_cast<Context*>(c->owner)->explain(text);
}

}  // namespace

Format format_of_number(int number) {
  for (const auto& [format, known] : kFormatNumbers) {
    if (known == number) return format;
  }
  throw Error(fmt::format("no format has the number {}", number));
}

Dtype dtype_of_number(int number) {
  for (const DtypeFacts& d : kDtypes) {
    if (number_of(d.dtype) == number) return d.dtype;
  }
  throw Error(fmt::format("no type of a case has the number {}", number));
}

Arithmetic arithmetic_of_numbers(int arithmetic, int accumulate) {
  if (arithmetic < PLUMB_NATIVE || arithmetic > PLUMB_FP8_FAST)
    throw Error(fmt::format("no arithmetic has the number {}", arithmetic));
  Arithmetic made = kArithmetics[arithmetic].arithmetic;
  if (accumulate != 0) made.accumulate = format_of_number(accumulate - PLUMB_SUMS_IN(0));
  return made;
}

RunReply describe_plugin(const std::string& path) {
  RunReply reply;
  try {
    const bool first = opened(path).version() == 1;
    for (const plumb_variant* v : opened(path).variants()) {
      reply.findings.push_back(fmt::format("{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}", v->op, v->name, v->dtype,
                                           v->device, v->arithmetic, v->flags, v->alignment, v->min_sm,
                                           first ? 0 : v->accumulate));
    }
  } catch (const Error& e) {
    reply.status = RunReply::Status::error;
    reply.text = e.what();
  }
  return reply;
}

std::string python_worker(bool on_executor) {
  const char* const named = std::getenv("PLUMB_PYTHON");
  const std::string library = worker_beside("libplumbline.so");
  const std::string where = library.empty() ? "" : "PLUMB_LIBRARY=" + library + kWordEnd;
  const std::string device = on_executor ? std::string("PLUMB_DEVICE=simt") + kWordEnd : "";
  return fmt::format("/usr/bin/env{0}{1}{2}{3}{0}-m{0}plumbline.worker", kWordEnd, where, device,
                     named != nullptr && *named != '\0' ? named : "python3");
}

std::string plugin_tables() {
  std::string formats, dtypes, arithmetics;
  const auto add = [](std::string& list, std::string_view name, int number) {
    list += fmt::format("{}\"{}\": {}", list.empty() ? "" : ", ", name, number);
  };
  for (const auto& [format, number] : kFormatNumbers) add(formats, facts(format).name, number);
  for (const DtypeFacts& d : kDtypes) add(dtypes, d.name, number_of(d.dtype));
  int number = 0;
  for (const NamedArithmetic& a : kArithmetics) add(arithmetics, a.name, number++);
  return fmt::format(
      "{{\"version\": {}, \"sizes\": {{\"variant\": {}, \"call\": {}, \"context\": {}, \"array\": {}, "
      "\"scalar\": {}}}, \"formats\": {{{}}}, \"dtypes\": {{{}}}, \"arithmetics\": {{{}}}}}",
      PLUMB_PLUGIN_VERSION, sizeof(plumb_variant), sizeof(plumb_call), sizeof(plumb_context),
      sizeof(plumb_array), sizeof(plumb_scalar), formats, dtypes, arithmetics);
}

std::vector<VariantInfo> list_plugin(const std::string& path, const std::string& program) {
  if (program.empty() && access(path.c_str(), R_OK) != 0)
    throw input_error(path, 0, "cannot open the plug-in", std::strerror(errno));
  Worker worker(program.empty() ? this_program() : program);
  RunRequest request;
  request.call.op = kListPlugin;
  request.call.plugin = path;
  const Worker::Outcome outcome = worker.run(request, kPluginOpening);
  if (outcome.kind != Worker::Outcome::Kind::replied)
    throw input_error(path, 0, "opening the plug-in failed: " + outcome.how);
  if (outcome.reply.status != RunReply::Status::ok) throw Error(outcome.reply.text);
  std::vector<std::string> known;
  for (const auto& entry : operators()) known.push_back(entry->name());
  std::vector<VariantInfo> all;
  for (const std::string& line : outcome.reply.findings) {
    const std::vector<std::string> field = split(line, '\t');
    if (field.size() != 9) throw input_error(path, 0, "malformed variant list from the plug-in");
    const auto number = [&](std::size_t i) { return std::stoi(field[i]); };
    VariantInfo v;
    v.op = field[0], v.name = "user/" + field[1], v.plugin = path;
    if (std::find(known.begin(), known.end(), v.op) == known.end()) {
      throw input_error(path, 0,
                        fmt::format("variant {}: no operator is called '{}'{} (verify --list)", field[1],
                                    printable(v.op), did_you_mean(v.op, known)));
    }
    v.dtype = dtype_of_number(number(2));
    v.device = number(3) == PLUMB_CUDA ? Device::gpu : Device::cpu;
    v.traits = Traits{arithmetic_of_numbers(number(4), number(8)), (number(5) & PLUMB_NOT_REPRODUCIBLE) == 0,
                      number(6), number(7), (number(5) & PLUMB_FINITE_ONLY) != 0};
    all.push_back(std::move(v));
  }
  return all;
}

std::string invoke_plugin(const std::string& path, const OperatorEntry& entry, const Call& i) {
  const std::string bare = i.variant.substr(i.variant.find('/') + 1);
  const int dtype = number_of(i.dtype);
  const plumb_variant* variant = opened(path).find(entry.name(), bare, dtype);
  if (variant == nullptr)
    throw input_error(path, 0,
                      fmt::format("has no variant {} of {} in {}", bare, entry.name(), name(i.dtype)));
  const CallInfo info = entry.unpack(i.dtype, i.views, i.base);
  const CallArrays arrays(info.arrays, opened(path).version());
  std::vector<plumb_scalar> scalars;
  for (const auto& [scalar, value] : info.scalars) scalars.push_back({scalar.c_str(), value});
  plumb_context context{sizeof(plumb_context), 0, i.context->stream, allocate, explain_choice, i.context};
  const plumb_call call{sizeof(plumb_call),
                        dtype,
                        variant->op,
                        arrays.data(),
                        scalars.data(),
                        arrays.count(),
                        static_cast<std::int32_t>(scalars.size()),
                        &context};
  if (variant->supports != nullptr) {
    if (const char* reason = variant->supports(&call))
      return reason[0] != '\0' ? reason : "it does not say why";
  }
  const char* trouble = nullptr;
  do {
    i.before_run();
    trouble = variant->run(&call);
    i.after_run();
  } while (trouble == nullptr && i.again && i.again());
  const char* const who = open_plugin == nullptr ? "the plug-in says: " : "";
  if (trouble != nullptr) throw Error(who + printable(trouble, 300));
  return {};
}

}  // namespace plumb
