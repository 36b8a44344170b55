// Faults of the processor in a kernel's code, in a program that runs by itself.
#pragma once

namespace plumb::simt {

/// From here on they are told: a call of what is no function, a division of integers by 0 and an access that nothing checked as findings
/// (trap), a stack that is full as what the executor is short of. Signals that the program handles itself are left to it.
void watch_processor_faults();
/// The same for a further thread of the host: a handler needs a stack of its own where a kernel's is full.
void give_signal_stack();

}  // namespace plumb::simt
