// Which launches each stream comes after: launches of one stream, and what events and synchronisation join.
#include "gpu/simt/host/stream_order.hpp"

#include <algorithm>

#include "gpu/simt/state.hpp"

namespace plumb::simt {

namespace {

int stream_index(const void* stream) {
  const auto it = std::find(current().streams.keys.begin(), current().streams.keys.end(), stream);
  if (it != current().streams.keys.end()) return static_cast<int>(it - current().streams.keys.begin());
  current().streams.keys.push_back(stream);
  current().streams.knows.emplace_back();
  return static_cast<int>(current().streams.keys.size()) - 1;
}

// The index of the kernel that the next launch of `stream` may begin beside; -1: there is none. A fill or copy is no kernel, and is
// waited for.
int kernel_before(const std::vector<int>& knows, int stream) {
  const int last = knows[static_cast<std::size_t>(stream)] - 1;
  if (last < 0) return -1;
  const Launch& before = current().schedule.launches[static_cast<std::size_t>(last)];
  return before.stream == stream && !before.host ? last : -1;
}

// The launch may begin before that kernel has ended: its threads know neither that end nor anything that the kernel did before they have
// waited for it. Where the kernel began beside another itself, and no thread of it waited, its end says nothing of the other's.
void begin_beside(Launch& launch, int kernel) {
  const Launch& before = current().schedule.launches[static_cast<std::size_t>(kernel)];
  launch.beside = kernel;
  launch.open = before.open;
  if (before.beside >= 0 && !before.awaited) launch.open.push_back(before.beside);
  --launch.knows_at_once[static_cast<std::size_t>(launch.stream)];
}

}  // namespace

namespace {

// The number below which each block is of a launch that all threads of `launch` know: of the one that is opened, and the last.
std::uint32_t known_below(const Launch& launch) {
  const auto& launches = current().schedule.launches;
  const auto& streams = current().streams.knows;
  std::size_t first = launches.size();
  for (std::size_t s = 0; s < streams.size(); ++s) {
    const int opened = s < streams[s].size() ? streams[s][s] : 0;  // launches of that stream are before it
    const int known = s < launch.knows_at_once.size() ? launch.knows_at_once[s] : 0;
    if (opened > known) first = std::min(first, static_cast<std::size_t>(known));
  }
  for (const int number : launch.open) first = std::min(first, static_cast<std::size_t>(number));
  return first < launches.size() ? launches[first].first_block : launch.first_block;
}

}  // namespace

Launch& open_launch(void* stream, bool programmatic) {
  Launch launch;
  launch.stream = stream_index(stream);
  auto& knows = current().streams.knows[static_cast<std::size_t>(launch.stream)];
  knows.resize(current().streams.keys.size());
  launch.knows = knows;
  launch.knows_at_once = knows;
  if (const int before = programmatic ? kernel_before(knows, launch.stream) : -1; before >= 0)
    begin_beside(launch, before);
  launch.first_block = current().schedule.next_block_id;
  current().race.known_below = known_below(launch);
  if (current().race.known_below == launch.first_block) current().race.lists.forget_chains();
  current().schedule.launches.push_back(std::move(launch));
  current().schedule.number = static_cast<int>(current().schedule.launches.size()) - 1;
  knows[static_cast<std::size_t>(current().schedule.launches.back().stream)] =
      static_cast<int>(current().schedule.launches.size());
  return current().schedule.launches.back();
}

const void* host_key() {
  static const char key = 0;
  return &key;
}

std::string name_of_stream(int index) {
  const void* const key = current().streams.keys[static_cast<std::size_t>(index)];
  if (key == nullptr) return "the default stream";
  if (key == host_key()) return "no stream";
  const auto named = current().streams.names.find(key);
  return named != current().streams.names.end() ? named->second : "";
}

std::vector<int> knowledge_of(const void* stream) {
  return current().streams.knows[static_cast<std::size_t>(stream_index(stream))];
}

const std::vector<int>& host_knowledge() {
  const auto index = static_cast<std::size_t>(stream_index(host_key()));
  return current().streams.knows[index];
}

void add_knowledge(const void* stream, const std::vector<int>& more) {
  auto& knows = current().streams.knows[static_cast<std::size_t>(stream_index(stream))];
  knows.resize(std::max(current().streams.keys.size(), more.size()));
  for (std::size_t i = 0; i < more.size(); ++i) knows[i] = std::max(knows[i], more[i]);
}

void order_streams(const void* later, const void* earlier) {
  stream_index(later);
  add_knowledge(later, knowledge_of(earlier));
}

void order_all() {
  std::vector<int> everything(current().streams.keys.size(),
                              static_cast<int>(current().schedule.launches.size()));
  for (auto& knows : current().streams.knows) knows = everything;
}

}  // namespace plumb::simt
