#include "datasets/networks/sdnn_data.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "datasets/generators/digits.hpp"
#include "datasets/generators/mnist.hpp"
#include "datasets/generators/radixnet.hpp"
#include "datasets/networks/sdnn_layers.hpp"
#include "datasets/networks/sdnn_rows.hpp"
#include "datasets/remote/manifest.hpp"
#include "reference/core/csr.hpp"
#include "reference/core/error.hpp"
#include "reference/core/memory.hpp"
#include "reference/core/threads.hpp"

namespace plumb {

namespace {

namespace fs = std::filesystem;

std::vector<std::string> folders_of(const SdnnRequest& r) {
  if (!r.data.empty()) {
    if (!fs::is_directory(r.data)) throw input_error(r.data, 0, "not a folder");
    return {r.data};
  }
  std::vector<std::string> folders;
  if (const char* const data = std::getenv("PLUMB_DATA"); data != nullptr && *data != '\0')
    folders.push_back(std::string(data) + "/sdnn");
  if (const auto cache = find_cache_folder()) {
    folders.push_back(*cache + "/sdnn");
    folders.push_back(*cache);
  }
  return folders;
}

/// The first of each part over all folders.
void search(const std::vector<std::string>& folders, const SdnnRequest& r, SdnnSources& s) {
  for (const std::string& folder : folders) {
    if (!fs::is_directory(folder)) continue;
    const SdnnPaths found = find_sdnn(folder, r.neurons, r.layers);
    if (s.paths.weights.empty()) s.paths.weights = found.weights;
    if (s.paths.images.empty()) s.paths.images = found.images;
    if (s.paths.categories.empty()) s.paths.categories = found.categories;
    for (const char* name : {"train-images-idx3-ubyte.gz", "train-images-idx3-ubyte"}) {
      const std::string path = folder + "/" + name;
      if (s.mnist.empty() && fs::exists(path)) s.mnist = path;
    }
  }
}

/// Generated layers hold 32 entries of 8 bytes per neuron, and a row pointer.
void require_memory_for_generated(const SdnnRequest& r) {
  constexpr double kBytesPerNeuron = 8.0 * kRadixNetDegree + 4;
  require_memory(fmt::format("weights of {} layers of {} neurons", r.layers, r.neurons),
                 static_cast<double>(r.layers) * static_cast<double>(r.neurons) * kBytesPerNeuron);
}

std::vector<Csr<float>> load_weights(const SdnnSources& s, const SdnnRequest& r) {
  if (s.paths.weights.empty()) {
    require_memory_for_generated(r);
    const RadixNet made = radixnet(r.neurons, r.layers);
    std::vector<Csr<float>> gather(static_cast<std::size_t>(r.layers));
#pragma omp parallel for schedule(dynamic)
    for (std::int64_t l = 0; l < r.layers; ++l)
      gather[static_cast<std::size_t>(l)] = radixnet_layer_transposed(made, l);
    return gather;
  }
  SdnnNetwork read = read_sdnn_weights(s.paths.weights, r.neurons, r.layers);
  if (static_cast<std::int64_t>(read.layers.size()) < r.layers) {
    throw input_error(s.paths.weights, 0,
                      fmt::format("holds {} layers, expected {}", read.layers.size(), r.layers));
  }
  read.layers.resize(static_cast<std::size_t>(r.layers));
  if (std::all_of(read.layers.begin(), read.layers.end(), [](const Csr<float>& w) { return w.nnz() == 0; }))
    throw input_error(s.paths.weights, 0, "no weights in it");
#pragma omp parallel for schedule(dynamic)
  for (std::int64_t l = 0; l < r.layers; ++l) {
    Csr<float>& w = read.layers[static_cast<std::size_t>(l)];
    w = transposed(w);
  }
  return std::move(read.layers);
}

/// Images, and how many the source holds: 0 where it is generated and has no end.
struct Images {
  Csr<float> matrix;
  std::shared_ptr<const RowSource> rows;  // in place of the matrix
  std::int64_t there = 0;
  std::int64_t making_bytes = 0;  // where it is made of images
  [[nodiscard]] std::int64_t count() const { return rows != nullptr ? rows->rows() : matrix.rows; }
};

Images read_images(const std::string& path, const SdnnRequest& r) {
  Images images;
  if (r.one_by_one) images.rows = rows_of_cache(path, r.neurons);
  if (images.rows == nullptr) images.matrix = read_sdnn_images(path, r.neurons, 0);
  images.there = images.count();
  const std::int64_t entries =
      images.rows != nullptr ? images.rows->entries(0, images.there) : images.matrix.nnz();
  if (entries == 0) throw input_error(path, 0, "no inputs in it");
  if (r.inputs == 0 || r.inputs >= images.there) return images;
  if (images.rows != nullptr) {
    images.rows = first_rows(images.rows, r.inputs);
  } else {
    images.matrix = slice_rows(images.matrix, 0, r.inputs);
  }
  return images;
}

/// Errors: to make inputs of `count` images of `cols` x `cols` takes more memory than there is, or than is allowed.
/// Returns these bytes.
std::int64_t require_memory_for_inputs(std::int64_t count, std::int64_t cols, const SdnnRequest& r) {
  const std::int64_t mask = count * r.neurons / 8;
  const std::int64_t bytes = count * cols * cols + mask + resizing_bytes(count, cols, image_side(r.neurons));
  const std::string what = fmt::format("{} inputs of {} neurons", count, r.neurons);
  require_memory(what, static_cast<double>(bytes));
  if (r.host_memory.bytes > 0 && bytes > r.host_memory.for_data()) {
    throw Error(
        fmt::format("sparse DNN: {} MiB of memory are too little: {}, made of images, need at least {} MiB",
                    r.host_memory.bytes >> 20, what, (r.host_memory.least_for(bytes) >> 20) + 1));
  }
  return bytes;
}

Images from_mask(PixelMask mask, std::int64_t there, const SdnnRequest& r) {
  const std::int64_t inputs = r.inputs > 0 ? std::min(r.inputs, mask.rows) : mask.rows;
  Images images;
  images.there = there;
  if (r.one_by_one) {
    images.rows = rows_of_mask(std::move(mask), inputs);
  } else {
    images.matrix = to_csr(mask, 0, inputs);
  }
  return images;
}

Images load_images(const SdnnSources& s, const SdnnRequest& r) {
  if (!s.paths.images.empty()) return read_images(s.paths.images, r);
  if (s.mnist.empty()) {
    constexpr std::int64_t kDigitSide = 28;
    const std::int64_t count = r.inputs > 0 ? r.inputs : kSdnnInputs;
    static_cast<void>(
        require_memory_for_inputs(count, kDigitSide, r));  // drawn in the size that is asked for
    return from_mask(digit_inputs(count, r.neurons, 1), 0, r);
  }
  // Neighbouring images influence each other: all images are resized, however few are asked for.
  const GreyImages images = read_idx_images(s.mnist);
  const std::int64_t bytes = require_memory_for_inputs(images.count, images.cols, r);
  Images made = from_mask(fourier_inputs(images, image_side(r.neurons)), images.count, r);
  made.making_bytes = bytes;
  return made;
}

std::vector<std::int32_t> load_categories(const SdnnSources& s, const Images& images) {
  if (s.paths.categories.empty()) return {};
  return categories_of_first(images.count(), s.paths.categories, images.there);
}

}  // namespace

std::vector<std::int32_t> categories_of_first(std::int64_t inputs, const std::string& path,
                                              std::int64_t there) {
  std::vector<std::int32_t> ids = read_sdnn_categories(path, there);
  if (there == 0 || inputs < there)
    ids.erase(std::upper_bound(ids.begin(), ids.end(), static_cast<std::int32_t>(inputs)), ids.end());
  return ids;
}

SdnnSources find_sdnn_sources(const SdnnRequest& r) {
  SdnnSources s;
  const std::vector<std::string> folders = folders_of(r);
  search(folders, r, s);
  s.searched = folders.empty() ? "no --data, PLUMB_DATA or cache folder"
                               : fmt::format("nothing under {}", fmt::join(folders, ", "));
  SdnnPaths& p = s.paths;
  if (!r.weights.empty()) p.weights = r.weights;
  if (!r.images.empty()) p.images = r.images;
  s.official_inputs = r.images.empty() && (!p.images.empty() || !s.mnist.empty());
  // A list beside the data holds for that data with the bias and cap of the challenge, and for nothing else.
  if (!r.weights.empty() || !s.official_inputs || !r.official_terms) p.categories.clear();
  if (!r.categories.empty()) p.categories = r.categories;
  for (const std::string* path : {&p.weights, &p.images, &p.categories}) {
    if (!path->empty() && !fs::exists(*path)) throw input_error(*path, 0, "no such file");
  }
  if (!p.images.empty()) s.mnist.clear();
  s.anything_found = !p.weights.empty() || !p.images.empty() || !s.mnist.empty();
  s.weights_from = p.weights.empty() ? "official weights generated (RadiX-Net)" : "weights " + p.weights;
  s.images_from = !p.images.empty()  ? "inputs " + p.images
                  : !s.mnist.empty() ? "official inputs made from " + s.mnist
                                     : "inputs generated (drawn digits, seed 1)";
  return s;
}

SdnnData load_sdnn(const SdnnSources& sources, const SdnnRequest& request) {
  SdnnData data;
  Images images;
  const auto weights = [&] {
    if (request.one_by_one) data.source = sdnn_layers(sources.paths.weights, request.neurons, request.layers);
    if (data.source == nullptr) data.gather = load_weights(sources, request);
  };
  run_side_by_side(weights, [&] { images = load_images(sources, request); });
  data.categories = load_categories(sources, images);
  data.images = std::move(images.matrix);
  data.rows = std::move(images.rows);
  data.making_bytes = images.making_bytes;
  return data;
}

}  // namespace plumb
