// A program that was built without MPI.
#include <fmt/format.h>

#include "reference/core/error.hpp"
#include "reference/parallel/world.hpp"

namespace plumb {

std::string mpi_version() { return ""; }

World::World() {
  const int ranks = launched_ranks();
  if (ranks <= 1) return;
  throw Error(fmt::format(
      "{} ranks were started, but this program was built without MPI: tools/plumb setup --with mpi, "
      "then tools/plumb build",
      ranks));
}

World::~World() = default;

}  // namespace plumb
