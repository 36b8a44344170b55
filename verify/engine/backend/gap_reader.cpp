#include "verify/engine/backend/gap_reader.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "verify/engine/operator/resources.hpp"

namespace plumb {

GapReader::GapReader(const CallInfo& call) {
  std::copy_if(call.arrays.begin(), call.arrays.end(), std::back_inserter(outputs_),
               [](const ArrayInfo& a) { return a.output && a.rows > 1 && a.cols > 0 && a.ld > a.cols; });
  if (outputs_.empty()) return;
  thread_ = start_thread([this] { read(); });
  while (!done_.load(std::memory_order_relaxed)) std::this_thread::yield();
}

GapReader::~GapReader() {
  if (thread_.joinable()) thread_.join();
}

void GapReader::read() {
  for (const ArrayInfo& a : outputs_) {
    const std::int64_t row = a.ld * a.element_bytes(), used = a.cols * a.element_bytes();
    const auto* const begin = static_cast<const volatile unsigned char*>(a.data);
    for (std::int64_t i = 0; i + 1 < a.rows; ++i) {
      const auto* const gap = begin + i * row;
      if (used % 4 == 0 && row % 4 == 0) {
        for (std::int64_t byte = used; byte < row; byte += 4)
          (void)*reinterpret_cast<const volatile std::uint32_t*>(gap + byte);
      } else {  // elements of one or two bytes
        for (std::int64_t byte = used; byte < row; ++byte) (void)gap[byte];
      }
    }
  }
  done_.store(true, std::memory_order_relaxed);
}

}  // namespace plumb
