// Inputs that can be opened once only: a named pipe, a descriptor, a socket. Each format is recognised and read through them.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "datasets/formats/binary_cache.hpp"
#include "datasets/formats/idx_images.hpp"
#include "datasets/formats/inspect.hpp"
#include "datasets/formats/load_matrix.hpp"
#include "datasets/formats/save_matrix.hpp"
#include "datasets/formats/sdnn_files.hpp"
#include "datasets/tests/scratch.hpp"

using namespace plumb;
using namespace plumb::test;

namespace {

void write_all(int fd, const std::string& bytes) {
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t n = ::write(fd, bytes.data() + done, bytes.size() - done);
    if (n <= 0) return;
    done += static_cast<std::size_t>(n);
  }
}

// Calls read(path) while another thread writes `bytes` into a FIFO of that path, once.
template <class Read>
auto through_fifo(const Scratch& dir, const std::string& name, const std::string& bytes, const Read& read) {
  const std::string path = dir.file(name);
  REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
  std::thread writer([&] {
    const int fd = ::open(path.c_str(), O_WRONLY);
    write_all(fd, bytes);
    ::close(fd);
  });
  auto result = read(path);
  writer.join();
  std::filesystem::remove(path);
  return result;
}

// The same through a descriptor of this process, a pipe or a socket, named as bash's <(...) names it.
template <class Read>
auto through_descriptor(bool socket, const std::string& bytes, const Read& read) {
  int ends[2];
  REQUIRE((socket ? ::socketpair(AF_UNIX, SOCK_STREAM, 0, ends) : ::pipe(ends)) == 0);
  std::thread writer([&] {
    write_all(ends[1], bytes);
    ::close(ends[1]);
  });
  auto result = read("/dev/fd/" + std::to_string(ends[0]));
  writer.join();
  ::close(ends[0]);
  return result;
}

const Csr<float> kMatrix{3, 3, {0, 1, 3, 4}, {1, 0, 2, 1}, {0.5F, -2, 3, 4}};

}  // namespace

TEST_CASE("every format is read from a FIFO and from a descriptor, its first bytes included") {
  const Scratch dir;
  for (const char* name : {"a.mtx", "a.mtx.gz", "a.npz", "a.npy", "a.plumb", "a.tsv", "a.el", "n3-l1.tsv",
                           "sparse-images-3.tsv.gz"}) {
    CAPTURE(name);
    save_matrix(dir.file(name), kMatrix);
    const std::string bytes = slurp(dir.file(name));
    std::filesystem::remove(dir.file(name));
    const auto check = [](const Csr<float>& a) {
      CHECK(a.rows == 3);
      CHECK(a.row_ptr == kMatrix.row_ptr);
      CHECK(a.col == kMatrix.col);
      CHECK(a.val == kMatrix.val);
    };
    check(through_fifo(dir, name, bytes, [](const std::string& path) { return load_matrix<float>(path); }));
    const Inspection found =
        through_fifo(dir, name, bytes, [](const std::string& path) { return inspect(path); });
    CHECK(found.kind != "");
    if (std::string(name).rfind("a.", 0) != 0) continue;  // the challenge's are known by their names
    for (const bool socket : {false, true}) {
      check(through_descriptor(socket, bytes,
                               [](const std::string& path) { return load_matrix<float>(path); }));
    }
  }
}

TEST_CASE("weights, images and categories are read from a pipe") {
  const Scratch dir;
  const std::string layer = "1\t2\t0.5\n2\t1\t0.25\n";
  const std::string tar = tar_member("n/n2-l1.tsv", layer) + tar_member("n/n2-l2.tsv", layer) + tar_end();
  write_cache(dir.file("net.plumb"), CacheKind::weights,
              std::vector<Csr<float>>(2, Csr<float>{2, 2, {0, 1, 2}, {1, 0}, {0.5F, 0.25F}}));
  for (const std::string& bytes : {tar, gzip(tar), slurp(dir.file("net.plumb"))}) {
    const auto read = [](const std::string& path) { return read_sdnn_weights(path, 2, 2); };
    for (const SdnnNetwork& net :
         {through_descriptor(false, bytes, read), through_fifo(dir, "weights", bytes, read)}) {
      REQUIRE(net.layers.size() == 2);
      CHECK(net.layers[1].val == std::vector<float>{0.5F, 0.25F});
    }
  }
  CHECK(through_descriptor(false, gzip("1\t2\t1\n"), [](const std::string& path) {
          return read_sdnn_images(path, 2, 0);
        }).col == std::vector<std::int32_t>{1});
  CHECK(through_fifo(dir, "c", "7\n", [](const std::string& path) { return read_sdnn_categories(path); }) ==
        std::vector<std::int32_t>{7});
  const GreyImages images{1, 2, 2, {1, 2, 3, 4}};
  save_idx_images(dir.file("idx.gz"), images);
  CHECK(through_fifo(dir, "idx", slurp(dir.file("idx.gz")),
                     [](const std::string& path) { return read_idx_images(path).pixels; }) == images.pixels);
}
