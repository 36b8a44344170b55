// Fuzzes gzip and tar.
#include "datasets/fuzz/harness.hpp"
#include "datasets/io/byte_source.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return plumb::fuzz::run(data, size, [](std::string_view bytes) {
    const auto source = plumb::memory_source("t", bytes);
    plumb::TarReader tar(*source);
    plumb::TarReader::Member member;
    bool skip = false;
    while (tar.next(member)) {
      if (!skip) plumb::fuzz::must(static_cast<std::int64_t>(tar.content().size()) == member.size);
      skip = !skip;
    }
  });
}
