// Faults of communication, planted in what one rank sends or receives: mutants that the blocks' headers or the judge must kill.
#pragma once
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "reference/tests/models/thread_ranks.hpp"

namespace plumb::test {

enum class MessageFault {
  none,
  sent_twice,         // block and header once more
  off_by_one_row,     // content begins a row later
  stale_buffer,       // content of the block before
  missing_wait,       // a receive is taken as complete at once
  wrong_datatype,     // the header says another type
  narrowed_datatype,  // fp64 rounded to fp32 on the way
};

struct PlantedFault {
  MessageFault fault = MessageFault::none;
  std::string label;  // of the blocks it strikes
  std::int64_t row_bytes = 8;
  bool in_caller = false;  // the digest is of the wrong content, as if the caller had sent that
};

/// Sends a header when its block's content is known.
class FaultyTransport final : public ThreadTransport {
 public:
  FaultyTransport(PostOffice& office, int rank, PlantedFault planted)
      : ThreadTransport(office, rank), planted_(std::move(planted)) {}

  Request begin_send(int to, Channel channel, const void* data, std::int64_t bytes) override {
    if (channel != Channel::data) return ThreadTransport::begin_send(to, channel, data, bytes);
    if (content_left_ == 0) {
      std::memcpy(&header_, data, sizeof header_);
      content_left_ = header_.bytes;
      struck_ = header_.bytes > 0 && planted_.label == header_.what;
      if (!struck_) return ThreadTransport::begin_send(to, channel, data, bytes);
      return 0;  // held back: done() says that it is complete
    }
    content_left_ -= bytes;
    if (!struck_) return ThreadTransport::begin_send(to, channel, data, bytes);
    std::vector<char> content(static_cast<const char*>(data), static_cast<const char*>(data) + bytes);
    change(content);
    if (planted_.in_caller) header_.digest = digest_of(content.data(), bytes);
    static_cast<void>(ThreadTransport::begin_send(to, channel, &header_, sizeof header_));
    if (planted_.fault == MessageFault::sent_twice) {
      static_cast<void>(ThreadTransport::begin_send(to, channel, content.data(), bytes));
      static_cast<void>(ThreadTransport::begin_send(to, channel, &header_, sizeof header_));
    }
    return ThreadTransport::begin_send(to, channel, content.data(), bytes);
  }

  Request begin_receive(int from, Channel channel, void* data, std::int64_t bytes) override {
    const Request request = ThreadTransport::begin_receive(from, channel, data, bytes);
    const bool content = channel == Channel::data && bytes != sizeof(BlockHeader);
    if (content && planted_.fault == MessageFault::missing_wait) unwaited_[request] = bytes;
    return request;
  }

  std::optional<std::int64_t> done(Request request) override {
    if (request == 0) return sizeof(BlockHeader);
    if (const auto at = unwaited_.find(request); at != unwaited_.end()) {
      const std::int64_t bytes = at->second;
      unwaited_.erase(at);
      return bytes;
    }
    return ThreadTransport::done(request);
  }

 private:
  void change(std::vector<char>& content) {
    const std::vector<char> given = content;
    const auto row = static_cast<std::size_t>(planted_.row_bytes);
    switch (planted_.fault) {
      case MessageFault::off_by_one_row:
        if (content.size() > row) content.erase(content.begin(), content.begin() + planted_.row_bytes);
        content.resize(given.size());
        break;
      case MessageFault::stale_buffer:
        if (before_.size() >= content.size())
          content.assign(before_.begin(), before_.begin() + static_cast<std::ptrdiff_t>(content.size()));
        break;
      case MessageFault::wrong_datatype:
        header_.type = static_cast<std::int64_t>(Element::i32);
        break;
      case MessageFault::narrowed_datatype:
        for (std::size_t at = 0; at + sizeof(double) <= content.size(); at += sizeof(double)) {
          double value = 0;
          std::memcpy(&value, content.data() + at, sizeof value);
          value = static_cast<float>(value);
          std::memcpy(content.data() + at, &value, sizeof value);
        }
        break;
      default:
        break;
    }
    before_ = given;
  }

  const PlantedFault planted_;
  std::int64_t content_left_ = 0;  // of the block whose header came last
  bool struck_ = false;
  BlockHeader header_;
  std::vector<char> before_;
  std::map<Request, std::int64_t> unwaited_;
};

/// The fault on rank `struck`, the others without.
inline MakeTransport with_fault(const PlantedFault& fault, int struck) {
  return [=](PostOffice& office, int rank) -> std::unique_ptr<Transport> {
    if (rank == struck) return std::make_unique<FaultyTransport>(office, rank, fault);
    return faultless(office, rank);
  };
}

}  // namespace plumb::test
