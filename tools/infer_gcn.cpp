// infer gcn: reads or generates a graph, features and trained weights, runs the network, and judges its
// logits.
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "datasets/contest.hpp"
#include "datasets/gcn_folder.hpp"
#include "datasets/graphs.hpp"
#include "datasets/load_matrix.hpp"
#include "datasets/npy.hpp"
#include "reference/core/error.hpp"
#include "reference/core/fp.hpp"
#include "reference/core/text.hpp"
#include "reference/models/gcn.hpp"
#include "tools/infer.hpp"

namespace plumb {

namespace {

constexpr double kReferenceProducts = 2e9;  // the reference runs unasked below this: some seconds

/// What is run, in fp64 and rounded to fp32, and what is known about the answer.
struct Problem {
  std::string from;  // for the first line
  Gcn<double> f64;
  Gcn<float> f32;
  double normalise_seconds = 0;  // edge normalisation, which the contest counts
  bool f64_files = false;        // the contest's files hold fp64
  std::vector<std::int32_t> labels, idx_test;
  Dense<double> expected_hidden, expected_logits, expected_log_softmax;
  bool has_test_correct = false;
  std::int64_t test_correct = 0;
};

template <class T>
Gcn<T> from_folder(GcnInputs<T>&& in, bool has_b1, bool has_b2) {
  Gcn<T> net;
  net.a = std::move(in.a);
  net.sparse_features = true;
  net.x_sparse = std::move(in.x);
  net.weights = {std::move(in.w1), std::move(in.w2)};
  net.biases = {has_b1 ? std::move(in.b1) : std::vector<T>{}, has_b2 ? std::move(in.b2) : std::vector<T>{}};
  return net;
}

Problem read_folder(const std::string& folder) {
  GcnData data = read_gcn_folder(folder);
  Problem p;
  p.from = folder;
  p.f64 = from_folder(std::move(data.f64), data.has_b1, data.has_b2);
  p.f32 = from_folder(std::move(data.f32), data.has_b1, data.has_b2);
  p.labels = std::move(data.labels);
  p.idx_test = std::move(data.idx_test);
  p.expected_hidden = std::move(data.expected_hidden);
  p.expected_logits = std::move(data.expected_logits);
  p.expected_log_softmax = std::move(data.expected_logsoftmax);
  if (const auto found = data.meta_numbers.find("test_correct"); found != data.meta_numbers.end()) {
    p.has_test_correct = true;
    p.test_correct = static_cast<std::int64_t>(found->second);
  }
  return p;
}

std::int64_t contest_width(const std::string& text, const char* name) {
  const std::int64_t width = parse_size(text, name);
  if (width < 1) throw Error(fmt::format("--contest: {} must be at least 1: {}", name, width));
  return width;
}

Problem read_contest(const std::vector<std::string>& words) {
  if (words.size() != 5 && words.size() != 7) {
    throw Error(fmt::format(
        "--contest takes F0 F1 GRAPH X W1, or F0 F1 F2 GRAPH X W1 W2: {} words were given", words.size()));
  }
  const bool two = words.size() == 7;
  const std::int64_t f0 = contest_width(words[0], "F0"), f1 = contest_width(words[1], "F1");
  const std::int64_t f2 = two ? contest_width(words[2], "F2") : 0;
  const std::size_t files = two ? 3 : 2;
  Problem p;
  p.from = fmt::format("contest files {}",
                       fmt::join(words.begin() + static_cast<std::ptrdiff_t>(files), words.end(), ", "));
  const ContestGraph graph = read_contest_graph(words[files]);
  const RawMatrix x = read_raw_matrix(words[files + 1], graph.vertices, f0);
  std::vector<RawMatrix> w{read_raw_matrix(words[files + 2], f0, f1)};
  if (two) w.push_back(read_raw_matrix(words[files + 3], f1, f2));
  p.f64_files = x.is_f64;
  p.f64.x_dense = x.as<double>();
  p.f32.x_dense = x.as<float>();
  for (const RawMatrix& m : w) {
    p.f64.weights.push_back(m.as<double>());
    p.f32.weights.push_back(m.as<float>());
    p.f64.biases.emplace_back();
    p.f32.biases.emplace_back();
  }
  p.f64.a = normalised_adjacency<double>(graph);
  const double start = seconds_now();
  p.f32.a = normalised_adjacency<float>(graph);
  p.normalise_seconds = seconds_now() - start;
  return p;
}

bool ends_with(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

Problem read_files(const GcnOptions& o) {
  if (o.graph.empty() || o.features.empty() || o.weights.empty()) {
    throw Error("infer gcn: --graph, --features and --weights belong together");
  }
  Problem p;
  p.from = fmt::format("graph {}, features {}, weights {}", o.graph, o.features, fmt::join(o.weights, ", "));
  p.f64.a = ends_with(o.graph, ".txt") || ends_with(o.graph, ".txt.gz")
                ? normalised_adjacency<double>(read_contest_graph(o.graph))
                : normalised_adjacency<double>(load_matrix<double>(o.graph));
  for (const std::string& path : o.weights) {
    p.f64.weights.push_back(npy_dense<double>(read_npy(path)));
    p.f64.biases.emplace_back();
  }
  if (ends_with(o.features, ".npy")) {
    p.f64.x_dense = npy_dense<double>(read_npy(o.features));
  } else if (ends_with(o.features, ".bin")) {
    p.f64.x_dense = read_raw_matrix(o.features, p.f64.a.rows, p.f64.weights.front().rows).as<double>();
  } else {
    p.f64.sparse_features = true;
    p.f64.x_sparse = load_matrix<double>(o.features);
  }
  p.f32 = convert<float>(p.f64);
  return p;
}

Problem generate(const std::string& searched) {
  const GcnShape shape;
  GcnSet<double> made = generated_gcn<double>(shape);
  Problem p;
  p.from = fmt::format("{}: generated, an R-MAT graph of 2^{} vertices, {}-{}-{} (seed {})", searched,
                       shape.scale, shape.features, shape.hidden, shape.classes, shape.seed);
  p.f64.a = std::move(made.a);
  p.f64.x_dense = std::move(made.x);
  p.f64.weights = {std::move(made.w1), std::move(made.w2)};
  p.f64.biases = {std::move(made.b1), std::move(made.b2)};
  p.f32 = convert<float>(p.f64);
  return p;
}

Problem generate_twin(const GcnOptions& o) {
  if (o.twin != "web-Stanford")
    throw Error(fmt::format("--twin '{}' is none of web-Stanford{}", printable(o.twin),
                            did_you_mean(o.twin, {"web-Stanford"})));
  std::vector<std::int64_t> widths;
  for (std::size_t at = 0; at <= o.widths.size();) {
    const std::size_t end = std::min(o.widths.find('-', at), o.widths.size());
    widths.push_back(parse_size(o.widths.substr(at, end - at), "--widths"));
    at = end + 1;
  }
  if (widths.size() < 2 || widths.size() > 3)
    throw Error(fmt::format("--widths takes F0-F1 or F0-F1-F2: '{}'", printable(o.widths)));
  GcnShape shape;
  shape.features = widths[0], shape.hidden = widths[1], shape.classes = widths.back();
  GcnSet<double> made = generated_gcn<double>(hub_graph<double>(web_stanford_twin()), shape);
  Problem p;
  p.from = fmt::format("generated: a twin of {} (seed {})", o.twin, shape.seed);
  p.f64.a = std::move(made.a);
  p.f64.x_dense = std::move(made.x);
  p.f64.weights = {std::move(made.w1)};
  p.f64.biases = {{}};  // as in the contest
  if (widths.size() == 3) {
    p.f64.weights.push_back(std::move(made.w2));
    p.f64.biases.emplace_back();
  }
  p.f32 = convert<float>(p.f64);
  return p;
}

Problem load(const GcnOptions& o) {
  const int ways = !o.data.empty() + !o.contest.empty() + !o.twin.empty() +
                   (!o.graph.empty() || !o.features.empty() || !o.weights.empty());
  if (ways > 1) throw Error("infer gcn: --data, --contest, --twin and --graph exclude each other");
  if (!o.twin.empty()) return generate_twin(o);
  if (!o.contest.empty()) return read_contest(o.contest);
  if (!o.graph.empty() || !o.features.empty() || !o.weights.empty()) return read_files(o);
  if (!o.data.empty()) {
    if (!is_gcn_folder(o.data)) {
      std::vector<std::string> below;
      if (std::filesystem::is_directory(o.data)) {
        for (const auto& entry : std::filesystem::directory_iterator(o.data)) {
          if (is_gcn_folder(entry.path().string())) below.push_back(entry.path().string());
        }
        std::sort(below.begin(), below.end());
      }
      throw input_error(o.data, 0,
                        below.empty()
                            ? "not a folder with A_indptr.npy"
                            : fmt::format("not a folder with A_indptr.npy, but these below it are: {}",
                                          fmt::join(below, ", ")));
    }
    return read_folder(o.data);
  }
  std::vector<std::string> tried;
  if (const std::string data = environment("PLUMB_DATA"); !data.empty())
    tried.push_back(data + "/gcn/cora_nobias");
  if (const std::string cache = cache_folder(); !cache.empty()) {
    tried.push_back(cache + "/gcn/cora_nobias");
    tried.push_back(cache + "/cora_nobias");
  }
  for (const std::string& folder : tried) {
    if (is_gcn_folder(folder)) return read_folder(folder);
  }
  return generate(fmt::format("nothing under {}", fmt::join(tried, ", ")));
}

/// Cuts a two-layer network to its first layer.
template <class T>
void keep_layers(Gcn<T>& net, std::int64_t layers) {
  net.weights.resize(static_cast<std::size_t>(layers));
  net.biases.resize(static_cast<std::size_t>(layers));
}

/// One pipeline, or with "all" every one that runs here; none and an exit code where the device is missing.
std::vector<const GcnPipeline*> choose(const GcnOptions& o, int& exit_code) {
  const Space space = o.device == "gpu" ? Space::device : Space::host;
  std::vector<const GcnPipeline*> chosen;
  std::vector<std::string> names;
  std::string reason;
  for (const GcnPipeline* p : gcn_pipelines()) {
    if (p->space != space) continue;
    names.emplace_back(p->name);
    const bool wanted =
        o.pipeline == "all" || o.pipeline == p->name || (o.pipeline == "auto" && chosen.empty());
    if (!wanted) continue;
    if (const char* const why = p->unsupported(); why != nullptr) {
      reason = why;
    } else {
      chosen.push_back(p);
    }
  }
  if (!chosen.empty()) return chosen;
  if (space == Space::device && (names.empty() || !reason.empty())) {
    fmt::print(stderr, "skip: {}; --device cpu runs here\n",
               names.empty() ? "this infer was built without a GPU side (no CUDA compiler at configure time)"
                             : reason);
    exit_code = kExitNoDevice;
    return {};
  }
  names.emplace_back("auto");
  names.emplace_back("all");
  throw Error(fmt::format("pipeline '{}' is none of {}{}", printable(o.pipeline), fmt::join(names, ", "),
                          did_you_mean(o.pipeline, names)));
}

/// "logits: max err/bound 0.03, within bound".
std::string show(const std::string& what, const GcnVerdict& v, const std::string& against) {
  if (v.misses == 0)
    return fmt::format("{}: max err/bound {:.2g}, within bound ({})", what, v.worst, against);
  return fmt::format(
      "{}: {} of {} elements outside their bound, worst at ({}, {}): got {:.9g}, want {:.9g}, bound {:.2g} "
      "({:.3g}x) ({})",
      what, v.misses, v.compared, v.row, v.col, v.got, v.want, v.bound, v.worst, against);
}

nlohmann::json to_json(const GcnVerdict& v) {
  return {{"compared", v.compared},
          {"misses", v.misses},
          {"max_err_over_bound", v.worst},
          {"mean_err_over_bound", v.mean}};
}

Dense<double> scaled(Dense<double> bound, double factor) {
  for (double& b : bound.data) b *= factor;
  return bound;
}

bool fit_f32(const std::vector<double>& values) {
  return std::all_of(values.begin(), values.end(), [](double v) {
    return std::isnan(v) || v == static_cast<double>(static_cast<float>(v));
  });
}

/// What rounding may have done to the inputs. `stored`: of those that fit fp32, by whoever stored them,
/// against an expectation made before that; else of those that do not, by this program, where the candidate
/// is fp32.
GcnInputError input_error(const Gcn<double>& net, bool f32, bool stored) {
  constexpr double kRounded = 1.01 * kUnit<float>;
  const auto error = [&](bool fits) { return (f32 && !fits) || (stored && fits) ? kRounded : 0.0; };
  bool weights_fit = true;
  for (const Dense<double>& w : net.weights) weights_fit = weights_fit && fit_f32(w.data);
  for (const std::vector<double>& b : net.biases) weights_fit = weights_fit && fit_f32(b);
  return {error(fit_f32(net.a.val)),
          error(fit_f32(net.sparse_features ? net.x_sparse.val : net.x_dense.data)), error(weights_fit)};
}

/// The reference, computed when it is first needed and kept for the pipelines that follow.
struct References {
  std::optional<GcnReference> own;     // of the inputs as they are
  std::optional<GcnReference> stored;  // for bounds around an expectation made before the inputs were rounded
};

const GcnReference& reference_of(std::optional<GcnReference>& kept, const Problem& p, bool f32, bool stored) {
  if (!kept) {
    Progress progress;
    progress.say("reference ...");
    kept = clear_gcn(p.f64, f32 ? Dtype::f32 : Dtype::f64, input_error(p.f64, f32, stored));
  }
  return *kept;
}

/// Where the time went.
template <class T>
std::string show_times(const GcnRun<T>& run) {
  const GcnDeviceTimes& d = run.device;
  return fmt::format(
      "plan {}, inference {} in device memory (mean of {}; kernels {}), {} host to host (upload {}, download "
      "{})",
      show_seconds(d.plan), show_seconds(d.resident), d.repeats, show_seconds(d.kernels),
      show_seconds(run.seconds), show_seconds(d.upload), show_seconds(d.download));
}

/// Runs and judges with one pipeline; adds what it found to `json`.
template <class T>
bool run_typed(const GcnOptions& o, const Problem& p, const Gcn<T>& net, const GcnPipeline& pipeline,
               double load_seconds, References& references, nlohmann::json& json) {
  constexpr bool kF32 = sizeof(T) == 4;
  constexpr const char* kType = kF32 ? "f32" : "f64";
  const auto run_with = [&](GcnOrder order) {
    if constexpr (kF32) {
      return pipeline.run_f32(net, order);
    } else {
      return pipeline.run_f64(net, order);
    }
  };
  GcnRun<T> run;
  std::vector<double> times;
  for (std::int64_t i = 0; i < o.repeat; ++i) {
    run = run_with(GcnOrder::by_cost);
    times.push_back(run.seconds);
  }
  const double seconds = median(times);
  const bool on_device = run.device.repeats > 0;
  const T row_sum = max_row_sum(run.log_softmax);

  // As the contest's programs print it: 8 digits in the first round (two layers), 6 in the final; fp64 has
  // more to show.
  const std::string shown_sum = fmt::format("{:.{}f}", static_cast<double>(row_sum),
                                            !kF32                     ? 9
                                            : net.weights.size() == 2 ? 8
                                                                      : 6);
  if (!o.contest.empty())
    fmt::print("{}\n{:.8f}\n", shown_sum, (seconds + p.normalise_seconds) * 1e3);  // its own two lines, first
  fmt::print("data: {}\n", p.from);
  std::string widths = fmt::format("{}", net.features());
  for (const Dense<T>& w : net.weights) widths += fmt::format("-{}", w.cols);
  fmt::print("network: {} vertices, {} entries in A, features {} ({}), {}, {} layer{}\n", net.vertices(),
             net.a.nnz(), net.features(),
             net.sparse_features ? fmt::format("CSR, {} entries", net.x_sparse.nnz()) : "dense", widths,
             net.weights.size(), net.weights.size() == 1 ? "" : "s");
  std::vector<std::string> orders;
  for (std::size_t l = 0; l < net.weights.size(); ++l)
    orders.emplace_back(to_string(cheaper_order(net, static_cast<std::int64_t>(l))));
  fmt::print("pipeline: {} ({}, {}{}): {}; order by cost: {}\n", pipeline.name, kType, o.device,
             pipeline.space == Space::host ? fmt::format(", {} threads", omp_get_max_threads()) : "",
             pipeline.about, fmt::join(orders, ", "));
  double products = 0;
  for (std::size_t l = 0; l < net.weights.size(); ++l)
    products += gcn_products(net, static_cast<std::int64_t>(l), GcnOrder::by_cost);
  fmt::print("time: load {}, {}{}, {:.3g} Gflop/s\n", show_seconds(load_seconds),
             on_device ? show_times(run) : fmt::format("inference {}", show_seconds(seconds)),
             o.repeat > 1 ? fmt::format(" (median of {}; {} to {})", o.repeat,
                                        show_seconds(*std::min_element(times.begin(), times.end())),
                                        show_seconds(*std::max_element(times.begin(), times.end())))
                          : "",
             2 * products / (on_device ? run.device.resident : seconds) / 1e9);
  if (o.verbose) {
    for (const GcnStep& step : run.steps)
      fmt::print("step: {:42} {}\n", step.name, show_seconds(step.seconds));
  }
  fmt::print("memory: peak {}\n", show_bytes(peak_memory()));
  fmt::print("maximum row sum: {}\n", shown_sum);

  json["command"] = "gcn";
  json["data"] = p.from;
  json["pipeline"] = {{"name", pipeline.name},
                      {"device", o.device},
                      {"dtype", kType},
                      {"threads", omp_get_max_threads()},
                      {"orders", orders}};
  json["network"] = {{"vertices", net.vertices()},
                     {"entries", net.a.nnz()},
                     {"widths", widths},
                     {"layers", net.weights.size()}};
  json["seconds"] = {
      {"load", load_seconds}, {"inference", seconds}, {"runs", times}, {"normalise", p.normalise_seconds}};
  if (on_device) {
    json["seconds"]["plan"] = run.device.plan;
    json["seconds"]["upload"] = run.device.upload;
    json["seconds"]["kernels"] = run.device.kernels;
    json["seconds"]["resident"] = run.device.resident;
    json["seconds"]["download"] = run.device.download;
  }
  for (const GcnStep& step : run.steps)
    json["steps"].push_back({{"name", step.name}, {"seconds", step.seconds}});
  json["maximum_row_sum"] = static_cast<double>(row_sum);

  bool differs = false;
  const auto say = [&](const char* key, const std::string& what, const GcnVerdict& v,
                       const std::string& against) {
    fmt::print("{}\n", show(what, v, against));
    json["checks"][key] = to_json(v);
    differs |= v.misses > 0;
  };
  if (!p.labels.empty() && !p.idx_test.empty()) {
    const std::int64_t right = count_right(run.logits, p.labels, p.idx_test);
    const auto tests = static_cast<std::int64_t>(p.idx_test.size());
    fmt::print("accuracy: {} of {} ({:.4f}){}\n", right, tests,
               static_cast<double>(right) / static_cast<double>(tests),
               !p.has_test_correct       ? ""
               : right == p.test_correct ? ", as recorded with the weights"
                                         : fmt::format(", recorded with the weights: {}", p.test_correct));
    json["accuracy"] = {{"right", right}, {"of", tests}};
  }
  const bool expected = p.expected_logits.rows == run.logits.rows &&
                        p.expected_logits.cols == run.logits.cols && run.logits.rows > 0;
  if (expected || o.check || products < kReferenceProducts) {
    // A fp64 expectation carries roundings of its own, as large as a fp64 candidate's.
    const double both = kF32 ? 1 : 2;
    if (expected) {
      const GcnReference& bounds = reference_of(references.stored, p, kF32, true);
      const auto bound = [&](const Dense<double>& b) { return scaled(b, both); };
      if (o.check && p.expected_hidden.rows == run.hidden.rows && p.expected_hidden.cols == run.hidden.cols &&
          run.hidden.rows > 0) {
        say("expected_hidden", "hidden",
            judge_matrix(run.hidden, p.expected_hidden, bound(bounds.hidden_bound)),
            "the folder's expectation");
      }
      say("expected_logits", "logits",
          judge_matrix(run.logits, p.expected_logits, bound(bounds.logits_bound)),
          "the folder's expectation");
      if (p.expected_log_softmax.rows == run.log_softmax.rows &&
          p.expected_log_softmax.cols == run.log_softmax.cols) {
        say("expected_log_softmax", "log-softmax",
            judge_matrix(run.log_softmax, p.expected_log_softmax, bound(bounds.log_softmax_bound)),
            "the folder's expectation");
      }
    }
    if (!expected || o.check) {
      const GcnReference& reference = reference_of(references.own, p, kF32, false);
      if (o.check && run.hidden.rows > 0) {
        say("hidden", "hidden", judge_matrix(run.hidden, reference.hidden, reference.hidden_bound),
            "the compensated reference");
      }
      say("logits", "logits", judge_matrix(run.logits, reference.logits, reference.logits_bound),
          "the compensated reference");
      say("log_softmax", "log-softmax",
          judge_matrix(run.log_softmax, reference.log_softmax, reference.log_softmax_bound),
          "the compensated reference");
    }
    if (o.check) {
      const GcnReference& reference = reference_of(references.own, p, kF32, false);
      for (const GcnOrder order : {GcnOrder::transform_first, GcnOrder::aggregate_first}) {
        const GcnRun<T> other = run_with(order);
        say(order == GcnOrder::transform_first ? "transform_first" : "aggregate_first",
            fmt::format("logits by {}", to_string(order)),
            judge_matrix(other.logits, reference.logits, reference.logits_bound),
            "the compensated reference");
      }
    }
  } else {
    fmt::print(
        "logits: not compared: no expectation at hand, and the reference would take a while (--check runs "
        "it)\n");
  }
  if (!o.out.empty()) write_npy(o.out, run.log_softmax);
  json["peak_bytes"] = peak_memory();
  json["right"] = !differs;
  return !differs;
}

}  // namespace

int infer_gcn(const GcnOptions& o) {
  int exit_code = kExitOk;
  const std::vector<const GcnPipeline*> pipelines = choose(o, exit_code);
  if (pipelines.empty()) return exit_code;
  const double start = seconds_now();
  Problem p = load(o);
  if (o.layers != 0) {
    const auto there = static_cast<std::int64_t>(p.f64.weights.size());
    if (o.layers < 1 || o.layers > there)
      throw Error(fmt::format("--layers {}: there are weights for {}", o.layers, there));
    if (o.layers < there) {
      keep_layers(p.f64, o.layers);
      keep_layers(p.f32, o.layers);
      p.expected_logits = {};  // those of the whole network
      p.labels.clear();
    }
  }
  validate(p.f64);
  validate(p.f32);
  const double load_seconds = seconds_now() - start;
  const bool f64 = o.dtype == "f64" || (o.dtype == "auto" && p.f64_files);
  References references;
  nlohmann::json all = nlohmann::json::array();
  bool right = true;
  for (const GcnPipeline* pipeline : pipelines) {
    nlohmann::json json;
    right &= f64 ? run_typed(o, p, p.f64, *pipeline, load_seconds, references, json)
                 : run_typed(o, p, p.f32, *pipeline, load_seconds, references, json);
    all.push_back(std::move(json));
  }
  if (!o.json.empty()) write_text(o.json, (all.size() == 1 ? all[0] : all).dump(2) + "\n");
  return right ? kExitOk : kExitDiffers;
}

}  // namespace plumb
