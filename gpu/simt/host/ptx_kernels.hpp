// Kernels of a program by their PTX: with PLUMB_SIMT_PTX=FOLDER, a launch through the seam runs what a compiler made of the kernel in place of
// its C++. gpu/simt/ptx/split_modules.py writes such a folder.
#pragma once

namespace plumb::simt {

/// The code of a launch: a kernel's address, and what calls it with pointers to its arguments.
struct KernelCode {
  const void* kernel;
  void (*invoke)(const void* kernel, void** arguments);
};
/// The code that a launch of `written` runs: itself, or the module's entry of the same name, which is compiled and loaded by the first launch.
/// Where there is a folder and it has no entry of the name, or none that can be compiled, the run is given up, and its shortage() says so.
/// Throws plumb::Error where the folder has no readable list of its kernels.
KernelCode code_of(const KernelCode& written);

}  // namespace plumb::simt
