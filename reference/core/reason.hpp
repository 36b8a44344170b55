// Why something cannot run here, or does not take a problem.
#pragma once
#include <string>

namespace plumb {

/// One line for a report; empty: it can. Functions that return one are called why_not...().
using Reason = std::string;

}  // namespace plumb
