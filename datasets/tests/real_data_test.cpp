// The readers on real files, where PLUMB_DATA points to them; skipped, and said so, where it does not.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "datasets/formats/contest.hpp"
#include "datasets/formats/gcn_folder.hpp"
#include "datasets/formats/inspect.hpp"
#include "datasets/formats/load_matrix.hpp"
#include "datasets/formats/matrix_market.hpp"
#include "datasets/formats/sdnn_files.hpp"
#include "datasets/tests/scratch.hpp"

using namespace plumb;
using namespace plumb::test;

namespace {

namespace fs = std::filesystem;

// The path under PLUMB_DATA; empty, with a message, where it is not there.
std::string data(const std::string& part) {
  const char* root = std::getenv("PLUMB_DATA");
  if (root == nullptr || !fs::exists(fs::path(root) / part)) {
    MESSAGE("skipped: PLUMB_DATA has no " << part);
    return {};
  }
  return (fs::path(root) / part).string();
}

std::vector<std::complex<double>> dense(const fs::path& path) {
  return to_dense<std::complex<double>>(read_matrix_market(path.string())).data;
}

}  // namespace

TEST_CASE("the official layers, images and categories at 1024 neurons have the published sizes") {
  const std::string folder = data("sdnn");
  if (folder.empty()) return;
  const SdnnProblem run = read_sdnn(find_sdnn(folder, 1024, 120), 1024, 120, 60000);
  REQUIRE(run.network.layers.size() == 120);
  for (const Csr<float>& w : run.network.layers) {
    CHECK(w.nnz() == 32 * 1024);
    CHECK(std::count(w.val.begin(), w.val.end(), 0.0625F) == w.nnz());
    for (std::int64_t i = 0; i < w.rows; ++i) REQUIRE(w.row_ptr[i + 1] == 32 * (i + 1));
  }
  CHECK(run.images.nnz() == 6'374'505);
  CHECK(std::count(run.images.val.begin(), run.images.val.end(), 1.0F) == run.images.nnz());
  CHECK(run.categories.size() == 1812);
}

TEST_CASE("every valid Matrix Market file of the collection is read, every invalid one refused by name") {
  const std::string root = data("matrix_market");
  if (root.empty()) return;
  for (const auto& entry : fs::directory_iterator(root + "/invalid")) {
    const std::string path = entry.path().string();
    CAPTURE(path);
    CHECK(error_of([&] { return read_matrix_market(path); }).find(path + ":") == 0);
  }
  for (const char* folder : {"", "/graphblas", "/symmetry", "/symmetry_array", "/permissive"}) {
    for (const auto& entry : fs::directory_iterator(root + folder)) {
      if (entry.path().extension() != ".mtx") continue;
      CAPTURE(entry.path().string());
      CHECK_FALSE(dense(entry.path()).empty());
    }
  }
  for (const char* name : {"dim_gt_int64", "index_gt_int64", "value_gt_complex128", "value_gt_float128",
                           "value_gt_float64", "value_gt_int64"}) {
    CAPTURE(name);
    CHECK_FALSE(error_of([&] { return dense(root + "/overflow/overflow_" + name + ".mtx"); }).empty());
  }
  CHECK(dense(root + "/overflow/overflow_value_gt_int32.mtx")[4] == 8589934592.0);
  CHECK(dense(root + "/overflow/overflow_index_gt_int8.mtx")[299'000] == 1.0);
}

TEST_CASE("a symmetric file and its general counterpart hold the same matrix") {
  const std::string root = data("matrix_market");
  if (root.empty()) return;
  int pairs = 0;
  for (const char* folder : {"/symmetry", "/symmetry_array"}) {
    for (const auto& entry : fs::directory_iterator(root + folder)) {
      const std::string stem = entry.path().stem().string();
      const fs::path twin = entry.path().parent_path() / (stem + "_general.mtx");
      if (!fs::exists(twin)) continue;
      CAPTURE(stem);
      CHECK(dense(entry.path()) == dense(twin));
      ++pairs;
    }
  }
  CHECK(pairs == 8);
}

TEST_CASE("every real matrix is read, and its rows add up to its entries") {
  const std::string root = data("matrices");
  if (root.empty()) return;
  for (const auto& entry : fs::directory_iterator(root)) {
    const std::string path = entry.path().string();
    CAPTURE(path);
    const Inspection found = inspect(path);
    CHECK(found.nnz > 0);
    CHECK(found.kind.find("Matrix Market") == 0);
    if (found.field == "complex") {
      CHECK_FALSE(error_of([&] { return load_matrix<double>(path); }).empty());
    } else {
      CHECK(load_matrix<double>(path).row_ptr.back() == found.nnz);
    }
  }
}

TEST_CASE("the trained GCNs have the published shapes") {
  const std::string root = data("gcn");
  if (root.empty()) return;
  const GcnData cora = read_gcn_folder(root + "/cora_nobias");
  CHECK(cora.vertices() == 2708);
  CHECK(cora.features() == 1433);
  CHECK(cora.classes() == 7);
  CHECK(cora.f64.a.nnz() == 13264);
  CHECK(cora.f32.x.nnz() == 49216);
  CHECK(cora.idx_test.size() == 1000);
  CHECK(cora.expected_logits.rows == 2708);
  CHECK(cora.meta_numbers.at("test_correct") == 815);
  CHECK(read_gcn_folder(root + "/citeseer_nobias").meta_numbers.at("test_correct") == 709);
}

TEST_CASE("the contest's example is read, and its graph is symmetric with all self loops") {
  const std::string root = data("gcn/contest_1024");
  if (root.empty()) return;
  const ContestGraph graph = read_contest_graph(root + "/graph/1024_example_graph.txt");
  CHECK(graph.vertices == 1024);
  CHECK(graph.src.size() == 4096);
  const Csr<double> a = normalised_adjacency<double>(graph);
  CHECK(a.row_ptr.back() == 4096);
  const RawMatrix x = read_raw_matrix(root + "/embedding/1024.bin", 1024, 64);
  CHECK_FALSE(x.is_f64);
  CHECK(read_raw_matrix(root + "/weight/W_64_16.bin", 64, 16).f32.data.size() == 1024);
}
