// Where each kernel file built with PLUMB_STRESS keeps the seed of its delays: without relocatable device code no variable of a
// device is shared between files, so each has its own, and all are set before a run.
#pragma once

namespace plumb {

struct StressSeed {
  const void* symbol;
  StressSeed* next;
};

/// Of this program; empty in programs whose kernels are built as usual.
inline StressSeed* stress_seeds = nullptr;

}  // namespace plumb
