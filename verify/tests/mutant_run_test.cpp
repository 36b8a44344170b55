// verify --mutants as a person runs it, and stops it.
#include <sys/wait.h>

#include <cstdio>
#include <string>

#include <doctest/doctest.h>

// A fault that only the last of its attacks notices: whoever stops before has seen it pass.
TEST_CASE("an interrupted attack is no survivor: the fault was not judged") {
  for (const std::string seconds : {"0.02", "0.05", "0.1", "0.3", "0.5", "0.7", "1.0"}) {
    CAPTURE(seconds);
    const std::string command = "timeout --preserve-status -s INT " + seconds + " '" PLUMB_VERIFY "' --mutants --device simt --variant mutant/look_back_state_not_cleared 2>&1";
    std::FILE* const pipe = popen(command.c_str(), "r");
    REQUIRE(pipe != nullptr);
    std::string text;
    char buffer[4096];
    while (std::fgets(buffer, sizeof buffer, pipe) != nullptr) text += buffer;
    const int status = pclose(pipe);
    REQUIRE(WIFEXITED(status));
    if (WEXITSTATUS(status) == 0) break;  // it was over before the signal came
    INFO(text);
    CHECK(WEXITSTATUS(status) == 128 + 2);
    if (text.find("planted fault") == std::string::npos) continue;  // or the signal before it had begun
    CHECK(text.find("SURVIVED") == std::string::npos);
    CHECK(text.find("or they were interrupted") != std::string::npos);
  }
}
