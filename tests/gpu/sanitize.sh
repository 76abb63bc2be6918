#!/bin/sh
# Runs a program under one tool of compute-sanitizer. The exit code is 77 if the toolkit lacks the tool or there is no
# device.
#
#   sh sanitize.sh memcheck|racecheck PROGRAM ARGUMENTS
tool=$1
shift
sanitizer=${COMPUTE_SANITIZER:-$(command -v compute-sanitizer || echo /usr/local/cuda/bin/compute-sanitizer)}
[ -x "$sanitizer" ] || { echo "skipped: no compute-sanitizer"; exit 77; }
# Without a device the program exits with 77, which the tool would report as an error.
"$1" 1 1 >/dev/null 2>&1
[ $? -ne 77 ] || { echo "skipped: no CUDA device"; exit 77; }
exec "$sanitizer" --tool "$tool" --error-exitcode 1 "$@"
