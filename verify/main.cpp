#include "reference/core/watched_start.hpp"
#include "verify/cli/verify_cli.hpp"

int main(int argc, char** argv) {
  plumb::note_started();
  return plumb::verify_main(argc, argv);
}
