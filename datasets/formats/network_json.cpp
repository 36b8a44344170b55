#include "datasets/formats/network_json.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "reference/core/error.hpp"
#include "reference/core/text.hpp"

namespace plumb {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kLongest = std::size_t{1} << 26;  // bytes; lists of biases may stand in it

std::string text_of(const Json& value) { return value.dump(-1, ' ', false, Json::error_handler_t::replace); }

/// Without the library's own "[json.exception...] parse error at line 3, column 5: ".
std::string message_of(const Json::exception& e) {
  constexpr std::size_t kLongestMessage = 200;
  std::string_view text = e.what();
  const auto cut = [&text](std::string_view mark) {
    const std::size_t at = text.find(mark);
    if (at != std::string_view::npos) text.remove_prefix(at + mark.size());
  };
  cut("] ");
  if (text.rfind("parse error", 0) == 0) cut(": ");
  return "not JSON: " + printable(text, kLongestMessage);
}

class NetworkReader {
 public:
  explicit NetworkReader(ByteSource& source) : file_(source.name()) {
    const std::string text = read_all(source, kLongest);
    std::vector<std::set<std::string>> seen;  // keys of the objects that are open
    const auto refuse_repeated = [&](int, Json::parse_event_t event, const Json& parsed) {
      if (event == Json::parse_event_t::object_start) seen.emplace_back();
      if (event == Json::parse_event_t::object_end) seen.pop_back();
      if (event == Json::parse_event_t::key && !seen.back().insert(parsed.get<std::string>()).second)
        throw input_error(file_, 0, "key is repeated", parsed.get<std::string>());
      return true;
    };
    try {
      json_ = Json::parse(text, refuse_repeated);
    } catch (const Json::parse_error& e) {
      const auto end = text.begin() + static_cast<std::ptrdiff_t>(std::min(e.byte, text.size()));
      throw input_error(file_, 1 + std::count(text.begin(), end, '\n'), message_of(e));
    } catch (const Json::exception& e) { throw input_error(file_, 0, message_of(e)); }
  }

  NetworkDescription read() {
    if (!json_.is_object())
      throw input_error(file_, 0, "expected an object with the key layers", text_of(json_));
    only_keys(json_, "", {"layers", "inputs", "cap", "activation", "bias_where", "orientation", "bias"});
    NetworkDescription out;
    if (json_.contains("inputs")) out.inputs = text(json_["inputs"], "inputs");
    if (json_.contains("activation")) word(json_["activation"], "activation", {"relu"});
    out.cap = cap();
    NetworkLayer usual;
    if (json_.contains("bias")) usual.bias = number(json_["bias"], "bias");
    const bool nonzero = json_.contains("bias_where") &&
                         word(json_["bias_where"], "bias_where", {"everywhere", "nonzero"}) == "nonzero";
    if (nonzero) out.bias_at_nonzeros = usual.bias;
    if (!json_.contains("layers")) throw input_error(file_, 0, "layers: this key is missing");
    const Json& layers = json_["layers"];
    if (!layers.is_array() || layers.empty()) fail("layers", "expected a list of at least one layer", layers);
    for (std::size_t l = 0; l < layers.size(); ++l)
      out.layers.push_back(layer(layers[l], fmt::format("layers[{}]", l), usual, nonzero));
    return out;
  }

 private:
  [[noreturn]] void fail(const std::string& key, const std::string& what, const Json& value) const {
    throw input_error(file_, 0, key + ": " + what, text_of(value));
  }

  void only_keys(const Json& object, const std::string& where, const std::vector<std::string>& known) const {
    for (const auto& [key, value] : object.items()) {
      if (std::find(known.begin(), known.end(), key) != known.end()) continue;
      throw input_error(file_, 0,
                        fmt::format("{}unknown key; known are {}{}", where.empty() ? "" : where + ": ",
                                    fmt::join(known, ", "), did_you_mean(key, known)),
                        key);
    }
  }

  std::string text(const Json& value, const std::string& key) const {
    if (!value.is_string() || value.get<std::string>().empty())
      fail(key, "expected the name of a file", value);
    return value.get<std::string>();
  }

  std::string word(const Json& value, const std::string& key, const std::vector<std::string>& words) const {
    if (value.is_string() && std::find(words.begin(), words.end(), value.get<std::string>()) != words.end())
      return value.get<std::string>();
    fail(key, fmt::format("expected \"{}\"", fmt::join(words, "\" or \"")), value);
  }

  float number(const Json& value, const std::string& key) const {
    if (!value.is_number()) fail(key, "expected a number", value);
    const auto rounded = static_cast<float>(value.get<double>());
    if (!std::isfinite(rounded)) fail(key, "number is beyond fp32", value);
    return rounded;
  }

  float cap() const {
    if (!json_.contains("cap") || json_["cap"].is_null()) return std::numeric_limits<float>::infinity();
    if (!json_["cap"].is_number()) fail("cap", "expected a number or null", json_["cap"]);
    const float cap = number(json_["cap"], "cap");
    if (cap < 0) fail("cap", "must not be negative", json_["cap"]);
    return cap;
  }

  NetworkLayer layer(const Json& json, const std::string& where, const NetworkLayer& usual,
                     bool nonzero) const {
    if (!json.is_object()) fail(where, "expected an object with the key file", json);
    only_keys(json, where, {"file", "orientation", "bias"});
    NetworkLayer out = usual;
    if (!json.contains("file")) fail(where, "the key file is missing", json);
    out.file = text(json["file"], where + ".file");
    const Json& owner = json.contains("orientation") ? json : json_;
    if (!owner.contains("orientation"))
      fail(where, "the key orientation is missing, here and for the whole network", json);
    out.outputs_first = word(owner["orientation"], &owner == &json ? where + ".orientation" : "orientation",
                             {"inputs x outputs", "outputs x inputs"}) == "outputs x inputs";
    if (!json.contains("bias")) return out;
    if (nonzero)
      fail(where + ".bias", "\"bias_where\": \"nonzero\" takes one bias for the whole network", json["bias"]);
    read_bias(json["bias"], where + ".bias", out);
    return out;
  }

  void read_bias(const Json& bias, const std::string& key, NetworkLayer& out) const {
    if (bias.is_string()) {
      out.bias_file = text(bias, key);
    } else if (bias.is_array() && !bias.empty()) {
      for (std::size_t j = 0; j < bias.size(); ++j)
        out.biases.push_back(number(bias[j], fmt::format("{}[{}]", key, j)));
    } else if (bias.is_number()) {
      out.bias = number(bias, key);
    } else {
      fail(key, "expected a number, a list of numbers, or the name of a .npy file", bias);
    }
  }

  std::string file_;
  Json json_;
};

}  // namespace

NetworkDescription read_network_json(ByteSource& source) { return NetworkReader(source).read(); }

}  // namespace plumb
