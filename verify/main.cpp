#include "verify/cli/verify_cli.hpp"

int main(int argc, char** argv) { return plumb::verify_main(argc, argv); }
