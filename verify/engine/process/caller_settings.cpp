#include "verify/engine/process/caller_settings.hpp"

#include <fmt/format.h>

namespace plumb {

KeptCallerSettings::Settings KeptCallerSettings::now() {
  Settings s;
  s.threads = omp_get_max_threads(), s.dynamic = omp_get_dynamic(), s.levels = omp_get_max_active_levels();
  omp_get_schedule(&s.schedule, &s.chunk);
  CPU_ZERO(&s.processors);
  (void)sched_getaffinity(0, sizeof s.processors, &s.processors);
  return s;
}

KeptCallerSettings::KeptCallerSettings() : before_(now()) {}

KeptCallerSettings::~KeptCallerSettings() {
  if (change().empty()) return;
  omp_set_num_threads(before_.threads), omp_set_dynamic(before_.dynamic);
  omp_set_max_active_levels(before_.levels), omp_set_schedule(before_.schedule, before_.chunk);
  (void)sched_setaffinity(0, sizeof before_.processors, &before_.processors);
}

std::string KeptCallerSettings::change() const {
  const Settings s = now();
  const auto number = [](const char* what, int is, int was) {
    return fmt::format("{} is {}, before the call it was {}", what, is, was);
  };
  if (s.threads != before_.threads) return number("OpenMP's number of threads", s.threads, before_.threads);
  if (s.dynamic != before_.dynamic)
    return number("OpenMP's dynamic adjustment of threads", s.dynamic, before_.dynamic);
  if (s.levels != before_.levels) return number("OpenMP's number of active levels", s.levels, before_.levels);
  if (s.schedule != before_.schedule || s.chunk != before_.chunk)
    return "OpenMP's schedule(runtime) is another than before the call";
  if (CPU_EQUAL(&s.processors, &before_.processors) == 0)
    return number("the number of processors that the calling thread may run on", CPU_COUNT(&s.processors),
                  CPU_COUNT(&before_.processors));
  return "";
}

}  // namespace plumb
