// A network that is held as a source of layers, for the tests of what makes layers one by one.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

#include "reference/core/csr_source.hpp"
#include "reference/core/error.hpp"
#include "reference/models/sparse_dnn/sparse_dnn.hpp"

namespace plumb::test {

/// Layers of a network that is held, made again each time they are asked for.
class CopiedLayers final : public CsrSource {
 public:
  explicit CopiedLayers(const SparseDnn& net) : net_(net) {}
  [[nodiscard]] std::int64_t size() const override { return net_.layers(); }
  [[nodiscard]] std::int64_t entries(std::int64_t l) const override { return net_.edges(l, l + 1); }
  [[nodiscard]] Csr<float> make(std::int64_t l) const override {
    ++made;
    if (l == broken) throw Error("layer " + std::to_string(l) + " cannot be read");
    return net_.gather[static_cast<std::size_t>(l)];
  }
  [[nodiscard]] std::int64_t held_bytes() const override { return 0; }
  mutable std::atomic<int> made = 0;
  std::int64_t broken = -1;

 private:
  const SparseDnn& net_;
};

}  // namespace plumb::test
