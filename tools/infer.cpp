// infer: runs a sparse DNN or a GCN end to end, says how fast, and whether the answer is right. The command
// line; the two commands are in infer_sdnn.cpp and infer_gcn.cpp.
#include "tools/infer.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <new>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "reference/core/error.hpp"
#include "reference/core/fp.hpp"
#include "reference/core/text.hpp"
#include "tools/version.hpp"

namespace plumb {

Progress::Progress() : terminal_(isatty(STDERR_FILENO) != 0) {}
Progress::~Progress() {
  if (said_) fmt::print(stderr, "\r\x1b[K");
}
void Progress::say(const std::string& text) {
  if (!terminal_) return;
  fmt::print(stderr, "\r{}\x1b[K", text);
  said_ = true;
}

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::string show_seconds(double seconds) {
  if (seconds >= 1) return fmt::format("{:.2f} s", seconds);
  if (seconds >= 1e-3) return fmt::format("{:.1f} ms", seconds * 1e3);
  return fmt::format("{:.1f} us", seconds * 1e6);
}

std::int64_t peak_memory() {
  rusage usage{};
  return getrusage(RUSAGE_SELF, &usage) == 0 ? static_cast<std::int64_t>(usage.ru_maxrss) * 1024 : 0;
}

std::string show_bytes(std::int64_t bytes) {
  const double mib = static_cast<double>(bytes) / (1 << 20);
  return mib < 10240 ? fmt::format("{:.0f} MiB", mib) : fmt::format("{:.1f} GiB", mib / 1024);
}

std::string environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::string cache_folder() {
  if (const std::string own = environment("PLUMB_CACHE"); !own.empty()) return own;
  if (const std::string xdg = environment("XDG_CACHE_HOME"); !xdg.empty()) return xdg + "/plumbline";
  if (const std::string home = environment("HOME"); !home.empty()) return home + "/.cache/plumbline";
  return "";
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t n = values.size();
  return n == 0 ? 0 : n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

void write_text(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file) throw input_error(path, 0, "cannot write", std::strerror(errno));
}

namespace {

constexpr const char* kEnvironment =
    "environment:\n"
    "  PLUMB_DATA         folder of the data: sdnn/ and gcn/ lie under it\n"
    "  PLUMB_CACHE        where `dataset fetch` keeps what it fetched (else XDG_CACHE_HOME/plumbline, "
    "~/.cache/plumbline)\n"
    "  OMP_NUM_THREADS    threads to compute with\n"
    "exit codes:\n"
    "  0 right, or nothing to compare with; 1 an answer differs; 2 usage or bad input; 77 no such device\n";

void sizes(CLI::App* app, const std::string& name, std::int64_t& to, const std::string& what) {
  app->add_option_function<std::string>(
         name, [&to, name](const std::string& text) { to = parse_size(text, name); }, what)
      ->type_name("N");
}

/// Throws Error at the first option or command that does not exist, with the nearest that does.
void check_words(CLI::App& app, const std::vector<std::string>& words) {
  std::vector<std::string> commands;
  for (const CLI::App* sub : app.get_subcommands(nullptr)) commands.push_back(sub->get_name());
  const CLI::App* scope = &app;
  for (const std::string& word : words) {
    if (word == "--") break;
    if (scope == &app && !word.empty() && word[0] != '-') {
      if (std::find(commands.begin(), commands.end(), word) == commands.end()) {
        throw Error(fmt::format("infer: unknown command '{}'{} (infer --help)", printable(word),
                                did_you_mean(word, commands)));
      }
      scope = app.get_subcommand(word);
    } else if (word.size() > 2 && word.compare(0, 2, "--") == 0) {
      const std::string name = word.substr(0, word.find('='));
      std::vector<std::string> known;
      for (const CLI::Option* option : scope->get_options()) {
        for (const std::string& l : option->get_lnames()) known.push_back("--" + l);
      }
      if (std::find(known.begin(), known.end(), name) == known.end()) {
        throw Error(fmt::format("infer: unknown option '{}'{} (infer {}--help)", printable(name),
                                did_you_mean(name, known), scope == &app ? "" : scope->get_name() + " "));
      }
    }
  }
}

void require_one_of(const std::string& what, const std::string& word, const std::vector<std::string>& known) {
  if (std::find(known.begin(), known.end(), word) != known.end()) return;
  throw Error(fmt::format("{} '{}' is none of {}{}", what, printable(word), fmt::join(known, ", "),
                          did_you_mean(word, known)));
}

void end_on_interrupt(int) {
  constexpr char text[] = "\ninterrupted\n";
  const ssize_t ignored = write(STDERR_FILENO, text, sizeof text - 1);
  static_cast<void>(ignored);
  _exit(130);
}

int run(int argc, char** argv) {
  CLI::App app{"infer: sparse DNN and GCN inference on real or generated data, with the answer checked"};
  app.set_version_flag("--version", std::string("infer ") + kVersion);
  app.require_subcommand(1);
  app.footer(std::string("examples:\n"
                         "  infer sdnn --neurons 1024 --layers 120\n"
                         "  infer sdnn --neurons 4096 --layers 120 --check -v\n"
                         "  infer gcn --data data/gcn/cora_nobias --check\n"
                         "  infer gcn --contest 64 16 8 graph.txt embedding.bin W1.bin W2.bin\n") +
             kEnvironment);

  SdnnOptions sdnn;
  CLI::App* const s =
      app.add_subcommand("sdnn", "the Sparse DNN Graph Challenge: which inputs keep a non-zero to the end");
  sizes(s, "--neurons", sdnn.neurons,
        "neurons per layer: 1024 (default), 4096, 16384, 65536, or what your files hold");
  sizes(s, "--layers", sdnn.layers, "layers to run (default 120)");
  sizes(s, "--inputs", sdnn.inputs, "use the first N inputs only (default: all)");
  s->add_option("--data", sdnn.data,
                "folder with neuronN.tar.gz, sparse-images-N.tsv.gz, neuronN-lL-categories.tsv");
  s->add_option("--weights", sdnn.weights, "weights: tar, folder, .tsv or binary cache");
  s->add_option("--images", sdnn.images, "inputs: .tsv[.gz] or binary cache");
  s->add_option("--categories", sdnn.categories, "the list to compare with");
  s->add_option_function<float>(
      "--bias", [&sdnn](const float& b) { sdnn.bias = b, sdnn.bias_given = true; },
      "bias (default: the challenge's for the size: -0.30, -0.35, -0.40, -0.45)");
  s->add_option("--cap", sdnn.cap, "values are cut at this (default 32)");
  s->add_option("--pipeline", sdnn.pipeline, "NAME or auto (default); a wrong name lists them");
  s->add_option("--device", sdnn.device, "cpu (default) or gpu");
  s->add_option("--class", sdnn.structure,
                "what the pipeline may take for granted: A (default) general sparse, B, C, D");
  sizes(s, "--repeat", sdnn.repeat, "run the inference N times, report the median");
  s->add_flag("--check", sdnn.check, "judge every layer against the fp64 reference on the same input");
  s->add_flag("-v,--verbose", sdnn.verbose, "alive rows and time by layer");
  s->add_option("--json", sdnn.json, "write the result there as JSON");
  s->footer(
      std::string(
          "Without --data, files are looked for in $PLUMB_DATA/sdnn, then in the cache folder; what is not "
          "found is\n"
          "generated (official weights; inputs from MNIST where its images lie there, else drawn digits).\n"
          "examples:\n"
          "  infer sdnn --neurons 1024 --layers 120\n"
          "  infer sdnn --neurons 1024 --layers 120 --inputs 1k --pipeline csr_spmm\n"
          "  infer sdnn --neurons 16384 --layers 120 --inputs 5k --json out.json\n") +
      kEnvironment);

  GcnOptions gcn;
  CLI::App* const g = app.add_subcommand("gcn", "a graph convolutional network, one or two layers");
  g->add_option("--data", gcn.data,
                "folder of .npy files (A_indptr, X_..., W1, W2, labels, expected_logits_f64 ...)");
  g->add_option("--contest", gcn.contest,
                "F0 F1 [F2] GRAPH X W1 [W2]: the contest's files and its two lines of output")
      ->expected(5, 7);
  g->add_option("--graph", gcn.graph,
                "graph: `v e` and edges as the contest's, or a sparse matrix used as it is");
  g->add_option("--features", gcn.features, "X: .npy, raw .bin beside --weights *.npy, or a sparse matrix");
  g->add_option("--weights", gcn.weights, "W1 [W2] as .npy")->expected(1, 2);
  g->add_option("--twin", gcn.twin, "a generated graph with the shape of a real one: web-Stanford");
  g->add_option("--widths", gcn.widths, "of --twin's network: F0-F1 or F0-F1-F2 (default 64-16-8)");
  sizes(g, "--layers", gcn.layers, "1 or 2 (default: as many as there are weights)");
  g->add_option("--dtype", gcn.dtype,
                "f32, f64, or auto (default): f32, but f64 where the contest's files hold f64");
  g->add_option("--pipeline", gcn.pipeline,
                "NAME, auto (default), or all: one after the other; a wrong name lists them");
  g->add_option("--device", gcn.device, "cpu (default) or gpu");
  sizes(g, "--repeat", gcn.repeat, "run the inference N times, report the median");
  g->add_flag("--check", gcn.check, "judge the result against the compensated reference, element by element");
  g->add_flag("-v,--verbose", gcn.verbose, "time by step");
  g->add_option("--out", gcn.out, "write the result (n, classes) there as .npy");
  g->add_option("--json", gcn.json, "write the result there as JSON");
  g->footer(
      std::string(
          "Without files, $PLUMB_DATA/gcn/cora_nobias is used, then the cache folder; else a "
          "graph is generated.\n"
          "examples:\n"
          "  infer gcn --data data/gcn/citeseer_nobias\n"
          "  infer gcn --data data/gcn/cora_nobias --dtype f64 --pipeline eigen --check\n"
          "  infer gcn --contest 64 16 graph.txt embedding.bin W_64_16.bin --dtype f64\n"
          "  infer gcn --twin web-Stanford --widths 128-16 --dtype f64 --device gpu --pipeline all -v\n") +
      kEnvironment);

  check_words(app, {argv + 1, argv + argc});
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& e) {
    return app.exit(e);  // --help, --version
  } catch (const CLI::ParseError& e) { throw Error(fmt::format("infer: {} (infer --help)", e.what())); }
  if (!arithmetic_self_test())
    throw Error("infer: this build's arithmetic is broken (fast-math?), it cannot judge");
  for (const std::string* device : {&sdnn.device, &gcn.device})
    require_one_of("--device", *device, {"cpu", "gpu"});
  require_one_of("--class", sdnn.structure, {"A", "B", "C", "D"});
  require_one_of("--dtype", gcn.dtype, {"auto", "f32", "f64"});
  for (const std::int64_t repeat : {sdnn.repeat, gcn.repeat}) {
    if (repeat < 1) throw Error("--repeat must be at least 1");
  }
  return s->parsed() ? infer_sdnn(sdnn) : infer_gcn(gcn);
}

}  // namespace

}  // namespace plumb

int main(int argc, char** argv) {
  std::setvbuf(stdout, nullptr, _IOLBF, 1 << 16);  // an interrupted run leaves whole lines
  std::signal(SIGINT, plumb::end_on_interrupt);
  try {
    return plumb::run(argc, argv);
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "error: out of memory: use --inputs, or a smaller network\n");
  } catch (const std::exception& e) { fmt::print(stderr, "error: {}\n", e.what()); }
  return plumb::kExitUsage;
}
