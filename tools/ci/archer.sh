#!/usr/bin/env bash
# Every OpenMP variant under ThreadSanitizer with Archer, by the command that a person types. First the racy mutants, to see that the
# detector is awake.
set -euo pipefail
cd "$(dirname "$0")/../.."
judge=(tools/plumb verify --race --device cpu)
awake=0
for attempt in 1 2 3; do  # a mutant need not race in every run
  [ "$attempt" = 1 ] || cat build/archer.mutants
  code=0
  "${judge[@]}" --mutants -v --variant 'mutant/*openmp*' >build/archer.mutants 2>&1 || code=$?
  # 4: one survived, which is what is counted here; another code is no answer of the detector's
  case $code in 0 | 4) ;; *) cat build/archer.mutants; echo "verify --mutants ended with exit code $code" >&2; exit 1 ;; esac
  awake=$(grep -c 'race: race: ' build/archer.mutants || true)
  [ "$awake" -lt 5 ] || break
done
if [ "$awake" -lt 5 ]; then echo "only $awake racy mutants were reported by ThreadSanitizer: the detector sleeps" >&2; exit 1; fi
echo "$awake racy mutants reported by ThreadSanitizer"
# half of the cases: a race is in the code that all of them run
"${judge[@]}" --case all --listed --variant 'cpu/*' --fill exact --repeat 2 --shard 1/2 --timeout 300 --quiet
tools/ci/extra_race.py
