// Finds and loads what one run of the Sparse DNN Graph Challenge needs: weights, inputs and the published list, from
// files where there are any, else generated.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "datasets/formats/sdnn_files.hpp"
#include "reference/core/csr_source.hpp"
#include "reference/core/matrix.hpp"
#include "reference/core/memory.hpp"
#include "reference/core/row_source.hpp"

namespace plumb {

/// Inputs that are generated where none are found: as many as the challenge has.
inline constexpr std::int64_t kSdnnInputs = 60000;

struct SdnnRequest {
  std::int64_t neurons = 1024, layers = 120;
  std::int64_t inputs = 0;                  // the first so many; 0: all
  std::string data;                         // folder; "": $PLUMB_DATA/sdnn, then the cache folder
  std::string weights, images, categories;  // files that go before what a folder holds
  // Layers that are generated, or lie in a binary cache, are not held, nor are such inputs as a matrix: SdnnData::source
  // and rows.
  bool one_by_one = false;
  MemoryBound host_memory;     // for making inputs; 0: what there is
  bool official_terms = true;  // bias and cap are the challenge's: else a list in a folder does not apply
};

/// Where each part comes from; nothing is read yet.
struct SdnnSources {
  SdnnPaths paths;    // "": generated, or for categories: none
  std::string mnist;  // images that inputs are made from; "" where inputs are read or drawn
  bool official_inputs = false;
  bool anything_found = false;
  std::string weights_from, images_from;  // in words
  std::string searched;                   // "nothing under A, B"
};
/// Errors: `data` is no folder; a file given by name does not exist.
[[nodiscard]] SdnnSources find_sdnn_sources(const SdnnRequest& request);

struct SdnnData {
  std::vector<Csr<float>> gather;  // (layers) of (neurons, neurons): W transposed, row j holds what j reads
  std::shared_ptr<const CsrSource> source;  // the same layers one by one, in place of `gather`
  Csr<float> images;                        // (inputs, neurons)
  std::shared_ptr<const RowSource> rows;    // the same rows a few at a time, in place of `images`
  std::vector<std::int32_t> categories;     // 1-based, of these inputs; empty where paths.categories is ""
  std::int64_t making_bytes = 0;  // beside the weights, while inputs are made of images; 0: they are read
};
/// Weights and inputs are read at the same time.
///
/// Errors    those of the readers, the weights' first; fewer layers than requested; no inputs, or no weights in any layer;
///           a list with an id above the number of inputs, unless `request.inputs` cut them; more memory needed than
///           there is, or than `request.host_memory` allows.
[[nodiscard]] SdnnData load_sdnn(const SdnnSources& sources, const SdnnRequest& request);

/// The list in `path`, which is of `there` inputs (0: any number), without the ids above `inputs`.
/// Errors: as read_sdnn_categories; an id above `there`.
[[nodiscard]] std::vector<std::int32_t> categories_of_first(std::int64_t inputs, const std::string& path,
                                                            std::int64_t there);

}  // namespace plumb
