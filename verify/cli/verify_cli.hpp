// The program `verify`: options, what they select, and the exit code.
#pragma once

namespace plumb {

/// Everything main() does. Exit codes: 0 all that ran passed; 1 a failure; 2 usage; 3 nothing ran; 4 harness broken; 77 no device.
int verify_main(int argc, char** argv);

}  // namespace plumb
