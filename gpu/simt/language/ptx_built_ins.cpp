// Functions that the driver gives every module of PTX.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "gpu/simt/language/device_api.hpp"

extern "C" void* plumb_simt_malloc(std::size_t bytes);
extern "C" void plumb_simt_free(void* p);

namespace plumb::simt::ptx {

namespace {

template <class T>
T read(const unsigned char* at) {
  T v;
  std::memcpy(&v, at, sizeof v);
  return v;
}

// The next argument of a call of vprintf: each lies at a multiple of its size.
template <class T>
T next(const unsigned char* arguments, std::size_t& at) {
  at = (at + sizeof(T) - 1) / sizeof(T) * sizeof(T);
  at += sizeof(T);
  return read<T>(arguments + at - sizeof(T));
}

// Prints one conversion of a format ("%5.2f"), whose argument is at `at`.
int print(const std::string& how, const unsigned char* arguments, std::size_t& at) {
  switch (how.back()) {
    case '%':
      return std::printf("%%");
    case 's':
      return std::printf(how.c_str(), next<const char*>(arguments, at));
    case 'p':
      return std::printf(how.c_str(), next<const void*>(arguments, at));
    case 'a':
    case 'A':
    case 'e':
    case 'E':
    case 'f':
    case 'F':
    case 'g':
    case 'G':
      return std::printf(how.c_str(), next<double>(arguments, at));
    default:
      break;
  }
  const bool is_long = how.find('l') != std::string::npos || how.find_first_of("jzt") != std::string::npos;
  return is_long ? std::printf(how.c_str(), next<long long>(arguments, at))
                 : std::printf(how.c_str(), next<int>(arguments, at));
}

}  // namespace

void built_in_vprintf(unsigned char* written, unsigned char* format, unsigned char* arguments) {
  const std::string text = read<const char*>(format);
  const auto* const given = read<const unsigned char*>(arguments);
  std::size_t at = 0;
  int count = 0;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t end =
        text[i] == '%' ? text.find_first_of("%diouxXcsaAeEfFgGp", i + 1) : text.find('%', i);
    const bool is_conversion = text[i] == '%' && end != std::string::npos;
    const std::size_t behind = end == std::string::npos ? text.size() : is_conversion ? end + 1 : end;
    const std::string piece = text.substr(i, behind - i);
    if (is_conversion) {
      count += print(piece, given, at);
    } else {
      std::fputs(piece.c_str(), stdout);
    }
    i = behind;
  }
  std::memcpy(written, &count, sizeof count);
}

void built_in___assertfail(unsigned char* message, unsigned char* file, unsigned char* line, unsigned char*,
                           unsigned char*) {
  const auto* const where = read<const char*>(file);
  trap((std::string("assertion failed: ") + read<const char*>(message)).c_str(),
       {where != nullptr ? where : "", read<int>(line)});
}

void built_in_malloc(unsigned char* memory, unsigned char* bytes) {
  void* const p = plumb_simt_malloc(read<std::size_t>(bytes));
  std::memcpy(memory, &p, sizeof p);
}
void built_in_free(unsigned char* memory) { plumb_simt_free(read<void*>(memory)); }

}  // namespace plumb::simt::ptx
