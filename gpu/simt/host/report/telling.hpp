// What a program that runs by itself has found, told on stderr and in files: each finding when the work in which it was found has ended,
// so that however the program ends there is next to nothing left to tell.
#pragma once
#include "gpu/simt/executor.hpp"
#include "gpu/simt/host/api/runtime/types.hpp"

namespace plumb::simt {

/// Begins the files that are asked for; from here on findings are told. `seed`: of the run.
void begin_telling(std::uint64_t seed);
/// Whether the program began its run by itself, so that it is told of what is found.
bool is_telling();
/// In a process that another one has forked: what was found until here is that one's, and it tells nothing until it calls the executor.
void begin_telling_as_child();
/// A thread of the host leaves the executor: what was found inside is told.
void tell_at_leaving();
/// Tells all that is left: counts, launches that did nothing, suppressions without use. `cut`: what ended the program before its time, as
/// "SIGTERM"; null: nothing. The exit code that it asks for, 0: none. A second call tells nothing and asks for the same.
int tell_the_rest(const char* cut);
/// What tell_the_rest() asked for.
int code_of_the_end();
/// Whether this process, or one that it started, has told what makes the exit code 1.
bool has_told_findings();
/// What every call answers once a finding has stopped the run.
cudaError_t stopped_by();

}  // namespace plumb::simt
