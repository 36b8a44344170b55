#!/usr/bin/env bash
# What .ci/run and .ci/nightly are written with: steps, each with its result and its time. To be read by `source`, in the top folder.
begun=$SECONDS
failed=()
slowest=()
mkdir -p build

# cpu_seconds: sets cpu to the processor time, in seconds, of all commands that were waited for. `times` counts in its own shell alone.
cpu_seconds() {
  times >build/times
  cpu=$(awk 'NR == 2 { split($1 "m" $2, t, /[ms]+/); printf "%d", (t[1] + t[3]) * 60 + t[2] + t[4] }' build/times)
}

step() {
  local title=$1; shift
  printf '\n=== %s\n' "$title"
  local start=$SECONDS before status=0 outcome=ok
  cpu_seconds; before=$cpu
  "$@" || status=$?
  cpu_seconds
  if [ "$status" != 0 ]; then outcome="FAILED with exit code $status"; failed+=("$title"); fi
  slowest+=("$(printf '%6d s, %6d s of processor time  %s' $((SECONDS - start)) $((cpu - before)) "$title")")
  printf '=== %s: %s (%d s; %d s of processor time)\n' "$title" "$outcome" $((SECONDS - start)) $((cpu - before))
}

# end: the slowest steps and what failed; the script's exit code.
end() {
  printf '\nslowest steps:\n'
  printf '%s\n' "${slowest[@]}" | sort -rn | sed -n 1,5p
  if [ ${#failed[@]} -gt 0 ]; then printf '\nfailed: %s\n' "${failed[@]}"; exit 1; fi
  printf '\nall steps passed (%d s)\n' $((SECONDS - begun))
}

# beside NAME COMMAND...: begins it now, with its output in build/NAME.out; result NAME shows that and hands on its exit code.
declare -A begun_beside
beside() {
  local name=$1; shift
  "$@" >"build/$name.out" 2>&1 &
  begun_beside[$name]=$!
}
result() {
  local status=0
  wait "${begun_beside[$1]}" || status=$?
  cat "build/$1.out"
  return "$status"
}

# install PACKAGE...: those that a step needs beyond what tools/plumb installs.
install() {
  local root=()
  if [ "$(id -u)" != 0 ]; then root=(sudo -n); fi
  "${root[@]}" apt-get update -qq || true
  "${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >/dev/null
}

packages() {
  tools/plumb setup --with mpi --with metis
  /usr/bin/python3 -c 'import scipy' 2>/dev/null || install python3-scipy  # of tools/fit, whose tests would be left out
  command -v clang-tidy-14 >/dev/null || command -v clang-tidy >/dev/null || install clang-tidy-14
  compgen -G '/usr/lib/llvm-*/lib/clang/*/include/omp.h' >/dev/null || install libomp-14-dev  # clang-tidy reads <omp.h> of clang
}

use_cache() {  # a cache that outlives this run
  [ -n "${CCACHE_DIR:-}" ] && command -v ccache >/dev/null || return 0
  # by paths within the tree: another checkout finds what this one has compiled
  export CMAKE_CXX_COMPILER_LAUNCHER=ccache CMAKE_CUDA_COMPILER_LAUNCHER=ccache CCACHE_BASEDIR=$PWD
}
