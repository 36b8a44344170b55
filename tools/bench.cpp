// The program `bench`: everything is in verify/bench; what only this program knows is which libraries its variants were built with.
#include <Eigen/src/Core/util/Macros.h>

#include <string>

#include "reference/core/watched_start.hpp"
#include "verify/bench/bench_cli.hpp"

int main(int argc, char** argv) {
  plumb::note_started();
  const std::string eigen = "Eigen " + std::to_string(EIGEN_WORLD_VERSION) + "." +
                            std::to_string(EIGEN_MAJOR_VERSION) + "." + std::to_string(EIGEN_MINOR_VERSION);
  return plumb::bench_main(argc, argv, {eigen});
}
