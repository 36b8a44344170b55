// The job that this process was started in: mpi_world.cpp where MPI was found at configure time, else no_mpi_world.cpp.
#pragma once
#include <memory>
#include <string>

#include "reference/parallel/transport.hpp"

namespace plumb {

/// "Open MPI 4.1.4", or "" where this program was built without MPI.
[[nodiscard]] std::string mpi_version();

/// The ranks of the job, from its start to its end. One object at a time.
class World {
 public:
  /// How many ranks a launcher (mpirun, srun) says that it started, by its environment; 1 where there is none.
  [[nodiscard]] static int launched_ranks();

  /// Joins the job where there are several ranks; else MPI is not touched.
  /// Errors: several ranks, and a program without MPI, or with another MPI than the launcher's: each of them would do the
  /// whole work, and write the same files.
  World();
  /// Leaves the job; every rank must come here. After an Error only end_job() is left.
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  /// Null: there is one rank.
  [[nodiscard]] Transport* transport() const { return transport_.get(); }

 private:
  std::unique_ptr<Transport> transport_;
};

}  // namespace plumb
