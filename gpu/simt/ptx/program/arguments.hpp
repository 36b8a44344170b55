// Arguments of a kernel as they are written on a command line: "x:f32[1024]=iota", "i32=7", "null".
#pragma once
#include <cstddef>
#include <string>
#include <vector>

namespace plumb::simt::ptx {

/// How an element is stored, by its name: f32, f64, f16, bf16, i8 to i64, u8 to u64.
struct ElementType {
  const char* name;
  std::size_t bytes;
  double (*read)(const void* at);
  void (*write)(void* at, double value);
};
/// Null where there is no such type.
const ElementType* element_type(const std::string& name);

struct Argument {
  std::string name;
  const ElementType* type = nullptr;
  bool is_array = false, is_set = true;
  std::vector<unsigned char> bytes;  // the array's elements, or the value
  std::size_t count() const { return bytes.size() / type->bytes; }
};
/// Reads an argument; `number` is its place, from which it has its name where the text says none. Throws plumb::Error for text that is none,
/// with the text in it. An array holds zeros, ones, iota (0, 1, 2, ...), random (0 to 1, integers 0 to 99; the same each time), a number, nothing
/// (unset), or what a file has.
Argument read_argument(const std::string& text, std::size_t number);

/// "x: f32[1024], 12 changed, 0 to 7.5: 0 1 2 ..."
std::string summary(const Argument& before, const std::vector<unsigned char>& after, std::size_t shown);

}  // namespace plumb::simt::ptx
