// infer's two commands and what they share: options as parsed, progress on a terminal, exit codes.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace plumb {

inline constexpr int kExitOk = 0, kExitDiffers = 1, kExitUsage = 2, kExitNoDevice = 77;

struct SdnnOptions {
  std::int64_t neurons = 1024, layers = 120;
  std::int64_t inputs = 0;  // 0: all there are
  std::string data, weights, images, categories;
  bool bias_given = false;
  float bias = 0, cap = 32;
  std::string pipeline = "auto", device = "cpu", structure = "A";
  std::int64_t repeat = 1;
  bool check = false, verbose = false;
  std::string json;
};
[[nodiscard]] int infer_sdnn(const SdnnOptions& options);

struct GcnOptions {
  std::string data;
  std::vector<std::string> contest;  // F0 F1 [F2] GRAPH X W1 [W2]
  std::string graph, features;
  std::vector<std::string> weights;
  std::string twin, widths = "64-16-8";  // a generated graph, and F0-F1 or F0-F1-F2 on it
  std::int64_t layers = 0;               // 0: as many as there are weights
  std::string dtype = "auto", pipeline = "auto", device = "cpu";
  std::int64_t repeat = 1;
  bool check = false, verbose = false;
  std::string out, json;
};
[[nodiscard]] int infer_gcn(const GcnOptions& options);

/// One line on stderr that is written over, and only on a terminal.
class Progress {
 public:
  Progress();
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  void say(const std::string& text);

 private:
  bool terminal_;
  bool said_ = false;
};

[[nodiscard]] double seconds_now();
/// "1.23 s", "45.6 ms".
[[nodiscard]] std::string show_seconds(double seconds);
/// Peak resident memory of this process, in bytes; 0 where the system does not say.
[[nodiscard]] std::int64_t peak_memory();
[[nodiscard]] std::string show_bytes(std::int64_t bytes);
/// The folder of `dataset fetch`: $PLUMB_CACHE, else $XDG_CACHE_HOME/plumbline, else ~/.cache/plumbline; ""
/// without a home.
[[nodiscard]] std::string cache_folder();
[[nodiscard]] std::string environment(const char* name);
[[nodiscard]] double median(std::vector<double> values);
void write_text(const std::string& path, const std::string& text);

}  // namespace plumb
