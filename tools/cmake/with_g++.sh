#!/bin/sh
# Stands before clang's command line for one object, and lets g++ compile it: g++ instruments accesses of every width for
# ThreadSanitizer, clang none of more than 16 bytes, so that no AVX load or store would be seen.
shift
for word; do
  shift
  case $word in -fopenmp=*) word=-fopenmp ;; esac
  set -- "$@" "$word"
done
exec g++ "$@"
