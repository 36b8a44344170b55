// From program addresses to functions and lines.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "gpu/simt/race/race.hpp"

namespace plumb::simt {

/// A piece of the program's code: an executable or a library, mapped.
struct Module {
  std::string path;
  std::uintptr_t base;
  std::uintptr_t low, high;  // of its code
};
struct Frame {
  std::string function;
  Place place;
};
/// Those with kernels that were loaded while the program ran come first, then the others in the order in which they were loaded.
std::vector<Module> modules();
/// Says that the library which holds this address holds kernels.
void holds_kernels(const void* address);
/// Frames of each address, innermost first, by one call of addr2line for each module.
std::map<std::uintptr_t, std::vector<Frame>> symbolise(const std::vector<std::uintptr_t>& addresses);
/// A function's name as the linker has it, from the symbols of the program or library that holds it; empty where it has none (stripped).
std::string linked_name(const void* function);
/// A return address in full: the one in the first module whose low 31 bits fit; 0 where there is none. In a process with gigabytes of libraries
/// it fits several.
std::uintptr_t whole_address(Location location, const std::vector<Module>& all);
/// Code of our own that stands between a kernel and what it does.
bool is_ours(const std::string& file);
/// Code of CUB, Thrust and libcu++ as it is installed, whose authors write for one compiler and chip: volatile there is what PTX says it is.
bool is_of_cccl(const std::string& file);

}  // namespace plumb::simt
