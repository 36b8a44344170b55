// What the judge does beside a call to find faults. It stays between the judge and its own worker: a kernel sees none of it, and no version
// is kept.
#pragma once
#include <cstdint>
#include <vector>

#include "verify/image/image.hpp"

namespace plumb {

struct Instruments {
  Poison poison = Poison::nan_payload;

  // ---- the CPU executor ----
  std::uint64_t schedule = 0;          // the order of blocks, warps and lanes follows from it
  bool check_accesses = false;         // --race
  std::int64_t threads_of_device = 0;  // that the run may ask for, over all launches; 0: as many as usual

  // ---- threads of the host, and what disturbs them ----
  int threads = 0;                // of OpenMP, in a run that nothing disturbs; 0: as many as usual
  std::uint64_t disturbance = 0;  // seed of what --stress does beside the run; 0: nothing
  bool one_thread = false;        // of OpenMP, in a disturbed run

  // ---- how often, and with what else ----
  int calls = 1;  // in a row, each on the same data: the ranges TimingRequest::outputs are put back before it
  int plan_runs = 1;  // of the plan of one more call, behind these; of the only call's, with no wait between
  int callers = 1;    // at once: a second one has a plan, outputs and a stream, or a thread, of its own
  bool plan_of_other_numbers =
      false;  // the plan is made with other factors, or another bias and cap, than the run has
  bool stop_where_differs = false;  // no further call or run after one whose outputs differ from the first's

  // ---- memory ----
  std::vector<Wall> walls = {};  // pages of the image that may not be touched, or not be written
  bool far_rows = false;         // rows of matrices are mapped far apart (FarRows)

  // ---- what the reply is to say ----
  bool watch = false;  // the kernels that are launched
};

}  // namespace plumb
