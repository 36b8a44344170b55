// The program that holds the GPU kernels of a stress build: verify's child process for --stress on a GPU. It has no command line of its
// own.
#include <cstdio>
#include <cstring>

#include "verify/engine/process/child.hpp"

int main(int argc, char** argv) {
  if (argc != 2 || std::strcmp(argv[1], "--worker") != 0) {
    std::fprintf(stderr, "error: %s is started by verify --stress\n", argv[0]);
    return 2;
  }
  return plumb::worker_main();
}
