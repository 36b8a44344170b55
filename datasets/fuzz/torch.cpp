// Fuzzes the reader of PyTorch's tensors: a pickle in a zip, which is never executed.
#include "datasets/formats/torch_file.hpp"
#include "datasets/fuzz/harness.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return plumb::fuzz::run(data, size, [](std::string_view bytes) {
    for (const auto& [name, tensor] : plumb::read_torch_tensors(*plumb::memory_source("t", bytes)))
      plumb::fuzz::must(static_cast<std::int64_t>(tensor.bytes.size()) == tensor.count() * tensor.item);
  });
}
