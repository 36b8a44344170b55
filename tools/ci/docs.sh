#!/usr/bin/env bash
# Checks the documentation and builds the site: the pictures against the includes, links, paths, commands and options, MkDocs in
# strict mode, the API reference by Doxygen. Installs mkdocs and doxygen where they are missing. The site: build/site/index.html.
# Needs no compiler. Options are checked where the programs are built: in build/$PLUMB_PRESET, else in the newest build.
set -euo pipefail
cd "$(dirname "$0")/../.."

missing=()
for p in mkdocs doxygen; do command -v "$p" >/dev/null || missing+=("$p"); done
if [ ${#missing[@]} -gt 0 ]; then
  root=()
  if [ "$(id -u)" != 0 ]; then root=(sudo -n); fi
  log=$(mktemp)
  if ! { "${root[@]}" apt-get update -qq && "${root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq --no-install-recommends "${missing[@]}"; } >"$log" 2>&1; then
    tail -n 5 "$log" >&2
    echo "error: cannot install ${missing[*]}; ask for: apt-get install ${missing[*]}" >&2
    exit 2
  fi
  rm -f "$log"
fi

failed=0
tools/ci/picture.py --check || failed=1
mkdir -p build
programs=$(find build -maxdepth 3 -path 'build/*/bin/verify' -printf '%T@ %h\n' | sort -n | tail -1 | cut -d' ' -f2)
if [ -x "build/${PLUMB_PRESET:-none}/bin/verify" ]; then programs=build/$PLUMB_PRESET/bin; fi
[ -n "$programs" ] || echo "docs: no program is built, so that options are not compared with --help (tools/plumb build)"
# shellcheck disable=SC2086
tools/ci/docs_check.py $programs || failed=1

# what the pages show as their version: the release, and the commit where it is another
version=$(tools/plumb --version | cut -d' ' -f2)
if commit=$(git rev-parse --short HEAD 2>/dev/null) && ! git describe --exact-match --match "v$version" >/dev/null 2>&1; then
  version="$version, commit $commit"
fi
export PLUMB_SITE_VERSION=$version
mkdocs build --strict --quiet --clean --site-dir "$PWD/build/site" || failed=1
grep -qF "$version" build/site/index.html || { echo "docs: the site does not say that it is of $version" >&2; failed=1; }
mkdir -p build/site/api
doxygen tools/ci/Doxyfile >build/doxygen.out 2>build/doxygen.warnings || failed=1
[ "$failed" = 0 ] || { echo "docs: failed" >&2; exit 1; }
printf 'docs: the site is build/site/index.html; Doxygen has %d warnings (build/doxygen.warnings)\n' "$(wc -l <build/doxygen.warnings)"
