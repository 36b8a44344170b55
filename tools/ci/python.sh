#!/usr/bin/env bash
# The Python package as a user gets it: a wheel from this tree, tagged with the newest glibc that it asks for, installed into a bare
# environment, with its tests there. Says the wheel's size. Skipped where no package index answers.
set -euo pipefail
cd "$(dirname "$0")/../.."
python=${1:-python3}
place=$PWD/build/python
rm -rf "$place"
"$python" -m venv "$place/env"
if ! "$place/env/bin/pip" install --quiet numpy pytest pytest-xdist scipy 2>"$place/pip.err"; then
  tail -n 1 "$place/pip.err"
  echo "python: skipped, no package index answers"
  exit 0
fi
# frameworks whose tests are skipped without them
"$place/env/bin/pip" install --quiet hypothesis ml_dtypes triton auditwheel wheel 2>>"$place/pip.err" || tail -n 1 "$place/pip.err"
"$place/env/bin/pip" wheel --quiet --no-deps --wheel-dir "$place" .
wheel=$(find "$place" -maxdepth 1 -name '*.whl')
[[ $("$place/env/bin/auditwheel" show "$wheel" 2>&1) =~ manylinux_2_[0-9]+_x86_64 ]] || { echo "python: the wheel asks for what no manylinux tag offers"; exit 1; }
"$place/env/bin/wheel" tags --remove --platform-tag "${BASH_REMATCH[0]}" "$wheel" >/dev/null
wheel=$(find "$place" -maxdepth 1 -name '*.whl')
"$place/env/bin/pip" install --quiet --no-index "$wheel"
bytes=$(stat -c %s "$wheel")
[ "$bytes" -lt 10000000 ] || { echo "python: the wheel has $bytes bytes, 10 MB at most"; exit 1; }
printf 'python: %s, %d bytes\n' "$(basename "$wheel")" "$bytes"
seconds=$("$place/env/bin/python" -X importtime -c 'import plumbline' 2>&1 | awk -F'|' '/ plumbline$/ { print $2 / 1e6 }')
printf 'python: imported in %s s\n' "$seconds"
awk "BEGIN { exit !($seconds < 0.3) }" || echo "python: an import is to take less than 0.3 s (on a busy machine it may take more)"
# from another folder: the tree's own package is not to be found by chance
cp -r tools/python/tests tools/python/examples "$place"
cd "$place"
PYTHONPATH='' env/bin/python -m pytest -q -p no:cacheprovider -n 2 tests
# the same wheel in every other version of Python that is here
version_of() { "$1" -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null; }
tried=" $(version_of env/bin/python) "
for other in python3.9 python3.10 python3.11 python3.12 python3.13 python3.14 "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.*/bin/python; do
  version=$(version_of "$other") || continue
  case $tried in *" $version "*) continue ;; esac
  case $version in 3.9 | 3.1?) ;; *) continue ;; esac
  tried+="$version "
  if ! "$other" -m venv "env$version" || ! "env$version/bin/pip" install --quiet numpy pytest 2>>pip.err; then
    echo "python: $version skipped, it gets no packages"
    continue
  fi
  "env$version/bin/pip" install --quiet --no-index "$wheel"
  printf 'python: %s: ' "$version"
  PYTHONPATH='' "env$version/bin/python" -m pytest -q -p no:cacheprovider tests/check_test.py | tail -n 1
done
