#include "reference/formula/signature.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "reference/core/error.hpp"
#include "reference/core/text.hpp"

namespace plumb {
namespace {

using Values = SignatureArray::Values;

bool is_name(const std::string& word) {
  return !word.empty() && (std::isalpha(static_cast<unsigned char>(word.front())) != 0) &&
         std::all_of(word.begin(), word.end(),
                     [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; });
}

// Words between blanks; ">0" is one of its own.
std::vector<std::string> words_of(std::string text) {
  std::vector<std::string> words;
  for (std::size_t at = text.find(">0"); at != std::string::npos; at = text.find(">0", at + 3))
    text.insert(at, " ");
  for (const std::string& w : split(text, ' ')) {
    if (!w.empty()) words.push_back(w);
  }
  return words;
}

class Reader {
 public:
  Reader(std::string_view op, std::string_view text) : op_(op), text_(text) {}

  Signature read() {
    const std::size_t arrow = text_.find("->");
    if (arrow == std::string::npos) wrong(text_, "there is no '->' before the outputs");
    for (const std::string& item : split(text_.substr(0, arrow), ',')) read_item(item, false);
    for (const std::string& item : split(text_.substr(arrow + 2), ',')) read_item(item, true);
    for (const SignatureArray& a : all_arrays()) {
      if (!a.of.empty() && !known(a.of)) wrong(a.name, fmt::format("no array has the extent {}", a.of));
    }
    return std::move(signature_);
  }

 private:
  [[noreturn]] void wrong(const std::string& where, const std::string& why) const {
    throw Error(fmt::format("{}: the signature '{}' is wrong at '{}': {}", op_, text_, where, why));
  }
  [[nodiscard]] bool known(const std::string& extent) const {
    return std::find(signature_.extents.begin(), signature_.extents.end(), extent) !=
           signature_.extents.end();
  }
  [[nodiscard]] std::vector<SignatureArray> all_arrays() const {
    std::vector<SignatureArray> all = signature_.inputs;
    all.insert(all.end(), signature_.outputs.begin(), signature_.outputs.end());
    return all;
  }

  // Of the name of a sparse operand before: "A(n,m)".
  [[nodiscard]] std::string entries_of(const std::string& word) const {
    for (const SignatureArray& a : signature_.inputs) {
      if (a.sparse && a.name == word) return a.entries();
    }
    return "";
  }

  void read_item(const std::string& item, bool output) {
    const std::size_t colon = item.find(':');
    const std::vector<std::string> head = words_of(item.substr(0, colon));
    const bool scalar = colon == std::string::npos;
    if (head.empty() || !is_name(head.front())) wrong(item, "a name is missing");
    if (!names_.insert(head.front()).second) wrong(item, "two have this name");
    if (!scalar) {
      if (head.size() > 1) wrong(item, "one name stands before ':'");
      read_array(item, head.front(), words_of(item.substr(colon + 1)), output);
      return;
    }
    const bool positive = head.size() == 2 && head.back() == ">0";
    if (output || (head.size() > 1 && !positive)) wrong(item, "an array's extents follow a ':'");
    signature_.scalars.push_back({head.front(), positive});
  }

  void read_array(const std::string& item, const std::string& name, std::vector<std::string> words,
                  bool output) {
    SignatureArray a;
    a.name = name;
    if (!words.empty() && words.front() == "csr") a.sparse = true, words.erase(words.begin());
    read_values(item, a, words);
    for (const std::string& w : words) {
      if (!is_name(w) && fixed_size(w) < 1) wrong(item, fmt::format("'{}' is no extent", w));
      if (std::find(a.extents.begin(), a.extents.end(), w) != a.extents.end())
        wrong(item, fmt::format("{} stands twice: give one of the two another name", w));
      const std::string entries = entries_of(w);
      a.extents.push_back(entries.empty() ? w : entries);
      if (entries.empty() && !known(w)) signature_.extents.push_back(w);
    }
    if (a.extents.empty() || a.extents.size() > 6) wrong(item, "an array has one to six extents");
    if (a.sparse && (a.extents.size() != 2 || output)) wrong(item, "csr is an input of two extents");
    if (output && a.values != SignatureArray::Values::any) wrong(item, "outputs hold any values");
    (output ? signature_.outputs : signature_.inputs).push_back(std::move(a));
  }

  // Takes the last words of an item, which say what values the array holds.
  void read_values(const std::string& item, SignatureArray& a, std::vector<std::string>& words) const {
    const std::size_t n = words.size();
    if (n >= 2 && (words[n - 2] == "in" || words[n - 2] == "to")) {
      a.values = words[n - 2] == "in" ? Values::places : Values::counts, a.of = words.back();
      words.resize(n - 2);
      if (words.size() != 1) wrong(item, "an array of int32 has one extent");
    } else if (n >= 1 && words.back() == "flag") {
      a.values = Values::flags, words.pop_back();
    } else if (n >= 1 && words.back() == ">0") {
      a.values = Values::positive, words.pop_back();
    }
  }

  std::string op_, text_;
  Signature signature_;
  std::set<std::string> names_;
};

}  // namespace

std::string SignatureArray::entries() const {
  return sparse ? fmt::format("{}({},{})", name, extents[0], extents[1]) : "";
}

std::int64_t fixed_size(const std::string& extent) {
  const bool number =
      !extent.empty() && extent.size() < 5 && extent.find_first_not_of("0123456789") == std::string::npos;
  return number ? std::stoi(extent) : 0;
}

bool Signature::holds_extents() const {
  const auto many = [](const SignatureArray& a) { return a.extents.size() > 2; };
  return std::any_of(inputs.begin(), inputs.end(), many) || std::any_of(outputs.begin(), outputs.end(), many);
}

Signature parse_signature(std::string_view op, std::string_view text) { return Reader(op, text).read(); }

}  // namespace plumb
