#include "datasets/formats/binary_cache.hpp"

#include <doctest/doctest.h>
#include "datasets/tests/scratch.hpp"

using namespace plumb;
using namespace plumb::test;

namespace {

const Csr<float> kSmall{2, 3, {0, 2, 3}, {0, 2, 1}, {1.5F, -2.0F, 0.0625F}};
const Csr<float> kEmpty{0, 5, {0}, {}, {}};

}  // namespace

TEST_CASE("matrices come back from the cache as they went in") {
  const Scratch dir;
  const std::string path = dir.file("c.plumb");
  write_cache(path, CacheKind::weights, {kSmall, kEmpty});
  CHECK(is_cache(*open_source(path)));
  const BinaryCache cache(path);
  CHECK(cache.kind() == CacheKind::weights);
  REQUIRE(cache.size() == 2);
  const Csr<float> back = cache.copy(0);
  CHECK(back.rows == 2);
  CHECK(back.cols == 3);
  CHECK(back.row_ptr == kSmall.row_ptr);
  CHECK(back.col == kSmall.col);
  CHECK(back.val == kSmall.val);
  CHECK(cache.matrix(1).cols == 5);
  CHECK(cache.matrix(1).nnz == 0);
}

TEST_CASE("a cache cut anywhere is refused") {
  const Scratch dir;
  const std::string path = dir.file("c.plumb");
  write_cache(path, CacheKind::images, {kSmall});
  const std::string whole = slurp(path);
  for (std::size_t n = 0; n < whole.size(); n += 7) {
    CAPTURE(n);
    dir.write("cut.plumb", std::string_view(whole).substr(0, n));
    CHECK_THROWS_AS(BinaryCache(dir.file("cut.plumb")), Error);
  }
}

TEST_CASE("every flipped bit that matters is found, by a checksum or by a check") {
  const Scratch dir;
  const std::string path = dir.file("c.plumb");
  write_cache(path, CacheKind::images, {kSmall});
  const std::string whole = slurp(path);
  // Bytes that carry nothing: the header's last 24, and the padding between sections (12 of 64, 12 of 64
  // used).
  const auto carries = [](std::size_t at) {
    return at < 40 || (at >= 64 && at < 140) || (at >= 192 && at < 204) || at >= 256;
  };
  for (std::size_t at = 0; at < whole.size(); ++at) {
    if (!carries(at) || (at >= 16 && at < 20)) continue;  // 16..19: the kind, no damage but another kind
    CAPTURE(at);
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 4);
    dir.write("bad.plumb", damaged);
    CHECK_THROWS_AS(BinaryCache(dir.file("bad.plumb")), Error);
  }
}

TEST_CASE("the damaged section is named") {
  const Scratch dir;
  const std::string path = dir.file("c.plumb");
  write_cache(path, CacheKind::images, {kSmall});
  std::string bytes = slurp(path);
  bytes.back() = static_cast<char>(bytes.back() ^ 1);
  dir.write("c.plumb", bytes);
  CHECK(error_of([&] { return BinaryCache{path}; }) ==
        path + ": binary cache is damaged, matrix 0: checksum of val differs");
  CHECK(error_of([&] { return BinaryCache{dir.write("x", std::string(100, 'x'))}; }) ==
        dir.file("x") + ": not a binary cache: wrong magic: xxxxxxxx");
}

TEST_CASE("a malformed matrix with correct checksums is refused") {
  const Scratch dir;
  const std::string path = dir.file("c.plumb");
  const auto error = [&](const Csr<float>& a) {
    write_cache(path, CacheKind::matrices, {a});
    return error_of([&] { return BinaryCache{path}; });
  };
  CHECK(error({2, 3, {0, 3, 2}, {0, 1}, {1, 1}}).find("row_ptr falls after row 1") != std::string::npos);
  CHECK(error({1, 3, {0, 2}, {0, 3}, {1, 1}}).find("column 3 of entry 1 lies outside 0..2") !=
        std::string::npos);
  CHECK(error({1, 3, {0, 1}, {0, 1}, {1, 1}}).find("row_ptr does not run from 0 to nnz") !=
        std::string::npos);
}

TEST_CASE("a write that fails half-way names the file and leaves neither it nor its beginning") {
  const Scratch dir;
  const std::string path = dir.file("c.plumb");
  const std::string error = [&] {
    const plumb::test::FullDisk after(100);
    return error_of([&] { return write_cache(path, CacheKind::images, {kSmall}); });
  }();
  CHECK(error == path + ": cannot write: File too large");
  CHECK(std::filesystem::is_empty(dir.file("")));
}
