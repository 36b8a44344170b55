#include "datasets/networks/sdnn_rows.hpp"

#include <bit>
#include <filesystem>
#include <utility>
#include <vector>

#include "datasets/formats/binary_cache.hpp"
#include "datasets/formats/sdnn_files.hpp"

namespace plumb {

namespace {

class MaskRows final : public RowSource {
 public:
  MaskRows(PixelMask mask, std::int64_t inputs) : mask_(std::move(mask)) {
    mask_.rows = inputs;
    mask_.bits.resize(static_cast<std::size_t>(inputs * mask_.words));
    for (std::int64_t r = 0; r < inputs; ++r) {
      std::int64_t ones = 0;
      for (std::int64_t w = 0; w < mask_.words; ++w)
        ones += std::popcount(mask_.bits[static_cast<std::size_t>(r * mask_.words + w)]);
      before_.push_back(before_.back() + ones);
    }
  }
  [[nodiscard]] std::int64_t rows() const override { return mask_.rows; }
  [[nodiscard]] std::int64_t cols() const override { return mask_.features; }
  [[nodiscard]] std::int64_t entries(std::int64_t first, std::int64_t last) const override {
    return before_[static_cast<std::size_t>(last)] - before_[static_cast<std::size_t>(first)];
  }
  [[nodiscard]] Csr<float> make(std::int64_t first, std::int64_t last) const override {
    return to_csr(mask_, first, last - first);
  }
  [[nodiscard]] std::int64_t held_bytes() const override {
    return static_cast<std::int64_t>(8 * (mask_.bits.capacity() + before_.capacity()));
  }

 private:
  PixelMask mask_;
  std::vector<std::int64_t> before_{0};  // (rows + 1): ones in the rows before each
};

class CachedRows final : public RowSource {
 public:
  explicit CachedRows(BinaryCache cache) : cache_(std::move(cache)) {}
  [[nodiscard]] std::int64_t rows() const override { return cache_.matrix(0).rows; }
  [[nodiscard]] std::int64_t cols() const override { return cache_.matrix(0).cols; }
  [[nodiscard]] std::int64_t entries(std::int64_t first, std::int64_t last) const override {
    return cache_.matrix(0).row_ptr[last] - cache_.matrix(0).row_ptr[first];
  }
  [[nodiscard]] Csr<float> make(std::int64_t first, std::int64_t last) const override {
    return cache_.copy_rows(0, first, last);
  }
  [[nodiscard]] std::int64_t held_bytes() const override { return 4 * (rows() + 1); }  // other pages go

 private:
  BinaryCache cache_;
};

class FirstRows final : public RowSource {
 public:
  FirstRows(std::shared_ptr<const RowSource> all, std::int64_t count) : all_(std::move(all)), count_(count) {}
  [[nodiscard]] std::int64_t rows() const override { return count_; }
  [[nodiscard]] std::int64_t cols() const override { return all_->cols(); }
  [[nodiscard]] std::int64_t entries(std::int64_t first, std::int64_t last) const override {
    return all_->entries(first, last);
  }
  [[nodiscard]] Csr<float> make(std::int64_t first, std::int64_t last) const override {
    return all_->make(first, last);
  }
  [[nodiscard]] std::int64_t held_bytes() const override { return all_->held_bytes(); }

 private:
  std::shared_ptr<const RowSource> all_;
  std::int64_t count_;
};

}  // namespace

std::shared_ptr<const RowSource> rows_of_mask(PixelMask mask, std::int64_t inputs) {
  return std::make_shared<MaskRows>(std::move(mask), inputs);
}

std::shared_ptr<const RowSource> rows_of_cache(const std::string& path, std::int64_t neurons) {
  if (!std::filesystem::is_regular_file(path)) return nullptr;  // a pipe cannot be opened twice
  const std::unique_ptr<ByteSource> file = open_source(path);
  if (file->mappable() < 0 || !is_cache(*file)) return nullptr;
  BinaryCache cache(*file, CachePages::drop);
  check_sdnn_images_cache(cache, path, neurons, 0);
  return std::make_shared<CachedRows>(std::move(cache));
}

std::shared_ptr<const RowSource> first_rows(std::shared_ptr<const RowSource> all, std::int64_t count) {
  return std::make_shared<FirstRows>(std::move(all), count);
}

}  // namespace plumb
