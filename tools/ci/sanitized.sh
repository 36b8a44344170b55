#!/usr/bin/env bash
# The doctest suites and a slice of verify under AddressSanitizer and UndefinedBehaviorSanitizer.
set -euo pipefail
cd "$(dirname "$0")/../.."
tools/plumb build --preset cpu-debug reference_tests datasets_tests verify
export ASAN_OPTIONS=detect_leaks=1 UBSAN_OPTIONS=print_stacktrace=1
{ build/cpu-debug/reference/reference_tests
  # the same code as for the other look-alikes, at full size
  build/cpu-debug/datasets/datasets_tests --test-case-exclude='the look-alike of web-Stanford*'; } >build/cpu-debug/tests.out 2>&1 &
tests=$!
status=0
# every variant's code runs, in its own process; the judge's own runs are sanitized too
build/cpu-debug/bin/verify --case all --listed --fill hostile --repeat 2 --quiet || status=$?
wait "$tests" || status=$?
cat build/cpu-debug/tests.out
exit "$status"
