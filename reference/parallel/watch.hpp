// Ends a job in which a rank is stopped, unreachable or waits for ever: each rank tells all others, several times within the
// limit, that it lives and what it does.
#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "reference/parallel/transport.hpp"

namespace plumb {

/// A thread beside the one that computes. It finds trouble where for `limit` seconds
///
///   a rank                                     in words
///   gave no sign                               stopped, or its host cannot be reached
///   computes, but used no processor time       blocked: in a read, or by a lock
///   waits, as all others do                    they wait for each other: a call is missing or comes twice
///
/// A rank that computes may take as long as it likes, and others may wait for it. A rank that computes for ever is not told
/// from one that computes for long.
class Watch {
 public:
  /// `ends` is called once, on the watch's thread, with the trouble in words. `used`: processor time of this rank in seconds.
  Watch(Transport& transport, double limit_seconds, std::function<void(const std::string&)> ends,
        std::function<double()> used = processor_seconds);
  ~Watch();
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  // By the thread that computes: it waits for others at `what`, a block was moved, it computes again.
  void waiting(const char* what) { waits_at_.store(what, std::memory_order_relaxed); }
  void moved() { moved_.fetch_add(1, std::memory_order_relaxed); }
  void working() { waits_at_.store(nullptr, std::memory_order_relaxed); }

  /// Processor time of all threads of this process.
  [[nodiscard]] static double processor_seconds();

 private:
  static constexpr std::size_t kLabel = 24;
  struct Sign {
    double used = 0;
    std::int64_t moved = 0;
    char waits_at[kLabel] = {};  // "": computes
  };
  struct Peer {
    Sign heard, sent;  // sent: what is under way to it
    Sign last;         // heard, with the processor time of the last progress
    Transport::Request receive = 0, send = 0;
    bool sending = false, receiving = false;
    double silent = 0, still = 0;  // seconds since it was heard; since it made progress
  };
  void run();
  [[nodiscard]] Sign sign() const;
  void exchange(int r, const Sign& mine);
  void note(Peer& peer, const Sign& sign) const;
  [[nodiscard]] std::string trouble() const;

  Transport& transport_;
  const double limit_;
  const std::function<void(const std::string&)> ends_;
  const std::function<double()> used_;
  std::atomic<const char*> waits_at_{nullptr};
  std::atomic<std::int64_t> moved_{0};
  std::atomic<bool> stops_{false};
  std::vector<Peer> peers_;  // by rank, this one among them
  std::thread thread_;       // after all that it uses
};

}  // namespace plumb
