// Runs one kernel of a module of PTX on the CPU executor: tools/plumb simt MODULE.ptx.
#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "gpu/simt/host/api.hpp"
#include "gpu/simt/host/ptx_modules.hpp"
#include "gpu/simt/ptx/program/arguments.hpp"
#include "reference/core/error.hpp"

namespace {

using plumb::input_error;
using plumb::simt::PtxModule;
using plumb::simt::ptx::Argument;
using plumb::simt::ptx::Kernel;

constexpr const char* kUsage =
    "simt MODULE.ptx [--kernel NAME] [--grid X,Y,Z] [--block X,Y,Z] [--cluster X,Y,Z] [--shared BYTES]\n"
    "     [--cooperative] [--launches N] [--print N] [--save ARRAY=FILE] --arg 'x:f32[1024]=iota' --arg "
    "i32=1024 ...\n"
    "  an array holds zeros, ones, iota, random, unset, a number, or a file's bytes (.npy or raw); each is "
    "checked by itself\n"
    "  without --kernel: what the module has\n";

struct Order {
  std::string file, kernel;
  dim3 grid{1, 1, 1}, block{0, 0, 0}, cluster{0, 0, 0};
  unsigned shared = 0, launches = 1;
  std::size_t shown = 8;
  bool cooperative = false;
  std::vector<std::string> saved;
  std::vector<Argument> arguments;
};

unsigned number(const char* option, const std::string& word) {
  char* end = nullptr;
  const unsigned long v = std::strtoul(word.c_str(), &end, 10);
  if (word.empty() || *end != 0 || v > 0x7fffffffu) throw input_error(option, 0, "no number", word);
  return static_cast<unsigned>(v);
}

dim3 extent(const char* option, const std::string& word) {
  unsigned v[3] = {1, 1, 1}, count = 0;
  for (std::size_t at = 0; at <= word.size();) {
    const std::size_t end = std::min(word.find_first_of(",x", at), word.size());
    if (count == 3) throw input_error(option, 0, "more than three numbers", word);
    v[count++] = number(option, word.substr(at, end - at));
    at = end + 1;
  }
  return {v[0], v[1], v[2]};
}

void take_option(Order& order, const char* option, const std::string& value) {
  const std::string name = option;
  if (name == "--kernel") {
    order.kernel = value;
  } else if (name == "--grid") {
    order.grid = extent(option, value);
  } else if (name == "--block") {
    order.block = extent(option, value);
  } else if (name == "--cluster") {
    order.cluster = extent(option, value);
  } else if (name == "--shared") {
    order.shared = number(option, value);
  } else if (name == "--launches") {
    order.launches = number(option, value);
  } else if (name == "--print") {
    order.shown = number(option, value);
  } else if (name == "--save") {
    order.saved.push_back(value);
  } else if (name == "--arg") {
    order.arguments.push_back(plumb::simt::ptx::read_argument(value, order.arguments.size()));
  } else {
    throw input_error("simt", 0, "an option that is none", name);
  }
}

Order read(int count, char** words) {
  Order order;
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i];
    if (word == "--cooperative") {
      order.cooperative = true;
    } else if (word.rfind("--", 0) == 0) {
      const std::size_t equals = word.find('=');
      const bool is_joined = equals != std::string::npos;
      if (!is_joined && i + 1 >= count) throw input_error("simt", 0, "an option without its value", word);
      take_option(order, word.substr(0, equals).c_str(), is_joined ? word.substr(equals + 1) : words[++i]);
    } else if (order.file.empty()) {
      order.file = word;
    } else {
      throw input_error("simt", 0, "more than one module", word);
    }
  }
  if (order.file.empty()) throw input_error("simt", 0, "no module of PTX", "");
  return order;
}

void list(const PtxModule& module) {
  std::printf("%s, for %s\n", module.name.c_str(), module.table->target);
  for (std::size_t i = 0; i < module.table->kernel_count; ++i) {
    const Kernel& k = module.table->kernels[i];
    std::printf("--kernel %s", k.name);
    if (k.threads > 0) std::printf(" --block %d", k.threads);
    for (std::size_t p = 0; p < k.count; ++p)
      std::printf("%s%s%s", p == 0 ? "  parameters: " : ", ", k.parameters[p].type,
                  k.parameters[p].is_pointer ? "*" : "");
    std::printf("\n");
  }
}

// The kernel's arguments as the driver takes them. Those at the end that it never reads need not be given.
class Arguments {
 public:
  Arguments(const Kernel& kernel, const std::vector<Argument>& given) : given_(given) {
    if (given.size() > kernel.count)
      throw input_error("--arg", 0, fmt::format("'{}' has {} parameters", kernel.name, kernel.count),
                        fmt::format("{} arguments", given.size()));
    for (std::size_t i = 0; i < kernel.count; ++i) {
      const auto& p = kernel.parameters[i];
      if (i >= given.size() && p.is_read)
        throw input_error("--arg", 0,
                          fmt::format("'{}' reads its parameter {}, which is not given", kernel.name, i),
                          p.type);
      values_.emplace_back(std::max<std::size_t>(p.bytes, 8));
      if (i < given.size()) place(i, p.bytes);
    }
    for (auto& v : values_) pointers_.push_back(v.data());
  }
  void** pointers() { return pointers_.data(); }

  std::vector<unsigned char> after(std::size_t i) const {
    std::vector<unsigned char> out(given_[i].bytes.size());
    if (!out.empty())
      std::memcpy(out.data(), memory_[i], out.size());  // past the checks: elements may be unset
    return out;
  }

 private:
  void place(std::size_t i, std::size_t bytes) {
    const Argument& a = given_[i];
    memory_.push_back(nullptr);
    if (!a.is_array) {
      std::memcpy(values_[i].data(), a.bytes.data(), std::min(a.bytes.size(), bytes));
      return;
    }
    if (bytes != 8) throw input_error("--arg", 0, "an array for a parameter that is no pointer", a.name);
    plumb::simt::name_array(a.name.c_str());
    if (cudaMalloc(&memory_[i], std::max<std::size_t>(a.bytes.size(), 1)) != cudaSuccess)
      throw input_error("--arg", 0, "no memory for the array", a.name);
    if (a.is_set && !a.bytes.empty())
      cudaMemcpy(memory_[i], a.bytes.data(), a.bytes.size(), cudaMemcpyHostToDevice);
    std::memcpy(values_[i].data(), &memory_[i], sizeof(void*));
  }

  const std::vector<Argument>& given_;
  std::vector<std::vector<unsigned char>> values_;
  std::vector<void*> pointers_;
  std::vector<void*> memory_;
};

void launch(const Order& order, CUfunction function, void** arguments) {
  cudaLaunchAttribute wanted[2] = {};
  unsigned count = 0;
  if (order.cluster.x != 0) {
    wanted[count].id = cudaLaunchAttributeClusterDimension;
    wanted[count++].val.clusterDim = {order.cluster.x, order.cluster.y, order.cluster.z};
  }
  if (order.cooperative) {
    wanted[count].id = cudaLaunchAttributeCooperative;
    wanted[count++].val.cooperative = 1;
  }
  CUlaunchAttribute attributes[2];
  for (unsigned i = 0; i < count; ++i) attributes[i] = {wanted[i].id, wanted[i].val};
  const CUlaunchConfig config{order.grid.x,  order.grid.y, order.grid.z, order.block.x, order.block.y,
                              order.block.z, order.shared, nullptr,      attributes,    count};
  if (order.shared > 48 * 1024)
    cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                       static_cast<int>(order.shared));
  for (unsigned i = 0; i < order.launches; ++i) {
    const CUresult e = cuLaunchKernelEx(&config, function, arguments, nullptr, {order.file.c_str(), 0});
    if (e != CUDA_SUCCESS)
      std::printf("the launch was refused: %s\n", cudaGetErrorString(static_cast<cudaError_t>(e)));
  }
  cuCtxSynchronize();
}

void save(const Order& order, const Argument& a, const std::vector<unsigned char>& bytes) {
  for (const std::string& s : order.saved) {
    if (s.rfind(a.name + "=", 0) != 0) continue;
    std::ofstream out(s.substr(a.name.size() + 1), std::ios::binary);
    out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    if (!out.flush()) throw input_error("--save", 0, "cannot be written", s);
  }
}

int run(const Order& order) {
  CUmodule module = nullptr;
  const CUresult loaded = cuModuleLoad(&module, order.file.c_str());
  if (loaded == CUDA_ERROR_FILE_NOT_FOUND) throw input_error(order.file, 0, "no such file", "");
  if (loaded != CUDA_SUCCESS) return 2;
  if (order.kernel.empty()) {
    list(*reinterpret_cast<const PtxModule*>(module));
    return 0;
  }
  CUfunction function = nullptr;
  if (cuModuleGetFunction(&function, module, order.kernel.c_str()) != CUDA_SUCCESS)
    throw input_error(order.file, 0, "no kernel of that name", order.kernel);
  const auto& kernel = *reinterpret_cast<const Kernel*>(function);
  Order complete = order;
  if (complete.block.x == 0) {
    if (kernel.threads == 0) throw input_error(order.file, 0, "the kernel needs --block", order.kernel);
    complete.block = dim3(static_cast<unsigned>(kernel.threads));
  }
  Arguments arguments(kernel, order.arguments);
  launch(complete, function, arguments.pointers());
  for (std::size_t i = 0; i < order.arguments.size(); ++i) {
    const Argument& a = order.arguments[i];
    if (!a.is_array) continue;
    const std::vector<unsigned char> after = arguments.after(i);
    std::printf("%s\n", summary(a, after, order.shown).c_str());
    save(order, a, after);
  }
  return 0;
}

}  // namespace

int main(int count, char** words) {
  if (count < 2 || std::strcmp(words[1], "--help") == 0) {
    std::fputs(kUsage, count < 2 ? stderr : stdout);
    return count < 2 ? 2 : 0;
  }
  try {
    return run(read(count, words));
  } catch (const plumb::Error& e) {
    std::fprintf(stderr, "error: %s\n", e.what());
    return 2;
  }
}
