// The exit codes of every program. They are an interface: docs/contributing/versions.md.
#pragma once

namespace plumb {

enum ExitCode : int {
  kOk = 0,
  kFailed = 1,         // a variant failed, or an answer is wrong
  kUsage = 2,          // wrong options, bad input, an output that cannot be written
  kNothingRan = 3,     // nothing was judged or timed
  kBrokenHarness = 4,  // the build itself is wrong: a variant is missing, a mutant survived
  kNoDevice = 77,      // all that was asked for needs a device that is absent
  kSignalled = 128,    // plus the number of the signal that ended the program
};

}  // namespace plumb
