// The program infer as a person runs it: exit codes, first and last lines; and the real data sets where
// PLUMB_DATA is set.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include <doctest/doctest.h>

#include "datasets/gcn_folder.hpp"
#include "reference/models/gcn.hpp"
#include "tools/testing/shell.hpp"

namespace {

using plumb::testing::Outcome;
using plumb::testing::shell;

/// With no data to be found anywhere.
Outcome bare(const std::string& arguments) {
  return shell("env -u PLUMB_DATA PLUMB_CACHE=/nonexistent '" PLUMB_INFER "' " + arguments);
}
Outcome infer(const std::string& arguments) { return shell("'" PLUMB_INFER "' " + arguments); }

/// The data folder, or "" after saying that the test is skipped.
std::string data(const std::string& below) {
  const char* const root = std::getenv("PLUMB_DATA");
  if (root == nullptr || !std::filesystem::exists(std::string(root) + below)) {
    MESSAGE("skipped: PLUMB_DATA is not set, or lacks ", below);
    return "";
  }
  return root + below;
}

}  // namespace

TEST_CASE("infer sdnn with no data at hand generates it, says so first, and compares with the reference") {
  const Outcome o = bare("sdnn --inputs 300 --layers 30");
  CAPTURE(o.text);
  CHECK(o.exit_code == 0);
  CHECK(o.line(0).find("data: nothing under /nonexistent") == 0);
  CHECK(o.line(0).find("official weights generated") != std::string::npos);
  CHECK(o.line(-1).find("categories: ") == 0);
  CHECK(o.line(-1).find("the first 300 inputs compared with the fp64 reference, equal") != std::string::npos);
}

TEST_CASE("infer sdnn --check judges every layer of every pipeline") {
  for (const std::string pipeline : {"auto", "csr_spmm", "dense", "dense_alloc", "eigen"}) {
    const Outcome o = bare("sdnn --inputs 200 --layers 24 --check --bias -0.31 --pipeline " + pipeline);
    CAPTURE(o.text);
    CHECK(o.exit_code == 0);
    CHECK(o.has(": 0 of 4915200 elements outside their bound"));
  }
}

TEST_CASE("infer sdnn on a device: every layer within its bound, or one line that says why not and exit 77") {
  for (const std::string pipeline : {"auto --class A", "auto --class B", "gpu_fused_spmm", "gpu_cusparse",
                                     "gpu_dense_hoisted", "gpu_dense_alloc"}) {
    const Outcome o =
        bare("sdnn --inputs 200 --layers 24 --check --bias -0.31 --device gpu --pipeline " + pipeline);
    CAPTURE(o.text);
    if (o.exit_code == 77) {
      CHECK(o.has("skip: "));
      continue;
    }
    CHECK(o.exit_code == 0);
    CHECK(o.has(": 0 of 4915200 elements outside their bound"));
  }
}

TEST_CASE("infer sdnn exits with 1 and names the ids where a list differs") {
  const std::string list = std::filesystem::temp_directory_path() / "plumb_infer_test_categories.tsv";
  std::ofstream(list) << "1\n2\n3\n";
  const Outcome o = bare("sdnn --inputs 3 --layers 120 --categories " + list);
  CAPTURE(o.text);
  CHECK(o.exit_code == 1);
  CHECK(o.line(-1).find("differs from " + list + ": missing ") != std::string::npos);
  std::filesystem::remove(list);
}

TEST_CASE("infer writes its result as JSON") {
  const std::string path = std::filesystem::temp_directory_path() / "plumb_infer_test.json";
  CHECK(bare("sdnn --inputs 50 --layers 3 --json " + path).exit_code == 0);
  std::ifstream file(path);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  CHECK(text.find("\"right\": true") != std::string::npos);
  CHECK(text.find("\"alive_rows\"") != std::string::npos);
  std::filesystem::remove(path);
}

TEST_CASE("usage and input errors are one line and exit with 2") {
  const auto refuses = [](const std::string& arguments, const std::string& message) {
    const Outcome o = bare(arguments);
    CAPTURE(o.text);
    CHECK(o.exit_code == 2);
    CHECK(o.line(-1).find("error: ") == 0);
    CHECK(o.has(message));
  };
  refuses("sdn", "unknown command 'sdn'; did you mean 'sdnn'?");
  refuses("sdnn --neuron 1024", "unknown option '--neuron'; did you mean '--neurons'?");
  refuses("sdnn --pipeline csr_spm", "did you mean 'csr_spmm'?");
  refuses("sdnn --class E", "--class 'E' is none of A, B, C, D");
  refuses("sdnn --class B", "no pipeline of class B on cpu");
  refuses("sdnn --weights /nonexistent/w.tar", "/nonexistent/w.tar: no such file");
  refuses("sdnn --data /nonexistent", "/nonexistent: not a folder");
  refuses("sdnn --neurons 1000", "1000");
  refuses("sdnn --cap -1 --inputs 5 --layers 1", "cap must not be negative");
  refuses("gcn --data /nonexistent", "/nonexistent: not a folder with A_indptr.npy");
  refuses("gcn --contest 64 16 graph.txt", "--contest");
  refuses("gcn --contest 64 16 /nonexistent/graph.txt x w", "/nonexistent/graph.txt");
  refuses("gcn --twin web-stanford", "did you mean 'web-Stanford'");
  refuses("gcn --twin web-Stanford --widths 64", "--widths takes");
  refuses("gcn --twin web-Stanford --data x", "exclude each other");
  refuses("gcn --dtype f16", "--dtype 'f16' is none of");
}

TEST_CASE("--help names the environment and gives examples, on every level") {
  for (const std::string level : {"", "sdnn ", "gcn "}) {
    const Outcome o = bare(level + "--help");
    CHECK(o.exit_code == 0);
    CHECK(o.has("examples:"));
    CHECK(o.has("PLUMB_DATA"));
  }
}

TEST_CASE("infer gcn with no data at hand generates it, says so first, and is within its bound") {
  for (const std::string options :
       {"", "--dtype f64", "--pipeline openblas --check", "--pipeline eigen --check", "--layers 1"}) {
    const Outcome o = bare("gcn " + options);
    CAPTURE(o.text);
    CHECK(o.exit_code == 0);
    CHECK(o.line(0).find("data: nothing under /nonexistent") == 0);
    CHECK(o.has("within bound"));
    CHECK_FALSE(o.has("outside"));
  }
}

TEST_CASE(
    "infer gcn on a generated twin: widths as asked, all pipelines in turn, words it does not know refused") {
  const Outcome o = bare("gcn --twin web-Stanford --widths 3-2 --pipeline all");
  CAPTURE(o.text);
  CHECK(o.exit_code == 0);
  CHECK(o.line(0) == "data: generated: a twin of web-Stanford (seed 1)");
  CHECK(o.has("281903 vertices, 4267175 entries in A, features 3 (dense), 3-2, 1 layer"));
  for (const char* name : {"pipeline: fused", "pipeline: openblas", "pipeline: eigen"}) CHECK(o.has(name));
  CHECK_FALSE(o.has("outside"));
}

TEST_CASE("infer gcn on a device: the same answers, or one line that says why not and exit 77") {
  const Outcome o = bare("gcn --device gpu --pipeline all --check --dtype f64");
  CAPTURE(o.text);
  if (o.exit_code == 77) {
    CHECK(o.has("skip: "));
    return;
  }
  CHECK(o.exit_code == 0);
  for (const char* name : {"pipeline: gpu_fused", "pipeline: gpu_unfused", "pipeline: gpu_vendor"})
    CHECK(o.has(name));
  CHECK(o.has("in device memory"));
  CHECK_FALSE(o.has("outside"));
}

TEST_CASE("the official network answers with the published list") {
  const std::string folder = data("/sdnn");
  if (folder.empty()) return;
  const Outcome o = infer("sdnn --neurons 1024 --layers 120 --data " + folder);
  CAPTURE(o.text);
  CHECK(o.exit_code == 0);
  CHECK(o.line(-1) == "categories: 1812 of 60000, equal to the published list");
}

TEST_CASE("trained networks: 815 and 709 of 1000, logits within their bound, in every pipeline and type") {
  const std::string folder = data("/gcn");
  if (folder.empty()) return;
  for (const auto& [name, accuracy] : {std::pair{"cora_nobias", "accuracy: 815 of 1000 (0.8150)"},
                                       {"citeseer_nobias", "accuracy: 709 of 1000 (0.7090)"}}) {
    for (const std::string options : {" --dtype f32 --check", " --dtype f64 --check", " --pipeline openblas",
                                      " --pipeline eigen --dtype f64"}) {
      const Outcome o = infer("gcn --data " + folder + "/" + name + options);
      CAPTURE(o.text);
      CHECK(o.exit_code == 0);
      CHECK(o.has(accuracy));
      CHECK(o.has("within bound (the folder's expectation)"));
    }
  }
}

TEST_CASE("the contest's files give the contest's lines") {
  const std::string folder = data("/gcn/contest_1024");
  if (folder.empty()) return;
  const std::string graph = folder + "/graph/1024_example_graph.txt " + folder + "/embedding/1024.bin " +
                            folder + "/weight/W_64_16.bin ";
  const auto first = [&](const std::string& arguments) {
    return infer("gcn --contest " + arguments).line(0);
  };
  CHECK(first("64 16 8 " + graph + folder + "/weight/W_16_8.bin") == "-16.68968964");
  CHECK(first("64 16 " + graph) == "-44.885319");
  CHECK(first("64 16 " + graph + "--dtype f64") == "-44.885316234");
}

TEST_CASE("leaving out ReLU leaves Cora's accuracy as it is, and the logits catch it") {
  const std::string folder = data("/gcn/cora_nobias");
  if (folder.empty()) return;
  const plumb::GcnData read = plumb::read_gcn_folder(folder);
  plumb::Gcn<float> net;
  net.a = read.f32.a;
  net.sparse_features = true;
  net.x_sparse = read.f32.x;
  net.weights = {read.f32.w1};
  net.biases = {{}};
  const plumb::Dense<float> no_relu = plumb::kGcnFused.run_f32(net, plumb::GcnOrder::by_cost).logits;
  plumb::Gcn<float> second = net;
  second.sparse_features = false;
  second.x_dense = no_relu;
  second.weights = {read.f32.w2};
  const plumb::Dense<float> wrong = plumb::kGcnFused.run_f32(second, plumb::GcnOrder::by_cost).logits;

  net.weights.push_back(read.f32.w2);
  net.biases.emplace_back();
  const plumb::GcnReference reference =
      plumb::clear_gcn(plumb::convert<double>(net), plumb::Dtype::f32, {0x1p-23, 0x1p-23, 0x1p-23});
  const plumb::Dense<float> right = plumb::kGcnFused.run_f32(net, plumb::GcnOrder::by_cost).logits;
  const auto accuracy = plumb::count_right(wrong, read.labels, read.idx_test);
  CHECK(plumb::count_right(right, read.labels, read.idx_test) == 815);
  CHECK(accuracy >= 813);  // accuracy does not tell
  CHECK(accuracy <= 817);
  CHECK(plumb::judge_matrix(right, read.expected_logits, reference.logits_bound).misses == 0);
  CHECK(plumb::judge_matrix(wrong, read.expected_logits, reference.logits_bound).misses > 10000);
}
