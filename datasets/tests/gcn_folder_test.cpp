#include "datasets/formats/gcn_folder.hpp"

#include <doctest/doctest.h>

#include "datasets/formats/npy.hpp"
#include "datasets/tests/scratch.hpp"

using namespace plumb;
using namespace plumb::test;

namespace {

using Ints = std::vector<std::int32_t>;

// Two vertices, three features, two hidden units, two classes; only what is required.
void write_required(const Scratch& dir) {
  write_npy<std::int32_t>(dir.file("A_indptr.npy"), {3}, {0, 2, 3});
  write_npy<std::int32_t>(dir.file("A_indices.npy"), {3}, {0, 1, 1});
  write_npy<double>(dir.file("A_values_f64.npy"), {3}, {0.1, 0.5, 1.0});
  write_npy<std::int32_t>(dir.file("X_indptr.npy"), {3}, {0, 1, 2});
  write_npy<std::int32_t>(dir.file("X_indices.npy"), {2}, {2, 0});
  write_npy<float>(dir.file("X_values_f32.npy"), {2}, {0.25F, 3});
  write_npy<float>(dir.file("W1.npy"), {3, 2}, {1, 2, 3, 4, 5, 6});
  write_npy<float>(dir.file("W2.npy"), {2, 2}, {1, 0, 0, 1});
}
std::string error(const Scratch& dir) {
  const std::string text = error_of([&] { return read_gcn_folder(dir.file("")); });
  return text.substr(0, dir.file("").size()) == dir.file("") ? text.substr(dir.file("").size()) : text;
}

}  // namespace

TEST_CASE("a folder with the required files alone is read, and it has no biases") {
  const Scratch dir;
  write_required(dir);
  CHECK(is_gcn_folder(dir.file("")));
  const GcnData g = read_gcn_folder(dir.file(""));
  CHECK(g.vertices() == 2);
  CHECK(g.features() == 3);
  CHECK(g.f64.weights.size() == 2);
  CHECK(g.classes() == 2);
  CHECK(g.f64.a.val[0] == 0.1);
  CHECK(g.f32.a.val[0] == 0.1F);  // rounded from the fp64 file
  CHECK(g.f64.x.val[0] == 0.25);  // exact from the fp32 file
  CHECK(g.f32.x.col == Ints{2, 0});
  CHECK(g.f64.biases == std::vector<std::vector<double>>{{}, {}});
  CHECK(g.labels.empty());
  CHECK(g.expected_logits.data.empty());
}

TEST_CASE("optional files are read where they are present, each type of values into its own type") {
  const Scratch dir;
  write_required(dir);
  write_npy<float>(dir.file("A_values_f32.npy"), {3}, {0.1F, 0.5F, 2.0F});
  write_npy<double>(dir.file("b1.npy"), {2}, {0.1, -1});
  write_npy<std::int64_t>(dir.file("labels.npy"), {2}, {1, -1});
  write_npy<std::int32_t>(dir.file("idx_test.npy"), {1}, {1});
  write_npy<double>(dir.file("expected_logits_f64.npy"), {2, 2}, {1, 2, 3, 4});
  dir.write("meta.json", R"({"test_correct": 1, "bias": true, "dataset": "tiny", "list": [1]})");
  const GcnData g = read_gcn_folder(dir.file(""));
  CHECK(g.f32.a.val[2] == 2.0F);
  CHECK(g.f64.a.val[2] == 1.0);
  CHECK(g.f64.biases == std::vector<std::vector<double>>{{0.1, -1}, {}});
  CHECK(g.f32.biases[0][0] == 0.1F);
  CHECK(g.labels == Ints{1, -1});
  CHECK(g.idx_test == Ints{1});
  CHECK(g.expected_logits.data[3] == 4);
  CHECK(g.meta_numbers.at("test_correct") == 1);
  CHECK(g.meta_numbers.at("bias") == 1);
  CHECK(g.meta_strings.at("dataset") == "tiny");
}

TEST_CASE("dense features become sparse without their zeros") {
  const Scratch dir;
  write_required(dir);
  for (const char* name : {"X_indptr.npy", "X_indices.npy", "X_values_f32.npy"})
    std::filesystem::remove(dir.file(name));
  write_npy<double>(dir.file("X.npy"), {2, 3}, {0, 0, 0.25, 3, -0.0, 0});
  const GcnData g = read_gcn_folder(dir.file(""));
  CHECK(g.f64.x.row_ptr == Ints{0, 1, 2});
  CHECK(g.f64.x.col == Ints{2, 0});
}

TEST_CASE("a folder has as many layers as it has weights without a gap") {
  const Scratch dir;
  write_required(dir);
  write_npy<float>(dir.file("W3.npy"), {2, 3}, {1, 2, 3, 4, 5, 6});
  write_npy<float>(dir.file("b3_f32.npy"), {3}, {1, 2, 3});
  write_npy<double>(dir.file("expected_logits_f64.npy"), {2, 3}, {1, 2, 3, 4, 5, 6});
  const GcnData g = read_gcn_folder(dir.file(""));
  CHECK(g.f64.weights.size() == 3);
  CHECK(g.classes() == 3);
  CHECK(g.f32.weights[2].data == std::vector<float>{1, 2, 3, 4, 5, 6});
  CHECK(g.f64.biases == std::vector<std::vector<double>>{{}, {}, {1, 2, 3}});
  std::filesystem::remove(dir.file("W2.npy"));
  CHECK(error(dir) == ": file is missing in the GCN folder: W2.npy");
  std::filesystem::remove(dir.file("W3.npy"));
  std::filesystem::remove(dir.file("expected_logits_f64.npy"));
  CHECK(read_gcn_folder(dir.file("")).f64.weights.size() == 1);
}

TEST_CASE("each inconsistency names its file") {
  const auto with = [](auto&& change) {
    const Scratch dir;
    write_required(dir);
    change(dir);
    return error(dir);
  };
  CHECK(with([](const Scratch& d) { std::filesystem::remove(d.file("W1.npy")); }) ==
        ": file is missing in the GCN folder: W1.npy");
  CHECK(with([](const Scratch& d) {
          write_npy<std::int32_t>(d.file("A_indptr.npy"), {3}, {0, 4, 3});
        }) == "A_indptr.npy: indptr falls at element 2: 3");
  CHECK(with([](const Scratch& d) {
          write_npy<std::int32_t>(d.file("A_indptr.npy"), {3}, {1, 2, 3});
        }) == "A_indptr.npy: indptr does not start at 0: 1");
  CHECK(with([](const Scratch& d) {
          write_npy<std::int32_t>(d.file("A_indptr.npy"), {3}, {0, 2, 2});
        }) == "A_indptr.npy: indptr ends elsewhere than at the number of indices: 2, 3");
  CHECK(with([](const Scratch& d) {
          write_npy<std::int32_t>(d.file("A_indices.npy"), {3}, {0, 1, 2});
        }) == "A_indices.npy: element 2 is outside 0..1: 2");
  CHECK(with([](const Scratch& d) {
          write_npy<std::int32_t>(d.file("X_indices.npy"), {2}, {-1, 0});
        }) == "X_indices.npy: element 0 is outside 0..2: -1");
  CHECK(with([](const Scratch& d) {
          write_npy<double>(d.file("A_values_f64.npy"), {2}, {1, 2});
        }) == "A_values_f64.npy: shape does not fit the others: expected (3,), found: (2,)");
  CHECK(with([](const Scratch& d) {
          write_npy<float>(d.file("W2.npy"), {3, 1}, {1, 2, 3});
        }) == "W2.npy: shape does not fit the others: expected (2, any), found: (3, 1)");
  CHECK(with([](const Scratch& d) {
          write_npy<std::int32_t>(d.file("X_indptr.npy"), {2}, {0, 2});
        }) == "X_indptr.npy: shape does not fit the others: expected (3,), found: (2,)");
  CHECK(with([](const Scratch& d) {
          write_npy<float>(d.file("b2.npy"), {3}, {1, 2, 3});
        }) == "b2.npy: shape does not fit the others: expected (2,), found: (3,)");
  CHECK(with([](const Scratch& d) {
          write_npy<std::int32_t>(d.file("labels.npy"), {2}, {0, 2});
        }) == "labels.npy: label 1 is outside -1..1: 2");
  CHECK(with([](const Scratch& d) { write_npy<std::int32_t>(d.file("idx_test.npy"), {1}, {2}); }) ==
        "idx_test.npy: element 0 is outside 0..1: 2");
  CHECK(with([](const Scratch& d) {
          write_npy<double>(d.file("expected_hidden_f64.npy"), {2, 3}, {1, 2, 3, 4, 5, 6});
        }) == "expected_hidden_f64.npy: shape does not fit the others: expected (2, 2), found: (2, 3)");
  CHECK(with([](const Scratch& d) { d.write("meta.json", "{"); }) == "meta.json: not a JSON object");
  CHECK(error_of([] { return read_gcn_folder("/no/such"); }) == "/no/such: no such folder");
}
