// Messages by MPI. Every call is short and under one lock, so that the watch's thread may send beside the one that computes
// without a library that is built for several threads.
#include <mpi.h>

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "reference/core/error.hpp"
#include "reference/core/exit_code.hpp"
#include "reference/parallel/world.hpp"

namespace plumb {

namespace {

/// Ends this process, and so the job, where a call of MPI in which all ranks meet takes too long: the watch is not there yet,
/// or no longer.
class MeetingLimit {
 public:
  explicit MeetingLimit(const char* what) : thread_([this, what] { wait(what); }) {}
  ~MeetingLimit() {
    {
      const std::lock_guard lock(mutex_);
      over_ = true;
    }
    changed_.notify_one();
    thread_.join();
  }
  MeetingLimit(const MeetingLimit&) = delete;
  MeetingLimit& operator=(const MeetingLimit&) = delete;

 private:
  static constexpr std::chrono::seconds kLimit{25};
  void wait(const char* what) {
    std::unique_lock lock(mutex_);
    if (changed_.wait_for(lock, kLimit, [this] { return over_; })) return;
    std::fprintf(stderr, "error: the ranks did not all come to %s within %d s\n", what,
                 static_cast<int>(kLimit.count()));
    std::fflush(stderr);
    std::_Exit(kUsage);
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  bool over_ = false;
  std::thread thread_;
};

class MpiTransport final : public Transport {
 public:
  MpiTransport() {
    const MeetingLimit limit("the start of the job (MPI_Init)");
    int provided = MPI_THREAD_SINGLE;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided);  // ends the program where it fails
    if (provided < MPI_THREAD_SERIALIZED)
      throw Error("this MPI does not let several threads call it in turn (MPI_THREAD_SERIALIZED)");
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
    for (MPI_Comm& channel : channels_) {
      MPI_Comm_dup(MPI_COMM_WORLD, &channel);
      MPI_Comm_set_errhandler(channel, MPI_ERRORS_RETURN);
    }
  }

  ~MpiTransport() override {
    const MeetingLimit limit("the end of the job (MPI_Finalize)");
    const std::lock_guard lock(mutex_);
    for (auto& [id, message] : messages_) {  // signs of life that nobody waits for
      if (message.bytes == kUnknown) MPI_Cancel(&message.request);
      MPI_Request_free(&message.request);
    }
    MPI_Finalize();
  }

  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return size_; }

  Request begin_send(int to, Channel channel, const void* data, std::int64_t bytes) override {
    Message message{MPI_REQUEST_NULL, to, bytes};
    const std::lock_guard lock(mutex_);
    refuse_closed();
    refuse_failure(message, MPI_Isend(data, static_cast<int>(bytes), MPI_BYTE, to, kTag, comm(channel),
                                      &message.request));
    return keep(message);
  }

  Request begin_receive(int from, Channel channel, void* data, std::int64_t bytes) override {
    Message message{MPI_REQUEST_NULL, from, kUnknown};
    const std::lock_guard lock(mutex_);
    refuse_closed();
    refuse_failure(message, MPI_Irecv(data, static_cast<int>(bytes), MPI_BYTE, from, kTag, comm(channel),
                                      &message.request));
    return keep(message);
  }

  std::optional<std::int64_t> done(Request id) override {
    const std::lock_guard lock(mutex_);
    refuse_closed();
    const auto at = messages_.find(id);
    if (at == messages_.end()) throw Error(fmt::format("message {} was asked for after its end", id));
    Message& message = at->second;
    int complete = 0;
    MPI_Status status;
    refuse_failure(message, MPI_Test(&message.request, &complete, &status));
    if (complete == 0) return {};
    std::int64_t moved = message.bytes;
    if (moved == kUnknown) {
      int count = 0;
      MPI_Get_count(&status, MPI_BYTE, &count);
      moved = count;
    }
    messages_.erase(at);
    return moved;
  }

  void close() override {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }

  [[noreturn]] void end_job(int code) override {
    const std::lock_guard lock(mutex_);
    MPI_Abort(MPI_COMM_WORLD, code);
    std::_Exit(code);
  }

 private:
  static constexpr int kTag = 0;
  static constexpr std::int64_t kUnknown = -1;  // bytes of a message that is received
  struct Message {
    MPI_Request request;
    int peer;
    std::int64_t bytes;
  };

  [[nodiscard]] MPI_Comm comm(Channel channel) const { return channels_[static_cast<std::size_t>(channel)]; }
  Request keep(const Message& message) {
    messages_.emplace(++last_, message);
    return last_;
  }
  void refuse_closed() const {
    if (closed_) throw Error("the job ends: no more messages");
  }
  void refuse_failure(const Message& message, int code) const {
    if (code == MPI_SUCCESS) return;
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    MPI_Error_string(code, text, &length);
    throw Error(fmt::format("message between rank {} and rank {}: {}", rank_, message.peer, text));
  }

  int rank_ = 0, size_ = 1;
  MPI_Comm channels_[2] = {MPI_COMM_NULL, MPI_COMM_NULL};
  std::mutex mutex_;  // of every call of MPI, and of what follows
  bool closed_ = false;
  Request last_ = 0;
  std::unordered_map<Request, Message> messages_;  // under way
};

}  // namespace

std::string mpi_version() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  MPI_Get_library_version(text, &length);
  const std::string version = text;
  std::string first = version.substr(0, version.find_first_of(",\n"));
  const std::size_t v = first.find("MPI v");  // "Open MPI v4.1.4"
  return v == std::string::npos ? first : first.erase(v + 4, 1);
}

World::World() {
  const int ranks = launched_ranks();
  if (ranks <= 1) return;
  auto joined = std::make_unique<MpiTransport>();
  if (joined->size() == 1) {
    throw Error(fmt::format("{} ranks were started, but by the launcher of another MPI: this program's is {}",
                            ranks, mpi_version()));
  }
  transport_ = std::move(joined);
}

World::~World() = default;

}  // namespace plumb
