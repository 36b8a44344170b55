// What several processes of one program found: those that it forks, and programs that it starts. Each keeps here what it has told, in
// memory that all of them share, so that whichever of them writes a file of findings writes all.
#pragma once
#include <cstddef>
#include <vector>

#include "gpu/simt/executor.hpp"

namespace plumb::simt {

/// Takes part in the ledger that the process was started with, or begins one. A process that is forked later takes part by itself.
void open_ledger();
void add_to_ledger(const Finding& finding);
/// This process takes part: the whole is complete when it has ended, too.
void add_begin_to_ledger();
/// `cut`: before its time.
void add_end_to_ledger(bool cut);

struct OfOthers {
  std::vector<Finding> findings;
  std::size_t of_descendants =
      0;  // of them, notes and suppressed ones apart: by processes that this one has started
  bool any_cut = false;
  bool any_open = false;  // one has not ended, or was killed
};
/// What the other processes have added.
OfOthers of_others();

/// One process at a time, as long as this lives.
class LedgerLock {
 public:
  LedgerLock();
  ~LedgerLock();
  LedgerLock(const LedgerLock&) = delete;
  LedgerLock& operator=(const LedgerLock&) = delete;
};

}  // namespace plumb::simt
