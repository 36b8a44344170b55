// Trials of a launch with other values in its variables that nothing has set (unset_trial.cpp), and what they share with those of single
// values (undefined.cpp).
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "gpu/simt/memory/memory.hpp"
#include "gpu/simt/scheduler/undefined.hpp"

namespace plumb::simt {

/// Before and behind the blocks of a launch: tries whether its results depend on what a variable holds that nothing has set.
void begin_unset_trial();
void finish_unset_trial();

/// What a run left: a number for each array that a kernel may have written, by what it holds.
using Answer = std::vector<std::uint64_t>;
/// Where `hidden` is a byte, it and the bytes of unset variables are alike; -1: none.
[[nodiscard]] Answer answer_of_run(int hidden);
/// What a child has to say; nothing where it does not come to its end in time, or dies.
[[nodiscard]] Answer read_answer(int from, double until);
/// The first array in which the two runs differ, in quotes; "": they do not, or one of them says nothing.
[[nodiscard]] std::string difference(const Answer& mine, const Answer& theirs);
/// What a place gives as an undefined value.
void fill(void* out, std::size_t bytes, Stand stand);
/// Nobody hears this process.
void be_silent();
/// Arrays that a kernel may have written.
[[nodiscard]] std::vector<const Array*> results();
/// This process is a child that answers with answer_of_run(hidden) when its launch has ended.
void answer_with(int hidden);

}  // namespace plumb::simt
