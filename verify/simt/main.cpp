// The program that holds GPU kernels compiled for the CPU executor: verify's child process for --device simt. It has no command
// line of its own.
#include <cstdio>
#include <cstring>

#include "verify/engine/backend/backend.hpp"
#include "verify/engine/process/child.hpp"
#include "verify/simt/simt_backend.hpp"

int main(int argc, char** argv) {
  if (argc != 2 || std::strcmp(argv[1], "--worker") != 0) {
    std::fprintf(stderr, "error: %s is started by verify --device simt\n", argv[0]);
    return 2;
  }
  plumb::make_simt_backend = plumb::new_simt_backend;
  return plumb::worker_main();
}
