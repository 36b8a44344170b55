#include "datasets/networks/gat_files.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "datasets/formats/npy.hpp"
#include "datasets/tests/scratch.hpp"

using namespace plumb;
using namespace plumb::test;

namespace {

using Shape = std::vector<std::int64_t>;

/// A graph of two vertices, features of three columns, and what is written beside them.
struct Files {
  Files() {
    request.graph = scratch.write("g.el", "0 1\n");
    request.features = scratch.file("x.npy");
    write_npy<double>(request.features, {2, 3}, {1, 2, 3, 4, 5, 6});
  }
  /// 1, 2, 3, ... in that shape, as .npy.
  [[nodiscard]] std::string array(const Shape& shape) const {
    std::int64_t count = 1;
    for (const std::int64_t n : shape) count *= n;
    std::vector<double> values;
    for (std::int64_t i = 1; i <= count; ++i) values.push_back(static_cast<double>(i));
    write_npy<double>(scratch.file("a.npy"), shape, values);
    return slurp(scratch.file("a.npy"));
  }
  /// What is read of an archive of arrays of these names and shapes.
  LoadedGat read(const std::vector<std::pair<std::string, Shape>>& arrays) {
    std::vector<std::pair<std::string, std::string>> members;
    for (const auto& [name, shape] : arrays) members.emplace_back(name + ".npy", array(shape));
    request.weights = {scratch.write("w.npz", zip(members))};
    return read_gat_files(request);
  }
  std::string error(const std::vector<std::pair<std::string, Shape>>& arrays) {
    return error_of([&] { (void)read(arrays); });
  }
  Scratch scratch;
  GcnRequest request;
};

}  // namespace

TEST_CASE("layers of a GAT are read by the names of GATConv, in their order, and weights are turned") {
  Files files;
  const LoadedGat net = files.read({{"conv10.att_src", {1, 1, 2}},
                                    {"conv10.att_dst", {1, 1, 2}},
                                    {"conv10.lin_src.weight", {2, 4}},
                                    {"conv2.att_src", {1, 2, 4}},
                                    {"conv2.att_dst", {1, 2, 4}},
                                    {"conv2.lin.weight", {8, 3}},
                                    {"conv2.bias", {4}}});
  CHECK(net.graph.graph.find("2 loops added; not symmetric") == 0);
  REQUIRE(net.layers.size() == 2);
  const GatLayerParts &first = net.layers[0], &second = net.layers[1];
  CHECK(first.heads == 2);
  CHECK(first.w.rows == 3);
  CHECK(first.w.cols == 8);
  CHECK(first.w.data[1] == 4);  // row 1 of what was stored
  CHECK(first.bias.size() == 4);
  CHECK(second.heads == 1);
  CHECK(second.w.rows == 4);
  CHECK(second.bias.empty());
}

TEST_CASE("arrays of a GAT that are missing, unknown or of another shape are named") {
  Files files;
  const std::pair<std::string, Shape> source{"c.att_src", {1, 2, 4}}, target{"c.att_dst", {1, 2, 4}},
      weight{"c.lin.weight", {8, 3}};
  CHECK(files.error({source, target}).find("c.: the layer lacks: a matrix of weights") != std::string::npos);
  CHECK(files.error({source, target, weight, {"c.mean", {3}}}).find("bias: c.mean") != std::string::npos);
  CHECK(files.error({source, target, weight, {"c.lin_l.weight", {8, 3}}})
            .find("has a matrix of weights already") != std::string::npos);
  CHECK(
      files.error({source, target, {"c.lin.weight", {8, 5}}}).find("(8, 5) weights, and the inputs are: 3") !=
      std::string::npos);
  CHECK(files.error({source, target, weight, {"c.bias", {5}}})
            .find("8 numbers are due, and the array is: (5,)") != std::string::npos);
  CHECK(files.error({source, {"c.att_dst", {1, 4}}, weight}).find("8 numbers are due") != std::string::npos);
}
