// Faults of the processor in a kernel's code.
#pragma once

namespace plumb::simt {

/// From here on they are told: a call of what is no function, a division of integers by 0, an access that nothing checked, and a
/// recursion that fills the stack as findings (trap), other stacks that are full as what the executor is short of. All other such
/// signals go to whoever had them before.
void watch_processor_faults();
/// The same for a further thread of the host: a handler needs a stack of its own where a kernel's is full.
void give_signal_stack();

}  // namespace plumb::simt
