#include "datasets/formats/torch_file.hpp"

#include <doctest/doctest.h>

#include <cstring>
#include <string>
#include <vector>

#include "datasets/tests/scratch.hpp"

using namespace plumb;
using namespace plumb::test;
using namespace std::string_literals;

namespace {

using Reals = std::vector<double>;

std::string text(const std::string& word) {
  return "X" + std::string(1, static_cast<char>(word.size())) + "\0\0\0"s + word;
}
std::string number(int n) { return "K" + std::string(1, static_cast<char>(n)); }
std::string pair(int a, int b) { return number(a) + number(b) + "\x86"; }

// A tensor as torch.save pickles it: sizes and strides are pickled tuples.
std::string tensor(const std::string& type, int first, const std::string& sizes, const std::string& strides) {
  return "ctorch._utils\n_rebuild_tensor_v2\n((" + text("storage") + "ctorch\n" + type + "\n" + text("0") +
         text("cpu") + number(6) + "tQ" + number(first) + sizes + strides +
         "\x89"
         "ccollections\nOrderedDict\n)RtR";
}
// An ordered dictionary with the attributes that a state dict has.
std::string state_dict(const std::string& items) {
  return "ccollections\nOrderedDict\n)Rq\x01(" + items + "u}" + text("_metadata") + "}sb";
}
std::string file(const std::string& pickled) {
  const std::vector<float> values{1, 2, 3, 4, 5, 6};
  std::string storage(24, '\0');
  std::memcpy(storage.data(), values.data(), storage.size());
  return zip({{"net/data.pkl", "\x80\x02" + pickled + "."}, {"net/data/0", storage}, {"net/version", "3\n"}});
}
std::vector<std::pair<std::string, NpyArray>> read(const std::string& pickled) {
  const std::string bytes = file(pickled);
  return read_torch_tensors(*memory_source("net.pt", bytes));
}
std::string error(const std::string& pickled) {
  return error_of([&] { (void)read(pickled); });
}

}  // namespace

TEST_CASE("tensors of a state dict are read by their names, sizes and strides") {
  const auto found =
      read(state_dict(text("lin.weight") + tensor("FloatStorage", 0, pair(2, 3), pair(3, 1)) +
                      text("turned") + tensor("FloatStorage", 0, pair(3, 2), pair(1, 3)) + text("bias") +
                      tensor("FloatStorage", 4, number(2) + "\x85", number(1) + "\x85")));
  REQUIRE(found.size() == 3);
  CHECK(found[0].first == "lin.weight");
  CHECK(found[0].second.shape == std::vector<std::int64_t>{2, 3});
  CHECK(npy_values<double>(found[0].second) == Reals{1, 2, 3, 4, 5, 6});
  CHECK(npy_values<double>(found[1].second) == Reals{1, 4, 2, 5, 3, 6});
  CHECK(npy_values<double>(found[2].second) == Reals{5, 6});
}

TEST_CASE("a checkpoint has its tensors under a key, and a file may be one tensor") {
  const std::string one = tensor("FloatStorage", 0, pair(2, 3), pair(3, 1));
  CHECK(read("}(" + text("epoch") + number(3) + text("state_dict") + state_dict(text("w") + one) + "u")
            .at(0)
            .first == "w");
  CHECK(read(one).at(0).first == "tensor");
}

TEST_CASE("nothing of a pickle is executed, and what is no tensor is refused") {
  CHECK(error("cos\nsystem\n" + text("true") + "\x85R") ==
        "net.pt: holds objects that are no tensors; save them alone: torch.save(model.state_dict(), FILE); "
        "object: os system");
  CHECK(error(tensor("FloatStorage", 1, pair(2, 3), pair(3, 1))) ==
        "net.pt: tensor is larger than its storage");
  CHECK(error(tensor("FloatStorage", 0, pair(200, 200), pair(0, 0))) ==
        "net.pt: tensor is larger than its storage");
  CHECK(error(tensor("ComplexFloatStorage", 0, pair(1, 1), pair(1, 1))) ==
        "net.pt: type of a tensor is not read: ComplexFloatStorage");
  CHECK(error("}").find("no tensors in the file") != std::string::npos);
  CHECK(error("t") == "net.pt: data.pkl is malformed");
  CHECK(error("X\xff\xff\xff\x7f") == "net.pt: data.pkl is cut short");
  CHECK(error_of([] {
          const std::string bytes = zip({{"a.npy", "x"}});
          (void)read_torch_tensors(*memory_source("a.npz", bytes));
        }).find("not a file of torch.save") != std::string::npos);
  const std::string whole = file(state_dict(text("w") + tensor("FloatStorage", 0, pair(2, 3), pair(3, 1))));
  for (std::size_t n = 0; n < whole.size(); n += 5) {
    CAPTURE(n);
    CHECK_FALSE(
        error_of([&] { (void)read_torch_tensors(*memory_source("cut.pt", whole.substr(0, n))); }).empty());
  }
}
