// The program that adversary_test.cpp starts its child processes from: a worker whose variants are adversaries.
#include "verify/engine/process/child.hpp"

int main() { return plumb::worker_main(); }
