// The one main() of every doctest program, a library of its own: doctest's implementation takes ten seconds to compile.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>
