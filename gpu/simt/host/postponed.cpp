// Launches in streams that nothing orders overlap, also where one of the host's threads makes them: in a program with its own main() a
// launch in a stream of the program's waits until the host asks for anything but launches and their errors, as a device may let it. What then waits in one
// stream runs in its order, and two streams' launches run as two callers' do.
//
// What may not wait: a launch whose arguments lead to memory that the host sees, which it may watch without a call.
#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "gpu/simt/executor.hpp"
#include "gpu/simt/state.hpp"

namespace plumb::simt {

namespace {

using Chain = std::vector<std::function<void()>>;
struct StreamOfLaunches {
  const void* key;
  Chain launches;
};
struct Waiting {
  std::vector<StreamOfLaunches> streams;
  bool may_be_refused = false;  // one of them
};
Waiting& waiting() {
  static auto& launches = *new Waiting;  // outlives the program's own statics
  return launches;
}

// The arguments as words: a pointer lies at a multiple of its size.
bool lead_to_the_host(const void* arguments, std::size_t bytes) {
  for (std::size_t at = 0; at + sizeof(void*) <= bytes; at += sizeof(void*)) {
    unsigned char* word = nullptr;
    std::memcpy(&word, static_cast<const unsigned char*>(arguments) + at, sizeof word);
    const Array* const array = among_arrays(word) ? array_of(word) : nullptr;
    if (array != nullptr && !array->device_only) return true;
  }
  return false;
}

void run(const Chain& chain) {
  for (const std::function<void()>& launch : chain) launch();
}

}  // namespace

bool may_be_postponed(const void* stream, const void* arguments, std::size_t bytes) {
  if (!runs_by_itself() || !may_overlap(stream)) return false;
  const EngineLock lock(engine());
  return current().schedule.thread == nullptr && !current().run.is_stopped &&
         !lead_to_the_host(arguments, bytes);
}

void postpone(const void* stream, std::function<void()> launch, bool may_be_refused) {
  constexpr std::size_t kMostLaunches = 32;  // of a stream: their arguments are kept
  const EngineLock lock(engine());
  waiting().may_be_refused |= may_be_refused;
  std::vector<StreamOfLaunches>& streams = waiting().streams;
  auto at = std::find_if(streams.begin(), streams.end(),
                         [&](const StreamOfLaunches& s) { return s.key == stream; });
  if (at == streams.end()) at = streams.insert(at, {stream, {}});
  at->launches.push_back(std::move(launch));
  if (at->launches.size() == kMostLaunches) run_postponed();
}

void run_what_may_be_refused() {
  if (waiting().may_be_refused) run_postponed();
}

void run_postponed() {
  if (waiting().streams.empty()) return;
  std::vector<StreamOfLaunches> streams = std::exchange(waiting(), {}).streams;
  for (std::size_t i = streams.size() - 1; i > 0; --i)
    std::swap(streams[i], streams[next_random() % (i + 1)]);
  const unsigned depth = engine().leave();  // the others' threads are to come in
  for (std::size_t i = 0; i < streams.size(); i += 2) {
    const auto first = [&] { run(streams[i].launches); };
    i + 1 < streams.size() ? call_together(first, [&] { run(streams[i + 1].launches); }) : first();
  }
  engine().enter_again(depth);
}

}  // namespace plumb::simt
