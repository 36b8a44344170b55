// A network of the user's: its network.json, and the files that it names.
#include "datasets/networks/network_folder.hpp"

#include <cmath>
#include <cstdlib>

#include <doctest/doctest.h>

#include "datasets/formats/network_json.hpp"
#include "datasets/formats/npy.hpp"
#include "datasets/formats/save_matrix.hpp"
#include "datasets/tests/scratch.hpp"

namespace {

using plumb::Csr;
using plumb::NetworkFiles;
using plumb::test::error_of;
using plumb::test::Scratch;

/// Three inputs, two neurons, one neuron: 3-2-1.
class SmallNetwork {
 public:
  SmallNetwork() {
    plumb::save_matrix(dir_.file("w1.mtx.gz"), first_);
    plumb::write_npy<float>(dir_.file("w2.npy"), {1, 2}, {0.5F, 0});
    plumb::write_npy<double>(dir_.file("b2.npy"), {1}, {0.1});
    plumb::save_matrix(dir_.file("x.npz"), inputs_);
  }
  [[nodiscard]] const Scratch& dir() const { return dir_; }
  [[nodiscard]] NetworkFiles read(const std::string& json) const {
    dir_.write("network.json", json);
    return plumb::read_network_files(dir_.path());
  }
  /// The message without the folder.
  [[nodiscard]] std::string error(const std::string& json) const {
    std::string text = error_of([&] { static_cast<void>(read(json)); });
    for (std::size_t at = 0; (at = text.find(dir_.path() + "/")) != std::string::npos;)
      text.erase(at, dir_.path().size() + 1);
    return text;
  }
  [[nodiscard]] std::string bad_layer(const std::string& layer) const {
    return error(R"({"inputs": "x.npz", "layers": [)" + layer + "]}");
  }

 private:
  Scratch dir_;
  Csr<float> first_{3, 2, {0, 1, 1, 3}, {1, 0, 1}, {-1, 2, 3}};  // inputs x outputs
  Csr<float> inputs_{2, 3, {0, 1, 3}, {2, 0, 1}, {1, 2, 3}};
};

constexpr const char* kFirst = R"({"file": "w1.mtx.gz", "orientation": "inputs x outputs", "bias": [1, -2]})";

}  // namespace

TEST_CASE("a network of layers in several formats and both orientations") {
  const SmallNetwork small;
  const NetworkFiles n = small.read(R"({"inputs": "x.npz", "cap": 8, "activation": "relu",
      "orientation": "outputs x inputs",
      "layers": [)" + std::string(kFirst) +
                                    R"(, {"file": "w2.npy", "bias": "b2.npy"}]})");
  CHECK(n.widths == std::vector<std::int64_t>{3, 2, 1});
  CHECK(n.gather[0].rows == 2);
  CHECK(n.gather[0].row_ptr == std::vector<std::int32_t>{0, 1, 3});
  CHECK(n.gather[0].col == std::vector<std::int32_t>{2, 0, 2});
  CHECK(n.gather[0].val == std::vector<float>{2, -1, 3});
  CHECK(n.gather[1].col == std::vector<std::int32_t>{0});  // a zero of a dense file is no edge
  CHECK(n.biases == std::vector<std::vector<float>>{{1, -2}, {0.1F}});
  CHECK(n.cap == 8);
  CHECK_FALSE(n.bias_at_nonzeros);
  CHECK(n.images.rows == 2);
  CHECK(n.images.val == std::vector<float>{1, 2, 3});
}

TEST_CASE(
    "what a network leaves out: no cap, biases of 0, or one bias of the whole, everywhere or at non-zeros") {
  const SmallNetwork small;
  const std::string layers =
      R"("inputs": "x.npz", "orientation": "inputs x outputs", "layers": [{"file": "w1.mtx.gz"}])";
  CHECK(std::isinf(small.read("{" + layers + "}").cap));
  CHECK(std::isinf(small.read("{\"cap\": null, " + layers + "}").cap));
  CHECK(small.read("{" + layers + "}").biases == std::vector<std::vector<float>>{{0, 0}});
  CHECK(small.read("{\"bias\": 0.5, " + layers + "}").biases ==
        std::vector<std::vector<float>>{{0.5F, 0.5F}});
  const NetworkFiles nonzero = small.read("{\"bias\": 0.5, \"bias_where\": \"nonzero\", " + layers + "}");
  CHECK(nonzero.bias_at_nonzeros == 0.5F);
  CHECK(nonzero.biases.empty());
}

TEST_CASE("inputs in every format, sparse and dense, and in place of the network's own") {
  const SmallNetwork small;
  const Csr<float> y{2, 3, {0, 1, 3}, {2, 0, 1}, {1, 2, 3}};
  for (const std::string name : {"y.npz", "y.npy", "y.mtx", "y.mtx.gz", "y.tsv", "y.tsv.gz"})
    plumb::save_matrix(small.dir().file(name), y);
  small.dir().write("plain.tsv", "1\t3\t1\n2\t1\t2\n2\t2\t3\n");
  for (const std::string name : {"y.npz", "y.npy", "y.mtx", "y.mtx.gz", "y.tsv", "y.tsv.gz", "plain.tsv"}) {
    CAPTURE(name);
    const std::string json = "{\"inputs\": \"" + name + "\", \"layers\": [" + kFirst + "]}";
    const Csr<float> read = small.read(json).images;
    CHECK(read.row_ptr == y.row_ptr);
    CHECK(read.col == y.col);
    CHECK(read.val == y.val);
    CHECK(plumb::read_network_files(small.dir().file("network.json"), small.dir().file(name)).images.val ==
          y.val);
  }
}

TEST_CASE("what is wrong with a network.json is said with its line or key, and its value") {
  const SmallNetwork small;
  CHECK(
      small.error("{\n \"layers\": [\n  {\"file\" \"a\"}]}").find("network.json:3: not JSON: syntax error") ==
      0);
  CHECK(small.error("{\"layers\": [") ==
        "network.json:1: not JSON: syntax error while parsing value - unexpected end of input; expected '[', "
        "'{', or a literal");
  CHECK(small.error(R"({"cap": 1e999})") == "network.json: not JSON: number overflow parsing '1e999'");
  CHECK(small.error("[]") == "network.json: expected an object with the key layers: []");
  CHECK(small.error("{}") == "network.json: layers: this key is missing");
  CHECK(small.error(R"({"cap": 1, "cap": 2})") == "network.json: key is repeated: cap");
  CHECK(small.error(R"({"layer": []})") ==
        "network.json: unknown key; known are layers, inputs, cap, activation, bias_where, orientation, "
        "bias; did you mean 'layers'?: layer");
  CHECK(small.error(R"({"layers": []})") ==
        "network.json: layers: expected a list of at least one layer: []");
  CHECK(small.error(R"({"cap": -1, "layers": []})") == "network.json: cap: must not be negative: -1");
  CHECK(small.error(R"({"cap": "32", "layers": []})") ==
        "network.json: cap: expected a number or null: \"32\"");
  CHECK(small.error(R"({"bias": 1e39, "layers": []})") == "network.json: bias: number is beyond fp32: 1e+39");
  CHECK(small.error(R"({"activation": "tanh", "layers": []})") ==
        "network.json: activation: expected \"relu\": \"tanh\"");
  CHECK(small.error(R"({"bias_where": 0, "layers": []})") ==
        "network.json: bias_where: expected \"everywhere\" or \"nonzero\": 0");
  CHECK(small.error(R"({"inputs": 3, "layers": []})") ==
        "network.json: inputs: expected the name of a file: 3");
  CHECK(small.bad_layer("7") == "network.json: layers[0]: expected an object with the key file: 7");
  CHECK(small.bad_layer("{}") == "network.json: layers[0]: the key file is missing: {}");
  CHECK(small.bad_layer(R"({"file": "w2.npy"})").find("layers[0]: the key orientation is missing") !=
        std::string::npos);
  CHECK(small.bad_layer(R"({"file": "w2.npy", "orientation": "transposed"})") ==
        "network.json: layers[0].orientation: expected \"inputs x outputs\" or \"outputs x inputs\": "
        "\"transposed\"");
  CHECK(
      small.bad_layer(R"({"file": "w2.npy", "biass": 1})") ==
      "network.json: layers[0]: unknown key; known are file, orientation, bias; did you mean 'bias'?: biass");
  CHECK(small.error(R"({"bias_where": "nonzero", "layers": [)" + std::string(kFirst) + "]}") ==
        "network.json: layers[0].bias: \"bias_where\": \"nonzero\" takes one bias for the whole network: "
        "[1,-2]");
}

TEST_CASE("what is wrong with the files of a network is said with the key or the file, and the value") {
  const SmallNetwork small;
  const auto layer = [&](const std::string& file, const std::string& bias) {
    return small.bad_layer(R"({"file": ")" + file + R"(", "orientation": "outputs x inputs", "bias": )" +
                           bias + "}");
  };
  CHECK(layer("w9.npy", "0") == "network.json: layers[0].file: no such file: w9.npy");
  CHECK(layer("w2.npy", "\"b9.npy\"") == "network.json: layers[0].bias: no such file: b9.npy");
  CHECK(layer("w2.npy", "[1, 2]") == "network.json: layers[0].bias: the layer has 1 outputs, biases are: 2");
  CHECK(layer("w2.npy", "\"w2.npy\"") == "w2.npy: expected one bias per neuron, the shape is: (1, 2)");
  CHECK(layer("w2.npy", "true").find("layers[0].bias: expected a number, a list of numbers, or") !=
        std::string::npos);
  CHECK(layer("w2.npy", "[0, \"x\"]") == "network.json: layers[0].bias[1]: expected a number: \"x\"");
  CHECK(layer("w2.npy", "0") == "x.npz: the network takes 2 values per input, the file has: 3");
  CHECK(small.error(R"({"inputs": "x.npz", "orientation": "inputs x outputs", "layers": [)" +
                    std::string(kFirst) + R"(, {"file": "w1.mtx.gz"}]})") ==
        "network.json: layers[1].file: w1.mtx.gz has 3 inputs and 2 outputs, the outputs before it are: 2");
  CHECK(small.error("{\"layers\": [" + std::string(kFirst) + "]}") ==
        "network.json: inputs: this key is missing, and --images names no file");
  CHECK(small.error("{\"inputs\": \"none.npy\", \"layers\": [" + std::string(kFirst) + "]}") ==
        "network.json: inputs: no such file: none.npy");

  plumb::write_npy<float>(small.dir().file("nan.npy"), {1, 2}, {0.5F, NAN});
  plumb::write_npy<float>(small.dir().file("inf.npy"), {1}, {INFINITY});
  CHECK(layer("nan.npy", "0") == "nan.npy: weight is not finite: row 1, column 2 (counted from 1): nan");
  CHECK(layer("w2.npy", "\"inf.npy\"") == "inf.npy: bias is not finite: element 0 (counted from 0): inf");
  CHECK(error_of([&] { static_cast<void>(plumb::read_network_files(small.dir().file("none"))); }) ==
        small.dir().file("none") + ": no such file");
}
