// What a module of PTX has, as its library tells the executor: gpu/simt/ptx/module_code.py writes such a table, host/ptx_modules.cpp reads it.
#pragma once
#include <cstddef>

namespace plumb::simt::ptx {

struct Parameter {
  const char* name;
  const char* type;  // as PTX has it: u64, b8
  std::size_t bytes, offset;
  bool is_pointer;  // the module says so; not every compiler does
  bool is_read;     // by the kernel, by its name
};
struct Kernel {
  const char* name;
  const void* address;
  void (*invoke)(const void* kernel, void** arguments);
  std::size_t count;
  const Parameter* parameters;
  const std::size_t* sizes;
  int threads;  // that a block has or may have, along x; 0: not said
};
struct Global {
  const char* name;
  void* data;
  std::size_t bytes;
};
/// The place of the source language that a line of the module came of, outside of libraries; and the innermost one, in a library's function
/// that was put in its caller's place. -1: no file.
struct SourcePlace {
  int ptx_line;
  int file, line;
  int inner_file, inner_line;
};
struct Table {
  const char* target;
  const Kernel* kernels;
  std::size_t kernel_count;
  const Global* globals;
  std::size_t global_count;
  const char* const* files;
  const SourcePlace* places;
  std::size_t place_count;
};

}  // namespace plumb::simt::ptx
