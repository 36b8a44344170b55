// The wire between the judge and a child process: a length, then fields. The child may be hostile: whatever it sends is checked.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "verify/engine/process/request.hpp"

namespace plumb {

/// The child's descriptors: the control socket, and the shared memory of the image.
inline constexpr int kWire = 3, kImage = 4;
/// The largest image a child maps: address space, not memory.
inline constexpr std::int64_t kWindowBytes = std::int64_t{64} << 30;
inline constexpr const char* kBrokenWire = "protocol error: the variant wrote to the control socket";

/// Fields one after another. Reading throws Error(kBrokenWire) where they are not there.
class Message {
 public:
  void put(const void* data, std::size_t bytes);
  void put(const std::string& text) { put(text.data(), text.size()); }
  void put_number(std::int64_t v) { append(&v, sizeof v); }
  void put_real(double v) { append(&v, sizeof v); }

  [[nodiscard]] std::string text();
  [[nodiscard]] std::int64_t number();
  [[nodiscard]] double real();

  /// Takes a whole message out of the bytes received so far. False: more is to come. Throws Error where it can be no message.
  [[nodiscard]] bool take_from(const std::vector<std::byte>& inbox);
  [[nodiscard]] bool at_end() const { return at_ == bytes_.size(); }

  /// Both return false where the other side is gone.
  [[nodiscard]] bool send(int fd) const;
  [[nodiscard]] bool receive(int fd);

 private:
  void append(const void* data, std::size_t n);
  void take(void* out, std::size_t n);

  std::vector<std::byte> bytes_;
  std::size_t at_ = 0;
};

[[nodiscard]] Message encode(const RunRequest&);
[[nodiscard]] Message encode(const RunReply&);
/// Throws Error(kBrokenWire) where the message is no request.
[[nodiscard]] RunRequest decode_request(Message&);
/// Throws Error(kBrokenWire) where the message is no reply.
[[nodiscard]] RunReply decode_reply(Message&);

}  // namespace plumb
