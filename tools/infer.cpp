// infer: runs a sparse DNN or a GCN end to end, says how fast, and whether the answer is correct. The command line; the two
// commands are in infer_sdnn.cpp and infer_gcn.cpp.
#include "tools/infer.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "datasets/io/output_file.hpp"
#include "reference/arithmetic/fp.hpp"
#include "reference/core/error.hpp"
#include "reference/core/seed.hpp"
#include "reference/core/text.hpp"
#include "reference/core/watched_start.hpp"
#include "reference/models/chips.hpp"
#include "reference/models/gcn/metis.hpp"
#include "reference/parallel/devices.hpp"
#include "reference/parallel/world.hpp"
#include "tools/help.hpp"
#include "tools/infer_ranks.hpp"
#include "tools/option_table.hpp"
#include "tools/read_options.hpp"
#include "tools/terminal.hpp"
#include "tools/threads.hpp"
#include "tools/version.hpp"

namespace plumb {

std::FILE* output_for_words(const InferOptions& o) {
  return !o.json.empty() && is_standard_output(o.json) ? stderr : stdout;
}

void require_device(const InferOptions& o) {
  if (space_of(o) != Space::device) return;
  if (device_side == nullptr) throw NoDevice(kNoGpuSide);
  if (const char* const reason = device_side->unavailable(); reason != nullptr) throw NoDevice(reason);
}

int devices_of(const InferOptions& o) {
  if (o.gpus.empty()) return 0;
  if (space_of(o) == Space::host)
    throw Error("--gpus is of --device gpu: a pipeline of the CPU runs on all cores");
  if (o.dry_run) throw Error("--gpus and --dry-run exclude each other: nothing is run");
  require_device(o);
  const int there = device_side->count();
  if (o.gpus == "all") return there;
  const std::int64_t wanted = parse_size(o.gpus, "--gpus");
  if (wanted < 1) throw Error("--gpus must be at least 1, or all");
  if (wanted > there)
    throw Error(fmt::format("--gpus {}: there {} {} here", wanted, there == 1 ? "is" : "are", there));
  return static_cast<int>(wanted);
}

void require_memory_alone(const InferOptions& o, const Ranks* ranks,
                          std::initializer_list<std::pair<bool, const char*>> others) {
  if (o.memory == 0) return;
  std::vector<std::pair<bool, const char*>> excluded{{!o.gpus.empty(), "--gpus"},
                                                     {ranks != nullptr, "several ranks"}};
  excluded.insert(excluded.end(), others);
  for (const auto& [given, name] : excluded) {
    if (given) throw Error(fmt::format("--memory and {} exclude each other", name));
  }
}

void require_outputs(const InferOptions& o) {
  if (!o.json.empty()) require_writable(o.json);
}

void require_executor_can(const InferOptions& o, double products) {
  constexpr double kMost = 3e9;  // it does about ten million a second, every access watched
  if (o.device != "simt" || products <= kMost) return;
  throw Error(
      fmt::format("--device simt: {:.2g} multiplications would take hours on the CPU executor; up to {:.0g} "
                  "are taken: use "
                  "--inputs, --layers or a smaller graph",
                  products, kMost));
}

void write_json(const std::string& path, const nlohmann::json& json) {
  OutputFile file(path);
  file.write(json.dump(2) + "\n");
  file.commit();
}

namespace {

const std::vector<HelpNote> kEnvironment = {
    {"environment",
     {{"PLUMB_DATA", "folder of the data: it holds sdnn/ and gcn/"},
      {"PLUMB_CACHE",
       "where `dataset fetch` keeps what it fetched (else XDG_CACHE_HOME/plumbline, ~/.cache/plumbline)"},
      {"OMP_NUM_THREADS", "threads to compute with"}}},
    {"exit codes",
     {{"0", "correct, or nothing to compare with"},
      {"1", "an answer differs"},
      {"2", "usage, bad input, or an output that cannot be written"},
      {"77", "no such device"},
      {"128 + N", "ended by signal N"}}}};

const HelpNote kNetworkJson = {
    "network.json: layers of any shape and density, inputs in .mtx, .npz (SciPy), .npy or .tsv beside it",
    {{"{\"inputs\": \"x.npz\", \"cap\": 32, \"orientation\": \"outputs x inputs\", \"layers\": [", ""},
     {"   {\"file\": \"fc1.npy\", \"bias\": \"b1.npy\"},", ""},
     {"   {\"file\": \"fc2.mtx\", \"bias\": -0.3, \"orientation\": \"inputs x outputs\"}]}", ""},
     {"bias", "a number, a list, or .npy, one per neuron"},
     {"cap", "a number, or null for none; then ReLU. All keys: docs/network.md"}}};

CLI::Option* add_size(CLI::App* app, const std::string& name, std::int64_t& to, const std::string& what) {
  return app
      ->add_option_function<std::string>(
          name, [&to, name](const std::string& text) { to = parse_size(text, name); }, what)
      ->type_name("N");
}

void add_common(CLI::App* app, InferOptions& o) {
  app->add_option(
      "--device", o.device,
      "cpu (default), gpu, or simt: the GPU's pipelines on the CPU, with every memory access checked");
  add_size(app, "--repeat", o.repeat, "time N runs after one to warm up, report the median (default 1)");
  app->add_option("--json", o.json, "write the result as JSON into this file");
  CLI::Option* const dry =
      app->add_flag("--dry-run", o.dry_run,
                    "say what --ranks ranks would need of memory and traffic; with "
                    "--device gpu: of each GPU's memory too (gcn: with --memory), without a GPU");
  add_size(app, "--ranks", o.ranks, "of --dry-run: how many (default 1)")->needs(dry);
  app->add_option_function<std::string>(
         "--chip", [&o](const std::string& word) { o.chip = find_chip(word).name; },
         "of --dry-run: the GPU whose memory is meant: H200 (default) or H100")
      ->type_name("NAME")
      ->needs(dry);
  app->add_option(
      "--rank-timeout", o.rank_timeout,
      "under mpirun: seconds after which a rank that is silent or blocked ends the job (default 25)");
}

void add_gpus(CLI::App* app, InferOptions& o, const char* what) {
  app->add_option("--gpus", o.gpus, what)->type_name("N|all");
}

void add_memory(CLI::App* app, InferOptions& o, const char* what) {
  app->add_option_function<std::string>(
         "--memory", [&o](const std::string& text) { o.memory = parse_bytes(text, "--memory"); }, what)
      ->type_name("SIZE");
}

CLI::Option* add_drawn(CLI::App* app, InferOptions& o, const char* what) {
  CLI::Option* const drawn = app->add_option("--drawn", o.drawn, what);
  drawn->check(CLI::Range(1, 1'000'000));
  app->add_option_function<std::string>(
         "--seed", [&o](const std::string& text) { o.seed = parse_seed(text, "--seed"); },
         "of --drawn: a number (default 1), or 'fresh', which draws one and prints it")
      ->needs(drawn);
  return drawn;
}

HelpWords sdnn_words() {
  HelpWords w;
  w.first = {
      {"infer sdnn --neurons 1024 --layers 120", "the challenge's smallest network"},
      {"infer sdnn --network my_network --check --out y.npy", "a network of yours"},
      {"infer sdnn --neurons 16384 --layers 120 --inputs 5k --json out.json", ""},
      {"infer sdnn --inputs 64 --layers 12 --device simt --check", "the GPU's pipelines without a GPU"},
      {"infer sdnn --drawn 200 --seed fresh", "networks that nobody chose"}};
  w.more = {{"infer sdnn --neurons 1024 --layers 120 --inputs 1k --pipeline csr_spmm", ""},
            {"infer sdnn --neurons 65536 --layers 120 --device gpu --gpus all", ""},
            {"infer sdnn --neurons 65536 --layers 1920 --device gpu --memory 8GiB", ""}};
  w.notes = {
      {"without --data",
       {{"files are searched in $PLUMB_DATA/sdnn, then in the cache folder; what is not found is", ""},
        {"generated (official weights; inputs from MNIST where its images lie there, else drawn digits)",
         ""}}},
      kNetworkJson};
  w.notes.insert(w.notes.end(), kEnvironment.begin(), kEnvironment.end());
  return w;
}

CLI::App* add_sdnn(CLI::App& app, SdnnOptions& o, bool all) {
  CLI::App* const s = app.add_subcommand("sdnn",
                                         "a sparse network, the Sparse DNN Graph Challenge's or yours: finds "
                                         "the inputs that keep a non-zero value "
                                         "through all layers");
  set_help(*s, sdnn_words(), all);
  SdnnRequest& data = o.data;
  CLI::Option* const network =
      s->add_option("--network", o.network,
                    "your network: a folder with a network.json, or that file (see below); in place of the "
                    "challenge's");
  add_size(s, "--neurons", data.neurons,
           "neurons per layer: 1024 (default), 4096, 16384, 65536, or what your files hold")
      ->excludes(network);
  add_size(s, "--layers", data.layers, "layers to run (default 120)")->excludes(network);
  add_size(s, "--inputs", data.inputs, "use the first N inputs only (default: all)");
  s->add_option("--data", data.data,
                "folder with neuronN.tar.gz, sparse-images-N.tsv.gz, neuronN-lL-categories.tsv")
      ->excludes(network);
  s->add_option("--weights", data.weights, "weights: tar, folder, .tsv or binary cache")->excludes(network);
  s->add_option("--images", data.images,
                "inputs: .tsv[.gz] or binary cache; of --network also .mtx, .npz, .npy");
  s->add_option("--categories", data.categories, "the list to compare with");
  s->add_option_function<float>(
       "--bias", [&o](const float& b) { o.bias = b, o.bias_given = true; },
       "bias (default: the challenge's for the size: -0.30, -0.35, -0.40, -0.45)")
      ->excludes(network);
  s->add_option("--cap", o.cap, "upper limit of values (default 32)")->excludes(network);
  s->add_option("--pipeline", o.pipeline, "NAME or auto (default); a wrong name lists them");
  add_drawn(s, o,
            "judge N networks that nobody chose, shapes, degrees, weights, biases, caps and inputs drawn by "
            "--seed, "
            "in every pipeline")
      ->excludes(network);
  s->add_option("--class", o.structure,
                "what the pipeline may assume of the network: general (default, A), shared_inputs (B), "
                "absorbing_rows (C)");
  add_gpus(s, o, "deal the inputs to N GPUs of this host, or all: the same answer, sooner");
  s->add_option(
      "--absorbing", o.absorbing,
      "on: rows that are all 0, or all at the cap, leave where the weights of all further layers show "
      "that they stay so (class C beside A or B); off (default): every active row is computed");
  add_memory(
      s, o,
      "hold at most SIZE (8GiB, 512MiB) of weights and activations at a time, of the device's memory or, on "
      "the CPU, of the host's: layers are streamed, inputs run in batches that fit");
  s->add_flag("--check", o.check, "judge every layer against the fp64 reference on the same input");
  s->add_flag("-v,--verbose", o.verbose, "active rows and time by layer");
  s->add_option(
      "--out", o.out,
      "write the final values (inputs, outputs) into this file: .npy, .npz, .mtx and others by ending");
  add_common(s, o);
  need_first(*s, {"--network", "--neurons", "--layers", "--inputs", "--data", "--pipeline", "--device",
                  "--check", "--verbose", "--json"});
  return s;
}

void require_one_of(const std::string& what, const std::string& word, const std::vector<std::string>& known) {
  if (std::find(known.begin(), known.end(), word) != known.end()) return;
  throw Error(fmt::format("{} '{}' is none of {}{}", what, printable(word), fmt::join(known, ", "),
                          did_you_mean(word, known)));
}

constexpr int kMostWords = 1 << 20;  // of one option: one per layer

/// --graph, and what says how it is read. `what`: becomes of it.
void add_graph(CLI::App* g, GcnRequest& data, const char* what) {
  g->add_option(
      "--graph", data.graph,
      std::string("graph: an edge list or sparse matrix of any format; loops are added where they are "
                  "missing") +
          what);
  add_read_options(g, data.graph_options, "--graph");
  g->add_option_function<std::string>(
       "--direction",
       [&data](const std::string& word) {
         require_one_of("--direction", word, {"source_to_target", "target_to_source"});
         data.flow =
             word == "source_to_target" ? MessageFlow::source_to_target : MessageFlow::target_to_source;
       },
       "which way messages flow along an edge (i, j) of --graph, from source i to target j: "
       "source_to_target, as in PyTorch "
       "Geometric, or target_to_source (default): vertex i sums over row i")
      ->type_name("FLOW");
}

/// Options that say which network: files, or how it is generated.
void add_gcn_data(CLI::App* g, GcnOptions& o) {
  GcnRequest& data = o.data;
  g->add_option("--data", data.data,
                "folder of .npy files (A_indptr, X_..., W1, W2, labels, expected_logits_f64 ...)");
  g->add_option("--contest", data.contest,
                "F0 F1 [F2 ...] GRAPH X W1 [W2 ...]: the contest's files and its two lines of output")
      ->expected(5, kMostWords);
  add_graph(g, data, ", and it is normalised");
  g->add_option("--features", data.features, "X: .npy, raw .bin beside --weights *.npy, or a sparse matrix");
  g->add_option_function<std::string>(
       "--features-as",
       [&data](const std::string& word) {
         require_one_of("--features-as", word, {"auto", "sparse", "dense"});
         data.features_form = word == "sparse"  ? FeaturesForm::sparse
                              : word == "dense" ? FeaturesForm::dense
                                                : FeaturesForm::by_density;
       },
       "how X is kept and multiplied: sparse, dense, or auto (default): by its density")
      ->type_name("FORM");
  g->add_option("--weights", data.weights,
                "W1 [b1] W2 [b2] ... as .npy, a vector being the bias of the matrix before it; or one .npz "
                "or PyTorch's .pt with all")
      ->expected(1, kMostWords);
  CLI::Option* const twin =
      g->add_option("--twin", data.twin, "a generated graph with the shape of a real one: web-Stanford");
  g->add_option("--widths", data.widths, "of --twin's network: F0-F1-...-Fk, k layers (default 64-16-8)")
      ->needs(twin);
  add_drawn(
      g, o,
      "judge N networks that nobody chose, graphs, widths and depths drawn by --seed, in every pipeline");
  g->add_option("--case", data.drawn_case, "one such network, by its id, as --drawn prints it");
  add_size(g, "--layers", data.layers,
           "the first N layers (default: as many as there are weights); the network generated without data "
           "grows to N");
}

HelpWords gcn_words() {
  HelpWords w;
  w.first = {
      {"infer gcn --data data/gcn/citeseer_nobias", "a folder of .npy files"},
      {"infer gcn --data data/gcn/cora_nobias --check", "every element judged"},
      {"infer gcn --contest 64 16 graph.txt embedding.bin W_64_16.bin --dtype f64", ""},
      {"infer gcn --drawn 60 --seed fresh --device simt", "networks that nobody chose, without a GPU"}};
  w.more = {{"infer gcn --data data/gcn/cora_nobias --dtype f64 --pipeline eigen --check", ""},
            {"infer gcn --data mygraph --device gpu --gpus all --check", ""},
            {"infer gcn --data mygraph --device gpu --memory 8GiB", ""},
            {"infer gcn --twin web-Stanford --widths 128-16 --dtype f64 --device gpu --pipeline all -v", ""}};
  w.notes = {
      {"without files",
       {{"$PLUMB_DATA/gcn/cora_nobias is used, then the cache folder; else a graph is generated", ""}}}};
  w.notes.insert(w.notes.end(), kEnvironment.begin(), kEnvironment.end());
  return w;
}

CLI::App* add_gcn(CLI::App& app, GcnOptions& o, bool all) {
  CLI::App* const g = app.add_subcommand("gcn", "a graph convolutional network of any number of layers");
  set_help(*g, gcn_words(), all);
  add_gcn_data(g, o);
  g->add_option("--dtype", o.dtype,
                "f32, f64, or auto (default): f32, but f64 where the contest's files hold f64");
  g->add_option(
      "--edge-values", o.edge_values,
      "auto (default): values of A that follow from the degrees are not read; or stored: always read");
  g->add_option_function<std::string>(
       "--reorder", [&o](const std::string& word) { o.reorder = parse_vertex_order(word); },
       "order of the vertices in memory: given (default), degree (most wanted first) or rcm (neighbours near "
       "each other); the answer stays in the given one")
      ->type_name("ORDER");
  g->add_option_function<std::string>(
       "--partition", [&o](const std::string& word) { o.partition = parse_vertex_partition(word); },
       "how several ranks or GPUs divide the graph: rows (default), as they follow each other, or metis: few "
       "edges between parts")
      ->type_name("WAY");
  g->add_option("--pipeline", o.pipeline,
                "NAME, auto (default), or all: one after the other; a wrong name lists them");
  add_gpus(g, o, "divide the graph over N GPUs of this host, or all: rows that others need are exchanged");
  add_memory(g, o,
             "hold at most SIZE (8GiB, 512MiB) of the device's memory at a time: X, A and hidden layers are "
             "streamed from the host's in pieces of rows, in blocks of columns that fit");
  g->add_flag("--check", o.check, "judge the result against the compensated reference, element by element");
  g->add_flag("-v,--verbose", o.verbose, "time by step");
  g->add_option("--out", o.out, "write the result (n, classes) as .npy into this file");
  add_common(g, o);
  need_first(*g, {"--data", "--graph", "--features", "--weights", "--layers", "--dtype", "--pipeline",
                  "--device", "--check", "--json"});
  return g;
}

CLI::App* add_gat(CLI::App& app, GatOptions& o, bool all) {
  CLI::App* const g =
      app.add_subcommand("gat", "a graph attention network of any number of layers, on the CPU");
  HelpWords words;
  words.first = {
      {"infer gat --graph g.mtx --features x.npz --weights state.pt --check", "every layer judged"}};
  words.notes = {
      {"weights",
       {{"state.pt, weights.npz", "a state dict of PyTorch Geometric's GATConv: NAME.att_src, NAME.att_dst,"},
        {"", "NAME.lin.weight, NAME.bias"},
        {"W1.npy s1.npy t1.npy b1.npy ...", "the same, layer by layer; the bias may be left out"}}}};
  words.notes.insert(words.notes.end(), kEnvironment.begin(), kEnvironment.end());
  set_help(*g, words, all);
  add_graph(g, o.data, "; values are not read");
  g->add_option("--features", o.data.features, "X: .npy, raw .bin, or a sparse matrix");
  g->add_option("--weights", o.data.weights, "a state dict (.pt, .npz), or .npy files (see below)")
      ->expected(1, kMostWords);
  g->add_option("--activation", o.activation, "behind every layer but the last: elu (default) or relu");
  g->add_option("--dtype", o.dtype, "f32 (default) or f64");
  add_size(g, "--repeat", o.repeat, "time N runs after one to warm up, report the median (default 1)");
  g->add_flag("--check", o.check,
              "judge each layer on the values that the run had before it, element by element");
  g->add_option("--out", o.out, "write LogSoftmax (n, classes) as .npy into this file");
  g->add_option("--json", o.json, "write the result as JSON into this file");
  need_first(*g,
             {"--graph", "--features", "--weights", "--activation", "--dtype", "--check", "--out", "--json"});
  return g;
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

/// --device simt: runs the program infer_simt beside this one, in which devices are the CPU executor. A dry run on a GPU that this build
/// knows nothing of counts there: the pipelines are the same.
void hand_over_to_executor(const InferOptions& o, char** argv) {
  const bool counts = o.dry_run && o.device == "gpu" && device_side == nullptr;
  if ((o.device != "simt" && !counts) || has_executor()) return;
  const auto beside = std::filesystem::read_symlink("/proc/self/exe").parent_path() / "infer_simt";
  execv(beside.c_str(), argv);
  throw NoDevice(fmt::format("no CPU executor here: {}: {} (tools/plumb build infer_simt)", beside.string(),
                             std::strerror(errno)));
}

constexpr std::int64_t kMostRanks = 65536;

void check_values(const SdnnOptions& sdnn, const GcnOptions& gcn, const GatOptions& gat) {
  for (const InferOptions* o : std::initializer_list<const InferOptions*>{&sdnn, &gcn, &gat}) {
    require_one_of("--device", o->device, {"cpu", "gpu", "simt"});
    if (o->repeat < 1) throw Error("--repeat must be at least 1");
    if (o->ranks < 1 || o->ranks > kMostRanks)
      throw Error(fmt::format("--ranks must be 1 to {}", kMostRanks));
  }
  static_cast<void>(parse_structure(sdnn.structure));
  require_one_of("--absorbing", sdnn.absorbing, {"on", "off"});
  require_one_of("--edge-values", gcn.edge_values, {"auto", "stored"});
  require_one_of("--dtype", gcn.dtype, {"auto", "f32", "f64"});
  require_one_of("--dtype", gat.dtype, {"f32", "f64"});
  require_one_of("--activation", gat.activation, {"elu", "relu"});
  if (!arithmetic_self_test())
    throw Error(
        "infer: the arithmetic of this build is broken (built with -ffast-math?): results cannot be judged");
}

/// "infer 0.2.0", and what it was built with.
std::string version_text() {
  const auto built = [](const std::string& version) { return version.empty() ? "not built in" : version; };
  return fmt::format("infer {}\nMPI: {}\nMETIS: {}", kVersion, built(mpi_version()), built(metis_version()));
}

/// What every rank of a job must have been started with.
void require_same_job(Ranks& ranks, const std::vector<std::string>& words,
                      const std::vector<std::string>& inputs) {
  std::vector<std::string> all = words;
  all.insert(all.end(), {kVersion, environment("PLUMB_DATA"), environment("PLUMB_CACHE")});
  require_same_start(ranks, all, inputs);
}

/// What several ranks can do.
void require_ranks_can(const InferOptions& o, bool is_gcn, const Transport* transport) {
  if (transport == nullptr) return;
  if (is_gcn && o.device != "cpu")
    throw Error(fmt::format("--device {}: several ranks compute a GCN on the CPU only", o.device));
  if (o.device == "simt" && !has_executor())
    throw Error("--device simt: start infer_simt itself under mpirun, in place of infer");
  if (o.dry_run) throw Error("--dry-run cannot run under mpirun; use --ranks N to count what N ranks need");
  if (!o.gpus.empty()) throw Error("--gpus cannot run under mpirun, where each rank works on one GPU");
  if (!(o.rank_timeout > 0)) throw Error("--rank-timeout must be above 0 s");
}

/// run(), or kNoDevice where the device asked for is not there; all ranks come to the same.
int or_no_device(const Ranks* ranks, const std::function<int()>& run) {
  try {
    return run();
  } catch (const NoDevice& e) {
    if (ranks == nullptr || ranks->is_root())
      fmt::print(stderr, "skip: {}; --device cpu runs here\n", e.what());
    return kNoDevice;
  }
}

int run(int argc, char** argv, Transport* transport) {
  CLI::App app{"infer: sparse DNN, GCN and GAT inference on real or generated data, with the answer checked",
               "infer"};
  app.set_version_flag("--version", version_text());
  app.require_subcommand(1);
  const bool all = asks_for_all(argc, argv);
  set_help(app,
           {{{"infer sdnn --neurons 1024 --layers 120", "the challenge's smallest network"},
             {"infer sdnn --neurons 4096 --layers 120 --check -v", "every layer judged"},
             {"infer gcn --data data/gcn/cora_nobias --check", "a graph"},
             {"infer gcn --contest 64 16 8 graph.txt embedding.bin W1.bin W2.bin", ""}},
            {},
            kEnvironment},
           all);
  SdnnOptions sdnn;
  GcnOptions gcn;
  GatOptions gat;
  const CLI::App* const s = add_sdnn(app, sdnn, all);
  add_gcn(app, gcn, all);
  const CLI::App* const a = add_gat(app, gat, all);
  if (printed_option_table(app, "infer", argc, argv)) return kOk;
  check_words(app, {argv + 1, argv + argc});
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& e) {
    return transport != nullptr && transport->rank() != 0 ? kOk : app.exit(e);  // --help, --version
  } catch (const CLI::ParseError& e) { throw Error(fmt::format("infer: {} (infer --help)", e.what())); }
  check_values(sdnn, gcn, gat);
  if (a->parsed()) {
    if (transport != nullptr) throw Error("infer gat runs in one process: start it without mpirun");
    limit_threads();
    return infer_gat(gat);
  }
  const InferOptions& common = s->parsed() ? static_cast<InferOptions&>(sdnn) : gcn;
  require_ranks_can(common, !s->parsed(), transport);
  return or_no_device(nullptr, [&] {
    hand_over_to_executor(common, argv);
    RankSession session(transport, common.rank_timeout);
    Ranks* const ranks = session.ranks();
    if (ranks != nullptr) {
      require_same_job(*ranks, {argv + 1, argv + argc}, s->parsed() ? inputs_of(sdnn) : inputs_of(gcn));
      share_processors(*ranks);
    }
    limit_threads();
    const bool many = common.drawn > 0;
    if (many && ranks != nullptr)
      throw Error("--drawn cannot run under mpirun; use --case ID to run one drawn network there");
    const int code = or_no_device(ranks, [&] {
      if (many) return s->parsed() ? infer_drawn_sdnns(sdnn) : infer_drawn_gcns(gcn);
      return watched([&] { return s->parsed() ? infer_sdnn(sdnn, ranks) : infer_gcn(gcn, ranks); });
    });
    session.end();
    return code;
  });
}

}  // namespace

}  // namespace plumb

int main(int argc, char** argv) {
  plumb::note_started();
  std::setvbuf(stdout, nullptr, _IOLBF, 1 << 16);  // an interrupted run leaves whole lines
  plumb::end_cleanly_on_signals();
  constexpr const char* kAdvice = "use --inputs, or a smaller network";
  plumb::run_program([&] { return plumb::run_in_world(plumb::run, argc, argv, kAdvice); },
                     plumb::remove_unfinished_outputs, kAdvice);
}
