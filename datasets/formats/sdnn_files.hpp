// The Sparse DNN Graph Challenge's text files: layers, images, categories. TSV, 1-based, plain, gzipped or in
// a tar.gz. Parsing runs on all threads while one inflates; weights and images can be read at the same time.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/formats/binary_cache.hpp"
#include "datasets/io/byte_source.hpp"
#include "reference/core/matrix.hpp"

namespace plumb {

/// W[l] (neurons, neurons): row i holds the edges that leave neuron i. Columns of a row ascend.
struct SdnnNetwork {
  std::int64_t neurons = 0;
  std::vector<Csr<float>> layers;
};

/// What a file of the challenge is called: "any/folder/n1024-l17.tsv" (or .tsv.gz); nothing for another name.
struct SdnnLayerName {
  std::int64_t neurons, layer;
};
[[nodiscard]] std::optional<SdnnLayerName> sdnn_layer_name(std::string_view path);
/// N of ".../sparse-images-N.tsv"; nothing for another name.
[[nodiscard]] std::optional<std::int64_t> sdnn_image_neurons(std::string_view path);

/// The first `layers` layers (0: all there are) from a tar(.gz) with members `.../nN-lK.tsv`, from a folder
/// of such files (.tsv or .tsv.gz), from one such file, or from a binary cache of them (binary_cache.hpp). Layers beyond
/// these are skipped, but the source is read to its end, so that its checksum is verified. `neurons` 0: taken
/// from the names.
///
/// Errors    `FILE:LINE: what: value`; a layer that is missing or repeated; an index outside 1..N; a repeated
///           entry; a value that is not a finite number or does not fit float; more or fewer than three columns; a
///           line over 1 MiB.
/// Values    rounded once, to nearest, from the text. Blank lines and CR LF are accepted, and any order of lines.
[[nodiscard]] SdnnNetwork read_sdnn_weights(const std::string& path, std::int64_t neurons = 0,
                                            std::int64_t layers = 0);
[[nodiscard]] SdnnNetwork read_sdnn_weights(ByteSource& source, std::int64_t neurons = 0,
                                            std::int64_t layers = 0);

/// How many layers of a binary cache of weights are meant by `layers` (0: all). `neurons` 0 becomes what the cache holds.
/// Errors: other matrices than weights; fewer layers, or no layer; layers of another size.
[[nodiscard]] std::int64_t check_sdnn_cache(const BinaryCache& cache, const std::string& path,
                                            std::int64_t& neurons, std::int64_t layers);

/// Errors: other matrices than images of that shape; 0 is any number of them.
void check_sdnn_images_cache(const BinaryCache& cache, const std::string& path, std::int64_t neurons,
                             std::int64_t inputs);

/// One layer, `i<TAB>j<TAB>w` lines, from any source. Same errors.
[[nodiscard]] Csr<float> read_sdnn_layer(ByteSource& source, std::int64_t neurons);

/// Images (inputs, neurons) from `image<TAB>feature<TAB>value` lines or a binary cache. `inputs` 0: the
/// largest image id. `neurons` 0: taken from the name sparse-images-N. Same errors as the weights; and a file
/// without an entry, and (`inputs` 0) a largest id that is far above the number of entries.
[[nodiscard]] Csr<float> read_sdnn_images(const std::string& path, std::int64_t neurons = 0,
                                          std::int64_t inputs = 0);
[[nodiscard]] Csr<float> read_sdnn_images(ByteSource& source, std::int64_t neurons, std::int64_t inputs);

/// The published answer: ids as printed (1-based), ascending. `inputs` 0: no upper limit is checked.
/// Errors: an id that is not a positive number, is above `inputs`, or is repeated.
[[nodiscard]] std::vector<std::int32_t> read_sdnn_categories(const std::string& path,
                                                             std::int64_t inputs = 0);
[[nodiscard]] std::vector<std::int32_t> read_sdnn_categories(ByteSource& source, std::int64_t inputs);

/// What one run of the challenge needs.
struct SdnnProblem {
  SdnnNetwork network;
  Csr<float> images;
  std::vector<std::int32_t> categories;  // empty where none was asked for
};

/// The paths of the parts; an empty path of the categories reads none.
struct SdnnPaths {
  std::string weights, images, categories;
};

/// The official names under a folder: neuronN.tar.gz | neuronN.tar | neuronN/, sparse-images-N.tsv[.gz],
/// neuronN-lL-categories.tsv[.gz]; a binary cache (neuronN.plumb, sparse-images-N.plumb) is preferred where there
/// is one. Parts that do not exist stay empty.
[[nodiscard]] SdnnPaths find_sdnn(const std::string& folder, std::int64_t neurons, std::int64_t layers);

/// All of it; weights and images at the same time, on two threads. Errors: as above, of the part that failed
/// first in the order weights, images, categories.
[[nodiscard]] SdnnProblem read_sdnn(const SdnnPaths& paths, std::int64_t neurons, std::int64_t layers,
                                    std::int64_t inputs = 0);

}  // namespace plumb
