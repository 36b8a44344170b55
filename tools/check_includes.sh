#!/usr/bin/env bash
# Holds the arrows between the rooms: fails on an include that points the wrong way.
#   reference/core <- reference/arithmetic <- reference/cases <- reference/formula <- reference/ops <- { reference/cpu, reference/models, gpu, verify };  verify -> datasets;  tools -> anything
set -euo pipefail
cd "$(dirname "$0")/.."
bad=0

# room ROOM ALLOWED...: the files under ROOM may include "X/..." only for X in ALLOWED.
room() {
  local place=$1; shift
  local allowed; allowed=$(IFS='|'; printf '%s' "$*")
  [ -d "$place" ] || return 0
  local found
  found=$(grep -rnE '^ *# *include *"' "$place" --include='*.hpp' --include='*.cpp' --include='*.cu' --include='*.h' --include='*.cuh' |
    grep -vE "#[[:space:]]*include *\"($allowed)" || true)
  if [ -n "$found" ]; then
    printf 'includes that %s must not have (allowed: %s):\n%s\n' "$place" "$*" "$found" >&2
    bad=1
  fi
}

room reference/core reference/core/
room reference/arithmetic reference/core/ reference/arithmetic/
meaning="reference/core/ reference/arithmetic/ reference/cases/"
# shellcheck disable=SC2086
{
  room reference/cases $meaning
  room reference/formula $meaning reference/formula/
  room reference/ops $meaning reference/formula/ reference/ops/
  room reference/cpu $meaning reference/ops/ reference/cpu/
  room reference/models $meaning reference/ops/ reference/parallel/ reference/models/
}
room reference/parallel reference/core/ reference/parallel/
room reference/tests reference/
room datasets datasets/ reference/core/ reference/cases/
# inside datasets: io <- formats <- { generators, remote } <- networks
room datasets/io datasets/io/ reference/core/
room datasets/formats datasets/io/ datasets/formats/ reference/core/
room datasets/generators datasets/io/ datasets/formats/ datasets/generators/ reference/core/ reference/cases/
room datasets/networks datasets/ reference/core/ reference/cases/
room datasets/remote datasets/io/ datasets/formats/ datasets/remote/ reference/core/
room gpu gpu/ reference/ plugin_abi.h  # a plug-in stands alone: its header lies beside it
# inside gpu: common -> device <- { runtime, simt }, which define on a GPU and on the CPU what device declares; of runtime, kernels and models
# include what rungs of a library need alone
vendors="gpu/runtime/check.hpp gpu/runtime/cublas.hpp gpu/runtime/cusparse.hpp gpu/runtime/cudnn.hpp"
room gpu/device gpu/device/ reference/core/
room gpu/common gpu/common/ gpu/device/ reference/core/
room gpu/runtime gpu/runtime/ gpu/device/ reference/core/
room gpu/simt gpu/simt/ gpu/device/ reference/core/ reference/arithmetic/
# shellcheck disable=SC2086
{
  room gpu/models gpu/models/ gpu/common/ gpu/device/ gpu/log_softmax/ reference/ $vendors
  for op in $(printf '%s\n' gpu/*/[0-9][0-9]_*.cu | cut -d/ -f2 | sort -u); do
    room "gpu/$op" "gpu/$op/" gpu/gemm/ gpu/gemv/ gpu/common/ gpu/device/ reference/ $vendors
  done
}
room verify verify/ reference/ gpu/device/ gpu/runtime/ gpu/plugin/ gpu/simt/ datasets/ tools/version.hpp tools/terminal.hpp tools/option_table.hpp tools/help.hpp manifest.inc simt_manifest.inc contracts.inc
# inside verify: drawing, image <- engine (operator <- backend <- process) <- judge, engine <- selection; { selection, judge } <- sweep;  judge <- report;  sweep, report <- bench, cli
ground="verify/image/ verify/drawing/ verify/mutants/mutant.hpp verify/operators.hpp reference/"
below="$ground verify/engine/ verify/judge/ datasets/"
# shellcheck disable=SC2086
{
  room verify/image verify/image/ reference/core/
  room verify/drawing verify/drawing/ reference/
  room verify/engine $ground verify/engine/ gpu/ manifest.inc simt_manifest.inc tools/
  room verify/engine/operator $ground verify/engine/operator/
  room verify/engine/backend $ground verify/engine/operator/ verify/engine/backend/ gpu/
  room verify/interposed verify/interposed/ verify/engine/backend/collisions.hpp verify/engine/process/resource_use.hpp
  room verify/judge $below tools/
  room verify/selection $ground verify/engine/ verify/selection/ datasets/
  room verify/sweep $below verify/selection/ verify/sweep/ tools/terminal.hpp
  room verify/report $below verify/report/ tools/terminal.hpp
  room verify/bench $below verify/selection/ verify/sweep/ verify/report/ verify/bench/ gpu/ tools/
  room verify/cli $below verify/selection/ verify/sweep/ verify/report/ verify/cli/ tools/ contracts.inc
}

# inside gpu/simt: headers point  language <- race <- memory <- scheduler <- host;  a .cpp file may include state.hpp, which knows all
simt() { # simt ROOM ALLOWED...
  local place=gpu/simt/$1; shift
  local allowed; allowed=$(printf 'gpu/simt/%s|' "$@")
  local found
  found=$(grep -rnE '^ *# *include *"gpu/simt/' "$place" --include='*.hpp' --include='*.cpp' --include='*.inc' |
    grep -vE "#[[:space:]]*include *\"(${allowed}gpu/simt/executor.hpp)" | grep -vE '\.cpp:[0-9]+:#include "gpu/simt/state.hpp"|/touch.hpp:' || true)
  [ -z "$found" ] || { printf 'includes that %s must not have (allowed: %s):\n%s\n' "$place" "$*" "$found" >&2; bad=1; }
}
simt language language/
simt race language/ race/
simt memory language/ race/ memory/
simt scheduler language/ race/ memory/ scheduler/
simt host language/ race/ memory/ scheduler/ host/

# A kernel, a model or a test does not ask in which world it is built: only the seam headers language.hpp and launch.hpp do.
world=$(git grep -nE '^ *# *(el)?if.*PLUMB_SIMT\b' -- reference gpu verify datasets tools ':!gpu/simt' ':!gpu/device/language.hpp' ':!gpu/device/launch.hpp' || true)
if [ -n "$world" ]; then
  printf 'only gpu/device/language.hpp and launch.hpp may ask for PLUMB_SIMT:\n%s\n' "$world" >&2
  bad=1
fi
# and what a GPU alone understands comes through language.hpp
ptx=$(git grep -nE '^ *# *include *"gpu/device/(ptx/|stress[.]hpp)' -- '*.cu' '*.hpp' '*.cpp' ':!gpu/device/language.hpp' || true)
if [ -n "$ptx" ]; then
  printf 'include gpu/device/kernel.hpp, which brings these on a GPU and their like on the CPU executor:\n%s\n' "$ptx" >&2
  bad=1
fi

# a contract and the ABI stay lean: no standard library beyond <cstdint>
lean=$(grep -nE '^ *# *include *<' reference/core/{abi,dtype,format,small_floats}.hpp reference/ops/*.hpp | grep -v '<cstdint>' || true)
if [ -n "$lean" ]; then
  printf 'contracts, abi.hpp and what it includes include <cstdint> alone:\n%s\n' "$lean" >&2
  bad=1
fi

[ "$bad" = 0 ] && echo "include check: every arrow points the right way"
exit "$bad"
