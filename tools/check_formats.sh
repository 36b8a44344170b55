#!/usr/bin/env bash
# Holds that host code asks the tables of formats and types (reference/core/format.hpp, dtype.hpp) and never tells one type from "the other":
# a third one would fall silently into the other's branch. In kernels and their headers (gpu) sizes may choose widths of vectors.
set -euo pipefail
cd "$(dirname "$0")/.."
bad=0

# forbid WHAT PATTERN: no line of the host's code matches PATTERN, comments apart. A line may say `two types` in a comment where it has
# two by its nature.
host=(reference verify datasets tools gpu/plugin ':!reference/core/format.*' ':!reference/core/dtype.hpp' ':!*/tests/*')
forbid() {
  local what=$1 pattern=$2 found
  found=$(git grep -nE "$pattern" -- "${host[@]}" | grep -E '\.(hpp|cpp|h|inc):' | grep -vE ':[0-9]+: *//|two types' || true)
  [ -z "$found" ] || { printf '%s (tools/check_formats.sh):\n%s\n' "$what" "$found" >&2; bad=1; }
}

forbid 'a type is told by its size: ask the table' \
  'sizeof ?\(?(T|V|E|Value|Element|Real)\)? *(==|!=|<=?|>=?) *([0-9]|sizeof)|([0-9]|\)) *(==|!=) *sizeof\((T|V|E)\)'
forbid 'one type or else the other: ask the table, or of_value_type() where values are computed' \
  '(==|!=) *Dtype::\w+\)? *\?|"f(16|32|64)"\)? *\?|\b(is_)?f(16|32|64)_? *\?[^?]|is_same_v<(T|V), (float|double)>\)? *\?'
forbid 'types are listed by hand: Op::kDtypes, OperatorEntry::dtypes() or kUsualDtypes' \
  'for \(.*\{ *Dtype::|kDtype<\w+> *(==|!=)'
forbid 'a format is told by hand outside of its table' '(==|!=) *Format::f(16|32|64)\)? *\?'

# the numbers of the formats stand in the table alone
facts=$(git grep -nE 'Limits::(denorm_min|min_exponent|max_exponent)\b|numeric_limits<T>::(denorm_min|min_exponent|max_exponent)' -- \
  reference/core reference/ops ':!reference/arithmetic/fp.hpp' | grep -E '\.(hpp|cpp):' || true)
[ -z "$facts" ] || { printf 'range and digits of a stored format: ask facts() (tools/check_formats.sh):\n%s\n' "$facts" >&2; bad=1; }

[ "$bad" = 0 ] && echo "format check: host code asks the tables"
exit "$bad"
