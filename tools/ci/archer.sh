#!/usr/bin/env bash
# Every OpenMP variant under ThreadSanitizer with Archer, which reports OpenMP's own synchronisation to it. A race ends the child process that
# ran the variant with exit code 66, which is a verdict `crash`. First the racy mutants, to see that the detector is awake.
set -euo pipefail
cd "$(dirname "$0")/../.."
tools/plumb build --preset archer verify
export TSAN_OPTIONS="ignore_noninstrumented_modules=1 halt_on_error=1 exitcode=66" OMP_NUM_THREADS=4 KMP_BLOCKTIME=0
run=(setarch -R); "${run[@]}" true 2>/dev/null || run=()
awake=0
for attempt in 1 2 3; do  # a mutant need not race in every run
  [ "$attempt" = 1 ] || cat build/archer/mutants.out
  "${run[@]}" build/archer/bin/verify --mutants -v --variant 'mutant/*openmp*' >build/archer/mutants.out 2>&1 || true
  awake=$(grep -c 'exited with code 66' build/archer/mutants.out || true)
  [ "$awake" -lt 5 ] || break
done
if [ "$awake" -lt 5 ]; then echo "only $awake racy mutants were reported by ThreadSanitizer: the detector sleeps" >&2; exit 1; fi
echo "$awake racy mutants reported by ThreadSanitizer"
# libraries' own threads are not instrumented. Half of the cases: a race is in the code that all of them run
"${run[@]}" build/archer/bin/verify --case all --listed --variant 'cpu/*' --fill exact --repeat 2 --shard 1/2 --timeout 300 --quiet
