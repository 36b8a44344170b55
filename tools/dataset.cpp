// dataset: the data a person needs, by name, by recipe, or converted: list, info, fetch, generate, convert.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "datasets/atomic_file.hpp"
#include "datasets/banded.hpp"
#include "datasets/binary_cache.hpp"
#include "datasets/digits.hpp"
#include "datasets/fetch.hpp"
#include "datasets/graphs.hpp"
#include "datasets/load_matrix.hpp"
#include "datasets/mnist.hpp"
#include "datasets/npy.hpp"
#include "datasets/radixnet.hpp"
#include "datasets/rmat.hpp"
#include "datasets/save_matrix.hpp"
#include "datasets/sdnn_files.hpp"
#include "datasets/twins.hpp"
#include "reference/core/error.hpp"
#include "reference/core/text.hpp"
#include "tools/version.hpp"

namespace {

namespace fs = std::filesystem;
using plumb::Csr;
using plumb::Error;

constexpr int kUsage = 2;
constexpr int kInterrupted = 130;  // 128 + SIGINT, as shells have it

std::atomic<bool> fetching{false};
std::atomic<bool> stop{false};

// While nothing is half written the program may simply end; else the next write or progress call unwinds and
// cleans up.
void on_interrupt(int) {
  if (plumb::open_files == 0 && !fetching) {
    constexpr char kText[] = "\ninterrupted\n";
    (void)!::write(2, kText, sizeof kText - 1);
    ::_exit(kInterrupted);
  }
  plumb::stop_writing = true;
  stop = true;
}

std::string bytes_text(double bytes) {
  constexpr const char* kUnits[] = {"B", "kB", "MB", "GB", "TB"};
  std::size_t unit = 0;
  while (bytes >= 999.5 && unit < 4) bytes /= 1000, ++unit;
  return unit == 0 ? fmt::format("{:.0f} B", bytes) : fmt::format("{:.3g} {}", bytes, kUnits[unit]);
}

std::string grouped(std::int64_t n) {
  std::string text = std::to_string(n);
  for (auto at = static_cast<std::ptrdiff_t>(text.size()) - 3; at > (n < 0 ? 1 : 0); at -= 3) {
    text.insert(static_cast<std::size_t>(at), 1, ',');
  }
  return text;
}

double size_on_disk(const std::string& path) {
  std::error_code none;
  if (!fs::is_directory(path)) return static_cast<double>(fs::file_size(path, none));
  double sum = 0;
  for (const auto& entry : fs::recursive_directory_iterator(path, none)) {
    if (entry.is_regular_file()) sum += static_cast<double>(entry.file_size(none));
  }
  return sum;
}

// Progress: one line on stderr that is written over, and only where someone watches.
class Progress {
 public:
  explicit Progress(bool quiet) : on_(!quiet && ::isatty(2) != 0) {}
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  void show(const std::string& text) {
    if (!on_) return;
    std::fprintf(stderr, "\r\033[K%s", text.c_str());
    std::fflush(stderr);
    shown_ = true;
  }
  void clear() {
    if (shown_) std::fputs("\r\033[K", stderr);
    shown_ = false;
  }

 private:
  bool on_, shown_ = false;
};

class Clock {
 public:
  [[nodiscard]] double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

void wrote(const std::string& path, const std::string& what, double seconds) {
  fmt::print("wrote {}: {}, {}, {:.2f} s\n", path, what, bytes_text(size_on_disk(path)), seconds);
}

// A number that may be written 64k or 1M.
CLI::Option* size_option(CLI::App* cmd, const std::string& names, std::int64_t& value,
                         const std::string& help) {
  return cmd
      ->add_option_function<std::string>(
          names, [&value, names](const std::string& text) { value = plumb::parse_size(text, names); },
          fmt::format("{} [{}]", help, value))
      ->type_name("N")
      ->expected(1);
}

CLI::Option* seed_option(CLI::App* cmd, std::uint64_t& seed) {
  return cmd->add_option("--seed", seed, fmt::format("data = f(seed), the same on every machine [{}]", seed))
      ->type_name("N");
}

CLI::Option* output_option(CLI::App* cmd, std::string& path, const std::string& formats) {
  return cmd->add_option("-o,--output", path, "file to write, by ending: " + formats)->type_name("F");
}

void need(const std::string& value, const char* what, const char* example) {
  if (value.empty()) throw Error(fmt::format("missing {} (example: {})", what, example));
}

// ---- generate
// -------------------------------------------------------------------------------------------------------

// Options every matrix generator has, and the way its result is written.
struct MatrixJob {
  std::string output, type = "f64";
  std::uint64_t seed = 1;

  void options(CLI::App* cmd, bool seeded) {
    output_option(cmd, output, plumb::saved_formats());
    cmd->add_option("--dtype", type, "f32 or f64: the type of values, where the format has one [f64]")
        ->type_name("T");
    if (seeded) seed_option(cmd, seed);
  }
  // make(T{}) gives a Csr<T>
  template <class Make>
  void run(const char* name, Make&& make) const {
    need(output, "-o F", fmt::format("dataset generate {} -o matrix.mtx", name).c_str());
    const Clock clock;
    const auto finish = [&](const auto& a) {
      plumb::save_matrix(output, a);
      wrote(output, fmt::format("{} x {}, {} entries", grouped(a.rows), grouped(a.cols), grouped(a.nnz())),
            clock.seconds());
    };
    if (type == "f32") {
      finish(make(float{}));
    } else if (type == "f64") {
      // A .plumb file holds fp32: making fp32 is what its user means.
      const bool cache = output.size() > 6 && output.compare(output.size() - 6, 6, ".plumb") == 0;
      if (cache) {
        finish(make(float{}));
      } else {
        finish(make(double{}));
      }
    } else {
      throw Error(fmt::format("--dtype must be f32 or f64, is: {}", plumb::printable(type)));
    }
  }
};

// A subcommand of `generate` and what it does; kept alive until the program ends.
struct Command {
  CLI::App* app;
  std::function<void()> run;
};

void add_sdnn_generators(CLI::App* generate, std::vector<Command>& commands) {
  {
    struct Job {
      std::int64_t neurons = 1024, layers = 120;
      std::string output;
    };
    auto job = std::make_shared<Job>();
    CLI::App* cmd =
        generate->add_subcommand("radixnet", "weights of the Sparse DNN Graph Challenge, bit for bit");
    size_option(cmd, "-n,--neurons", job->neurons,
                "1024, 4096, 16384, 65536 are official; also 16 * 2^d for small ones");
    size_option(cmd, "-l,--layers", job->layers, "layers; official: 120, 480, 1920");
    output_option(cmd, job->output, ".plumb, .tar, .tar.gz, or a folder for nN-lK.tsv files");
    cmd->footer(
        "Examples:\n  dataset generate radixnet --neurons 1024 --layers 120 -o neuron1024.plumb\n"
        "  dataset generate radixnet --neurons 4096 --layers 480 -o neuron4096.tar.gz");
    commands.push_back(
        {cmd, [job] {
           need(job->output, "-o F", "dataset generate radixnet -n 1024 -l 120 -o neuron1024.plumb");
           const Clock clock;
           const plumb::RadixNet net = plumb::radixnet(job->neurons, job->layers);
           plumb::save_network(job->output, net);
           wrote(job->output,
                 fmt::format("{} layers of {} neurons, {} edges{}", grouped(net.layers), grouped(net.neurons),
                             grouped(net.layers * net.neurons * plumb::kRadixNetDegree),
                             net.official ? "" : " (no official size)"),
                 clock.seconds());
         }});
  }
  struct Job {
    std::int64_t neurons = 1024, inputs = 60000;
    std::uint64_t seed = 1;
    std::string output, images, grey;
  };
  const auto finish = [](const Job& job, const plumb::GreyImages& images, const Clock& clock) {
    const plumb::PixelMask mask = plumb::fourier_inputs(images, plumb::image_side(job.neurons));
    plumb::save_inputs(job.output, mask);
    const std::int64_t ones = mask.nnz();
    wrote(job.output,
          fmt::format("{} images of {} pixels, {} ones ({:.1f} each), threshold half of {:.6f}",
                      grouped(mask.rows), grouped(mask.features), grouped(ones),
                      mask.rows > 0 ? static_cast<double>(ones) / static_cast<double>(mask.rows) : 0.0,
                      mask.maximum),
          clock.seconds());
  };
  {
    auto job = std::make_shared<Job>();
    CLI::App* cmd =
        generate->add_subcommand("digits", "digit-like inputs for the challenge, drawn from strokes");
    size_option(cmd, "-n,--neurons", job->neurons, "pixels of an image: the square of an even number");
    size_option(cmd, "-m,--inputs", job->inputs, "images");
    seed_option(cmd, job->seed);
    output_option(cmd, job->output, ".plumb, .tsv, .tsv.gz");
    cmd->add_option("--grey", job->grey, "also write the 28 x 28 greyscale images, idx3-ubyte (.gz)")
        ->type_name("F");
    cmd->footer(
        "Examples:\n  dataset generate digits --neurons 1024 -o sparse-images-1024.plumb\n"
        "  dataset generate digits -n 4096 -m 10k --seed 7 -o sparse-images-4096.tsv.gz");
    commands.push_back({cmd, [job, finish] {
                          need(job->output, "-o F",
                               "dataset generate digits -n 1024 -o sparse-images-1024.plumb");
                          const Clock clock;
                          const plumb::GreyImages images = plumb::digit_images(job->inputs, job->seed);
                          if (!job->grey.empty()) plumb::save_idx_images(job->grey, images);
                          finish(*job, images, clock);
                        }});
  }
  {
    auto job = std::make_shared<Job>();
    CLI::App* cmd =
        generate->add_subcommand("mnist", "the challenge's official inputs, from MNIST's training images");
    size_option(cmd, "-n,--neurons", job->neurons, "1024, 4096, 16384 or 65536");
    cmd->add_option("--images", job->images,
                    "train-images-idx3-ubyte (.gz) [as fetched by `dataset fetch mnist`]")
        ->type_name("F");
    output_option(cmd, job->output, ".plumb, .tsv, .tsv.gz");
    cmd->footer(
        "Example:\n  dataset generate mnist --images train-images-idx3-ubyte.gz -n 1024 -o "
        "sparse-images-1024.tsv.gz");
    commands.push_back(
        {cmd, [job, finish] {
           need(job->output, "-o F", "dataset generate mnist -n 1024 -o sparse-images-1024.plumb");
           if (job->images.empty()) {
             job->images = plumb::cache_folder() + "/sdnn/train-images-idx3-ubyte.gz";
             if (!fs::exists(job->images)) {
               throw plumb::input_error(job->images, 0,
                                        "MNIST is not there; `dataset fetch mnist`, or give --images F");
             }
           }
           const Clock clock;
           finish(*job, plumb::read_idx_images(job->images), clock);
         }});
  }
}

void add_graph_generators(CLI::App* generate, std::vector<Command>& commands) {
  {
    struct Job : MatrixJob {
      plumb::Rmat what;
    };
    auto job = std::make_shared<Job>();
    CLI::App* cmd = generate->add_subcommand("rmat", "a skewed graph with hubs (R-MAT)");
    size_option(cmd, "--scale", job->what.scale, "2^N vertices");
    size_option(cmd, "--edge-factor", job->what.edge_factor, "edges drawn per vertex");
    cmd->add_option("--a", job->what.a, "probability of the upper left quadrant [0.57]");
    cmd->add_option("--b", job->what.b, "upper right [0.19]");
    cmd->add_option("--c", job->what.c, "lower left [0.19]");
    cmd->add_flag("--symmetric", job->what.symmetric, "add the reverse of every edge");
    cmd->add_flag("--loops", job->what.self_loops, "one loop at every vertex");
    cmd->add_flag("--keep-repeats", job->what.keep_repeats, "keep repeated edges as repeated entries");
    cmd->add_flag_callback(
        "--no-shuffle", [job] { job->what.shuffle = false; }, "leave the hubs at the low numbers");
    cmd->add_flag("--ones", job->what.ones, "values 1 instead of uniform in [-1, 1)");
    job->options(cmd, true);
    cmd->footer("Example:\n  dataset generate rmat --scale 16 --edge-factor 16 --symmetric -o graph.mtx");
    commands.push_back({cmd, [job] {
                          job->what.seed = job->seed;
                          job->run("rmat", [&](auto t) { return plumb::rmat<decltype(t)>(job->what); });
                        }});
  }
  {
    struct Job : MatrixJob {
      plumb::PowerLaw what;
    };
    auto job = std::make_shared<Job>();
    CLI::App* cmd = generate->add_subcommand("power-law", "row lengths that fall like rank^-exponent");
    size_option(cmd, "--rows", job->what.rows, "rows");
    size_option(cmd, "--cols", job->what.cols, "columns");
    size_option(cmd, "--nnz", job->what.nnz, "entries");
    cmd->add_option("--exponent", job->what.exponent, "0: all rows alike, 1: Zipf [0.7]");
    cmd->add_flag_callback(
        "--no-shuffle", [job] { job->what.shuffle = false; }, "leave the longest rows first");
    job->options(cmd, true);
    cmd->footer("Example:\n  dataset generate power-law --rows 100k --cols 100k --nnz 1M -o skewed.npz");
    commands.push_back({cmd, [job] {
                          job->what.seed = job->seed;
                          job->run("power-law",
                                   [&](auto t) { return plumb::power_law<decltype(t)>(job->what); });
                        }});
  }
  {
    struct Job {
      plumb::GcnShape shape;
      std::string output;
    };
    auto job = std::make_shared<Job>();
    CLI::App* cmd =
        generate->add_subcommand("gcn", "a graph, features and weights for `infer gcn --data DIR`");
    size_option(cmd, "--scale", job->shape.scale, "2^N vertices");
    size_option(cmd, "--edge-factor", job->shape.edge_factor, "edges drawn per vertex");
    size_option(cmd, "--features", job->shape.features, "features per vertex");
    size_option(cmd, "--hidden", job->shape.hidden, "hidden units");
    size_option(cmd, "--classes", job->shape.classes, "classes");
    seed_option(cmd, job->shape.seed);
    cmd->add_option("-o,--output", job->output, "folder to write .npy files into; must not exist yet")
        ->type_name("DIR");
    cmd->footer(
        "Example:\n  dataset generate gcn --scale 14 --features 128 --hidden 16 --classes 8 -o mygcn");
    commands.push_back({cmd, [job] {
                          need(job->output, "-o DIR", "dataset generate gcn -o mygcn");
                          const Clock clock;
                          const plumb::GcnSet<double> set = plumb::generated_gcn<double>(job->shape);
                          plumb::save_gcn(job->output, set);
                          wrote(job->output,
                                fmt::format("{} vertices, {} entries, {} -> {} -> {}", grouped(set.a.rows),
                                            grouped(set.a.nnz()), grouped(set.x.cols), grouped(set.w1.cols),
                                            grouped(set.w2.cols)),
                                clock.seconds());
                        }});
  }
}

void add_matrix_generators(CLI::App* generate, std::vector<Command>& commands) {
  {
    struct Job : MatrixJob {
      plumb::Banded what;
      std::int64_t width = -1;
    };
    auto job = std::make_shared<Job>();
    CLI::App* cmd = generate->add_subcommand("banded", "diagonals around the main one, full or thinned");
    size_option(cmd, "--rows", job->what.rows, "rows");
    size_option(cmd, "--cols", job->what.cols, "columns");
    size_option(cmd, "--lower", job->what.lower, "diagonals below");
    size_option(cmd, "--upper", job->what.upper, "diagonals above");
    cmd->add_option("--density", job->what.density, "probability that an entry of the band is there [1]");
    job->options(cmd, true);
    cmd->footer("Example:\n  dataset generate banded --rows 10k --cols 10k --lower 3 --upper 3 -o band.mtx");
    commands.push_back({cmd, [job] {
                          job->what.seed = job->seed;
                          job->run("banded", [&](auto t) { return plumb::banded<decltype(t)>(job->what); });
                        }});
  }
  {
    struct Job : MatrixJob {
      std::int64_t nx = 100, ny = 100, nz = 1, unknowns = 1;
    };
    auto job = std::make_shared<Job>();
    CLI::App* cmd =
        generate->add_subcommand("stencil", "5-point Laplacian of a grid; 7-point where --nz is above 1");
    size_option(cmd, "--nx", job->nx, "grid points");
    size_option(cmd, "--ny", job->ny, "grid points");
    size_option(cmd, "--nz", job->nz, "grid points");
    job->options(cmd, false);
    cmd->footer("Example:\n  dataset generate stencil --nx 1k --ny 1k -o laplace.mtx");
    commands.push_back({cmd, [job] {
                          job->run("stencil", [&](auto t) {
                            return plumb::stencil<decltype(t)>(job->nx, job->ny, job->nz);
                          });
                        }});

    auto block = std::make_shared<Job>();
    block->nx = block->ny = block->nz = 10;
    block->unknowns = 3;
    cmd = generate->add_subcommand("fem", "trilinear finite elements: dense blocks, up to 27 neighbours");
    size_option(cmd, "--nx", block->nx, "nodes");
    size_option(cmd, "--ny", block->ny, "nodes");
    size_option(cmd, "--nz", block->nz, "nodes");
    size_option(cmd, "--unknowns", block->unknowns, "unknowns per node");
    block->options(cmd, true);
    cmd->footer("Example:\n  dataset generate fem --nx 40 --ny 40 --nz 40 --unknowns 3 -o bone.npz");
    commands.push_back({cmd, [block] {
                          block->run("fem", [&](auto t) {
                            return plumb::fem<decltype(t)>(block->nx, block->ny, block->nz, block->unknowns,
                                                           block->seed);
                          });
                        }});
  }
  {
    struct Job : MatrixJob {
      std::int64_t rows = 1000, cols = 1000, per_row = 8, width = 1;
    };
    auto job = std::make_shared<Job>();
    CLI::App* cmd = generate->add_subcommand("uniform", "the same number of entries in every row, anywhere");
    size_option(cmd, "--rows", job->rows, "rows");
    size_option(cmd, "--cols", job->cols, "columns");
    size_option(cmd, "--per-row", job->per_row, "entries per row");
    job->options(cmd, true);
    cmd->footer("Example:\n  dataset generate uniform --rows 64k --cols 64k --per-row 32 -o uniform.plumb");
    commands.push_back({cmd, [job] {
                          job->run("uniform", [&](auto t) {
                            return plumb::uniform<decltype(t)>(job->rows, job->cols, job->per_row, job->seed);
                          });
                        }});

    auto head = std::make_shared<Job>();
    cmd = generate->add_subcommand("arrow", "full first rows and columns, and a diagonal");
    size_option(cmd, "--rows", head->rows, "rows and columns");
    size_option(cmd, "--width", head->width, "full rows and columns");
    head->options(cmd, true);
    cmd->footer("Example:\n  dataset generate arrow --rows 10k --width 2 -o arrow.mtx");
    commands.push_back({cmd, [head] {
                          head->run("arrow", [&](auto t) {
                            return plumb::arrow<decltype(t)>(head->rows, head->width, head->seed);
                          });
                        }});
  }
  {
    struct Job : MatrixJob {
      std::string name;
      plumb::TwinOptions options_;
    };
    auto job = std::make_shared<Job>();
    CLI::App* cmd =
        generate->add_subcommand("twin", "a made-up matrix with the statistics of a well-known one");
    cmd->add_option("name", job->name, "which; see `dataset list`")->type_name("NAME");
    cmd->add_option("--scale", job->options_.scale,
                    "rows, columns and entries times this, above 0 and at most 1 [1]");
    cmd->add_flag("--lower", job->options_.lower, "as the stored lower triangle of a symmetric matrix");
    job->options(cmd, true);
    cmd->footer("Example:\n  dataset generate twin boneS10 --scale 0.1 -o bone.npz");
    commands.push_back({cmd, [job] {
                          need(job->name, "NAME", "dataset generate twin boneS10 -o bone.npz");
                          job->options_.seed = job->seed;
                          const plumb::TwinProfile& of = plumb::twin_profile(job->name);
                          job->run("twin boneS10",
                                   [&](auto t) { return plumb::twin<decltype(t)>(of, job->options_); });
                        }});
  }
}

// ---- the other commands
// ---------------------------------------------------------------------------------------------

void list() {
  std::string folder = "(no cache folder)";
  try {
    folder = plumb::cache_folder();
  } catch (const Error&) {  // listing needs none
  }
  fmt::print("to fetch (dataset fetch NAME), kept in {}:\n", folder);
  for (const plumb::RemoteSet& set : plumb::manifest()) {
    bool all = true;
    for (const plumb::RemoteFile& file : set.files)
      all = all && fs::exists(fs::path(folder) / set.folder / file.file);
    fmt::print("  {:<17} {} {}; {}\n", set.name, all ? "*" : " ", set.what, set.licence);
  }
  fmt::print("  (* is there)\n\ntwins (dataset generate twin NAME): shape, entries and longest row of\n");
  for (const plumb::TwinProfile& of : plumb::twin_profiles()) {
    fmt::print("  {:<17}   {} x {}, {} entries, longest row {}; {}\n", of.name, grouped(of.rows),
               grouped(of.cols), grouped(of.nnz), grouped(of.max_row), of.kind);
  }
  fmt::print(
      "\nto generate (dataset generate NAME --help): radixnet digits mnist rmat power-law gcn banded stencil "
      "fem "
      "uniform arrow twin\n");
}

void fetch(const std::string& name, plumb::FetchOptions options, bool quiet) {
  const plumb::RemoteSet& set = plumb::manifest_entry(name);
  if (options.folder.empty()) options.folder = plumb::cache_folder();
  Progress progress(quiet);
  const Clock clock;
  options.stop = &stop;
  options.progress = [&](const std::string& file, std::int64_t now, std::int64_t total) {
    const auto got = static_cast<double>(now);
    progress.show(total > 0 ? fmt::format("{}: {} of {} ({:.0f} %)", file, bytes_text(got),
                                          bytes_text(static_cast<double>(total)),
                                          100 * got / static_cast<double>(total))
                            : fmt::format("{}: {}", file, bytes_text(got)));
  };
  options.say = [&](const std::string& text) {
    progress.clear();
    if (!quiet) std::fprintf(stderr, "%s\n", text.c_str());
  };
  fetching = true;
  const std::vector<std::string> paths = plumb::fetch(set, options);
  fetching = false;
  progress.clear();
  for (const std::string& path : paths) fmt::print("{}\n", path);
  if (!quiet)
    std::fprintf(stderr, "%s\n",
                 fmt::format("{}: {} file{}, {:.1f} s; {}", set.name, paths.size(),
                             paths.size() == 1 ? "" : "s", clock.seconds(), set.licence)
                     .c_str());
}

void convert(const std::string& in, const std::string& out, const std::string& type) {
  const Clock clock;
  const auto ends = [](const std::string& text, std::string_view end) {
    return text.size() >= end.size() && std::string_view(text).substr(text.size() - end.size()) == end;
  };
  if (!fs::exists(in)) throw plumb::input_error(in, 0, "no such file or folder");
  const std::string name = fs::path(in).lexically_normal().filename().string();
  // The challenge's networks and inputs keep what they are; every other input is one matrix.
  if (ends(out, ".plumb") && (fs::is_directory(in) || ends(in, ".tar") || ends(in, ".tar.gz"))) {
    const plumb::SdnnNetwork net = plumb::read_sdnn_weights(in);
    plumb::write_cache(out, plumb::CacheKind::weights, net.layers);
    wrote(out,
          fmt::format("{} layers of {} neurons", grouped(static_cast<std::int64_t>(net.layers.size())),
                      grouped(net.neurons)),
          clock.seconds());
    return;
  }
  if (ends(out, ".plumb") && name.rfind("sparse-images", 0) == 0 && !plumb::is_cache(in)) {
    const Csr<float> images = plumb::read_sdnn_images(in);
    plumb::write_cache(out, plumb::CacheKind::images, std::vector<Csr<float>>{images});
    wrote(out,
          fmt::format("{} images of {} pixels, {} ones", grouped(images.rows), grouped(images.cols),
                      grouped(images.nnz())),
          clock.seconds());
    return;
  }
  const auto finish = [&](const auto& a) {
    plumb::save_matrix(out, a);
    wrote(out, fmt::format("{} x {}, {} entries", grouped(a.rows), grouped(a.cols), grouped(a.nnz())),
          clock.seconds());
  };
  if (plumb::is_cache(in)) {
    const plumb::BinaryCache cache(in);
    if (cache.size() != 1) {
      throw plumb::input_error(in, 0, "holds several matrices; only a file of one can be converted",
                               std::to_string(cache.size()));
    }
    finish(cache.copy(0));
  } else if (type == "f32" || (type.empty() && ends(out, ".plumb"))) {
    finish(plumb::load_matrix<float>(in));
  } else if (type == "f64" || type.empty()) {
    finish(plumb::load_matrix<double>(in));
  } else {
    throw Error(fmt::format("--dtype must be f32 or f64, is: {}", plumb::printable(type)));
  }
}

// ---- command line
// ---------------------------------------------------------------------------------------------------

// The word that fits nowhere, named with the nearest one that would.
std::string unknown_words(const CLI::App& app, const std::vector<std::string>& extras) {
  const CLI::App* deepest = &app;
  std::string path = app.get_name();
  while (!deepest->get_subcommands().empty()) {
    deepest = deepest->get_subcommands().back();
    path += " " + deepest->get_name();
  }
  std::vector<std::string> known;
  const std::string& word = extras.front();
  if (word.rfind('-', 0) == 0) {
    for (const CLI::Option* option : deepest->get_options()) {
      for (const std::string& name : option->get_lnames()) known.push_back(fmt::format("--{}", name));
    }
  } else {
    for (const CLI::App* sub : deepest->get_subcommands([](const CLI::App*) { return true; }))
      known.push_back(sub->get_name());
  }
  const std::string stem = word.substr(0, word.find('='));
  const std::string kind = word.rfind('-', 0) == 0 ? "option" : known.empty() ? "argument" : "command";
  return fmt::format("{}: unknown {} '{}'{} ({} --help)", path, kind, plumb::printable(stem),
                     plumb::did_you_mean(stem, known), path);
}

int run(int argc, char** argv) {
  CLI::App app("The data a person needs: by name, by recipe, or converted.", "dataset");
  app.set_version_flag("--version", std::string("plumbline ") + plumb::kVersion);
  app.footer(
      "Examples:\n"
      "  dataset list\n"
      "  dataset info matrix.mtx\n"
      "  dataset fetch mnist\n"
      "  dataset generate radixnet --neurons 1024 --layers 120 -o neuron1024.plumb\n"
      "  dataset convert matrix.mtx matrix.npz\n\n"
      "Environment:\n"
      "  PLUMB_CACHE       where fetched data is kept [$XDG_CACHE_HOME/plumbline, ~/.cache/plumbline]\n"
      "  OMP_NUM_THREADS   threads that generate and read\n"
      "  https_proxy, http_proxy, no_proxy, as curl reads them\n\n"
      "Sizes may be written 64k or 1M. Exit codes: 0 done, 2 bad input or environment, 130 interrupted.");

  CLI::App* list_cmd = app.add_subcommand("list", "what can be fetched, imitated, generated");
  list_cmd->footer("Example:\n  dataset list");

  CLI::App* info_cmd =
      app.add_subcommand("info", "what a file holds: kind, shape, entries, row lengths, defects");
  std::vector<std::string> info_paths;
  info_cmd->add_option("file", info_paths, "files or folders")->type_name("F");
  info_cmd->footer("Examples:\n  dataset info matrix.mtx.gz\n  dataset info neuron1024.tar.gz");

  CLI::App* fetch_cmd = app.add_subcommand("fetch", "download a public data set into the cache folder");
  std::string fetch_name;
  plumb::FetchOptions fetch_options;
  bool quiet = false;
  fetch_cmd->add_option("name", fetch_name, "which; see `dataset list`")->type_name("NAME");
  fetch_cmd
      ->add_option("--mirror", fetch_options.mirror, "take every file from URL/FILE: http, https or file")
      ->type_name("URL");
  fetch_cmd->add_option("--to", fetch_options.folder, "folder instead of the cache folder")->type_name("DIR");
  fetch_cmd->add_flag("--force", fetch_options.force, "fetch again what is there");
  fetch_cmd->add_flag("-q,--quiet", quiet, "print the paths only");
  fetch_cmd->footer(
      "Examples:\n  dataset fetch mnist\n  dataset fetch sdnn-1024\n  dataset fetch boneS10 --mirror "
      "http://localhost:8000");

  CLI::App* generate_cmd = app.add_subcommand("generate", "make data: networks, inputs, graphs, matrices");
  generate_cmd->footer(
      "Examples:\n  dataset generate radixnet --neurons 1024 --layers 120 -o neuron1024.plumb\n"
      "  dataset generate rmat --scale 16 -o graph.mtx\n  dataset generate twin boneS10 --scale 0.1 -o "
      "bone.npz");
  std::vector<Command> commands;
  add_sdnn_generators(generate_cmd, commands);
  add_graph_generators(generate_cmd, commands);
  add_matrix_generators(generate_cmd, commands);

  CLI::App* convert_cmd = app.add_subcommand("convert", "from one format to another, by the endings");
  std::string from, to, convert_type;
  convert_cmd
      ->add_option("in", from,
                   "what load can read: .mtx .npz .npy .plumb edge lists, the challenge's files; .gz too")
      ->type_name("IN");
  convert_cmd->add_option("out", to, std::string("by ending: ") + plumb::saved_formats())->type_name("OUT");
  convert_cmd->add_option("--dtype", convert_type, "f32 or f64 [f64; f32 for .plumb]")->type_name("T");
  convert_cmd->footer(
      "Examples:\n  dataset convert matrix.mtx matrix.npz\n  dataset convert neuron1024.tar.gz "
      "neuron1024.plumb\n"
      "  dataset convert web-Stanford.txt.gz web-Stanford.mtx");

  try {
    app.parse(argc, argv);
  } catch (const CLI::ExtrasError&) {
    throw Error(unknown_words(app, app.remaining(true)));
  } catch (const CLI::Success& e) {
    return app.exit(e);  // --help, --version
  } catch (const CLI::ParseError& e) { throw Error(std::string(e.what()) + " (dataset --help)"); }

  if (list_cmd->parsed()) {
    list();
  } else if (info_cmd->parsed()) {
    if (info_paths.empty()) throw Error("missing F (example: dataset info matrix.mtx)");
    for (std::size_t k = 0; k < info_paths.size(); ++k) {
      fmt::print("{}{}", k > 0 ? "\n" : "", plumb::to_text(plumb::inspect(info_paths[k])));
    }
  } else if (fetch_cmd->parsed()) {
    need(fetch_name, "NAME", "dataset fetch mnist");
    fetch(fetch_name, fetch_options, quiet);
  } else if (convert_cmd->parsed()) {
    if (from.empty() || to.empty())
      throw Error("missing IN and OUT (example: dataset convert matrix.mtx matrix.npz)");
    convert(from, to, convert_type);
  } else {
    for (const Command& command : commands) {
      if (command.app->parsed()) {
        command.run();
        return 0;
      }
    }
    if (generate_cmd->parsed()) throw Error("generate what? (dataset generate --help)");
    std::fputs(app.help().c_str(), stdout);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGINT, on_interrupt);
  std::signal(SIGTERM, on_interrupt);
  std::signal(SIGPIPE, SIG_DFL);
  try {
    const int code = run(argc, argv);
    if (std::fflush(stdout) != 0) throw Error("standard output: cannot write");
    return code;
  } catch (const Error& e) { std::fprintf(stderr, "error: %s\n", e.what()); } catch (const std::bad_alloc&) {
    std::fputs("error: out of memory\n", stderr);
  } catch (const std::exception& e) { std::fprintf(stderr, "error: %s\n", e.what()); }
  return stop ? kInterrupted : kUsage;
}
