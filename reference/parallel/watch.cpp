#include "reference/parallel/watch.hpp"

#include <pthread.h>

#include <ctime>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "reference/core/error.hpp"

namespace plumb {

namespace {

using Clock = std::chrono::steady_clock;

constexpr double kSignsWithinLimit = 40;
constexpr double kSlowestSign = 0.25;  // seconds between two signs
/// Share of the limit below which processor time is no progress: what the watch and the transport take themselves.
constexpr double kIdleShare = 0.01;

}  // namespace

double Watch::processor_seconds() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

Watch::Watch(Transport& transport, double limit_seconds, std::function<void(const std::string&)> ends,
             std::function<double()> used)
    : transport_(transport),
      limit_(limit_seconds),
      ends_(std::move(ends)),
      used_(std::move(used)),
      peers_(static_cast<std::size_t>(transport.size())),
      thread_([this] { run(); }) {}

Watch::~Watch() {
  stops_ = true;
  thread_.join();
}

Watch::Sign Watch::sign() const {
  Sign sign;
  sign.used = used_();
  sign.moved = moved_.load(std::memory_order_relaxed);
  if (const char* const what = waits_at_.load(std::memory_order_relaxed); what != nullptr)
    std::strncpy(sign.waits_at, what, kLabel - 1);
  return sign;
}

/// Takes note of a sign: progress is a block moved, another thing to wait for, or processor time of a rank that computes.
void Watch::note(Peer& peer, const Sign& sign) const {
  peer.silent = 0;
  peer.heard = sign;
  peer.heard.waits_at[kLabel - 1] = '\0';
  const bool computes = sign.waits_at[0] == '\0';
  const bool used = computes && sign.used - peer.last.used > kIdleShare * limit_;
  if (!used && sign.moved == peer.last.moved && std::strcmp(peer.heard.waits_at, peer.last.waits_at) == 0)
    return;
  peer.still = 0;
  peer.last = peer.heard;
}

void Watch::exchange(int r, const Sign& mine) {
  Peer& peer = peers_[static_cast<std::size_t>(r)];
  if (r == transport_.rank()) return note(peer, mine);
  if (peer.sending && transport_.done(peer.send)) peer.sending = false;
  if (!peer.sending) {
    peer.sent = mine;
    peer.send = transport_.begin_send(r, Channel::signs, &peer.sent, sizeof peer.sent);
    peer.sending = true;
  }
  for (;;) {
    if (!peer.receiving)
      peer.receive = transport_.begin_receive(r, Channel::signs, &peer.heard, sizeof peer.heard);
    peer.receiving = true;
    if (!transport_.done(peer.receive)) return;
    peer.receiving = false;
    note(peer, Sign(peer.heard));
  }
}

std::string Watch::trouble() const {
  std::string waits;
  bool all_wait = true;
  for (std::size_t r = 0; r < peers_.size(); ++r) {
    const Peer& peer = peers_[r];
    if (peer.silent >= limit_)
      return fmt::format(
          "rank {} gave no sign of life for {:.3g} s: it is stopped, or its host cannot be reached", r,
          limit_);
    const bool waits_here = peer.last.waits_at[0] != '\0';
    if (!waits_here && peer.still >= limit_)
      return fmt::format("rank {} made no progress for {:.3g} s: it is blocked, and uses no processor time",
                         r, limit_);
    all_wait = all_wait && waits_here && peer.still >= limit_;
    waits += fmt::format("{}rank {} at '{}'", r == 0 ? "" : ", ", r, printable(peer.last.waits_at));
  }
  return all_wait ? fmt::format("the ranks wait for each other for {:.3g} s: {}", limit_, waits) : "";
}

void Watch::run() {
  pthread_setname_np(pthread_self(), "watch");  // so that a debugger, or a test, tells it
  const double interval = std::min(kSlowestSign, limit_ / kSignsWithinLimit);
  Clock::time_point before = Clock::now();
  try {
    while (!stops_) {
      const Clock::time_point now = Clock::now();
      // a step counts no more than two intervals: where this process itself was held, nothing is known of the others
      const double step =
          std::min(std::chrono::duration<double>(now - std::exchange(before, now)).count(), 2 * interval);
      for (Peer& peer : peers_) peer.silent += step, peer.still += step;
      const Sign mine = sign();
      for (int r = 0; r < transport_.size(); ++r) exchange(r, mine);
      if (const std::string found = trouble(); !found.empty()) return ends_(found);
      std::this_thread::sleep_for(std::chrono::duration<double>(interval));
    }
  } catch (const Error& e) {
    if (!stops_) ends_(e.what());
  }
}

}  // namespace plumb
