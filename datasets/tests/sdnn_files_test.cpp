#include "datasets/formats/sdnn_files.hpp"

#include <doctest/doctest.h>

#include "datasets/formats/binary_cache.hpp"
#include "datasets/tests/scratch.hpp"

using namespace plumb;
using namespace plumb::test;

namespace {

Csr<float> layer(std::string_view text, std::int64_t neurons = 3) {
  return read_sdnn_layer(*memory_source("n3-l1.tsv", text), neurons);
}
std::string layer_error(std::string_view text) {
  return error_of([&] { return layer(text); });
}
using Ints = std::vector<std::int32_t>;
using Floats = std::vector<float>;

}  // namespace

TEST_CASE("a layer's lines become rows of input neurons, whatever their order") {
  const Csr<float> a = layer("2\t1\t6.250000e-02\n1\t3\t-0.5\n1\t2\t1\n");
  CHECK(a.rows == 3);
  CHECK(a.cols == 3);
  CHECK(a.row_ptr == Ints{0, 2, 3, 3});
  CHECK(a.col == Ints{1, 2, 0});
  CHECK(a.val == Floats{1.0F, -0.5F, 0.0625F});
}

TEST_CASE("blank lines, CR LF, blanks around numbers and a last line without its end are read") {
  const Csr<float> a = layer("\n1\t1\t2\r\n\r\n  2 \t 3 \t 4\t\r\n\n3\t3\t5");
  CHECK(a.row_ptr == Ints{0, 1, 2, 3});
  CHECK(a.val == Floats{2, 4, 5});
  CHECK(layer("").row_ptr == Ints{0, 0, 0, 0});
}

TEST_CASE("weights are rounded once, from the text to fp32") {
  // 1 + 2^-24 + 2^-60: to fp64 first it would land on the tie 1 + 2^-24 and then go down to 1.
  const Csr<float> a = layer("1\t1\t1.000000059604644776257983218\n1\t2\t16777217\n1\t3\t1e-60\n");
  CHECK(a.val == Floats{1.00000011920928955F, 16777216.0F, 0.0F});
}

TEST_CASE("each malformed line of a layer is named with its number, what is wrong, and the word") {
  CHECK(layer_error("1\t1\t1\n4\t1\t1\n") == "n3-l1.tsv:2: input neuron is outside 1..3: 4");
  CHECK(layer_error("1\t0\t1\n") == "n3-l1.tsv:1: output neuron is outside 1..3: 0");
  CHECK(layer_error("-1\t1\t1\n") == "n3-l1.tsv:1: input neuron is outside 1..3: -1");
  CHECK(layer_error("x\t1\t1\n") == "n3-l1.tsv:1: input neuron is not an integer: x");
  CHECK(layer_error("1.5\t1\t1\n") == "n3-l1.tsv:1: input neuron is not an integer: 1.5");
  CHECK(layer_error("99999999999999999999\t1\t1\n") ==
        "n3-l1.tsv:1: input neuron is too large: 99999999999999999999");
  CHECK(layer_error("1\t1\n") == "n3-l1.tsv:1: weight is missing");
  CHECK(layer_error("1\n") == "n3-l1.tsv:1: output neuron is missing");
  CHECK(layer_error("\n\n1\t1\t1\t7\n") == "n3-l1.tsv:3: text after the third column: 7");
  CHECK(layer_error("1\t1\tnan\n") == "n3-l1.tsv:1: weight is not finite: nan");
  CHECK(layer_error("1\t1\t-inf\n") == "n3-l1.tsv:1: weight is not finite: -inf");
  CHECK(layer_error("1\t1\t1e39\n") == "n3-l1.tsv:1: weight overflows fp32: 1e39");
  CHECK(layer_error("1\t1\t1,5\n") == "n3-l1.tsv:1: weight is not a number: 1,5");
  CHECK(layer_error("1\t1\t0x10\n") == "n3-l1.tsv:1: weight is not a number: 0x10");
  CHECK(layer_error(std::string_view("1\t1\t1\0\n", 8)) == "n3-l1.tsv:1: weight is not a number: 1\\x00");
}

TEST_CASE("a repeated entry is named with the line of the second, blank lines counted") {
  CHECK(layer_error("1\t1\t1\n\n2\t3\t1\n\n\n1\t2\t1\n2\t3\t4\n") == "n3-l1.tsv:7: entry is repeated: 2 3");
}

TEST_CASE("a line longer than a mebibyte is refused by its number") {
  const std::string text = "1\t1\t1\n" + std::string(2'000'000, '1') + "\n";
  CHECK(layer_error(text).substr(0, 41) == "n3-l1.tsv:2: line is longer than 1 MiB: 1");
}

TEST_CASE("a text of many pieces is read whole, and errors deep inside name their line") {
  std::string text;
  constexpr int kRows = 300'000;  // several pieces of 1 MiB
  for (int i = 1; i <= kRows; ++i) text += std::to_string(i) + "\t1\t1\n";
  const auto images = [&](std::string_view t) { return read_sdnn_images(*memory_source("i.tsv", t), 2, 0); };
  const Csr<float> a = images(text);
  CHECK(a.rows == kRows);
  CHECK(a.nnz() == kRows);
  CHECK(a.row_ptr.back() == kRows);
  CHECK(error_of([&] { return images(text + "1\t3\t1\n" + text); }) ==
        "i.tsv:300001: feature is outside 1..2: 3");
  CHECK(error_of([&] { return images(text + "1\t2\t1\n7\t1\t1\n"); }) ==
        "i.tsv:300002: entry is repeated: 7 1");
  CHECK(images(gzip(text)).nnz() == kRows);
}

TEST_CASE("images have as many rows as asked for, or as the largest id") {
  const auto images = [](std::int64_t inputs) {
    return read_sdnn_images(*memory_source("i", "2\t1\t1\n"), 4, inputs);
  };
  CHECK(images(0).rows == 2);
  CHECK(images(5).rows == 5);
  CHECK(images(5).cols == 4);
  CHECK(error_of([&] { return images(1); }) == "i:1: image is outside 1..1: 2");
}

TEST_CASE("the number of neurons of images comes from the name, or is asked for") {
  const Scratch dir;
  CHECK(read_sdnn_images(dir.write("sparse-images-16.tsv", "1\t16\t1\n")).cols == 16);
  const std::string path = dir.write("images.tsv", "1\t16\t1\n");
  CHECK(error_of([&] { return read_sdnn_images(path); }) ==
        path + ": number of neurons is unknown: the name is not sparse-images-N.tsv");
}

TEST_CASE("categories come out ascending, and an id there twice or out of range is an error") {
  const auto read = [](std::string_view text) {
    return read_sdnn_categories(*memory_source("c.tsv", text), 10);
  };
  CHECK(read("7\n3\n\n10\r\n") == Ints{3, 7, 10});
  CHECK(read("").empty());
  CHECK(error_of([&] { return read("3\n11\n"); }) == "c.tsv:2: category id is outside 1..10: 11");
  CHECK(error_of([&] { return read("3\n4\n3\n"); }) == "c.tsv:3: category id is repeated: 3");
  CHECK(error_of([&] { return read("3 4\n"); }) == "c.tsv:1: text after the id: 4");
}

TEST_CASE("a network is read from a tar.gz in any order of members, and from a folder") {
  const Scratch dir;
  const std::string one = "1\t2\t1\n", two = "2\t1\t2\n", ten = "1\t1\t10\n";
  const std::string tar = dir.write(
      "neuron2.tar.gz",
      gzip(tar_member("neuron2/", "", '5') + tar_member("neuron2/n2-l2.tsv", two) +
           tar_member("neuron2/README", "hello") + tar_member("neuron2/n2-l1.tsv", one) + tar_end()));
  for (const std::string& path : {tar, (dir.write("neuron2/n2-l1.tsv", one),
                                        dir.write("neuron2/n2-l2.tsv.gz", gzip(two)), dir.file("neuron2"))}) {
    CAPTURE(path);
    const SdnnNetwork net = read_sdnn_weights(path);
    CHECK(net.neurons == 2);
    REQUIRE(net.layers.size() == 2);
    CHECK(net.layers[0].row_ptr == Ints{0, 1, 1});
    CHECK(net.layers[1].val == Floats{2});
    CHECK(read_sdnn_weights(path, 2, 1).layers.size() == 1);
    CHECK(error_of([&] { return read_sdnn_weights(path, 2, 3); }) == path + ": layer is missing: 3");
    CHECK(error_of([&] { return read_sdnn_weights(path, 4, 1); }).find("layer of another size") !=
          std::string::npos);
  }
}

TEST_CASE("an error in a tar names archive, member and line") {
  const Scratch dir;
  const std::string tar =
      dir.write("neuron2.tar.gz", gzip(tar_member("neuron2/n2-l1.tsv", "1\t1\t1\n") +
                                       tar_member("neuron2/n2-l2.tsv", "1\t1\t1\n1\t9\t1\n") + tar_end()));
  CHECK(error_of([&] { return read_sdnn_weights(tar); }) ==
        tar + ":neuron2/n2-l2.tsv:2: output neuron is outside 1..2: 9");
  CHECK(read_sdnn_weights(tar, 2, 1).layers.size() == 1);  // layers that were not asked for are not parsed
}

TEST_CASE("damage behind the last requested layer is found") {
  const Scratch dir;
  const std::string layer = "1\t1\t0.5\n";
  const std::string whole = tar_member("n2-l1.tsv", layer) + tar_member("n2-l2.tsv", layer) + tar_end();
  const std::string path = dir.write("neuron2.tar", whole.substr(0, 1024 + 512 + 2));
  CHECK(error_of([&] { return read_sdnn_weights(path, 2, 1); }) ==
        path + ":n2-l2.tsv: tar member is cut short");

  // Whatever bit flips in the gzipped archive: damage that zlib finds in the whole stream is found here too. (Some flips
  // change nothing: the header's date, another distance into a run of zeros.)
  const std::string packed = gzip(whole);
  int damaged = 0, silent = 0;
  for (std::size_t bit = 0; bit < packed.size() * 8; ++bit) {
    std::string flipped = packed;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << bit % 8));
    const bool sound = error_of([&] {
                         if (read_all(*memory_source("m", flipped)) != whole) throw Error("other bytes");
                       }).empty();
    damaged += sound ? 0 : 1;
    dir.write("neuron2.tar.gz", flipped);
    if (!sound && error_of([&] { return read_sdnn_weights(dir.file("neuron2.tar.gz"), 2, 1); }).empty())
      ++silent;
  }
  CHECK(damaged > 500);
  CHECK(silent == 0);
}

TEST_CASE("images: a file without an entry, and an id far above the number of entries, are errors") {
  const Scratch dir;
  const std::string path = dir.file("sparse-images-5.tsv");
  const auto error = [&](const char* text) {
    return error_of([&] { return read_sdnn_images(dir.write("sparse-images-5.tsv", text), 5, 0); });
  };
  CHECK(error("") == path + ": no image in it: the file holds no entry");
  CHECK(error("\n\n") == path + ": no image in it: the file holds no entry");
  CHECK(error("2147483647\t5\t1\n") ==
        path + ": largest image id is far above the number of entries (1): 2147483647");
  CHECK(read_sdnn_images(dir.write("sparse-images-5.tsv", "1000000\t5\t1\n"), 5, 0).rows == 1000000);
  CHECK(error_of([&] { return read_sdnn_categories(*memory_source("c", "3\n11\n"), 10); }) ==
        "c:2: category id is outside 1..10: 11");
}

TEST_CASE("one layer's file alone is a network of one layer") {
  const Scratch dir;
  const std::string path = dir.write("n2-l5.tsv", "1\t2\t1\n");
  CHECK(read_sdnn_weights(path).layers.size() == 1);
  CHECK(error_of([&] { return read_sdnn_weights(path, 2, 2); }) ==
        path + ": the file holds one layer, layers asked for: 2");
  CHECK(error_of([&] {
          return read_sdnn_weights(dir.write("x.bin", "1\t2\t1\n"));
        }).find("neither a tar nor a folder") != std::string::npos);
  std::filesystem::create_directory(dir.file("empty"));
  CHECK(error_of([&] { return read_sdnn_weights(dir.file("empty")); }) ==
        dir.file("empty") + ": no layer in it: no file is named nN-lK.tsv");
}

TEST_CASE("all parts of a run are found by their official names and read together; a cache wins") {
  const Scratch dir;
  dir.write("neuron2.tar", tar_member("n2-l1.tsv", "1\t2\t1\n") + tar_end());
  dir.write("sparse-images-2.tsv.gz", gzip("3\t1\t1\n"));
  dir.write("neuron2-l1-categories.tsv", "3\n");
  SdnnPaths paths = find_sdnn(dir.file(""), 2, 1);
  const SdnnProblem run = read_sdnn(paths, 2, 1, 4);
  CHECK(run.network.layers.size() == 1);
  CHECK(run.images.rows == 4);
  CHECK(run.categories == Ints{3});

  write_cache(dir.file("neuron2.plumb"), CacheKind::weights, run.network.layers);
  write_cache(dir.file("sparse-images-2.plumb"), CacheKind::images, {run.images});
  paths = find_sdnn(dir.file(""), 2, 1);
  CHECK(paths.weights == dir.file("neuron2.plumb"));
  const SdnnProblem again = read_sdnn(paths, 2, 1, 4);
  CHECK(again.network.layers[0].col == run.network.layers[0].col);
  CHECK(again.images.row_ptr == run.images.row_ptr);
  CHECK(error_of([&] { return read_sdnn_weights(paths.weights, 2, 2); }).find("fewer layers") !=
        std::string::npos);
  CHECK(error_of([&] { return read_sdnn_weights(paths.images); }).find("holds no weights") !=
        std::string::npos);
}
