#!/usr/bin/env bash
# Holds the arrows between the rooms: fails on an include that points the wrong way.
#   reference/core <- reference/ops <- { reference/cpu, reference/models, gpu, verify };  verify -> datasets;  tools -> anything
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
room reference/ops reference/core/ reference/ops/
room reference/cpu reference/core/ reference/ops/ reference/cpu/
room reference/models reference/core/ reference/ops/ reference/models/
room reference/tests reference/
room datasets datasets/ reference/core/
room gpu gpu/ reference/ plugin_abi.h  # a plug-in stands alone: its header lies beside it
room verify verify/ reference/ gpu/runtime/ gpu/plugin/ gpu/simt/ datasets/ tools/version.hpp manifest.inc simt_manifest.inc

# a contract and the ABI stay lean: no standard library beyond <cstdint>
lean=$(grep -nE '^ *# *include *<' reference/core/abi.hpp reference/ops/*.hpp | grep -v '<cstdint>' || true)
if [ -n "$lean" ]; then
  printf 'contracts and abi.hpp include <cstdint> alone:\n%s\n' "$lean" >&2
  bad=1
fi

[ "$bad" = 0 ] && echo "include check: every arrow points the right way"
exit "$bad"
