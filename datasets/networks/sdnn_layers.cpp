#include "datasets/networks/sdnn_layers.hpp"

#include <filesystem>
#include <utility>

#include "datasets/formats/binary_cache.hpp"
#include "datasets/formats/sdnn_files.hpp"
#include "datasets/generators/radixnet.hpp"
#include "reference/core/csr.hpp"
#include "reference/core/error.hpp"

namespace plumb {

namespace {

class GeneratedLayers final : public CsrSource {
 public:
  explicit GeneratedLayers(RadixNet net) : net_(std::move(net)) {}
  [[nodiscard]] std::int64_t size() const override { return net_.layers; }
  [[nodiscard]] std::int64_t entries(std::int64_t) const override { return net_.neurons * kRadixNetDegree; }
  [[nodiscard]] Csr<float> make(std::int64_t l) const override { return radixnet_layer_transposed(net_, l); }
  [[nodiscard]] std::int64_t held_bytes() const override {
    return static_cast<std::int64_t>(net_.labels.size() * sizeof(net_.labels[0]));
  }

 private:
  RadixNet net_;
};

class CachedLayers final : public CsrSource {
 public:
  CachedLayers(BinaryCache cache, std::int64_t layers) : cache_(std::move(cache)), layers_(layers) {}
  [[nodiscard]] std::int64_t size() const override { return layers_; }
  [[nodiscard]] std::int64_t entries(std::int64_t l) const override { return cache_.matrix(l).nnz; }
  [[nodiscard]] Csr<float> make(std::int64_t l) const override { return transposed(cache_.copy(l)); }
  [[nodiscard]] std::int64_t held_bytes() const override { return 0; }  // pages go when they are read

 private:
  BinaryCache cache_;
  std::int64_t layers_;
};

}  // namespace

std::shared_ptr<const CsrSource> sdnn_layers(const std::string& weights, std::int64_t neurons,
                                             std::int64_t layers) {
  if (weights.empty()) return std::make_shared<GeneratedLayers>(radixnet(neurons, layers));
  if (!std::filesystem::is_regular_file(weights)) return nullptr;  // a pipe cannot be opened twice
  const std::unique_ptr<ByteSource> file = open_source(weights);
  if (file->mappable() < 0 || !is_cache(*file)) return nullptr;
  BinaryCache cache(*file, CachePages::drop);
  const std::int64_t there = check_sdnn_cache(cache, weights, neurons, layers);
  auto source = std::make_shared<CachedLayers>(std::move(cache), there);
  bool any = false;
  for (std::int64_t l = 0; l < there && !any; ++l) any = source->entries(l) > 0;
  if (!any) throw input_error(weights, 0, "no weights in it");
  return source;
}

}  // namespace plumb
