// The program `bench`: times variants beside the vendor's. Each is judged before and after it is timed.
#pragma once
#include <string>
#include <vector>

namespace plumb {

/// Everything main() does. `libraries`: what the program was built with and cannot be asked when run ("Eigen 3.4.0").
/// Exit codes: 0 all that ran was right and possible; 1 something was not, or compare found a regression; 2 usage or environment;
/// 3 nothing ran; 4 harness broken; 77 no device; 130 interrupted.
int bench_main(int argc, char** argv, const std::vector<std::string>& libraries);

}  // namespace plumb
