#include "verify/judge/schedule_findings.hpp"

#include <algorithm>
#include <sstream>

#include <fmt/format.h>

namespace plumb {
namespace {

// What a finding is about whichever came first: its kind, its kernel, and its lines without their threads.
std::string key_of(const std::string& finding) {
  std::istringstream in(finding);
  std::string line, head;
  std::getline(in, head);
  std::vector<std::string> places;
  while (std::getline(in, line)) {
    for (const char* word : {"  at ", "  and "}) {
      if (line.rfind(word, 0) == 0) places.push_back(line.substr(line.find(word) + std::string(word).size()));
    }
  }
  for (std::string& p : places) p.erase(std::min(p.find(", block "), p.size()));
  std::sort(places.begin(), places.end());
  std::string key = places.empty() ? head : head.substr(0, head.find(':'));
  for (const std::string& p : places) key += "\n" + p;
  return key;
}

}  // namespace

void ScheduleFindings::add(const std::vector<std::string>& findings, std::uint64_t schedule) {
  for (const std::string& text : findings) {
    std::string key = key_of(text);
    const auto same = std::find_if(kept_.begin(), kept_.end(), [&](const Kept& k) { return k.key == key; });
    if (same != kept_.end()) {
      ++same->schedules;
    } else {
      kept_.push_back({std::move(key), text, schedule, 1, text.rfind("race", 0) == 0});
    }
  }
}

const ScheduleFindings::Kept& ScheduleFindings::verdicts() const {
  const auto race = std::find_if(kept_.begin(), kept_.end(), [](const Kept& k) { return k.race; });
  return race != kept_.end() ? *race : kept_.front();
}

Finding ScheduleFindings::all() const {
  const Kept& first = verdicts();
  Finding finding{first.race ? Verdict::race : Verdict::error, first.text.substr(0, first.text.find('\n'))};
  for (const Kept& k : kept_) {
    finding.detail.push_back(fmt::format("{}\n  found in {} schedule{}, first in --schedule {}", k.text,
                                         k.schedules, k.schedules == 1 ? "" : "s", k.schedule));
  }
  return finding;
}

}  // namespace plumb
