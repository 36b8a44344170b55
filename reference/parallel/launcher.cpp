// What launchers of MPI programs tell in the environment.
#include <cstdlib>
#include <string>

#include "reference/parallel/world.hpp"

namespace plumb {

int World::launched_ranks() {
  // Open MPI's mpirun; MPICH's and Intel's, and Slurm's with --mpi=pmi2; Slurm's with --mpi=pmix, which tells no number
  for (const char* const name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"}) {
    if (const char* const text = std::getenv(name); text != nullptr) return std::atoi(text);
  }
  const char* const tasks = std::getenv("SLURM_NTASKS");
  return std::getenv("PMIX_RANK") != nullptr && tasks != nullptr ? std::atoi(tasks) : 1;
}

}  // namespace plumb
