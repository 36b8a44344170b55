// Ranks as threads of one process, so that what they say to each other is tested without MPI, and faults can be planted in
// the messages of one of them.
#pragma once
#include <omp.h>

#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "reference/core/error.hpp"
#include "reference/parallel/ranks.hpp"
#include "reference/parallel/transport.hpp"

namespace plumb::test {

/// All messages under way.
class PostOffice {
 public:
  explicit PostOffice(int count) : ranks(count) {}
  const int ranks;

  using Way = std::tuple<int, int, Channel>;  // from, to
  struct Receive {
    Transport::Request id;
    void* data;
    std::int64_t bytes;
  };
  std::mutex mutex;
  bool ended = false;
  std::map<Way, std::deque<std::vector<char>>> sent;
  std::map<Way, std::deque<Receive>> awaited;
};

class ThreadTransport : public Transport {
 public:
  ThreadTransport(PostOffice& office, int rank) : office_(office), rank_(rank) {}
  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return office_.ranks; }

  Request begin_send(int to, Channel channel, const void* data, std::int64_t bytes) override {
    const std::lock_guard lock(office_.mutex);
    const char* const from = static_cast<const char*>(data);
    office_.sent[{rank_, to, channel}].emplace_back(from, from + bytes);
    moved_[++last_] = bytes;
    return last_;
  }

  Request begin_receive(int from, Channel channel, void* data, std::int64_t bytes) override {
    const std::lock_guard lock(office_.mutex);
    ways_[++last_] = {from, rank_, channel};
    office_.awaited[ways_[last_]].push_back({last_, data, bytes});
    return last_;
  }

  std::optional<std::int64_t> done(Request request) override {
    const std::lock_guard lock(office_.mutex);
    if (office_.ended) throw Error("another rank ended");
    if (const auto way = ways_.find(request); way != ways_.end()) deliver(way->second, request);
    const auto at = moved_.find(request);
    if (at == moved_.end()) return {};
    const std::int64_t bytes = at->second;
    moved_.erase(at), ways_.erase(request);
    return bytes;
  }

  void close() override {
    const std::lock_guard lock(office_.mutex);
    office_.ended = true;
  }
  [[noreturn]] void end_job(int) override { throw Error("no job to end"); }

 private:
  /// Messages of one way to the receives in their order, up to the one that is asked for: what nobody waits for does not come.
  void deliver(const PostOffice::Way& way, Request asked) {
    auto& sent = office_.sent[way];
    auto& awaited = office_.awaited[way];
    while (!sent.empty() && !awaited.empty() && awaited.front().id <= asked) {
      const PostOffice::Receive receive = awaited.front();
      const std::vector<char> message = std::move(sent.front());
      awaited.pop_front(), sent.pop_front();
      const auto bytes = static_cast<std::int64_t>(message.size());
      if (bytes > receive.bytes) throw Error("the message is longer than its place");
      if (bytes > 0) std::memcpy(receive.data, message.data(), message.size());
      moved_[receive.id] = bytes;
    }
  }

  PostOffice& office_;
  const int rank_;
  Request last_ = 0;
  std::map<Request, std::int64_t> moved_;
  std::map<Request, PostOffice::Way> ways_;
};

/// Makes the transport of a rank; for faults.
using MakeTransport = std::function<std::unique_ptr<Transport>(PostOffice&, int rank)>;
inline std::unique_ptr<Transport> faultless(PostOffice& office, int rank) {
  return std::make_unique<ThreadTransport>(office, rank);
}

/// Runs `body` once per rank, each in a thread, and returns the first error, "" where there was none.
inline std::string on_ranks(int count, const std::function<void(Transport&)>& body,
                            const MakeTransport& make = faultless) {
  PostOffice office(count);
  std::string first;
  std::mutex mutex;
  std::vector<std::thread> threads;
  for (int r = 0; r < count; ++r) {
    threads.emplace_back([&, r] {
      omp_set_num_threads(1);
      const std::unique_ptr<Transport> transport = make(office, r);
      try {
        body(*transport);
      } catch (const std::exception& e) {
        {
          const std::lock_guard lock(mutex);
          if (first.empty()) first = e.what();
        }
        transport->close();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  return first;
}
inline std::string on_ranks(int count, const std::function<void(Ranks&)>& body,
                            const MakeTransport& make = faultless) {
  return on_ranks(
      count,
      [&](Transport& transport) {
        Ranks ranks(transport);
        body(ranks);
      },
      make);
}

}  // namespace plumb::test
