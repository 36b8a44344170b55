#include "datasets/formats/torch_file.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <string_view>

#include "datasets/io/zip_archive.hpp"
#include "reference/core/error.hpp"

namespace plumb {
namespace {

struct Value;
using Pointer = std::shared_ptr<Value>;

struct Value {
  enum class Kind : std::uint8_t { other, integer, text, list, dictionary, global, storage, tensor };
  Kind kind = Kind::other;
  std::int64_t number = 0;
  std::string text;            // also of a global: "torch._utils _rebuild_tensor_v2"; of a storage: its type
  std::vector<Pointer> items;  // of a list or tuple; of a dictionary key, value, key, value, ...
  NpyArray tensor;
};
using Kind = Value::Kind;

/// What of Python's pickle protocol 2 torch.save uses.
class Unpickler {
 public:
  Unpickler(const std::string& name, const ZipArchive& zip, std::string folder, std::string_view bytes)
      : name_(name), zip_(zip), folder_(std::move(folder)), in_(bytes) {}

  Pointer run() {
    for (;;) {
      const char op = take(1)[0];
      if (op == '.') return pop();
      if (!number_or_text(op) && !stack_or_memo(op) && !container(op))
        fail("pickle operation is not read", code(op));
    }
  }

 private:
  [[noreturn]] void fail(std::string_view what, std::string_view value = {}) const {
    throw input_error(name_, 0, what, value);
  }
  static std::string code(char op) { return std::to_string(static_cast<unsigned char>(op)); }
  std::string_view take(std::size_t bytes) {
    if (bytes > in_.size()) fail("data.pkl is cut short");
    const std::string_view out = in_.substr(0, bytes);
    in_.remove_prefix(bytes);
    return out;
  }
  std::uint64_t number(std::size_t bytes) {
    std::uint64_t value = 0;
    const std::string_view from = take(bytes);
    for (std::size_t k = bytes; k-- > 0;) value = value << 8 | static_cast<unsigned char>(from[k]);
    return value;
  }
  std::string line() {
    const std::size_t end = in_.find('\n');
    if (end == std::string_view::npos) fail("data.pkl is cut short");
    std::string out(in_.substr(0, end));
    in_.remove_prefix(end + 1);
    return out;
  }
  Pointer push(Kind kind, std::int64_t number = 0, std::string text = {}) {
    auto value = std::make_shared<Value>();
    value->kind = kind, value->number = number, value->text = std::move(text);
    stack_.push_back(value);
    return value;
  }
  Pointer pop() {
    if (stack_.empty() || (!marks_.empty() && stack_.size() == marks_.back())) fail("data.pkl is malformed");
    Pointer out = stack_.back();
    stack_.pop_back();
    return out;
  }
  std::vector<Pointer> pop_to_mark() {
    if (marks_.empty() || marks_.back() > stack_.size()) fail("data.pkl is malformed");
    const auto first = stack_.begin() + static_cast<std::ptrdiff_t>(marks_.back());
    std::vector<Pointer> out(first, stack_.end());
    stack_.erase(first, stack_.end());
    marks_.pop_back();
    return out;
  }

  bool number_or_text(char op) {
    switch (op) {
      case 'K':
        return push(Kind::integer, static_cast<std::int64_t>(number(1))), true;
      case 'M':
        return push(Kind::integer, static_cast<std::int64_t>(number(2))), true;
      case 'J':
        return push(Kind::integer, static_cast<std::int32_t>(number(4))), true;
      case '\x8a': {
        const std::size_t bytes = number(1);
        if (bytes > 8) fail("integer of more than 64 bits in data.pkl");
        const std::uint64_t value = number(bytes);
        const bool negative = bytes > 0 && bytes < 8 && (value >> (8 * bytes - 1) & 1) != 0;
        const std::uint64_t sign = negative ? ~std::uint64_t{0} << (8 * bytes) : 0;
        return push(Kind::integer, static_cast<std::int64_t>(value | sign)), true;
      }
      case 'X':
        return push(Kind::text, 0, std::string(take(number(4)))), true;
      case 'G':
        take(8);
        return push(Kind::other), true;
      case 'N':
      case '\x88':
      case '\x89':
        return push(Kind::other), true;
      default:
        return false;
    }
  }
  bool stack_or_memo(char op) {
    switch (op) {
      case '\x80':
        return take(1), true;
      case '(':
        return marks_.push_back(stack_.size()), true;
      case 'q':
      case 'r':
        return memo_[number(op == 'q' ? 1 : 4)] = top(), true;
      case 'h':
      case 'j': {
        const auto found = memo_.find(number(op == 'h' ? 1 : 4));
        if (found == memo_.end()) fail("data.pkl is malformed");
        return stack_.push_back(found->second), true;
      }
      default:
        return false;
    }
  }
  Pointer top() {
    if (stack_.empty()) fail("data.pkl is malformed");
    return stack_.back();
  }

  bool container(char op) {
    switch (op) {
      case '}':
        return push(Kind::dictionary), true;
      case ']':
      case ')':
        return push(Kind::list), true;
      case 't': {
        std::vector<Pointer> items = pop_to_mark();
        return push(Kind::list)->items = std::move(items), true;
      }
      case '\x85':
      case '\x86':
      case '\x87':
        return short_tuple(op - '\x84'), true;
      case 'u':
      case 'e':
        return add(pop_to_mark()), true;
      case 's': {
        const Pointer value = pop(), key = pop();
        return add({key, value}), true;
      }
      case 'a':
        return add({pop()}), true;
      case 'b':
        return pop(), true;  // attributes of a state dict: versions of its modules
      case 'c': {
        std::string module = line();
        return push(Kind::global, 0, module + " " + line()), true;
      }
      case 'Q':
        return load_storage(*pop()), true;
      case 'R': {
        const Pointer arguments = pop(), function = pop();
        return reduce(*function, arguments->items), true;
      }
      default:
        return false;
    }
  }
  void short_tuple(int count) {
    std::vector<Pointer> items(static_cast<std::size_t>(count));
    for (std::size_t k = items.size(); k-- > 0;) items[k] = pop();
    push(Kind::list)->items = std::move(items);
  }
  void add(const std::vector<Pointer>& items) {
    const Pointer to = top();
    if (to->kind != Kind::list && to->kind != Kind::dictionary) fail("data.pkl is malformed");
    if (to->kind == Kind::dictionary && items.size() % 2 != 0) fail("data.pkl is malformed");
    to->items.insert(to->items.end(), items.begin(), items.end());
  }

  /// ('storage', torch.FloatStorage, key, device, elements)
  void load_storage(const Value& id) {
    if (id.items.size() < 5 || id.items[1]->kind != Kind::global) fail("storage of a tensor is malformed");
    const Pointer storage = push(Kind::storage, 0, id.items[1]->text.substr(id.items[1]->text.find(' ') + 1));
    for (const ZipArchive::Member& member : zip_.members()) {
      if (member.name != folder_ + "data/" + id.items[2]->text) continue;
      storage->tensor.bytes = zip_.content(member);
      return;
    }
    fail("storage of a tensor is missing", folder_ + "data/" + id.items[2]->text);
  }

  void reduce(const Value& function, const std::vector<Pointer>& arguments) {
    if (function.text == "collections OrderedDict") {
      push(Kind::dictionary);
    } else if (function.text == "torch._utils _rebuild_parameter" && !arguments.empty()) {
      stack_.push_back(arguments[0]);
    } else if (function.text == "torch._utils _rebuild_tensor_v2" && arguments.size() >= 4) {
      rebuild_tensor(arguments);
    } else {
      fail("holds objects that are no tensors; save them alone: torch.save(model.state_dict(), FILE); object",
           function.text);
    }
  }

  /// (storage, first element, sizes, strides, ...)
  void rebuild_tensor(const std::vector<Pointer>& arguments) {
    const Value& storage = *arguments[0];
    if (storage.kind != Kind::storage || arguments[2]->items.size() != arguments[3]->items.size())
      fail("tensor is malformed");
    NpyArray out;
    out.name = name_;
    set_type(storage.text, out);
    const std::int64_t held = static_cast<std::int64_t>(storage.tensor.bytes.size()) / out.item;
    std::vector<std::int64_t> strides;
    std::int64_t count = 1, last = arguments[1]->number;
    for (std::size_t d = 0; d < arguments[2]->items.size(); ++d) {
      const std::int64_t size = arguments[2]->items[d]->number, stride = arguments[3]->items[d]->number;
      if (size < 0 || stride < 0 || size > held || (size > 1 && stride > held / (size - 1)) || count > held)
        fail("tensor is larger than its storage");
      out.shape.push_back(size), strides.push_back(stride);
      count *= size;
      last += size > 0 ? (size - 1) * stride : 0;
    }
    if (count > held || arguments[1]->number < 0 || (count > 0 && last >= held))
      fail("tensor is larger than its storage");
    const auto item = static_cast<std::size_t>(out.item);
    for (std::int64_t k = 0; k < count; ++k) {
      std::int64_t at = arguments[1]->number, left = k;
      for (std::size_t d = out.shape.size(); d-- > 0;) {
        at += left % out.shape[d] * strides[d];
        left /= out.shape[d];
      }
      out.bytes.append(storage.tensor.bytes, static_cast<std::size_t>(at) * item, item);
    }
    push(Kind::tensor)->tensor = std::move(out);
  }
  void set_type(const std::string& storage, NpyArray& out) const {
    struct Type {
      std::string_view storage;
      char kind;
      std::int64_t bytes;
    };
    constexpr std::array<Type, 9> kTypes{{{"FloatStorage", 'f', 4},
                                          {"DoubleStorage", 'f', 8},
                                          {"HalfStorage", 'f', 2},
                                          {"LongStorage", 'i', 8},
                                          {"IntStorage", 'i', 4},
                                          {"ShortStorage", 'i', 2},
                                          {"CharStorage", 'i', 1},
                                          {"ByteStorage", 'u', 1},
                                          {"BoolStorage", 'b', 1}}};
    const auto found =
        std::find_if(kTypes.begin(), kTypes.end(), [&](const Type& t) { return t.storage == storage; });
    if (found == kTypes.end()) fail("type of a tensor is not read", storage);
    out.kind = found->kind, out.item = found->bytes;
  }
  const std::string& name_;
  const ZipArchive& zip_;
  std::string folder_;
  std::string_view in_;
  std::vector<Pointer> stack_;
  std::vector<std::size_t> marks_;
  std::map<std::uint64_t, Pointer> memo_;
};

std::vector<std::pair<std::string, NpyArray>> tensors_of(const Value& value, bool nested = false) {
  std::vector<std::pair<std::string, NpyArray>> out;
  if (value.kind == Kind::tensor) out.emplace_back("tensor", value.tensor);
  if (value.kind != Kind::dictionary) return out;
  for (std::size_t k = 0; k < value.items.size(); k += 2) {
    if (value.items[k + 1]->kind == Kind::tensor)
      out.emplace_back(value.items[k]->text, value.items[k + 1]->tensor);
  }
  for (std::size_t k = 0; !nested && out.empty() && k < value.items.size(); k += 2) {
    const std::string& key = value.items[k]->text;
    if (key == "state_dict" || key == "model_state_dict" || key == "model")
      out = tensors_of(*value.items[k + 1], true);
  }
  return out;
}

}  // namespace

std::vector<std::pair<std::string, NpyArray>> read_torch_tensors(ByteSource& source) {
  const std::string bytes = read_all(source);
  const ZipArchive zip(source.name(), bytes);
  constexpr std::string_view kPickle = "data.pkl";
  std::string pickle, folder;
  bool found = false;
  for (const ZipArchive::Member& member : zip.members()) {
    const std::size_t slash = member.name.rfind('/') + 1;
    if (member.name.substr(slash) == kPickle)
      pickle = zip.content(member), folder = member.name.substr(0, slash), found = true;
    if (member.name.substr(slash) == "byteorder" && zip.content(member) != "little")
      throw input_error(source.name(), 0, "tensors of another byte order are not read");
  }
  if (!found) throw input_error(source.name(), 0, "no data.pkl in the zip: not a file of torch.save");
  auto out = tensors_of(*Unpickler(source.name(), zip, folder, pickle).run());
  if (out.empty())
    throw input_error(source.name(), 0,
                      "no tensors in the file: torch.save(model.state_dict(), FILE) writes them");
  for (auto& [name, tensor] : out) tensor.name = source.name() + ":" + name;
  return out;
}

}  // namespace plumb
