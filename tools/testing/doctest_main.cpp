// The one main() of every doctest program, so that each suite compiles doctest's implementation once.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>
