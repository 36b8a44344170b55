#include "verify/engine/plugin_host.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <map>
#include <memory>

#include <fmt/format.h>

#include "gpu/plugin/loader.hpp"
#include "reference/core/error.hpp"
#include "reference/core/text.hpp"
#include "verify/engine/operators.hpp"
#include "verify/engine/worker.hpp"

namespace plumb {
namespace {

static_assert(kArithmetics[PLUMB_ONE_PASS].arithmetic == Arithmetic::one_pass &&
                  kArithmetics[PLUMB_BY_LSE].arithmetic == Arithmetic::by_lse &&
                  kArithmetics[PLUMB_FLUSHED].arithmetic == Arithmetic::flushed &&
                  kArithmetics[PLUMB_WINOGRAD].arithmetic == Arithmetic::winograd &&
                  kArithmetics[PLUMB_FP16].arithmetic == Arithmetic::fp16 &&
                  kArithmetics[PLUMB_TF32].arithmetic == Arithmetic::tf32 &&
                  kArithmetics[PLUMB_COMPENSATED].arithmetic == Arithmetic::compensated,
              "plugin_abi.h numbers arithmetic as abi.hpp does");

// How plugin_abi.h numbers formats and types.
constexpr std::pair<Format, int> kFormatNumbers[] = {
    {Format::f32, PLUMB_F32}, {Format::f64, PLUMB_F64}, {Format::i32, PLUMB_I32}};
constexpr std::pair<Dtype, int> kDtypeNumbers[] = {{Dtype::f32, PLUMB_F32}, {Dtype::f64, PLUMB_F64}};

template <class E, std::size_t N>
int number_of(const std::pair<E, int> (&numbers)[N], E value) {
  for (const auto& [known, number] : numbers) {
    if (known == value) return number;
  }
  throw Error(fmt::format("plug-ins of version {} know no {}", PLUMB_PLUGIN_VERSION, facts(value).name));
}

// Of a number that the loader has checked.
Dtype dtype_of(int number) {
  for (const auto& [dtype, known] : kDtypeNumbers) {
    if (known == number) return dtype;
  }
  throw Error(fmt::format("a plug-in's type is numbered {}", number));
}

const Plugin& opened(const std::string& path) {
  static std::map<std::string, std::unique_ptr<Plugin>> open;
  std::unique_ptr<Plugin>& plugin = open[path];
  if (!plugin) plugin = std::make_unique<Plugin>(path);
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

RunReply describe_plugin(const std::string& path) {
  RunReply reply;
  try {
    for (const plumb_variant* v : opened(path).variants()) {
      reply.findings.push_back(fmt::format("{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}", v->op, v->name, v->dtype,
                                           v->device, v->arithmetic, v->flags, v->alignment, v->min_sm));
    }
  } catch (const Error& e) {
    reply.status = RunReply::Status::error;
    reply.text = e.what();
  }
  return reply;
}

std::vector<VariantInfo> list_plugin(const std::string& path, const std::string& program) {
  if (access(path.c_str(), R_OK) != 0)
    throw input_error(path, 0, "cannot open the plug-in", std::strerror(errno));
  Worker worker(program.empty() ? this_program() : program);
  RunRequest request;
  request.call.op = kListPlugin;
  request.call.plugin = path;
  const Worker::Outcome outcome = worker.run(request, 30);
  if (outcome.kind != Worker::Outcome::Kind::replied)
    throw input_error(path, 0, "opening the plug-in failed: " + outcome.how);
  if (outcome.reply.status != RunReply::Status::ok) throw Error(outcome.reply.text);
  std::vector<std::string> known;
  for (const auto& entry : operators()) known.push_back(entry->name());
  std::vector<VariantInfo> all;
  for (const std::string& line : outcome.reply.findings) {
    const std::vector<std::string> field = split(line, '\t');
    if (field.size() != 8) throw input_error(path, 0, "malformed variant list from the plug-in");
    const auto number = [&](std::size_t i) { return std::stoi(field[i]); };
    VariantInfo v;
    v.op = field[0], v.name = "user/" + field[1], v.plugin = path;
    if (std::find(known.begin(), known.end(), v.op) == known.end()) {
      throw input_error(path, 0,
                        fmt::format("variant {}: no operator is called '{}'{} (verify --list)", field[1],
                                    printable(v.op), did_you_mean(v.op, known)));
    }
    v.dtype = dtype_of(number(2));
    v.device = number(3) == PLUMB_CUDA ? Device::gpu : Device::cpu;
    v.traits = Traits{kArithmetics[number(4)].arithmetic, (number(5) & PLUMB_NOT_REPRODUCIBLE) == 0,
                      number(6), number(7)};
    all.push_back(std::move(v));
  }
  return all;
}

std::string invoke_plugin(const std::string& path, const OperatorEntry& entry, const Call& i) {
  const std::string bare = i.variant.substr(i.variant.find('/') + 1);
  const int dtype = number_of(kDtypeNumbers, i.dtype);
  const plumb_variant* variant = opened(path).find(entry.name(), bare, dtype);
  if (variant == nullptr)
    throw input_error(path, 0,
                      fmt::format("has no variant {} of {} in {}", bare, entry.name(), name(i.dtype)));
  const CallInfo info = entry.unpack(i.dtype, i.views, i.base);
  std::vector<plumb_array> arrays;
  for (const ArrayInfo& a : info.arrays) {
    arrays.push_back({a.name.c_str(),
                      number_of(kFormatNumbers, a.kind),
                      a.vector ? 1 : 2,
                      {a.vector ? a.cols : a.rows, a.vector ? 1 : a.cols},
                      a.vector ? 1 : a.ld,
                      a.output ? 1 : 0,
                      0,
                      a.data});
  }
  std::vector<plumb_scalar> scalars;
  for (const auto& [scalar, value] : info.scalars) scalars.push_back({scalar.c_str(), value});
  plumb_context context{sizeof(plumb_context), 0, i.context->stream, allocate, explain_choice, i.context};
  const plumb_call call{sizeof(plumb_call),
                        dtype,
                        variant->op,
                        arrays.data(),
                        scalars.data(),
                        static_cast<std::int32_t>(arrays.size()),
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
  if (trouble != nullptr) throw Error(fmt::format("the plug-in says: {}", printable(trouble, 300)));
  return {};
}

}  // namespace plumb
