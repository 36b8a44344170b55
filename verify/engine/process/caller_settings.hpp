// What a variant's caller has set for the threads that compute, and a variant must leave as it found it: OpenMP's settings, and the
// processors that the calling thread may run on.
#pragma once
#include <omp.h>
#include <sched.h>

#include <string>

namespace plumb {

/// Takes the settings when it is made, and puts them back when it goes.
class KeptCallerSettings {
 public:
  KeptCallerSettings();
  ~KeptCallerSettings();
  KeptCallerSettings(const KeptCallerSettings&) = delete;
  KeptCallerSettings& operator=(const KeptCallerSettings&) = delete;
  /// What is another now, in words: "OpenMP's number of threads is 1, before the call it was 8". Empty where nothing is.
  [[nodiscard]] std::string change() const;

 private:
  struct Settings {
    int threads = 0, dynamic = 0, levels = 0;
    omp_sched_t schedule{};
    int chunk = 0;
    cpu_set_t processors{};
  };
  static Settings now();
  Settings before_;
};

}  // namespace plumb
