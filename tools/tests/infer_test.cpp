// The program infer as a person runs it: exit codes, first and last lines; and the real data sets where
// PLUMB_DATA is set.

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "datasets/formats/gcn_folder.hpp"
#include "datasets/formats/npy.hpp"
#include "datasets/tests/scratch.hpp"
#include "reference/models/gcn/gcn.hpp"
#include "tools/testing/shell.hpp"

namespace {

using plumb::test::Scratch;
using plumb::testing::expect;
using plumb::testing::Outcome;
using plumb::testing::shell;

/// With no data to be found anywhere.
Outcome bare(const std::string& arguments) {
  return shell("env -u PLUMB_DATA PLUMB_CACHE=/nonexistent '" PLUMB_INFER "' " + arguments);
}
/// Whether a test of the CPU executor is to end here; it says so.
bool skipped_without_simt() {
  if (std::filesystem::exists(std::filesystem::path(PLUMB_INFER).parent_path() / "infer_simt")) return false;
  MESSAGE("skipped: infer_simt is not built here");
  return true;
}
/// Without data it ends in one line of an error.
void refuses(const std::string& arguments, const std::string& message) {
  CHECK(expect(bare(arguments), 2, {message}).line(-1).find("error: ") == 0);
}
nlohmann::json json_in(const std::string& path) { return nlohmann::json::parse(plumb::test::slurp(path)); }
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
  const Outcome o = expect(bare("sdnn --inputs 300 --layers 30"), 0);
  CAPTURE(o.text);
  CHECK(o.line(0).find("data: nothing under /nonexistent") == 0);
  CHECK(o.line(0).find("official weights generated") != std::string::npos);
  CHECK(o.line(-1).find("categories: ") == 0);
  CHECK(o.line(-1).find("the first 300 inputs compared with the fp64 reference, equal") != std::string::npos);
}

TEST_CASE("infer sdnn --check judges every layer of every pipeline") {
  for (const std::string pipeline : {"auto", "csr_spmm", "dense", "dense_alloc", "eigen"}) {
    expect(bare("sdnn --inputs 200 --layers 24 --check --bias -0.31 --pipeline " + pipeline), 0,
           {": 0 of 4915200 elements outside their bound"});
  }
}

TEST_CASE(
    "infer sdnn --absorbing on: the same ids, its class beside the other, and how many rows left when") {
  const std::string run = "sdnn --inputs 300 --layers 30 --bias -0.31 ";
  const Scratch scratch;
  REQUIRE(bare(run + "--json " + scratch.file("off.json")).exit_code == 0);
  REQUIRE(bare(run + "--absorbing on --json " + scratch.file("on.json")).exit_code == 0);
  const auto a = json_in(scratch.file("off.json"));
  const auto b = json_in(scratch.file("on.json"));
  CHECK(a["categories"]["ids"] == b["categories"]["ids"]);
  CHECK(a["alive_rows"] == b["alive_rows"]);
  CHECK_FALSE(a.contains("absorbed_rows"));
  CHECK(b["absorbed_rows"].size() == 31);
  CHECK(b["absorbed_rows"].back() > 0);
  CHECK(b["tera_edges_per_second"].contains("active"));
  expect(bare(run + "--absorbing on --check -v"), 0,
         {"(class A + C: general, absorbing_rows, cpu",
          " of 300 inputs left at an absorbing state: the first before layer ", " of them absorbed, "});
}

TEST_CASE("the names that pipelines and classes had before still work, with a note") {
  expect(bare("sdnn --inputs 20 --layers 2 --class A --pipeline carried_tiles"), 0,
         {"note: pipeline carried_tiles is called cache_blocked now",
          "pipeline: cache_blocked (class A: general, "});
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
  const Scratch scratch;
  const std::string list = scratch.write("categories.tsv", "1\n2\n3\n");
  const Outcome o = expect(bare("sdnn --inputs 3 --layers 120 --categories " + list), 1);
  CAPTURE(o.text);
  CHECK(o.line(-1).find("differs from " + list + ": missing ") != std::string::npos);
}

TEST_CASE("infer writes its result as JSON") {
  const Scratch scratch;
  const std::string path = scratch.file("result.json");
  CHECK(bare("sdnn --inputs 50 --layers 3 --json " + path).exit_code == 0);
  const std::string text = plumb::test::slurp(path);
  CHECK(text.find("\"right\": true") != std::string::npos);
  CHECK(text.find("\"alive_rows\"") != std::string::npos);
}

namespace {

/// Four neurons, one layer, three inputs that all stay active, with values between 0 and the cap.
std::string small_network(const Scratch& scratch) {
  return "sdnn --neurons 4 --layers 1 --bias -0.1 --weights " +
         scratch.write("n4-l1.tsv", "1\t1\t0.5\n2\t2\t0.5\n3\t4\t0.25\n") + " --images " +
         scratch.write("images.tsv", "1\t1\t3\n2\t2\t1\n3\t3\t2\n");
}

}  // namespace

TEST_CASE("a correct network whose final values lie between 0 and the cap passes --check") {
  const Scratch scratch;
  const Outcome o =
      expect(bare(small_network(scratch) + " --check --categories " + scratch.write("list.tsv", "1\n2\n3\n")),
             0, {"check: 3 final values are neither 0 nor 32"});
  CAPTURE(o.text);
  CHECK(o.line(-1).find("categories: 3 of 3, equal to ") == 0);
}

TEST_CASE("a list with an id above the number of inputs is an error, unless --inputs left those inputs out") {
  const Scratch scratch;
  const std::string network = small_network(scratch);
  const std::string list = scratch.write("list.tsv", "1\n2\n3\n4\n");
  expect(bare(network + " --categories " + list), 2, {list + ":4: "});
  const Outcome cut =
      expect(bare(network + " --inputs 2 --categories " + scratch.write("list.tsv", "1\n2\n3\n")), 0);
  CAPTURE(cut.text);
  CHECK(cut.line(-1).find("categories: 2 of 2, equal to ") == 0);
}

TEST_CASE("a run that computes nothing is no success: no inputs, no weights") {
  const Scratch scratch;
  const std::string network = small_network(scratch);
  const std::string empty = scratch.write("empty.tsv", "");
  expect(bare(network + " --categories " + scratch.write("list.tsv", "") + " --images " + empty), 2);
  scratch.write("n4-l1.tsv", "");
  expect(bare(network), 2, {"no weights in it"});
}

TEST_CASE("infer sdnn reads weights, inputs and a list from pipes, plain and packed") {
  const Scratch scratch;
  small_network(scratch);
  scratch.write("list.tsv", "1\n2\n3\n");
  const std::string in = "cd " + scratch.path() +
                         " && env -u PLUMB_DATA PLUMB_CACHE=/nonexistent '" PLUMB_INFER
                         "' sdnn --neurons 4 --layers 1 --bias -0.1 ";
  for (const std::string weights :
       {"cat n4-l1.tsv", "gzip -c n4-l1.tsv", "tar cf - n4-l1.tsv", "tar cf - n4-l1.tsv | gzip"}) {
    CAPTURE(weights);
    const Outcome o = expect(shell("bash -c \"" + in + "--weights <(" + weights +
                                   ") --images <(cat images.tsv) --categories <(cat list.tsv)\""),
                             0);
    CAPTURE(o.text);
    CHECK(o.line(-1).find("categories: 3 of 3, equal to ") == 0);
  }
}

TEST_CASE("infer sdnn refuses an archive whose gzip sum is wrong, from a file and from a pipe") {
  const Scratch scratch;
  small_network(scratch);
  const std::string member = plumb::test::slurp(scratch.file("n4-l1.tsv"));
  // a member after the last layer: the layers are read before the damage
  std::string packed = plumb::test::gzip(plumb::test::tar_member("n4-l1.tsv", member) +
                                         plumb::test::tar_member("readme", "x") + plumb::test::tar_end());
  packed[packed.size() - 6] ^= 1;  // of the sum, which is followed by four bytes of the length
  scratch.write("w.tgz", packed);
  for (const std::string weights : {"w.tgz", "<(cat w.tgz)"}) {
    CAPTURE(weights);
    expect(shell("bash -c \"cd " + scratch.path() +
                 " && '" PLUMB_INFER "' sdnn --neurons 4 --layers 1 --images images.tsv --weights " +
                 weights + "\""),
           2, {": gzip data is corrupt: incorrect data check"});
  }
}

TEST_CASE("a full disk leaves neither a partial result nor a changed old one, and gives exit code 2") {
  const Scratch scratch;
  scratch.write("kept.json", "kept");
  scratch.write("kept.npy", "kept");
  for (const std::string output : {"sdnn --inputs 5 --layers 3 --json ", "gcn --json ", "gcn --out "}) {
    for (const std::string name : {"kept", "new"}) {
      const std::string path =
          scratch.file(name + (output.find("--out") == std::string::npos ? ".json" : ".npy"));
      CAPTURE(output + path);
      const plumb::test::FullDisk after(100);  // inherited by the program
      expect(bare(output + path), 2, {"error: " + path + ": cannot write: File too large"});
    }
  }
  CHECK(plumb::test::slurp(scratch.file("kept.json")) == "kept");
  CHECK(plumb::test::slurp(scratch.file("kept.npy")) == "kept");
  CHECK(scratch.entries() == 2);
}

TEST_CASE("a file system without room: no file is left, and the reason is named") {
  const Scratch scratch;
  const std::string mount = "mount -t tmpfs -o size=4k none " + scratch.path();
  if (shell("unshare -rm sh -c '" + mount + "'").exit_code != 0) {
    MESSAGE("skipped: no file system can be mounted here (unshare -rm)");
    return;
  }
  const Outcome o = shell("unshare -rm sh -c '" + mount +
                          " && env -u PLUMB_DATA PLUMB_CACHE=/nonexistent " PLUMB_INFER " gcn --out " +
                          scratch.file("a.npy") + "; echo code $?; ls -A " + scratch.path() + "'");
  CAPTURE(o.text);
  CHECK(o.has("a.npy: cannot write: No space left on device"));
  CHECK(o.line(-1) == "code 2");  // and ls names nothing after it
}

TEST_CASE("more memory than there is, is refused with what is needed, before it is taken") {
  const Scratch scratch;
  const std::string network = small_network(scratch);
  scratch.write("images.tsv", "2147483647\t4\t1\n");
  // 4 GiB of address space: the row pointers alone would be 8
  expect(shell("ulimit -v 4000000; env -u PLUMB_DATA PLUMB_CACHE=/nonexistent OMP_NUM_THREADS=2 '" PLUMB_INFER
               "' " +
               network),
         2, {"images.tsv", "largest image id is far above the number of entries (1): 2147483647"});
  expect(shell("ulimit -v 4000000; env -u PLUMB_DATA PLUMB_CACHE=/nonexistent OMP_NUM_THREADS=2 '" PLUMB_INFER
               "' sdnn --neurons 65536 --layers 1920 --inputs 1"),
         2, {"weights of 1920 layers of 65536 neurons: about 30.5 GiB of memory are needed"});
}

TEST_CASE("--memory runs the same network in batches with layers made one by one, and says what it did") {
  const std::string run = "sdnn --neurons 1024 --inputs 300 --layers 40 --pipeline cache_blocked";
  const Scratch scratch;
  // The bound is of the whole process: of the program, which CUDA's libraries make larger, and of its data.
  const Outcome none = bare("sdnn --memory 1MiB");
  const std::string words = "the program itself takes ";
  REQUIRE(none.has(words));
  const std::string memory =
      std::to_string(std::stoi(none.text.substr(none.text.find(words) + words.size())) + 20) + "MiB";
  const Outcome all = bare(run + " --out " + scratch.file("all.npz"));
  const Outcome some =
      expect(shell("env -u PLUMB_DATA PLUMB_CACHE=/nonexistent OMP_NUM_THREADS=2 '" PLUMB_INFER "' " + run +
                   " --check --memory " + memory + " --json " + scratch.file("run.json") + " --out " +
                   scratch.file("some.npz")),
             0);
  CAPTURE(some.text);
  CHECK(some.line(-1).substr(0, 20) == all.line(-1).substr(0, 20));
  CHECK(some.has(", within the bound of "));
  CHECK(some.has(" % hidden behind the computation"));
  CHECK(plumb::test::slurp(scratch.file("all.npz")) == plumb::test::slurp(scratch.file("some.npz")));
  const auto json = json_in(scratch.file("run.json"));
  CHECK(json["peak_bytes"] <= json["streaming"]["memory_bytes"]);
  CHECK(json["streaming"]["batches"] > 1);
  CHECK(json["streaming"]["window_layers"] < 40);
  CHECK(json["streaming"]["loaded_bytes"] > 40 * 1024 * 32 * 8);
}

TEST_CASE("a --memory that is no amount, is too little, or comes with what it excludes, is exit code 2") {
  const std::string run = "sdnn --neurons 1024 --inputs 30 --layers 4 ";
  for (const auto& [words, message] :
       {std::pair{"--memory 8GB", "--memory: not an amount of memory above 0 (examples: 8GiB, 512MiB): 8GB"},
        {"--memory 0B", "--memory: not an amount of memory above 0 (examples: 8GiB, 512MiB): 0B"},
        {"--memory 1MiB", "1024 KiB of memory are too little: the program itself takes "},
        {"--memory 1GiB --absorbing on", "--memory and --absorbing on exclude each other"},
        {"--memory 1GiB --dry-run", "--memory and --dry-run on the CPU exclude each other"},
        {"--memory 1GiB --pipeline csr_spmm", "csr_spmm: --memory: it holds the weights of all layers"}}) {
    expect(bare(run + words), 2, {message});
  }
}

TEST_CASE("infer gcn --reorder: the answer of the given order, and what reordering cost") {
  const Scratch scratch;
  expect(bare("gcn --layers 3 --check --out " + scratch.file("given.npy")), 0);
  for (const std::string order : {"degree", "rcm"}) {
    expect(bare("gcn --layers 3 --check --pipeline fused --reorder " + order + " --json " +
                scratch.file("run.json") + " --out " + scratch.file(order + ".npy")),
           0, {"reorder: vertices by " + order + " in "});
    const auto json = json_in(scratch.file("run.json"));
    CHECK(json["network"]["order"] == order);
    CHECK(json["seconds"]["reorder"] > 0);
    CHECK(plumb::test::slurp(scratch.file(order + ".npy")) == plumb::test::slurp(scratch.file("given.npy")));
  }
  CHECK(bare("gcn --reorder deg").has("--reorder 'deg' is none of given, degree, rcm"));
  expect(bare("gcn --reorder rcm --device simt --gpus 2"), 2,
         {"--reorder is for one process and one device"});
}

TEST_CASE("infer sdnn --dry-run counts the layers that a plan on the CPU packs beside the weights") {
  const Scratch scratch;
  const auto memory = [&](const std::string& words) {
    expect(bare("sdnn --inputs 50 --layers 40 --dry-run --json " + scratch.file("needs.json") + words), 0);
    return json_in(scratch.file("needs.json"))["ranks"][0]["memory_bytes"].get<std::int64_t>();
  };
  constexpr std::int64_t kLayers = std::int64_t{40} * 1024 * 32 * 8;  // of the weights; as much when packed
  const std::int64_t all = memory(""), csr = memory(" --pipeline eigen");
  CHECK(csr >= kLayers);
  CHECK(all - csr >= kLayers);
}

TEST_CASE("infer sdnn --dry-run --device gpu counts each GPU's memory in parts, without a GPU") {
  const Scratch scratch;
  const std::string json = scratch.file("needs.json");
  const std::string words = "sdnn --neurons 4096 --inputs 90 --layers 12 --dry-run --json " + json;
  const auto gpus = [&](const std::string& more) {
    expect(bare(words + more), 0);
    return json_in(json)["gpus"];
  };
  for (const std::string device : {" --device gpu", " --device simt"}) {
    const auto one = gpus(device), ranks = gpus(device + " --ranks 3"), dealt = gpus(device + " --gpus 3");
    REQUIRE(one.size() == 1);
    REQUIRE(ranks.size() == 3);
    REQUIRE(dealt.size() == 3);
    std::int64_t parts = 0, inputs = 0;
    for (const char* part : {"weights", "plan", "inputs", "panels", "workspace", "answer"})
      parts += one[0][std::string(part) + "_bytes"].get<std::int64_t>();
    CHECK(one[0]["memory_bytes"] == parts);
    CHECK(one[0]["weights_bytes"] >= 12 * 4096 * 32 * 5);  // an edge has a value and the line of its input
    CHECK(one[0]["panels_bytes"] == 2 * 96 * 4096 * 4);    // rows in panels of 32
    for (std::size_t g = 0; g < 3; ++g) {
      CHECK(ranks[g]["rows"] == 30);
      CHECK(ranks[g]["weights_bytes"] == one[0]["weights_bytes"]);
      inputs += dealt[g]["rows"].get<std::int64_t>();
    }
    CHECK(inputs == 90);
  }
  CHECK(gpus("").is_null());
  const auto within = gpus(" --device gpu --memory 6MiB");
  CHECK(within[0]["rows"] == 90);
  CHECK(within[0]["memory_bytes"] <= 6 << 20);
  CHECK(within[0]["weights_bytes"] < 12 * 4096 * 32 * 5);
}

TEST_CASE("infer sdnn --dry-run --device gpu: what does not fit is exit code 2 with both figures") {
  const std::string words = "sdnn --neurons 4096 --inputs 90 --layers 12 --dry-run --device gpu ";
  expect(bare(words + "--memory 100KiB"), 2,
         {"error: sparse DNN: 100 KiB of memory are too little: weights of 2 layers need "});
  for (const std::string gpus : {"--gpus all", "--gpus 2 --ranks 2", "--gpus 0"}) {
    expect(bare(words + gpus), 2, {"error: --gpus "});
  }
  CHECK(bare("gcn --device simt --gpus 2 --dry-run").has("error: --gpus and --dry-run exclude each other"));
  expect(bare(words + "--pipeline gpu_fused_spmm"), 2,
         {"gpu_fused_spmm: --dry-run: its memory on a device is not counted"});
}

TEST_CASE("infer sdnn --dry-run --device gpu: a GPU that is too small is exit code 2, and no JSON is left") {
  const Scratch scratch;
  // a million rows of 65,536 dense columns on the device, in files of a few bytes
  const std::string head = "%%MatrixMarket matrix coordinate real general\n";
  scratch.write("w.mtx", head + "65536 65536 1\n1 1 1.5\n");
  scratch.write("x.mtx", head + "1000000 65536 1\n1 1 1.5\n");
  scratch.write(
      "network.json",
      R"({"inputs": "x.mtx", "orientation": "outputs x inputs", "layers": [{"file": "w.mtx", "bias": -0.3}]})");
  const std::string json = scratch.file("needs.json");
  const std::string words =
      "sdnn --network " + scratch.path() + " --dry-run --device gpu --chip H100 --json " + json;
  expect(bare(words), 2, {"error: GPU 0 needs "});
  CHECK_FALSE(std::filesystem::exists(json));
}

TEST_CASE("infer --dry-run: more ranks than inputs, and a chip that is not known") {
  CHECK(bare("sdnn --inputs 5 --layers 2 --dry-run --ranks 64").exit_code == 0);
  expect(bare("sdnn --dry-run --chip H20"), 2, {"chip 'H20' is none of H200, H100; did you mean 'H200'?"});
  CHECK(bare("sdnn --chip H100").exit_code == 2);
}

TEST_CASE("outputs that cannot be written are found before the work; a device stays a device") {
  for (const std::string option : {"sdnn --json ", "gcn --json ", "gcn --out "}) {
    const Outcome o = expect(bare(option + "/nonexistent/x"), 2);
    CAPTURE(o.text);
    CHECK(o.text.find("error: /nonexistent/x: cannot write") == 0);
  }
  expect(bare("gcn --out /dev/null --json /dev/null"), 0);
  CHECK(std::filesystem::is_character_file("/dev/null"));
  const Outcome full = expect(bare("gcn --json /dev/full"), 2);
  CHECK(full.line(-1).find("error: /dev/full: cannot write") == 0);
  expect(shell("'" PLUMB_INFER "' --help > /dev/full"), 2);
}

TEST_CASE("--json /dev/stdout writes JSON alone; messages go to standard error") {
  const Outcome o = shell("env -u PLUMB_DATA PLUMB_CACHE=/nonexistent '" PLUMB_INFER
                          "' gcn --json /dev/stdout 2>/dev/null | cat");
  CHECK(nlohmann::json::accept(o.text));
}

TEST_CASE("a signal in the middle of writing leaves no file, and the exit code names it") {
  const Scratch scratch;
  expect(shell("ulimit -f 8; env -u PLUMB_DATA PLUMB_CACHE=/nonexistent '" PLUMB_INFER "' gcn --out " +
               scratch.file("answer.npy")),
         128 + SIGXFSZ);
  CHECK(scratch.entries() == 0);
}

TEST_CASE("a program short of address space ends after its answer") {
  // OpenBLAS cannot start its threads, and its destructor would wait for them
  const Outcome o = shell(
      "ulimit -v 150000; env -u PLUMB_DATA PLUMB_CACHE=/nonexistent OMP_NUM_THREADS=1 timeout 300 "
      "'" PLUMB_INFER "' gcn --layers 1");
  CAPTURE(o.text);
  CHECK(o.exit_code != 124);
}

TEST_CASE("an impossible number of threads is reduced, with a note") {
  expect(shell("env -u PLUMB_DATA PLUMB_CACHE=/nonexistent OMP_NUM_THREADS=100000 '" PLUMB_INFER
               "' gcn --layers 1"),
         0, {"note: OMP_NUM_THREADS=100000"});
}

namespace {

/// A network 3-2-1 with a bias for each neuron, and three inputs of which the second has no entry.
std::string any_network(const Scratch& scratch) {
  scratch.write("w1.mtx", "%%MatrixMarket matrix coordinate real general\n3 2 3\n1 1 1\n2 1 -1\n3 2 0.5\n");
  scratch.write("w2.mtx", "%%MatrixMarket matrix coordinate real general\n2 1 2\n1 1 1\n2 1 -1\n");
  scratch.write("x.tsv", "1\t1\t3\n3\t3\t2\n");
  scratch.write("network.json", R"({"inputs": "x.tsv", "orientation": "inputs x outputs", "layers": [
      {"file": "w1.mtx", "bias": [0.5, -0.25]}, {"file": "w2.mtx", "bias": 0.125}]})");
  return "sdnn --network " + scratch.path();
}

}  // namespace

TEST_CASE(
    "infer sdnn --network: every layer of every pipeline is checked, and the final values are written") {
  const Scratch scratch;
  const std::string network = any_network(scratch), out = scratch.file("y.mtx");
  for (const std::string pipeline : {"auto", "csr_spmm", "dense", "dense_alloc", "eigen"}) {
    const Outcome o =
        expect(bare(network + " --check --pipeline " + pipeline + " --out " + out), 0,
               {"network: 3-2-1 neurons, 2 layers, 5 edges, bias of each neuron, no cap; 3 inputs with 2"});
    CAPTURE(o.text);
    CHECK(o.line(-1).find("categories: 2 of 3, equal to the fp64 reference") == 0);
    // (3.5, 0), (0.5, 0), (0.5, 0.75) and then 3.625, 0.625, 0
    CHECK(plumb::test::slurp(out) ==
          "%%MatrixMarket matrix coordinate real general\n3 1 2\n1 1 3.625\n2 1 0.625\n");
  }
}

TEST_CASE("infer sdnn --network: inputs, a list and a number of inputs from the command line, and JSON") {
  const Scratch scratch;
  const std::string network = any_network(scratch), json = scratch.file("result.json");
  const std::string images = scratch.write("y.tsv", "1\t1\t3\n2\t3\t2\n3\t1\t1\n");
  expect(bare(network + " --images " + images + " --inputs 2 --categories " +
              scratch.write("list.tsv", "1\n3\n") + " --json " + json),
         0);
  const auto result = json_in(json);
  CHECK(result["network"]["widths"] == nlohmann::json({3, 2, 1}));
  CHECK(result["network"]["bias"] == "of each neuron");
  CHECK(result["network"]["cap"].is_null());
  CHECK(result["network"]["inputs"] == 2);
}

TEST_CASE("infer sdnn --network on the CPU executor: every layer within its bound, whichever pipeline") {
  const Scratch scratch;
  const std::string network = any_network(scratch);
  for (const std::string pipeline : {"auto", "gpu_fused_spmm", "gpu_shared_inputs"}) {
    const Outcome o = expect(bare(network + " --check --device simt --pipeline " + pipeline), 0);
    CAPTURE(o.text);
    CHECK(o.line(-1).find("categories: 2 of 3, equal to the fp64 reference") == 0);
  }
}

TEST_CASE("infer sdnn --network computes what NumPy does on files that NumPy and SciPy wrote") {
  if (shell("python3 -c 'import numpy, scipy.sparse'").exit_code != 0) {
    MESSAGE("not run: python3 with numpy and scipy is not there");
    return;
  }
  const Scratch scratch;
  const std::string script =
      scratch.write("make.py", R"(import json, os, sys, numpy as np, scipy.io, scipy.sparse as sp
rng = np.random.default_rng(7)
os.chdir(sys.argv[1])
widths, layers, y = [60, 33, 1, 50, 7], [], sp.random(40, 60, 0.3, random_state=rng, format='coo', dtype=np.float64)
sp.save_npz('x.npz', y)
y = y.toarray().astype(np.float32).astype(np.float64)
for l, (m, n) in enumerate(zip(widths, widths[1:])):
    w = sp.random(m, n, 0.5, random_state=rng, data_rvs=lambda k: rng.normal(size=k)).toarray().astype(np.float32)
    b = rng.normal(size=n).astype(np.float32)
    np.save(f'b{l}.npy', b)
    if l == 0: np.save('w0.npy', np.asfortranarray(w.T))
    if l == 1: sp.save_npz('w1.npz', sp.csc_matrix(w))
    if l == 2: sp.save_npz('w2.npz', sp.csr_matrix(w.T), compressed=False)
    if l == 3: scipy.io.mmwrite('w3.mtx', sp.coo_matrix(w), precision=9)
    layers.append({'file': ['w0.npy', 'w1.npz', 'w2.npz', 'w3.mtx'][l], 'bias': f'b{l}.npy',
                   'orientation': 'outputs x inputs' if l % 2 == 0 else 'inputs x outputs'})
    y = np.minimum(5, np.maximum(0, y @ w.astype(np.float64) + b))
np.save('want.npy', y)
json.dump({'inputs': 'x.npz', 'cap': 5, 'layers': layers}, open('network.json', 'w'))
)");
  const std::string compare = scratch.write("compare.py", R"(import sys, numpy as np
got, want = np.load(sys.argv[1]), np.load(sys.argv[2])
assert got.dtype == np.float32 and got.shape == want.shape, (got.dtype, got.shape, want.shape)
assert (want > 0).any() and np.allclose(got, want, rtol=1e-4, atol=1e-4), abs(got - want).max()
)");
  expect(shell("python3 " + script + " " + scratch.path()), 0);
  for (const std::string device : {"cpu", "simt"}) {
    const std::string out = scratch.file(device + ".npy");
    expect(bare("sdnn --network " + scratch.path() + " --check --device " + device + " --out " + out), 0,
           {"network: 60-33-1-50-7 neurons"});
    expect(shell("python3 " + compare + " " + out + " " + scratch.file("want.npy")), 0);
  }
}

TEST_CASE("infer sdnn --network: what is wrong is one line, and exit code 2") {
  const Scratch scratch;
  const std::string network = any_network(scratch);
  refuses("sdnn --network /nonexistent", "/nonexistent: no such file");
  refuses(network + " --neurons 3", "--network excludes --neurons");
  refuses(network + " --bias -0.3", "--network excludes --bias");
  refuses(network + " --class B", "no pipeline of class B on cpu");
  refuses(network + " --out " + scratch.file("y.xyz"), "y.xyz");
  refuses(network + " --images " + scratch.write("y.tsv", "1\t4\t1\n"),
          "y.tsv:1: feature is outside 1..3: 4");
  scratch.write("network.json", "{\n\"layers\": [}");
  refuses(network, "network.json:2: not JSON");
  scratch.write("network.json", R"({"inputs": "x.tsv", "cap": 1e-30, "layers": [
      {"file": "w1.mtx", "bias": [1e30, 0], "orientation": "inputs x outputs"}]})");
  refuses(network, "layer 1: a bias is more than 3.4e38 times the cap: 1e+30");
}

TEST_CASE("the time reported is that of a warm run, or says that it is not") {
  CHECK(bare("gcn --layers 1").has("(second run; the first, cold: "));
  CHECK(bare("gcn --layers 1 --repeat 2").has("(median of 2; "));
}

TEST_CASE("usage and input errors are one line and exit with 2") {
  refuses("sdn", "unknown command 'sdn'; did you mean 'sdnn'?");
  refuses("sdnn --neuron 1024", "unknown option '--neuron'; did you mean '--neurons'?");
  refuses("sdnn --pipeline csr_spm", "did you mean 'csr_spmm'?");
  refuses("sdnn --absorbing maybe", "maybe");
  refuses("sdnn --absorbing on --inputs 5 --layers 2 --pipeline csr_spmm",
          "csr_spmm: --absorbing on: it computes every active row");
  for (const std::string word : {"E", "D", "identical_columns"})
    refuses("sdnn --class " + word,
            "--class '" + word + "' is none of general (A), shared_inputs (B), absorbing_rows (C)");
  refuses("sdnn --class shared_input", "did you mean 'shared_inputs'?");
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
  refuses("gcn --widths 3-2", "--widths requires --twin");
  refuses("gcn --dtype f16", "--dtype 'f16' is none of");
}

TEST_CASE("--help names the environment and gives examples, on every level") {
  for (const std::string level : {"", "sdnn ", "gcn "}) {
    expect(bare(level + "--help"), 0, {"\nexamples\n", "PLUMB_DATA"});
    CHECK(bare(level + "--help").longest_line() <= 100);
    CHECK(bare(level + "--help all").longest_line() <= 100);
  }
}

TEST_CASE("infer gcn with no data at hand generates it, says so first, and is within its bound") {
  for (const std::string options :
       {"", "--dtype f64", "--pipeline openblas --check", "--pipeline eigen --check", "--layers 1"}) {
    const Outcome o = expect(bare("gcn " + options), 0);
    CAPTURE(o.text);
    CHECK(o.line(0).find("data: nothing under /nonexistent") == 0);
    CHECK(o.has("within bound"));
    CHECK_FALSE(o.has("outside"));
  }
}

TEST_CASE("infer gcn --twin takes widths, runs all pipelines in turn, and refuses unknown words") {
  const Outcome o = expect(bare("gcn --twin web-Stanford --widths 3-2 --pipeline all"), 0);
  CAPTURE(o.text);
  CHECK(o.line(0) == "data: generated: a look-alike of web-Stanford (seed 1)");
  CHECK(o.has("281903 vertices, 4267175 entries in A, features 3 (dense), 3-2, 1 layer"));
  for (const char* name : {"pipeline: fused", "pipeline: openblas", "pipeline: eigen"}) CHECK(o.has(name));
  CHECK_FALSE(o.has("outside"));
}

// infer's arguments for `layers` layers on a graph of five vertices, written into `scratch`.
std::string small_gcn(const Scratch& scratch, int layers = 1) {
  const std::string graph = scratch.write("g.txt", "5 6\n0 1\n1 2\n2 3\n0 4\n3 0\n4 1\n");
  const std::string features = scratch.write("x.mtx",
                                             "%%MatrixMarket matrix coordinate real general\n5 3 4\n"
                                             "1 1 1\n2 3 .5\n3 2 -1\n5 1 .25\n");
  const std::string weights = scratch.write("w.mtx",
                                            "%%MatrixMarket matrix array real general\n3 4\n"
                                            "1\n0\n.5\n-1\n.25\n2\n1\n1\n0\n.5\n.5\n.5\n");
  const Outcome o = shell("'" PLUMB_DATASET "' convert " + weights + " " + scratch.file("w.npy"));
  REQUIRE_MESSAGE(o.exit_code == 0, o.text);
  std::string files = scratch.file("w.npy");
  for (int l = 2; l <= layers; ++l) {
    const std::string name = "w" + std::to_string(l);
    scratch.write(name + ".mtx",
                  "%%MatrixMarket matrix array real general\n4 4\n"
                  "1\n-1\n.5\n0\n.25\n2\n-1\n1\n0\n.5\n.5\n.5\n1\n0\n-2\n1\n");
    REQUIRE(shell("'" PLUMB_DATASET "' convert " + scratch.file(name + ".mtx") + " " +
                  scratch.file(name + ".npy"))
                .exit_code == 0);
    files += " " + scratch.file(name + ".npy");
  }
  return "gcn --graph " + graph + " --features " + features + " --weights " + files;
}

namespace {

// A layer of one feature and two classes on a graph of the test's own: logits (A^ x, 0), so that the answer is known by hand.
struct SmallGraph {
  explicit SmallGraph(const Scratch& scratch) : dir(scratch) {
    convert("x.mtx", "%%MatrixMarket matrix array real general\n2 1\n1\n2\n");
    convert("w.mtx", "%%MatrixMarket matrix array real general\n1 2\n1\n0\n");
  }
  void convert(const std::string& name, const std::string& text) const {
    const Outcome o = shell("'" PLUMB_DATASET "' convert " + dir.write(name, text) + " " +
                            dir.file(name.substr(0, 1) + ".npy"));
    REQUIRE_MESSAGE(o.exit_code == 0, o.text);
  }
  [[nodiscard]] Outcome run(const std::string& graph, const std::string& options,
                            const std::vector<std::string>& weights = {"w.npy"}) const {
    std::string files;
    for (const std::string& name : weights) files += " " + dir.file(name);
    return bare("gcn --graph " + graph + " --features " + dir.file("x.npy") + " --weights" + files +
                " --dtype f64 --check --out " + dir.file("y.npy") + " " + options);
  }
  // A^ x of each vertex, of the LogSoftmax (s, t) of (A^ x, 0): s - t.
  [[nodiscard]] std::vector<double> answer() const {
    const plumb::Dense<double> y = plumb::npy_dense<double>(plumb::read_npy(dir.file("y.npy")));
    return {y.data[0] - y.data[1], y.data[2] - y.data[3]};
  }
  const Scratch& dir;
};

bool near(const std::vector<double>& got, double first, double second) {
  return std::fabs(got.at(0) - first) < 1e-12 && std::fabs(got.at(1) - second) < 1e-12;
}

}  // namespace

TEST_CASE(
    "infer gcn says which way messages flow along a directed graph, and goes the other way when asked") {
  const Scratch scratch;
  const SmallGraph small(scratch);
  const std::string graph = scratch.write("g.el", "0 1\n");
  expect(small.run(graph, ""), 0,
         {"graph: 2 loops added, normalised; not symmetric; messages flow target_to_source",
          "--direction source_to_target"});
  CHECK(near(small.answer(), 1 / 2.0 + 2 / std::sqrt(2.0), 2));  // degrees 2 and 1: edges that leave
  const Outcome arrows = small.run(graph, "--direction source_to_target");
  CHECK(arrows.has("messages flow source_to_target"));
  CHECK_FALSE(arrows.has("note: "));
  CHECK(
      near(small.answer(), 1, 2 / 2.0 + 1 / std::sqrt(2.0)));  // degrees 1 and 2: edges that arrive, GCNConv
  const Outcome both = small.run(scratch.write("s.el", "0 1\n1 0\n1 1\n"), "");
  CHECK(both.has("graph: 1 loops added, normalised; symmetric"));
  CHECK_FALSE(both.has("note: "));
  CHECK(small.run(graph, "--direction up")
            .has("--direction 'up' is none of source_to_target, target_to_source"));
  CHECK(bare("gcn --direction source_to_target").has("belong to --graph"));
}

TEST_CASE(
    "infer gcn reads the graphs that dataset reads, and its errors name the file and count as it does") {
  const Scratch scratch;
  const SmallGraph small(scratch);
  const Outcome one = small.run(scratch.write("g.csv", "from,to,weight\n1,2,1\n2,1,1\n"), "");
  CHECK(one.has("ids are taken to count from 1"));
  CHECK(one.has("2 vertices"));
  CHECK(small.run(scratch.write("g.txt", "2 2\n0 1\n1 0\n"), "")
            .has("numbers of vertices and edges, 2 x 2 with 2"));
  CHECK(small.run(scratch.write("g.el", "0 0\n"), "").has("the others have no edge"));
  CHECK(small.run(scratch.write("g.el", "1 1\n"), "").has("g.el: ids run from 1 to 1: with --base 0"));
  CHECK(small.run(scratch.file("g.el"), "--base 0").exit_code == 0);
  CHECK(small.run(scratch.write("g.el", "0 3\n"), "")
            .has("x.npy: " + scratch.file("g.el") + " has 4 vertices"));
  CHECK(small.run(scratch.write("g", "0 1\n"), "").has("unknown kind of file; name it: "));
  CHECK(small.run(scratch.file("g"), "--from el").exit_code == 0);
  const std::string negative = "%%MatrixMarket matrix coordinate real general\n2 2 1\n2 1 -3\n";
  CHECK(small.run(scratch.write("g.mtx", negative), "")
            .has("g.mtx: the row sum of A + I must be positive and finite, row (counted from 1): 2"));
  CHECK(small.run(scratch.file("g.mtx"), "--direction source_to_target")
            .has("g.mtx: the column sum of A + I must be positive and finite, column (counted from 1): 1"));
}

TEST_CASE("infer gcn takes biases beside the weights, and says what it wants of another file") {
  const Scratch scratch;
  const SmallGraph small(scratch);
  plumb::write_npy<double>(scratch.file("b.npy"), {2}, {0.25, -0.5});
  const std::string graph = scratch.write("g.el", "0 0\n1 1\n");
  CHECK(small.run(graph, "", {"w.npy", "b.npy"}).exit_code == 0);
  CHECK(near(small.answer(), 1.75, 2.75));
  CHECK(small.run(graph, "", {"b.npy"}).has("b.npy: a vector is the bias of the matrix before it"));
  scratch.write("w.txt", "1 0\n");
  CHECK(small.run(graph, "", {"w.txt"}).has("w.txt: weights are .npy, .npz, or a state dict"));
  CHECK(small.run(graph, "", {"w.npy", "w.npy"}).has("w.npy: (1, 2) weights, and the inputs are: 2"));
}

TEST_CASE("infer gat takes layers file by file or by the names of GATConv, and judges each of them") {
  const Scratch scratch;
  const std::string graph = scratch.write("g.el", "0 1\n"), x = scratch.file("x.npy"),
                    json = scratch.file("o.json");
  plumb::write_npy<double>(x, {2, 1}, {1, 2});
  plumb::write_npy<double>(scratch.file("w.npy"), {1, 2}, {1, -1});
  plumb::write_npy<double>(scratch.file("s.npy"), {1, 1, 2}, {1, 0});
  plumb::write_npy<double>(scratch.file("t.npy"), {1, 2}, {0, 1});
  plumb::write_npy<double>(scratch.file("b.npy"), {2}, {0.5, 0});
  const auto run = [&](const std::vector<std::string>& weights, const std::string& options) {
    std::string files;
    for (const std::string& name : weights) files += " " + scratch.file(name);
    return bare("gat --graph " + graph + " --features " + x + " --weights" + files +
                " --dtype f64 --check --out " + scratch.file("y.npy") + " --json " + json + " " + options);
  };
  const auto answer = [&] {
    const plumb::Dense<double> y = plumb::npy_dense<double>(plumb::read_npy(scratch.file("y.npy")));
    return std::vector<double>{y.data[0] - y.data[1], y.data[2] - y.data[3]};
  };
  expect(run({"w.npy", "s.npy", "t.npy"}, ""), 0,
         {"graph: 2 loops added; not symmetric; messages flow target_to_source", "GATConv", "1-2, 1 layer",
          "layers: 1 head of 2", "layer 1: ", "logits: ", "log-softmax: "});
  const double e = std::exp(1.0), mean = (1 + 2 * e) / (1 + e);  // scores of vertex 0: 0 and 1
  CHECK(near(answer(), 2 * mean, 4));
  CHECK(json_in(json)["command"] == "gat");
  CHECK(json_in(json)["checks"]["layer_1"]["misses"] == 0);
  expect(run({"w.npy", "s.npy", "t.npy", "b.npy"}, "--direction source_to_target"), 0);
  const double share = 1 / (1 + std::exp(-0.2));  // scores of vertex 1: a fifth of -2 + 1, and -2 + 2
  CHECK(near(answer(), 2 + 0.5, 2 * (share * 2 + (1 - share)) + 0.5));
  CHECK(run({"w.npy", "s.npy"}, "").has("w.npy: the layer lacks: att_dst"));
  CHECK(run({"x.npy", "s.npy", "t.npy"}, "").has("x.npy: (2, 1) weights, and the inputs are: 1"));
  CHECK(bare("gat --graph " + graph).has("--graph, --features and --weights belong together"));
  CHECK(bare("gat --activation tanh").has("--activation 'tanh' is none of elu, relu"));
}

TEST_CASE("infer gcn takes any number of weights, --layers the first of them, and judges each layer") {
  const Scratch scratch;
  const std::string command =
      small_gcn(scratch, 5) + " --pipeline all --check --json " + scratch.file("o.json");
  const Outcome o = expect(bare(command), 0, {"3-4-4-4-4-4, 5 layers"});
  CAPTURE(o.text);
  for (const char* check : {"hidden 1: ", "hidden 4: ", "layer 2: ", "layer 5: ", "logits: "})
    CHECK(o.has(check));
  CHECK_FALSE(o.has("outside"));
  const auto json = json_in(scratch.file("o.json"));
  REQUIRE(json.size() == 3);
  CHECK(json[0]["network"]["layers"] == 5);
  CHECK(json[0]["network"]["widths"] == "3-4-4-4-4-4");
  CHECK(json[0]["checks"]["layer_5"]["misses"] == 0);
  CHECK(json[0]["checks"]["hidden_4"]["compared"] == 20);
  CHECK(bare(command + " --layers 3").has("3-4-4-4, 3 layers"));
  expect(bare(command + " --layers 6"), 2, {"--layers 6: there are weights for 5"});
}

TEST_CASE("values of A that follow from the degrees are not read, unless they are asked for") {
  const Scratch scratch;
  const std::string command = "gcn --check --json " + scratch.file("o.json");
  const auto bytes = [&] { return json_in(scratch.file("o.json"))["network"]["a"]["bytes_read"]; };
  expect(bare(command), 0, {"; A from degrees"});
  CHECK(bytes() == 2 * 4 * (57424 + 4096));  // two layers: a column per entry, a scale per vertex
  const Outcome stored = expect(bare(command + " --edge-values stored"), 0);
  CHECK_FALSE(stored.has("A from degrees"));
  CHECK(bytes() == 2 * 8 * 57424);
  CHECK_FALSE(bare(command + " --pipeline eigen").has("A from degrees"));
  const Outcome weighted =
      expect(bare("gcn --case 'gcn.f64(vertices=50,graph=rmat,density=0.1,values=signed,x=csr,x_density=1,"
                  "widths=3-2,biases=all,fill=real,seed=1)'"),
             0);
  CHECK_FALSE(weighted.has("A from degrees"));
}

TEST_CASE("X is multiplied in the form that its density suggests, or the one asked for, and judged alike") {
  const Scratch scratch;
  const std::string command = small_gcn(scratch, 2) + " --pipeline all --check";  // 4 of 15 places of X
  for (const auto& [option, format] : {std::pair{"", "features 3 (CSR, 4 entries, 26.7 %)"},
                                       {" --features-as sparse", "features 3 (CSR, 4 entries, 26.7 %)"},
                                       {" --features-as dense", "features 3 (dense)"}}) {
    const Outcome o = expect(bare(command + option), 0, {format, "logits by (A X) W: max err/bound"});
    CAPTURE(o.text);
    CHECK_FALSE(o.has("outside"));
  }
  const Outcome drawn = bare("gcn --layers 1");  // one place in eight, and dense as it is made
  CHECK(drawn.has("features 128 (CSR, "));
  CHECK(bare("gcn --layers 1 --features-as dense").has("features 128 (dense)"));
  expect(bare("gcn --features-as sprase"), 2,
         {"--features-as 'sprase' is none of auto, sparse, dense; did you mean 'sparse'?"});
}

TEST_CASE(
    "infer gcn --drawn judges networks that nobody chose, and prints for each the command that repeats it") {
  const Scratch scratch;
  const std::string report = scratch.file("drawn.json");
  const Outcome o = expect(bare("gcn --drawn 30 --seed 5 --json " + report), 0);
  CAPTURE(o.text);
  CHECK(o.line(0) == "seed: 5");
  CHECK(o.line(-1) == "drawn: 30 networks, 0 failed; 90 runs, 0 beyond a bound or ended by an error");
  const auto json = json_in(report);
  REQUIRE(json.size() == 90);
  const std::string command = o.line(1), head = "tools/plumb infer ";
  REQUIRE(command.find(head + "gcn --case 'gcn.f32(vertices=") == 0);
  expect(bare(command.substr(head.size())), 0,
         {"pipeline: fused (f32, cpu", json[0]["data"].get<std::string>()});
  CHECK(json[0]["checks"]["logits"]["misses"] == 0);

  const Outcome fresh = bare("gcn --drawn 1 --seed fresh"), other = bare("gcn --drawn 1 --seed fresh");
  CHECK(fresh.exit_code == 0);
  CHECK(fresh.line(0) != other.line(0));
  for (const auto& [arguments, message] :
       {std::pair{"gcn --seed 3", "--seed requires --drawn"},
        {"gcn --drawn 0", "--drawn"},
        {"gcn --drawn 1 --twin web-Stanford", "exclude each other"},
        {"gcn --drawn 1 --out y.npy", "--drawn takes neither --dry-run nor --out"},
        {"gcn --case 'gcn.f32(vertices=3,fill=real,seed=1)'", "widths"}}) {
    expect(bare(arguments), 2, {message});
  }
}

TEST_CASE("the network that infer gcn makes without data has as many layers as are asked for") {
  const Outcome o = expect(bare("gcn --layers 12 --check"), 0,
                           {"128-16-16-16-...-16-16-16-8, 12 layers", "order by cost: A (X W) in 12 layers"});
  CAPTURE(o.text);
  CHECK_FALSE(o.has("outside"));
}

TEST_CASE("--device simt runs the device pipelines on the CPU executor; what would take hours is refused") {
  if (skipped_without_simt()) return;
  const Scratch scratch;
  for (const std::string& command :
       {std::string("sdnn --inputs 33 --layers 3"),
        std::string("sdnn --inputs 33 --layers 3 --class shared_inputs"), small_gcn(scratch, 3)}) {
    expect(bare(command + " --device simt --check"), 0, {"pipeline: gpu_", ", simt): "});
  }
  const Outcome drawn = bare("gcn --drawn 2 --seed 1 --device simt");
  CAPTURE(drawn.text);
  CHECK(drawn.line(-1) == "drawn: 2 networks, 0 failed; 4 runs, 0 beyond a bound or ended by an error");
  expect(bare("sdnn --layers 120 --device simt"), 2, {"would take hours on the CPU executor"});
}

TEST_CASE("infer sdnn --gpus deals the inputs to devices: the same answer, and what each did") {
  if (skipped_without_simt()) return;
  const Scratch scratch;
  const std::string command =
      "sdnn --inputs 10 --layers 2 --check --device simt --out " + scratch.file("y.npz");
  CHECK(bare(command).exit_code == 0);
  const std::string one = plumb::test::slurp(scratch.file("y.npz"));
  for (const std::string gpus : {"3", "all"}) {
    const Outcome o = expect(bare(command + " --gpus " + gpus + " --json " + scratch.file("run.json")), 0);
    CAPTURE(o.text);
    CHECK(plumb::test::slurp(scratch.file("y.npz")) == one);
    CHECK(o.has(": 0 of 20480 elements outside their bound"));
    // back and forth over the devices: the last of them comes twice in a row
    CHECK(o.has(gpus == "3" ? "gpu 2: CPU executor, 4 inputs, inference"
                            : "gpu 7: CPU executor, 2 inputs, inference"));
    const auto json = json_in(scratch.file("run.json"));
    REQUIRE(json["gpus"].size() == (gpus == "3" ? 3 : 8));
    double slowest = 0;
    int inputs = 0;
    for (const auto& gpu : json["gpus"]) {
      slowest = std::max(slowest, gpu["seconds"].get<double>());
      inputs += gpu["inputs"].get<int>();
      CHECK(gpu["peak_bytes"].get<std::int64_t>() > 2 * 1024 * 32 * 4);  // the weights
    }
    CHECK(inputs == 10);
    CHECK(json["seconds"]["inference"].get<double>() == slowest);
    CHECK(json["load_balance"].get<double>() <= 1);
  }
  // a list without the first of the ids: the GPU that computed it is named
  const auto ids = json_in(scratch.file("run.json"))["categories"]["ids"];
  REQUIRE(ids.size() > 1);
  std::string list;
  for (std::size_t i = 1; i < ids.size(); ++i) list += ids[i].dump() + "\n";
  const Outcome o = expect(bare(command + " --gpus 2 --categories " + scratch.write("list.tsv", list)), 1,
                           {"; differs: missing none, extra 1 (" + ids[0].dump() + ")"});
  CAPTURE(o.text);
  int named = 0;
  for (const char* gpu : {"gpu 0: ", "gpu 1: "}) {
    const std::string line = o.text.substr(o.text.find(gpu));
    named += line.substr(0, line.find('\n')).find("differs") != std::string::npos;
  }
  CHECK(named == 1);
}

TEST_CASE("infer gcn --gpus divides the graph over devices: the same answer, and what each did") {
  if (skipped_without_simt()) return;
  const Scratch scratch;
  const std::string command =
      "gcn --case 'gcn.f32(vertices=40,graph=rmat,density=0.1,values=normalised,x=dense,x_density=1,"
      "widths=9-8-4,biases=all,fill=real,seed=5)' --device simt --check --out " +
      scratch.file("z.npy");
  CHECK(bare(command + " --pipeline gpu_fused").exit_code == 0);
  const std::string one = plumb::test::slurp(scratch.file("z.npy"));
  for (const std::string gpus : {"3", "all"}) {
    const Outcome o = expect(bare(command + " --gpus " + gpus + " --json " + scratch.file("run.json")), 0);
    CAPTURE(o.text);
    CHECK(plumb::test::slurp(scratch.file("z.npy")) == one);
    CHECK(o.has("gpus: " + std::string(gpus == "3" ? "3" : "8") + ", rows divided by their entries"));
    CHECK(o.has("logits by (A X) W: max err/bound"));
    const auto json = json_in(scratch.file("run.json"));
    REQUIRE(json["gpus"].size() == (gpus == "3" ? 3 : 8));
    std::int64_t rows = 0, entries = 0, sent = 0, received = 0;
    for (const auto& gpu : json["gpus"]) {
      CHECK(gpu["first"] == rows);
      rows += gpu["rows"].get<std::int64_t>();
      entries += gpu["entries"].get<std::int64_t>();
      sent += gpu["sent_bytes"].get<std::int64_t>();
      received += gpu["received_bytes"].get<std::int64_t>();
      CHECK(gpu["waiting_seconds"].get<double>() <= gpu["steps_seconds"].get<double>());
      CHECK(gpu["right"] == true);
    }
    CHECK(rows == 40);
    CHECK(entries == json["network"]["entries"].get<std::int64_t>());
    CHECK(sent > 0);
    CHECK(sent == received);
  }
  expect(bare(command + " --gpus 2 --pipeline gpu_unfused"), 2,
         {"error: --gpus: pipeline gpu_unfused runs on one GPU only; on several: gpu_fused"});
  const Outcome metis = bare(command + " --gpus 3 --partition metis --json " + scratch.file("run.json"));
  CAPTURE(metis.text);
  if (metis.exit_code == 2) {
    CHECK(metis.has("--partition metis: METIS is not built in"));
  } else {
    CHECK(metis.exit_code == 0);
    CHECK(plumb::test::slurp(scratch.file("z.npy")) == one);
    CHECK(metis.has("partition: metis in "));
    CHECK(metis.has(" vertices, "));
    const auto json = json_in(scratch.file("run.json"));
    std::int64_t sent = 0;
    for (const auto& gpu : json["gpus"]) sent += gpu["sent_bytes"].get<std::int64_t>();
    CHECK(sent > 0);
  }
  const Outcome drawn = bare("gcn --drawn 2 --seed 1 --device simt --gpus 2");
  CAPTURE(drawn.text);
  CHECK(drawn.line(-1) == "drawn: 2 networks, 0 failed; 2 runs, 0 beyond a bound or ended by an error");
}

TEST_CASE("infer gcn --memory streams the operands: the same judgement, and what was copied") {
  if (skipped_without_simt()) return;
  const Scratch scratch;
  const std::string command =
      "gcn --case 'gcn.f32(vertices=40,graph=rmat,density=0.1,values=normalised,x=dense,x_density=1,"
      "widths=9-8-4,biases=all,fill=real,seed=5)' --check ";
  const Outcome little = expect(bare(command + "--device simt --memory 1KiB"), 2);
  const std::string words = "error: gcn: 1 KiB of memory are too little: ", need = "of rows out need ";
  REQUIRE(little.has(words));
  const std::string least = little.text.substr(little.text.find(need) + need.size());
  expect(bare(command + "--device simt --memory " + std::to_string(std::stoi(least)) + "KiB --json " +
              scratch.file("run.json")),
         0,
         {" pieces of rows, A streamed; operands of A by layer: 2 x 4 columns, 4 columns\n",
          " % hidden behind the computation", "logits by (A X) W: max err/bound"});
  const auto json = json_in(scratch.file("run.json"));
  CHECK(json["streaming"]["layers"][0]["blocks"] == 2);
  CHECK(json["streaming"]["stored_bytes"] == 40 * (8 + 4) * 4);
  CHECK(json["streaming"]["loaded_bytes"] > 40 * (9 + 9 + 8) * 4);
  for (const auto& [words_too_many, message] :
       {std::pair{"--memory 1GiB",
                  "--memory of infer gcn bounds the memory of a device: it needs --device gpu"},
        {"--memory 1GiB --device simt --gpus 2", "--memory and --gpus exclude each other"},
        {"--memory 1GiB --device simt --dry-run --ranks 2", "--memory and --ranks exclude each other"},
        {"--memory 1GiB --device simt --pipeline gpu_unfused",
         "--memory: pipeline gpu_unfused holds all operands; within a bound: gpu_fused"}}) {
    expect(bare(command + words_too_many), 2, {message});
  }
}

TEST_CASE("infer sdnn --drawn judges every pipeline on drawn networks, and says how each is repeated") {
  for (const std::string device : {"cpu", "simt"}) {
    if (device == "simt" && skipped_without_simt()) continue;
    const Outcome o =
        expect(bare("sdnn --drawn 3 --seed 5 --device " + device), 0,
               {"tools/plumb infer sdnn --drawn 1 --seed 5 --device " + device + " --pipeline auto\n",
                "  pass  " + std::string(device == "cpu" ? "cache_blocked" : "gpu_shared_inputs") +
                    ", absorbing rows leave: max err/bound "});
    CAPTURE(o.text);
    CHECK(o.line(-1).find("drawn: 3 networks, 0 failed; ") == 0);
  }
  for (const std::string words : {"--dry-run", "--out y.npy", "--pipeline csr_spm", "--network ."}) {
    expect(bare("sdnn --drawn 1 " + words), 2);
  }
}

TEST_CASE("infer sdnn --drawn: the commands repeat their networks, and neighbours' seeds share none") {
  const auto commands = [](const std::string& text) {
    std::vector<std::string> found;
    const std::string start = "tools/plumb infer ", end = " --device";
    for (std::size_t at = text.find(start); at != std::string::npos; at = text.find(start, at + 1)) {
      const std::size_t from = at + start.size();
      found.push_back(text.substr(from, text.find(end, from) - from));
    }
    return found;
  };
  const std::string five = bare("sdnn --drawn 3 --seed 5").text;
  std::vector<std::string> all = commands(five), others = commands(bare("sdnn --drawn 3 --seed 6").text);
  REQUIRE(all.size() == 3);
  REQUIRE(others.size() == 3);
  const std::string last = bare(all.back()).text, results = last.substr(last.find("  pass"));
  CHECK(five.find(results.substr(0, results.find("drawn:"))) != std::string::npos);
  all.insert(all.end(), others.begin(), others.end());
  std::sort(all.begin(), all.end());
  CHECK(std::adjacent_find(all.begin(), all.end()) == all.end());
}

TEST_CASE("infer gcn --dry-run --memory counts one GPU's memory in parts, without a GPU") {
  const Scratch scratch;
  const std::string command =
      "gcn --case 'gcn.f32(vertices=4000,graph=rmat,density=0.003,values=normalised,x=dense,x_density=1,"
      "widths=96-64-8,biases=all,fill=real,seed=5)' --dry-run --device gpu ";
  const Outcome o = expect(bare(command + "--memory 3MiB --json " + scratch.file("needs.json")), 0);
  CAPTURE(o.text);
  CHECK(o.text.find("GPU 0: 4000 vertices; memory ") == 0);
  CHECK(o.has(" pieces of rows, A "));
  const auto gpu = json_in(scratch.file("needs.json"))["gpus"][0];
  std::int64_t parts = 0;
  for (const char* part : {"weights", "operands", "a", "inputs", "hidden", "answer", "workspace"})
    parts += gpu[std::string(part) + "_bytes"].get<std::int64_t>();
  CHECK(gpu["memory_bytes"] == parts);
  CHECK(parts <= 3 << 20);
  expect(bare(command + "--memory 100KiB"), 2, {"error: gcn: 100 KiB of memory are too little: "});
  CHECK(bare(command).exit_code == 0);  // times and traffic as on the CPU
}

TEST_CASE("infer --gpus: what cannot be is refused before anything is loaded") {
  const std::pair<const char*, const char*> refused[] = {
      {"--gpus 2", "error: --gpus is of --device gpu"},
      {"--device simt --gpus 9", "error: --gpus 9: there are 8 here"},
      {"--device simt --gpus 0", "error: --gpus must be at least 1, or all"},
      {"--device simt --gpus two", "--gpus"},
  };
  const bool has_simt =
      std::filesystem::exists(std::filesystem::path(PLUMB_INFER).parent_path() / "infer_simt");
  for (const auto& [words, reason] : refused) {
    if (!has_simt && std::string(words).find("simt") != std::string::npos) continue;
    const Outcome o = expect(bare(std::string("sdnn --inputs 10 --layers 2 ") + words), 2, {reason});
    CAPTURE(o.text);
    CHECK_FALSE(o.has("data: "));
    expect(bare(std::string("gcn ") + words), 2, {reason});
  }
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

TEST_CASE("the official network gives the published categories") {
  const std::string folder = data("/sdnn");
  if (folder.empty()) return;
  const Outcome o = expect(infer("sdnn --neurons 1024 --layers 120 --data " + folder), 0);
  CAPTURE(o.text);
  CHECK(o.line(-1) == "categories: 1812 of 60000, equal to the published list");
}

TEST_CASE("trained networks: 815 and 709 of 1000, logits within their bound, in every pipeline and type") {
  const std::string folder = data("/gcn");
  if (folder.empty()) return;
  for (const auto& [name, accuracy] : {std::pair{"cora_nobias", "accuracy: 815 of 1000 (0.8150)"},
                                       {"citeseer_nobias", "accuracy: 709 of 1000 (0.7090)"}}) {
    for (const std::string options : {" --dtype f32 --check", " --dtype f64 --check", " --pipeline openblas",
                                      " --pipeline eigen --dtype f64"}) {
      expect(infer("gcn --data " + folder + "/" + name + options), 0,
             {accuracy, "within bound (the folder's expectation)"});
    }
  }
}

TEST_CASE("an accuracy that rounding does not explain exits with 1, though the logits agree") {
  const std::string folder = data("/gcn/cora_nobias");
  if (folder.empty()) return;
  const Scratch scratch;
  std::filesystem::copy(folder, scratch.file("cora"), std::filesystem::copy_options::recursive);
  std::filesystem::permissions(scratch.file("cora/labels.npy"), std::filesystem::perms::owner_all);
  const plumb::GcnData read = plumb::read_gcn_folder(folder);
  std::vector<std::int32_t> labels = read.labels;
  for (std::size_t k = 0; k < 20; ++k) {
    auto& label = labels[static_cast<std::size_t>(read.idx_test[k])];
    label = (label + 1) % 7;
  }
  std::fstream file(scratch.file("cora/labels.npy"), std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(-static_cast<std::streamoff>(4 * labels.size()), std::ios::end);
  file.write(reinterpret_cast<const char*>(labels.data()), static_cast<std::streamsize>(4 * labels.size()));
  file.close();
  const Outcome o = expect(infer("gcn --data " + scratch.file("cora")), 1,
                           {"recorded with the weights: 815, which rounding does not explain"});
  CAPTURE(o.text);
  CHECK_FALSE(o.has("outside"));
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
  net.weights = {read.f32.weights[0]};
  net.biases = {{}};
  const plumb::Dense<float> no_relu = plumb::kGcnFused.run_f32(net, plumb::GcnOrder::by_cost).logits;
  plumb::Gcn<float> second = net;
  second.sparse_features = false;
  second.x_dense = no_relu;
  second.weights = {read.f32.weights[1]};
  const plumb::Dense<float> wrong = plumb::kGcnFused.run_f32(second, plumb::GcnOrder::by_cost).logits;

  net.weights.push_back(read.f32.weights[1]);
  net.biases.emplace_back();
  const plumb::GcnReference reference =
      plumb::reference_gcn(plumb::convert<double>(net), plumb::Dtype::f32, {0x1p-23, 0x1p-23, 0x1p-23});
  const plumb::Dense<float> right = plumb::kGcnFused.run_f32(net, plumb::GcnOrder::by_cost).logits;
  const auto accuracy = plumb::count_right(wrong, read.labels, read.idx_test);
  CHECK(plumb::count_right(right, read.labels, read.idx_test) == 815);
  CHECK(accuracy >= 813);  // accuracy does not tell
  CHECK(accuracy <= 817);
  CHECK(plumb::judge_matrix(right, read.expected_logits, reference.logits_bound).misses == 0);
  CHECK(plumb::judge_matrix(wrong, read.expected_logits, reference.logits_bound).misses > 10000);
}
