#!/usr/bin/env bash
# What needs no build: clang-format, ruff, shellcheck, the arrows between the rooms. Installs the tools where they are missing
# (Debian's packages; ruff from PyPI, into build/ruff).
set -euo pipefail
cd "$(dirname "$0")/../.."
ruff_version=0.17.6

missing=()
command -v clang-format-14 >/dev/null || missing+=(clang-format-14)
command -v shellcheck >/dev/null || missing+=(shellcheck)
command -v ruff >/dev/null || [ -x build/ruff/bin/ruff ] || python3 -c 'import ensurepip' 2>/dev/null || missing+=(python3-venv)
if [ ${#missing[@]} -gt 0 ]; then
  root=()
  if [ "$(id -u)" != 0 ]; then root=(sudo -n); fi
  "${root[@]}" apt-get update -qq || true
  "${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
fi
ruff=ruff
if ! command -v ruff >/dev/null; then
  ruff=build/ruff/bin/ruff
  [ -x "$ruff" ] || { python3 -m venv build/ruff && build/ruff/bin/pip install --quiet "ruff==$ruff_version"; }
fi

status=0
tools/check_includes.sh || status=1
tools/check_formats.sh || status=1
tools/plumb fmt --check || status=1
"$ruff" check --quiet . || status=1
# every tracked file that begins as a script of a shell; SC2016: words for a message, in single quotes
mapfile -t scripts < <(git ls-files -z | xargs -0 awk 'FNR == 1 { if ($0 ~ /^#!.*(bash|\/sh)/) print FILENAME; nextfile }')
shellcheck --exclude=SC2016 "${scripts[@]}" || status=1
# `a | grep -q b` fails under pipefail where grep finds b before a has written all: read from < <(a)
if grep -nE '\| *(grep +-[A-Za-z]*q|head )' "${scripts[@]}" | grep -v '^tools/ci/style.sh:'; then
  echo "a program that stops reading early stands behind a pipe: now and then what writes into it is killed, and the pipe fails"
  status=1
fi
[ "$status" != 0 ] || echo "formatted, and nothing found by ruff in the Python and by shellcheck in ${#scripts[@]} scripts"
exit "$status"
