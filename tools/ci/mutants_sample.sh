#!/usr/bin/env bash
# mutants_sample.sh [SEED]: a sample of machine-made mutants, drawn by SEED (default 1), judged on the host and on the CPU executor; fails
# where more of those that are faults survive than `least` says. Meant for five minutes on two cores. Three operators a seed: a build
# of schemata takes longer than judging a few of its mutants.
set -euo pipefail
cd "$(dirname "$0")/../.."
seed=${1:-1}
least=90
case $seed in '' | *[!0-9]*) echo "error: mutants_sample.sh: the seed is a whole number, not '$seed'" >&2; exit 2 ;; esac

operators=(spmv spmm sddmm gemm gemv skinny_gemm conv2d reduce log_softmax transpose dense_to_csr bias_relu)
chosen=()
for step in 0 4 8; do chosen+=("${operators[(10#$seed + step) % ${#operators[@]}]}"); done
globs() { local IFS=,; printf '%s' "${chosen[*]/%//$1/*}"; }
echo "seed $seed: ${chosen[*]}"
tools/plumb verify --mutate "$(globs cpu)" --sample 100 --seed "$seed" --at-least "$least"
tools/plumb verify --mutate "$(globs gpu)" --sample 30 --seed "$seed" --at-least "$least"
