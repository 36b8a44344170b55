// The seam of communication: messages of bytes between the ranks of one job. MPI lies behind it (mpi_world.cpp); in tests
// threads of one process, and the faults that are planted there.
#pragma once
#include <cstdint>
#include <optional>

namespace plumb {

/// Messages of one sender, one receiver and one channel arrive in the order in which they were begun.
enum class Channel : std::uint8_t { data, signs };  // signs of life: watch.hpp

/// Thread safety: all functions may be called from several threads; none of them waits.
class Transport {
 public:
  using Request = std::int64_t;
  /// The most bytes of one message: far below the 2^31 that MPI counts to, so that a long block shows progress.
  static constexpr std::int64_t kMostBytes = std::int64_t{1} << 26;

  Transport() = default;
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;
  virtual ~Transport() = default;

  [[nodiscard]] virtual int rank() const = 0;
  [[nodiscard]] virtual int size() const = 0;
  /// Begin a message; `data` must stay as it is until done() or close().
  [[nodiscard]] virtual Request begin_send(int to, Channel channel, const void* data, std::int64_t bytes) = 0;
  [[nodiscard]] virtual Request begin_receive(int from, Channel channel, void* data, std::int64_t bytes) = 0;
  /// The bytes that were moved, once the message is complete; nothing before. Not to be asked again after that.
  /// Errors: the message did not fit; the other rank is gone; close() was called.
  [[nodiscard]] virtual std::optional<std::int64_t> done(Request request) = 0;
  /// No message is moved after this: the arrays of unfinished ones may go. Only end_job() may follow.
  virtual void close() = 0;
  /// Ends every rank at once; the job's exit code is `code`.
  [[noreturn]] virtual void end_job(int code) = 0;
};

}  // namespace plumb
