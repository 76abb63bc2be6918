#!/bin/sh
# Runs a CUDA compiler and keeps what ptxas says of registers and spills beside the object, as OBJECT.resources, instead
# of printing it: launcher of the targets that hold kernels (DraftproofCuda.cmake). Read by tests/gpu/resources.sh.
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
