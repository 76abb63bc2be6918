#!/bin/sh
# Compiler launcher of targets with kernels (DraftproofCuda.cmake): runs a CUDA compiler and writes ptxas's report on
# registers and spills to OBJECT.resources instead of printing it. tests/gpu/resources.sh reads these files.
set -u
object=
previous=
for argument in "$@"; do
  [ "$previous" = -o ] && object=$argument
  previous=$argument
done
said=$(mktemp)
"$@" 2>"$said"
status=$?
of_ptxas='^ptxas info|^ *[0-9]+ bytes stack frame'
if [ -n "$object" ]; then grep -E "$of_ptxas" "$said" >"$object.resources"; fi
grep -vE "$of_ptxas" "$said" >&2
rm -f "$said"
exit $status
