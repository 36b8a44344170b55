#include "gpu/simt/ptx/program/arguments.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <limits>
#include <regex>

#include "gpu/simt/language/half_bits.hpp"
#include "reference/core/error.hpp"

namespace plumb::simt::ptx {

namespace {

template <class T>
double read_as(const void* at) {
  T v;
  std::memcpy(&v, at, sizeof v);
  return static_cast<double>(v);
}
template <class T>
void write_as(void* at, double value) {
  const T v = static_cast<T>(value);
  std::memcpy(at, &v, sizeof v);
}
template <class F>
double read_half(const void* at) {
  return static_cast<double>(widen<F>(static_cast<unsigned short>(read_as<std::uint16_t>(at))));
}
template <class F>
void write_half(void* at, double value) {
  const unsigned short v = narrow<F>(value);
  std::memcpy(at, &v, sizeof v);
}

#define PLUMB_NUMBER(name, type) \
  { name, sizeof(type), &read_as<type>, &write_as<type> }
const ElementType kTypes[] = {PLUMB_NUMBER("f32", float),
                              PLUMB_NUMBER("f64", double),
                              PLUMB_NUMBER("i8", std::int8_t),
                              PLUMB_NUMBER("i16", std::int16_t),
                              PLUMB_NUMBER("i32", std::int32_t),
                              PLUMB_NUMBER("i64", std::int64_t),
                              PLUMB_NUMBER("u8", std::uint8_t),
                              PLUMB_NUMBER("u16", std::uint16_t),
                              PLUMB_NUMBER("u32", std::uint32_t),
                              PLUMB_NUMBER("u64", std::uint64_t),
                              {"f16", 2, &read_half<Half>, &write_half<Half>},
                              {"bf16", 2, &read_half<Brain>, &write_half<Brain>}};
#undef PLUMB_NUMBER

Error bad(const char* what, const std::string& text) { return input_error("--arg", 0, what, text); }

double number(const std::string& word, const std::string& text) {
  char* end = nullptr;
  const double v = std::strtod(word.c_str(), &end);
  if (word.empty() || *end != 0) throw bad("a value that is no number", text);
  return v;
}

// What a file has, past the head of numpy's format.
std::vector<unsigned char> bytes_of(const std::string& path, const std::string& text) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw bad("neither a number nor a way to fill an array nor a file", text);
  std::vector<unsigned char> all{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  if (all.size() < 12 || std::memcmp(all.data(), "\x93NUMPY", 6) != 0) return all;
  std::size_t head = 10u + all[8] + 256u * all[9];
  if (all[6] > 1) head = 12u + all[8] + 256u * all[9] + 65536u * all[10];
  all.erase(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(std::min(head, all.size())));
  return all;
}

void fill(Argument& a, std::size_t count, const std::string& how, const std::string& text) {
  a.bytes.resize(count * a.type->bytes);
  a.is_set = how != "unset";
  const bool is_whole = a.type->name[0] != 'f' && a.type->name[0] != 'b';
  std::uint64_t random = 0x9e3779b97f4a7c15u;
  const auto value_at = [&](std::size_t i) -> double {
    if (how == "zeros" || how == "unset") return 0;
    if (how == "ones") return 1;
    if (how == "iota") return static_cast<double>(i);
    if (how != "random") return number(how, text);
    random ^= random << 13, random ^= random >> 7, random ^= random << 17;
    return is_whole ? static_cast<double>(random % 100) : static_cast<double>(random >> 40) / (1 << 24);
  };
  for (std::size_t i = 0; i < count; ++i) a.type->write(&a.bytes[i * a.type->bytes], value_at(i));
}

bool is_filling(const std::string& how) {
  static const char* const kWays[] = {"zeros", "ones", "iota", "random", "unset"};
  return std::find(std::begin(kWays), std::end(kWays), how) != std::end(kWays) ||
         std::regex_match(how, std::regex(R"([-+]?[\d.]+(?:[eE][-+]?\d+)?|[-+]?(?:inf|nan))"));
}

}  // namespace

const ElementType* element_type(const std::string& name) {
  const auto* const found = std::find_if(std::begin(kTypes), std::end(kTypes),
                                         [&](const ElementType& t) { return name == t.name; });
  return found != std::end(kTypes) ? found : nullptr;
}

Argument read_argument(const std::string& text, std::size_t number_of_it) {
  static const std::regex kForm(R"((?:([A-Za-z_]\w*):)?(\w+)(?:\[(\d+)\])?(?:=(.+))?)");
  std::smatch m;
  if (!std::regex_match(text, m, kForm))
    throw bad("is TYPE=VALUE, NAME:TYPE[COUNT]=FILL or null, such as f32[1024]=iota", text);
  Argument a;
  a.name = m[1].matched ? m[1].str() : fmt::format("arg{}", number_of_it);
  a.type = element_type(m[2] == "null" ? "u64" : m[2].str());
  if (a.type == nullptr) throw bad("a type that is none of f32 f64 f16 bf16 i8..i64 u8..u64", text);
  a.is_array = m[3].matched;
  const std::string how = m[4].matched ? m[4].str() : m[2] == "null" ? "0" : "zeros";
  const std::size_t count = a.is_array ? std::strtoull(m[3].str().c_str(), nullptr, 10) : 1;
  if (!a.is_array && m[2] != "null" && !m[4].matched) throw bad("a value is missing", text);
  if (is_filling(how)) {
    fill(a, count, how, text);
    return a;
  }
  a.bytes = bytes_of(how, text);
  if (a.bytes.size() != count * a.type->bytes)
    throw bad(fmt::format("the file has {} bytes, not {}", a.bytes.size(), count * a.type->bytes).c_str(),
              text);
  return a;
}

std::string summary(const Argument& before, const std::vector<unsigned char>& after, std::size_t shown) {
  const std::size_t width = before.type->bytes, count = before.count();
  std::size_t changed = 0, not_numbers = 0;
  double least = std::numeric_limits<double>::infinity(), most = -least;
  for (std::size_t i = 0; i < count; ++i) {
    if (std::memcmp(&before.bytes[i * width], &after[i * width], width) != 0) ++changed;
    const double v = before.type->read(&after[i * width]);
    if (std::isnan(v)) ++not_numbers;
    least = std::fmin(least, v), most = std::fmax(most, v);
  }
  std::string out = fmt::format("{}: {}[{}], ", before.name, before.type->name, count);
  if (before.is_set && changed == 0) return out + "unchanged";
  if (before.is_set) out += fmt::format("{} changed, ", changed);
  out += fmt::format("{} to {}", least, most);
  if (not_numbers > 0) out += fmt::format(", {} NaN", not_numbers);
  out += ":";
  for (std::size_t i = 0; i < std::min(count, shown); ++i)
    out += fmt::format(" {:.6g}", before.type->read(&after[i * width]));
  return out + (count > shown ? " ..." : "");
}

}  // namespace plumb::simt::ptx
