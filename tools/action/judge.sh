#!/usr/bin/env bash
# What action.yml runs, with its inputs in the environment: judges the kernels of $KERNELS and the programs of $PROGRAMS, and leaves reports in
# $REPORTS. Exit 0: all passed; 1: a failure; else what plumb says of its input.
set -uo pipefail
here=$(cd "$(dirname "$0")/../.." && pwd)
plumb=$(command -v plumb || printf '%s' "$here/tools/plumb")
mkdir -p "$REPORTS"
worst=0
took() { [ "$1" -le "$worst" ] || worst=$1; }

judged=()
for device in ${DEVICES//,/ }; do
  files=cpp; [ "$device" = cpu ] || files=cu
  if [ -z "${KERNELS:-}" ] || ! compgen -G "$KERNELS/*.$files" >/dev/null; then continue; fi
  words=(--device "$device" --case "${CASES:-all}" --variant 'user/*' --json "$REPORTS/$device.json" --junit "$REPORTS/$device.xml" --html "$REPORTS/$device.html")
  [ "$device" != simt ] || words+=(--race)
  # shellcheck disable=SC2086
  "$plumb" --extra "$KERNELS" verify "${words[@]}" ${ARGUMENTS:-}
  took $?
  [ ! -s "$REPORTS/$device.json" ] || judged+=("$REPORTS/$device.json")
done
for program in ${PROGRAMS:-}; do
  name=$REPORTS/$(basename "$program" .cu)
  "$plumb" simt "--sarif=$name.sarif" "--html=$name.html" "$program"
  took $?
  [ ! -s "$name.sarif" ] || judged+=("$name.sarif")
done
if [ ${#judged[@]} -gt 0 ]; then
  python3 "$here/tools/action/report.py" "${KERNELS:-}" "$REPORTS/verify.sarif" "${judged[@]}" || took 4
fi
exit "$worst"
