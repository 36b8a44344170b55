// infer sdnn: finds or generates a network and its inputs, runs them, and compares the categories.
#include <omp.h>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <thread>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "datasets/digits.hpp"
#include "datasets/mnist.hpp"
#include "datasets/radixnet.hpp"
#include "datasets/sdnn_files.hpp"
#include "reference/core/error.hpp"
#include "reference/core/text.hpp"
#include "reference/models/sparse_dnn.hpp"
#include "tools/infer.hpp"

namespace plumb {

namespace {

constexpr std::int64_t kDigits = 60000;     // inputs drawn where no images are at hand
constexpr std::int64_t kSampleRows = 2048;  // compared with the reference where no list is at hand

/// Where everything comes from, found before anything is read.
struct Plan {
  SdnnPaths paths;
  std::string mnist;  // images to make inputs of; "" where inputs are read, or drawn
  bool official_inputs = false;
  std::string weights_from, images_from;
  std::string searched;
};

Plan find_data(const SdnnOptions& o) {
  Plan plan;
  std::vector<std::string> folders;
  if (!o.data.empty()) {
    if (!std::filesystem::is_directory(o.data)) throw input_error(o.data, 0, "not a folder");
    folders = {o.data};
  } else {
    if (const std::string data = environment("PLUMB_DATA"); !data.empty()) folders.push_back(data + "/sdnn");
    if (const std::string cache = cache_folder(); !cache.empty()) {
      folders.push_back(cache + "/sdnn");
      folders.push_back(cache);
    }
  }
  SdnnPaths& p = plan.paths;
  for (const std::string& folder : folders) {
    if (!std::filesystem::is_directory(folder)) continue;
    const SdnnPaths found = find_sdnn(folder, o.neurons, o.layers);
    if (p.weights.empty()) p.weights = found.weights;
    if (p.images.empty()) p.images = found.images;
    if (p.categories.empty()) p.categories = found.categories;
    for (const char* name : {"train-images-idx3-ubyte.gz", "train-images-idx3-ubyte"}) {
      const std::string path = folder + "/" + name;
      if (plan.mnist.empty() && std::filesystem::exists(path)) plan.mnist = path;
    }
  }
  plan.searched = folders.empty() ? "no --data, PLUMB_DATA or cache folder"
                                  : fmt::format("nothing under {}", fmt::join(folders, ", "));
  if (!o.weights.empty()) p.weights = o.weights;
  if (!o.images.empty()) p.images = o.images;
  plan.official_inputs = o.images.empty() && (!p.images.empty() || !plan.mnist.empty());
  // A list that lies beside the data speaks of that data with the challenge's own bias and cap, of nothing
  // else.
  const bool own_bias = o.bias_given && o.bias != official_bias(o.neurons);
  if (!o.weights.empty() || !plan.official_inputs || own_bias || o.cap != 32) p.categories.clear();
  if (!o.categories.empty()) p.categories = o.categories;
  for (const std::string* path : {&p.weights, &p.images, &p.categories}) {
    if (!path->empty() && !std::filesystem::exists(*path)) throw input_error(*path, 0, "no such file");
  }
  if (!p.images.empty()) plan.mnist.clear();
  plan.weights_from = p.weights.empty() ? "official weights generated (RadiX-Net)" : "weights " + p.weights;
  plan.images_from = !p.images.empty()     ? "inputs " + p.images
                     : !plan.mnist.empty() ? "official inputs made from " + plan.mnist
                                           : "inputs generated (drawn digits, seed 1)";
  return plan;
}

/// W transposed, layer by layer; what was read is freed on the way.
void load_weights(const Plan& plan, const SdnnOptions& o, SparseDnn& net) {
  net.gather.resize(static_cast<std::size_t>(o.layers));
  if (plan.paths.weights.empty()) {
    const RadixNet made = radixnet(o.neurons, o.layers);
#pragma omp parallel for schedule(dynamic)
    for (std::int64_t l = 0; l < o.layers; ++l)
      net.gather[static_cast<std::size_t>(l)] = radixnet_layer_transposed(made, l);
    return;
  }
  SdnnNetwork read = read_sdnn_weights(plan.paths.weights, o.neurons, o.layers);
  if (static_cast<std::int64_t>(read.layers.size()) < o.layers) {
    throw input_error(plan.paths.weights, 0,
                      fmt::format("holds {} layers, {} are wanted", read.layers.size(), o.layers));
  }
#pragma omp parallel for schedule(dynamic)
  for (std::int64_t l = 0; l < o.layers; ++l) {
    Csr<float>& w = read.layers[static_cast<std::size_t>(l)];
    net.gather[static_cast<std::size_t>(l)] = transpose(w);
    w = {};
  }
}

Csr<float> load_images(const Plan& plan, const SdnnOptions& o) {
  Csr<float> images;
  if (!plan.paths.images.empty()) {
    images = read_sdnn_images(plan.paths.images, o.neurons, 0);
  } else if (!plan.mnist.empty()) {
    // Neighbours leak into each other: all images are resized, whatever part of them is wanted.
    const PixelMask mask = fourier_inputs(read_idx_images(plan.mnist), image_side(o.neurons));
    return to_csr(mask, 0, o.inputs > 0 ? std::min(o.inputs, mask.rows) : mask.rows);
  } else {
    return to_csr(digit_inputs(o.inputs > 0 ? o.inputs : kDigits, o.neurons, 1));
  }
  if (o.inputs > 0 && o.inputs < images.rows) images = slice_rows(images, 0, o.inputs);
  return images;
}

const SdnnPipeline* choose(const SdnnOptions& o, const SparseDnn& net, int& exit_code) {
  const Space space = o.device == "gpu" ? Space::device : Space::host;
  std::vector<std::string> names, reasons;
  const char* no_device = space == Space::device
                              ? "this infer was built without a GPU side (no CUDA compiler at configure time)"
                              : nullptr;
  const SdnnPipeline* chosen = nullptr;
  for (const SdnnPipeline* p : sdnn_pipelines()) {
    if (p->space != space) continue;
    names.emplace_back(p->name);
    // What refuses even a network without neurons lacks a device, not a property of this network.
    if (space == Space::device && names.size() == 1) no_device = p->unsupported({});
    const bool wanted = o.pipeline == "auto" ? p->structure == o.structure[0] : o.pipeline == p->name;
    if (!wanted || chosen != nullptr) continue;
    if (const char* const reason = p->unsupported(net); reason != nullptr) {
      reasons.push_back(fmt::format("{}: {}", p->name, reason));
    } else {
      chosen = p;
    }
  }
  if (no_device != nullptr) {
    fmt::print(stderr, "skip: {}; --device cpu runs here\n", no_device);
    exit_code = kExitNoDevice;
    return nullptr;
  }
  if (chosen != nullptr) return chosen;
  if (!reasons.empty()) throw Error(fmt::format("pipeline {}", fmt::join(reasons, "; ")));
  if (o.pipeline == "auto") {
    throw Error(fmt::format("no pipeline of class {} on {}; there are: {}", o.structure, o.device,
                            fmt::join(names, ", ")));
  }
  names.emplace_back("auto");
  throw Error(fmt::format("pipeline '{}' is none of {}{}", printable(o.pipeline), fmt::join(names, ", "),
                          did_you_mean(o.pipeline, names)));
}

/// "3 (11, 12, 90)", at most ten of them.
std::string show_ids(const std::vector<std::int32_t>& ids) {
  const std::size_t shown = std::min<std::size_t>(ids.size(), 10);
  return ids.empty()
             ? "none"
             : fmt::format("{} ({}{})", ids.size(),
                           fmt::join(ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(shown), ", "),
                           ids.size() > shown ? ", ..." : "");
}

std::vector<std::int32_t> without(const std::vector<std::int32_t>& a, const std::vector<std::int32_t>& b) {
  std::vector<std::int32_t> rest;
  std::set_difference(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(rest));
  return rest;
}

std::string show_tera(double edges, double seconds) {
  return fmt::format("{:.4g} TeraEdges/s", edges / seconds / 1e12);
}

}  // namespace

int infer_sdnn(const SdnnOptions& o) {
  if (o.neurons < 1 || o.layers < 1) throw Error("--neurons and --layers must be at least 1");
  const Plan plan = find_data(o);
  const bool nothing_found = plan.paths.weights.empty() && plan.paths.images.empty() && plan.mnist.empty();
  fmt::print("data: {}{}, {}\n", nothing_found ? plan.searched + ": " : "", plan.weights_from,
             plan.images_from);
  nlohmann::json json;
  json["command"] = "sdnn";
  json["data"] = {{"weights", plan.weights_from}, {"inputs", plan.images_from}};

  SparseDnn net;
  net.neurons = o.neurons;
  net.bias = o.bias_given ? o.bias : official_bias(o.neurons);
  net.cap = o.cap;
  // The pipeline is chosen before minutes of loading; what it needs of the network is its size.
  int exit_code = kExitOk;
  const SdnnPipeline* const pipeline = choose(o, net, exit_code);
  if (pipeline == nullptr) return exit_code;

  const double load_start = seconds_now();
  Csr<float> images;
  {
    Progress progress;
    progress.say("loading weights and inputs ...");
    std::exception_ptr weights_error, images_error;
    const auto guarded = [](std::exception_ptr& error, auto&& work) {
      try {
        work();
      } catch (...) { error = std::current_exception(); }
    };
    std::thread beside([&] { guarded(images_error, [&] { images = load_images(plan, o); }); });
    guarded(weights_error, [&] { load_weights(plan, o, net); });
    beside.join();
    if (weights_error) std::rethrow_exception(weights_error);
    if (images_error) std::rethrow_exception(images_error);
  }
  validate(net);
  validate_inputs(net, images);
  std::vector<std::int32_t> published;
  if (!plan.paths.categories.empty()) {
    published = read_sdnn_categories(plan.paths.categories);
    published.erase(
        std::upper_bound(published.begin(), published.end(), static_cast<std::int32_t>(images.rows)),
        published.end());
  }
  const double load_seconds = seconds_now() - load_start;

  const int threads = omp_get_max_threads();
  fmt::print("network: {} neurons, {} layers, {} edges, bias {}, cap {}; {} inputs with {} non-zeros\n",
             o.neurons, o.layers, net.edges(0, o.layers), net.bias, net.cap, images.rows, images.nnz());
  fmt::print("pipeline: {} (class {}, {}{}): {}\n", pipeline->name, pipeline->structure, o.device,
             pipeline->space == Space::host ? fmt::format(", {} threads", threads) : "", pipeline->about);

  const double plan_start = seconds_now();
  const std::unique_ptr<SdnnPlan> ready = pipeline->plan(net);
  const double plan_seconds = seconds_now() - plan_start;
  SdnnRun run;
  std::vector<double> times;
  {
    Progress progress;
    for (std::int64_t i = 0; i < o.repeat; ++i) {
      progress.say(fmt::format("inference, run {} of {} ...", i + 1, o.repeat));
      run = {};
      run = ready->run(images, 0, o.layers);
      times.push_back(run.seconds);
    }
  }
  const double seconds = median(times);
  const double all_edges = static_cast<double>(images.rows) * static_cast<double>(net.edges(0, o.layers));
  double active_edges = 0;
  for (std::int64_t l = 0; l < o.layers; ++l) {
    active_edges += static_cast<double>(run.alive[static_cast<std::size_t>(l)]) *
                    static_cast<double>(net.edges(l, l + 1));
  }
  fmt::print("time: load {}, plan {}, inference {}{}\n", show_seconds(load_seconds),
             show_seconds(plan_seconds), show_seconds(seconds),
             o.repeat > 1 ? fmt::format(" (median of {}; {} to {})", o.repeat,
                                        show_seconds(*std::min_element(times.begin(), times.end())),
                                        show_seconds(*std::max_element(times.begin(), times.end())))
                          : "");
  fmt::print("rate: {} (all edges), {} (active edges, {:.1f} % of all)\n", show_tera(all_edges, seconds),
             show_tera(active_edges, seconds), all_edges > 0 ? 100 * active_edges / all_edges : 0.0);
  fmt::print("memory: peak {}\n", show_bytes(peak_memory()));
  if (o.verbose) {
    for (std::int64_t l = 0; l < o.layers; ++l) {
      fmt::print("layer {:4}: {:6} rows alive, {}\n", l + 1, run.alive[static_cast<std::size_t>(l)],
                 show_seconds(run.layer_seconds[static_cast<std::size_t>(l)]));
    }
    fmt::print("at the end: {} rows alive\n", run.alive.back());
  }
  json["pipeline"] = {{"name", pipeline->name},
                      {"class", std::string(1, pipeline->structure)},
                      {"device", o.device},
                      {"threads", threads}};
  json["network"] = {
      {"neurons", o.neurons}, {"layers", o.layers},    {"edges", net.edges(0, o.layers)}, {"bias", net.bias},
      {"cap", net.cap},       {"inputs", images.rows}, {"input_nonzeros", images.nnz()}};
  json["seconds"] = {{"load", load_seconds}, {"plan", plan_seconds}, {"inference", seconds}, {"runs", times}};
  json["tera_edges_per_second"] = {{"all", all_edges / seconds / 1e12},
                                   {"active", active_edges / seconds / 1e12}};
  json["alive_rows"] = run.alive;
  json["layer_seconds"] = run.layer_seconds;

  const std::vector<std::int32_t> ids = categories(run.y);
  std::vector<std::int32_t> undecidable;
  bool differs = false;
  if (o.check) {
    Progress progress;
    const SdnnCheck check = check_run(net, *ready, images, [&](std::int64_t rows) {
      progress.say(fmt::format("check, layer by layer: {} of {} inputs", rows, images.rows));
    });
    SdnnLayerVerdict all;
    std::int64_t worst_layer = 0;
    for (std::size_t l = 0; l < check.layers.size(); ++l) {
      if (check.layers[l].worst > all.worst) worst_layer = static_cast<std::int64_t>(l);
      all.merge(check.layers[l]);
    }
    const SdnnAnswer answer = clear_run(net, images, [&](std::int64_t rows) {
      progress.say(fmt::format("check, reference in fp64: {} of {} inputs", rows, images.rows));
    });
    progress.say("");
    undecidable = answer.undecidable;
    fmt::print(
        "check: {} layers, each against the fp64 reference on the same input: {} of {} elements outside "
        "their bound, "
        "max err/bound {:.2g} (layer {}, input {}, neuron {}: got {:.9g}, want {:.9g})\n",
        o.layers, all.misses, all.compared, all.worst, worst_layer + 1, all.row + 1, all.neuron + 1, all.got,
        all.want);
    const std::vector<std::int32_t> sure_ids = without(ids, undecidable),
                                    sure_answer = without(answer.ids, undecidable);
    std::vector<std::int32_t> drift;
    std::set_symmetric_difference(ids.begin(), ids.end(), check.ids.begin(), check.ids.end(),
                                  std::back_inserter(drift));
    fmt::print("check: {} categories in fp64, {} in this run; undecidable within fp32 rounding: {}\n",
               answer.ids.size(), ids.size(), show_ids(undecidable));
    const std::vector<std::int32_t> missing = without(sure_answer, sure_ids),
                                    extra = without(sure_ids, sure_answer);
    if (!missing.empty() || !extra.empty()) {
      fmt::print("check: decidable ids differ from the reference: missing {}, extra {}\n", show_ids(missing),
                 show_ids(extra));
      differs = true;
    }
    if (const auto unsure = without(drift, undecidable); !unsure.empty()) {
      fmt::print("check: run layer by layer, the pipeline decides otherwise on {}\n", show_ids(unsure));
      differs = true;
    }
    fmt::print("check: {}\n", check.unsaturated == 0 ? fmt::format("final values are only 0 or {}", net.cap)
                                                     : fmt::format("{} final values are neither 0 nor {}",
                                                                   check.unsaturated, net.cap));
    if (all.misses > 0 || (check.unsaturated > 0 && !plan.paths.categories.empty())) differs = true;
    json["check"] = {{"compared", all.compared},
                     {"misses", all.misses},
                     {"max_err_over_bound", all.worst},
                     {"worst_layer", worst_layer + 1},
                     {"fp64_categories", answer.ids.size()},
                     {"undecidable", undecidable},
                     {"unsaturated", check.unsaturated}};
  }

  // The last line: the answer, and what it was compared with.
  std::string verdict;
  const std::string head = fmt::format("categories: {} of {}", ids.size(), images.rows);
  const bool official =
      plan.official_inputs && o.weights.empty() && net.cap == 32 && net.bias == official_bias(o.neurons);
  if (!plan.paths.categories.empty()) {
    const std::vector<std::int32_t> missing = without(published, ids), extra = without(ids, published);
    const std::string list = o.categories.empty() ? "the published list" : o.categories;
    if (missing.empty() && extra.empty()) {
      std::vector<std::int32_t> listed;
      std::set_intersection(undecidable.begin(), undecidable.end(), published.begin(), published.end(),
                            std::back_inserter(listed));
      verdict = fmt::format("{}, equal to {}", head, list);
      if (!undecidable.empty()) {
        verdict += fmt::format(", which has {} of the {} undecidable ids", listed.size(), undecidable.size());
      }
    } else {
      verdict = fmt::format("{}, differs from {}: missing {}, extra {}", head, list, show_ids(missing),
                            show_ids(extra));
      differs = true;
    }
  } else if (official && images.rows == kDigits && official_category_count(o.neurons) > 0) {
    const std::int64_t count = official_category_count(o.neurons);
    const bool equal = static_cast<std::int64_t>(ids.size()) == count;
    verdict = fmt::format("{}, {} the published count{} (no list of ids at hand)", head,
                          equal ? "equal to" : "differs from", equal ? "" : fmt::format(" {}", count));
    differs |= !equal;
  } else if (o.check) {
    verdict = fmt::format("{}, {} the fp64 reference (no published list)", head,
                          differs ? "differs from" : "equal to");
  } else {
    // No list: the fp64 reference decides for the first rows, which takes a moment, not minutes.
    const std::int64_t affordable =
        (std::int64_t{1} << 33) / std::max<std::int64_t>(net.edges(0, o.layers), 1);
    const std::int64_t sample = std::min(images.rows, std::clamp<std::int64_t>(affordable, 16, kSampleRows));
    const SdnnAnswer answer = clear_run(net, slice_rows(images, 0, sample));
    std::vector<std::int32_t> first(
        ids.begin(), std::upper_bound(ids.begin(), ids.end(), static_cast<std::int32_t>(sample)));
    const std::vector<std::int32_t> missing = without(without(answer.ids, answer.undecidable), first);
    const std::vector<std::int32_t> extra = without(without(first, answer.undecidable), answer.ids);
    const bool equal = missing.empty() && extra.empty();
    verdict = fmt::format(
        "{}; no published list: the first {} inputs compared with the fp64 reference, {}", head, sample,
        equal ? "equal" : fmt::format("missing {}, extra {}", show_ids(missing), show_ids(extra)));
    if (!answer.undecidable.empty()) verdict += fmt::format(", undecidable {}", show_ids(answer.undecidable));
    differs |= !equal;
  }
  fmt::print("{}\n", verdict);
  json["categories"] = {{"count", ids.size()}, {"ids", ids}, {"verdict", verdict}};
  json["peak_bytes"] = peak_memory();
  json["right"] = !differs;
  if (!o.json.empty()) write_text(o.json, json.dump(2) + "\n");
  return differs ? kExitDiffers : kExitOk;
}

}  // namespace plumb
