// Layers of the Sparse DNN Graph Challenge one by one, for networks that do not fit in memory: generated, or out of a mapped
// binary cache.
#pragma once
#include <cstdint>
#include <memory>
#include <string>

#include "reference/core/csr_source.hpp"

namespace plumb {

/// W transposed of each layer: row j holds what neuron j reads. `weights`: a binary cache that can be mapped; "": the layers
/// are generated. Null where it is something else, which can only be read whole.
/// Errors: as radixnet(), BinaryCache and check_sdnn_cache(); no weights in any layer.
[[nodiscard]] std::shared_ptr<const CsrSource> sdnn_layers(const std::string& weights, std::int64_t neurons,
                                                           std::int64_t layers);

}  // namespace plumb
