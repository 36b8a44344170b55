// dataset generate: one subcommand per generator.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "datasets/formats/format_table.hpp"
#include "datasets/formats/idx_images.hpp"
#include "datasets/formats/load_matrix.hpp"
#include "datasets/formats/save_matrix.hpp"
#include "datasets/generators/banded.hpp"
#include "datasets/generators/digits.hpp"
#include "datasets/generators/gcn.hpp"
#include "datasets/generators/graphs.hpp"
#include "datasets/generators/lookalikes.hpp"
#include "datasets/generators/mnist.hpp"
#include "datasets/generators/pattern_matrix.hpp"
#include "datasets/generators/radixnet.hpp"
#include "datasets/generators/rmat.hpp"
#include "datasets/generators/save_generated.hpp"
#include "datasets/io/output_file.hpp"
#include "datasets/remote/manifest.hpp"
#include "reference/core/error.hpp"
#include "reference/core/text.hpp"
#include "tools/dataset_commands.hpp"
#include "tools/terminal.hpp"

namespace {

namespace fs = std::filesystem;
using plumb::Error;
using plumb::wrote;

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
  return cmd
      ->add_option("--seed", seed,
                   fmt::format("seed of the random numbers; the same data on every machine [{}]", seed))
      ->type_name("N");
}

CLI::Option* output_option(CLI::App* cmd, std::string& path, const std::string& formats) {
  return cmd->add_option("-o,--output", path, "file to write, by ending: " + formats)->type_name("F");
}

void need(const std::string& value, const char* what, const char* example) {
  if (value.empty()) throw Error(fmt::format("missing {} (example: {})", what, example));
}

// A file to write that must be given; one that cannot be written is found before the work.
void need_output(const std::string& path, const char* example) {
  need(path, "-o F", example);
  plumb::require_writable(path);
}

// As need_output, for a folder or a file by ending.
void need_folder_above(const std::string& path, const char* what, const char* example) {
  need(path, what, example);
  if (!fs::is_directory(path)) plumb::require_writable(path);
}

// Options every matrix generator has, and the way its result is written.
struct MatrixJob {
  std::string output, format, type = "f64";
  std::uint64_t seed = 1;

  void options(CLI::App* cmd, bool seeded) {
    output_option(cmd, output, plumb::known_outputs());
    cmd->add_option("--format", format,
                    "format of the file, where its name does not tell it: " + plumb::output_format_names())
        ->type_name("FORMAT");
    cmd->add_option("--dtype", type, "f32 or f64: the type of values, where the format has one [f64]")
        ->type_name("T");
    if (seeded) seed_option(cmd, seed);
  }
  // make(T{}) gives a Csr<T>
  template <class Make>
  void run(const char* name, Make&& make) const {
    need_output(output, fmt::format("dataset generate {} -o matrix.mtx", name).c_str());
    const plumb::Stopwatch clock;
    const auto finish = [&](const auto& a) {
      plumb::save_matrix(output, a, format);
      wrote(output,
            fmt::format("{} x {}, {} entries", plumb::show_grouped(a.rows), plumb::show_grouped(a.cols),
                        plumb::show_grouped(a.nnz())),
            clock.seconds());
    };
    if (type == "f32") {
      finish(make(float{}));
    } else if (type == "f64") {
      // Where the file holds fp32, making fp32 is what its user means.
      if (plumb::format_of_output(output, format).format->holds_f32) {
        finish(make(float{}));
      } else {
        finish(make(double{}));
      }
    } else {
      throw Error(fmt::format("--dtype must be f32 or f64, is: {}", plumb::printable(type)));
    }
  }
};

void add_radixnet(CLI::App* generate, std::vector<plumb::Command>& commands) {
  struct Job {
    std::int64_t neurons = 1024, layers = 120;
    std::string output;
  };
  auto job = std::make_shared<Job>();
  CLI::App* cmd =
      generate->add_subcommand("radixnet", "weights of the Sparse DNN Graph Challenge, bit for bit");
  size_option(cmd, "-n,--neurons", job->neurons,
              "1024, 4096, 16384, 65536 are official; 16 * 2^d is accepted too, for small networks");
  size_option(cmd, "-l,--layers", job->layers, "layers; official: 120, 480, 1920");
  output_option(cmd, job->output, ".plumb, .tar, .tar.gz, or a folder for nN-lK.tsv files");
  cmd->footer(
      "Examples:\n  dataset generate radixnet --neurons 1024 --layers 120 -o neuron1024.plumb\n"
      "  dataset generate radixnet --neurons 4096 --layers 480 -o neuron4096.tar.gz");
  commands.push_back(
      {cmd, [job] {
         need_folder_above(job->output, "-o F",
                           "dataset generate radixnet -n 1024 -l 120 -o neuron1024.plumb");
         const plumb::Stopwatch clock;
         const plumb::RadixNet net = plumb::radixnet(job->neurons, job->layers);
         plumb::save_network(job->output, net);
         wrote(job->output,
               fmt::format("{} layers of {} neurons, {} edges{}", plumb::show_grouped(net.layers),
                           plumb::show_grouped(net.neurons),
                           plumb::show_grouped(net.layers * net.neurons * plumb::kRadixNetDegree),
                           net.official ? "" : " (no official size)"),
               clock.seconds());
       }});
}

// Resizes greyscale images to the pixels of a network's inputs, thresholds them and writes the result.
void save_challenge_inputs(const std::string& output, std::int64_t neurons, const plumb::GreyImages& images,
                           const plumb::Stopwatch& clock) {
  const plumb::PixelMask mask = plumb::fourier_inputs(images, plumb::image_side(neurons));
  plumb::save_inputs(output, mask);
  const std::int64_t ones = mask.nnz();
  wrote(output,
        fmt::format(
            "{} images of {} pixels, {} ones ({:.1f} each), threshold half of {:.6f}",
            plumb::show_grouped(mask.rows), plumb::show_grouped(mask.features), plumb::show_grouped(ones),
            mask.rows > 0 ? static_cast<double>(ones) / static_cast<double>(mask.rows) : 0.0, mask.maximum),
        clock.seconds());
}

void add_digits(CLI::App* generate, std::vector<plumb::Command>& commands) {
  struct Job {
    std::int64_t neurons = 1024, inputs = 60000;
    std::uint64_t seed = 1;
    std::string output, grey;
  };
  auto job = std::make_shared<Job>();
  CLI::App* cmd =
      generate->add_subcommand("digits", "digit-like inputs for the challenge, drawn from strokes");
  size_option(cmd, "-n,--neurons", job->neurons, "pixels of an image: the square of an even number");
  size_option(cmd, "-m,--inputs", job->inputs, "images");
  seed_option(cmd, job->seed);
  output_option(cmd, job->output, ".plumb, .tsv, .tsv.gz");
  cmd->add_option("--grey", job->grey, "write the 28 x 28 greyscale images too, idx3-ubyte (.gz)")
      ->type_name("F");
  cmd->footer(
      "Examples:\n  dataset generate digits --neurons 1024 -o sparse-images-1024.plumb\n"
      "  dataset generate digits -n 4096 -m 10k --seed 7 -o sparse-images-4096.tsv.gz");
  commands.push_back({cmd, [job] {
                        need_output(job->output,
                                    "dataset generate digits -n 1024 -o sparse-images-1024.plumb");
                        if (!job->grey.empty()) plumb::require_writable(job->grey);
                        const plumb::Stopwatch clock;
                        const plumb::GreyImages images = plumb::digit_images(job->inputs, job->seed);
                        if (!job->grey.empty()) plumb::save_idx_images(job->grey, images);
                        save_challenge_inputs(job->output, job->neurons, images, clock);
                      }});
}

// The MNIST file that is given, or the fetched one.
std::string mnist_images(const std::string& given) {
  if (!given.empty()) return given;
  std::string fetched = plumb::cache_folder() + "/sdnn/train-images-idx3-ubyte.gz";
  if (!fs::exists(fetched)) {
    throw plumb::input_error(fetched, 0,
                             "the MNIST images are missing: run `dataset fetch mnist`, or give --images F");
  }
  return fetched;
}

void add_mnist(CLI::App* generate, std::vector<plumb::Command>& commands) {
  struct Job {
    std::int64_t neurons = 1024;
    std::string output, images;
  };
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
      {cmd, [job] {
         need_output(job->output, "dataset generate mnist -n 1024 -o sparse-images-1024.plumb");
         const std::string images = mnist_images(job->images);
         const plumb::Stopwatch clock;
         save_challenge_inputs(job->output, job->neurons, plumb::read_idx_images(images), clock);
       }});
}

void add_rmat_graph(CLI::App* generate, std::vector<plumb::Command>& commands) {
  struct Job : MatrixJob {
    plumb::Rmat what;
  };
  auto job = std::make_shared<Job>();
  CLI::App* cmd = generate->add_subcommand("rmat-graph", "a skewed graph with hubs (R-MAT)");
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
  cmd->footer("Example:\n  dataset generate rmat-graph --scale 16 --edge-factor 16 --symmetric -o graph.mtx");
  commands.push_back({cmd, [job] {
                        job->what.seed = job->seed;
                        job->run("rmat-graph", [&](auto t) { return plumb::rmat<decltype(t)>(job->what); });
                      }});
}

void add_power_law(CLI::App* generate, std::vector<plumb::Command>& commands) {
  struct Job : MatrixJob {
    plumb::PowerLaw what;
  };
  auto job = std::make_shared<Job>();
  CLI::App* cmd = generate->add_subcommand("power-law", "a graph whose row lengths fall as rank^-exponent");
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

/// The places of a matrix in `path` as edges of weight 1.
plumb::Csr<double> edges_in(const std::string& path) {
  auto [graph, found] = plumb::read_matrix<double>(path);
  plumb::tell(path, found.notes);
  graph.val.assign(graph.col.size(), 1);
  return std::move(graph);
}

void add_gcn(CLI::App* generate, std::vector<plumb::Command>& commands) {
  struct Job {
    plumb::GcnShape shape;
    std::string graph;
    std::int64_t features = 128, hidden = 16, classes = 8, layers = 2;
    std::string output;
  };
  auto job = std::make_shared<Job>();
  CLI::App* cmd =
      generate->add_subcommand("gcn", "a graph with features and weights, for `infer gcn --data DIR`");
  cmd->add_option("--graph", job->graph,
                  "square matrix, read or generated before, whose entries are the edges, in place of R-MAT's")
      ->type_name("FILE");
  size_option(cmd, "--scale", job->shape.scale, "2^N vertices, without --graph");
  size_option(cmd, "--edge-factor", job->shape.edge_factor, "edges drawn per vertex, without --graph");
  size_option(cmd, "--features", job->features, "features per vertex");
  size_option(cmd, "--hidden", job->hidden, "hidden units of each layer but the last");
  size_option(cmd, "--classes", job->classes, "classes");
  size_option(cmd, "--layers", job->layers, "layers");
  seed_option(cmd, job->shape.seed);
  cmd->add_option("-o,--output", job->output, "folder to write .npy files into; must not exist yet")
      ->type_name("DIR");
  cmd->footer(
      "Examples:\n"
      "  dataset generate gcn --scale 14 --features 128 --hidden 16 --classes 8 -o mygcn\n"
      "  dataset generate power-law --rows 1M --cols 1M --nnz 20M -o g.plumb\n"
      "  dataset generate gcn --graph g.plumb --hidden 64 -o skewed");
  commands.push_back(
      {cmd, [job] {
         need_folder_above(job->output, "-o DIR", "dataset generate gcn -o mygcn");
         const plumb::Stopwatch clock;
         job->shape.widths = plumb::gcn_widths(job->features, job->hidden, job->classes, job->layers);
         const plumb::GcnSet<double> set =
             job->graph.empty() ? plumb::generated_gcn<double>(job->shape)
                                : plumb::generated_gcn<double>(edges_in(job->graph), job->shape);
         plumb::save_gcn(job->output, set);
         wrote(job->output,
               fmt::format("{} vertices, {} entries, {}", plumb::show_grouped(set.a.rows),
                           plumb::show_grouped(set.a.nnz()), fmt::join(job->shape.widths, " -> ")),
               clock.seconds());
       }});
}

void add_pattern(CLI::App* generate, std::vector<plumb::Command>& commands) {
  struct Job : MatrixJob {
    plumb::Pattern what;
    std::string fill = "real";
  };
  auto job = std::make_shared<Job>();
  job->what.rows = job->what.cols = 1000;
  job->what.density = 0.01;
  CLI::App* cmd = generate->add_subcommand("pattern", "the matrix that a case of verify has, bit for bit");
  cmd->add_option("name", job->what.name,
                  fmt::format("{} [uniform]", fmt::join(plumb::pattern_names(), ", ")))
      ->type_name("NAME");
  size_option(cmd, "--rows", job->what.rows, "rows");
  size_option(cmd, "--cols", job->what.cols, "columns");
  cmd->add_option("--density", job->what.density, "entries / (rows * columns), 0..1 [0.01]");
  cmd->add_option("--fill", job->fill, "values, as fill=WORD of a case [real]")->type_name("WORD");
  job->options(cmd, true);
  cmd->footer(
      "Example, the matrix of spmv.f32(rows=400,cols=300,density=0.02,pattern=rmat,fill=real,seed=7):\n"
      "  dataset generate pattern rmat --rows 400 --cols 300 --density 0.02 --seed 7 --dtype f32 -o "
      "case.mtx");
  commands.push_back({cmd, [job] {
                        job->what.seed = job->seed;
                        job->run("pattern rmat", [&](auto t) {
                          return plumb::pattern_matrix<decltype(t)>(job->what,
                                                                    plumb::parse_fill(job->fill, "--fill"));
                        });
                      }});
}

void add_band(CLI::App* generate, std::vector<plumb::Command>& commands) {
  struct Job : MatrixJob {
    plumb::Banded what;
  };
  auto job = std::make_shared<Job>();
  CLI::App* cmd =
      generate->add_subcommand("band", "a band around the diagonal, full or with some entries left out");
  size_option(cmd, "--rows", job->what.rows, "rows");
  size_option(cmd, "--cols", job->what.cols, "columns");
  size_option(cmd, "--lower", job->what.lower, "diagonals below");
  size_option(cmd, "--upper", job->what.upper, "diagonals above");
  cmd->add_option("--density", job->what.density, "probability of each entry of the band [1]");
  job->options(cmd, true);
  cmd->footer("Example:\n  dataset generate band --rows 10k --cols 10k --lower 3 --upper 3 -o band.mtx");
  commands.push_back({cmd, [job] {
                        job->what.seed = job->seed;
                        job->run("band", [&](auto t) { return plumb::banded<decltype(t)>(job->what); });
                      }});
}

void add_laplace(CLI::App* generate, std::vector<plumb::Command>& commands) {
  struct Job : MatrixJob {
    std::int64_t nx = 100, ny = 100, nz = 1;
  };
  auto job = std::make_shared<Job>();
  CLI::App* cmd =
      generate->add_subcommand("laplace", "5-point Laplacian of a grid; 7-point where --nz is above 1");
  size_option(cmd, "--nx", job->nx, "grid points");
  size_option(cmd, "--ny", job->ny, "grid points");
  size_option(cmd, "--nz", job->nz, "grid points");
  job->options(cmd, false);
  cmd->footer("Example:\n  dataset generate laplace --nx 1k --ny 1k -o laplace.mtx");
  commands.push_back(
      {cmd, [job] {
         job->run("laplace", [&](auto t) { return plumb::stencil<decltype(t)>(job->nx, job->ny, job->nz); });
       }});
}

void add_fem(CLI::App* generate, std::vector<plumb::Command>& commands) {
  struct Job : MatrixJob {
    std::int64_t nx = 10, ny = 10, nz = 10, unknowns = 3;
  };
  auto job = std::make_shared<Job>();
  CLI::App* cmd =
      generate->add_subcommand("fem", "trilinear finite elements: dense blocks, up to 27 neighbours");
  size_option(cmd, "--nx", job->nx, "nodes");
  size_option(cmd, "--ny", job->ny, "nodes");
  size_option(cmd, "--nz", job->nz, "nodes");
  size_option(cmd, "--unknowns", job->unknowns, "unknowns per node");
  job->options(cmd, true);
  cmd->footer("Example:\n  dataset generate fem --nx 40 --ny 40 --nz 40 --unknowns 3 -o bone.npz");
  commands.push_back({cmd, [job] {
                        job->run("fem", [&](auto t) {
                          return plumb::fem<decltype(t)>(job->nx, job->ny, job->nz, job->unknowns, job->seed);
                        });
                      }});
}

void add_regular(CLI::App* generate, std::vector<plumb::Command>& commands) {
  struct Job : MatrixJob {
    std::int64_t rows = 1000, cols = 1000, per_row = 8;
  };
  auto job = std::make_shared<Job>();
  CLI::App* cmd =
      generate->add_subcommand("regular", "the same number of entries in every row, in random columns");
  size_option(cmd, "--rows", job->rows, "rows");
  size_option(cmd, "--cols", job->cols, "columns");
  size_option(cmd, "--per-row", job->per_row, "entries per row");
  job->options(cmd, true);
  cmd->footer("Example:\n  dataset generate regular --rows 64k --cols 64k --per-row 32 -o uniform.plumb");
  commands.push_back({cmd, [job] {
                        job->run("regular", [&](auto t) {
                          return plumb::uniform<decltype(t)>(job->rows, job->cols, job->per_row, job->seed);
                        });
                      }});
}

void add_arrowhead(CLI::App* generate, std::vector<plumb::Command>& commands) {
  struct Job : MatrixJob {
    std::int64_t rows = 1000, width = 1;
  };
  auto job = std::make_shared<Job>();
  CLI::App* cmd = generate->add_subcommand("arrowhead", "some full rows and columns, and the diagonal");
  size_option(cmd, "--rows", job->rows, "rows and columns");
  size_option(cmd, "--width", job->width, "full rows and columns");
  job->options(cmd, true);
  cmd->footer("Example:\n  dataset generate arrowhead --rows 10k --width 2 -o arrow.mtx");
  commands.push_back({cmd, [job] {
                        job->run("arrowhead", [&](auto t) {
                          return plumb::arrow<decltype(t)>(job->rows, job->width, job->seed);
                        });
                      }});
}

void add_lookalike(CLI::App* generate, std::vector<plumb::Command>& commands) {
  struct Job : MatrixJob {
    std::string name;
    plumb::LookalikeOptions how;
  };
  auto job = std::make_shared<Job>();
  CLI::App* cmd =
      generate->add_subcommand("lookalike", "a generated matrix with the statistics of a well-known one");
  cmd->add_option("name", job->name, "which; see `dataset list`")->type_name("NAME");
  cmd->add_option("--scale", job->how.scale,
                  "rows, columns and entries times this, above 0 and at most 1 [1]");
  cmd->add_flag("--lower", job->how.lower, "as the stored lower triangle of a symmetric matrix");
  job->options(cmd, true);
  cmd->footer("Example:\n  dataset generate lookalike boneS10 --scale 0.1 -o bone.npz");
  commands.push_back({cmd, [job] {
                        need(job->name, "NAME", "dataset generate lookalike boneS10 -o bone.npz");
                        job->how.seed = job->seed;
                        const plumb::LookalikeProfile& of = plumb::lookalike_profile(job->name);
                        job->run("lookalike boneS10",
                                 [&](auto t) { return plumb::lookalike<decltype(t)>(of, job->how); });
                      }});
}

// Old names, one version long.
struct Renamed {
  const char *before, *now;
};
constexpr Renamed kRenamed[] = {{"rmat", "rmat-graph"}, {"banded", "band"},     {"stencil", "laplace"},
                                {"uniform", "regular"}, {"arrow", "arrowhead"}, {"twin", "lookalike"}};

}  // namespace

namespace plumb {

std::string renamed_generator(const std::string& word) {
  for (const Renamed& name : kRenamed) {
    if (word == name.before) return name.now;
  }
  return "";
}

void add_generate(CLI::App& app, std::vector<Command>& commands) {
  CLI::App* generate = app.add_subcommand("generate", "make data: networks, inputs, graphs, matrices");
  generate->require_subcommand(0, 1);  // a pattern may be called what a generator is called
  generate->footer(
      "Examples:\n"
      "  dataset generate radixnet --neurons 1024 --layers 120 -o neuron1024.plumb\n"
      "  dataset generate rmat-graph --scale 16 -o graph.mtx\n"
      "  dataset generate lookalike boneS10 --scale 0.1 -o bone.npz");
  for (const auto add :
       {add_radixnet, add_digits, add_mnist, add_rmat_graph, add_power_law, add_gcn, add_pattern, add_band,
        add_laplace, add_fem, add_regular, add_arrowhead, add_lookalike}) {
    add(generate, commands);
  }
  for (const Renamed& name : kRenamed) generate->get_subcommand(name.now)->alias(name.before);
  commands.push_back({generate, [] { throw Error("generate what? (dataset generate --help)"); }});
}

}  // namespace plumb
