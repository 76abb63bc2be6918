#!/bin/sh
# Prints registers and spills of every kernel, from the output of ptxas (cmake/keep_ptxas.sh), and exits with 1 if a
# verifier's kernel spills more than is allowed below.
#
#   sh resources.sh FOLDER       folder of the objects; exit code 77 if it has none
#
# Three kinds of kernel may spill: positions split over the device, which wait for barriers in device memory; mutants; and
# ladders without replacement, whose plans take many passes and barriers.
#
# A kernel of blocks or clusters may spill 384 bytes. Registers are limited so that two blocks, or three blocks of a
# cluster, share a multiprocessor, although this causes spills: on an H100, recursive rejection by three blocks with
# spills took 423 us, and by two blocks without spills 540 us (draftproof_gpu_bench: V = 128,256, B = 256, four drafts).
# The most at compute capability 9.0 by nvcc 13.0 is 308 bytes, in the table that this script prints; 384 is the next
# multiple of 128, for other capabilities and versions of nvcc.
folder=$1
files=$(find "$folder" -name '*.resources')
[ -n "$files" ] || { echo "skipped: no kernels were compiled in $folder"; exit 77; }
# shellcheck disable=SC2086
cat $files | c++filt | awk '
  # ptxas lists functions that were not inlined after the kernel that calls them; their spills are added to that kernel.
  function tell() {
    if (registers != "") print architecture "\t" registers "\t" stack "\t" spilled "\t" kernel
    registers = stack = ""; spilled = 0
  }
  /Compiling entry function/ {
    tell()
    match($0, /for .sm_[0-9a-z]+/); architecture = substr($0, RSTART + 5, RLENGTH - 5)
    name = $0; sub(/.*entry function ./, "", name); sub(/. for .sm_.*/, "", name)
    kernel = name; sub(/^void draftproof::gpu::/, "", kernel); sub(/\(.*/, "", kernel)
    gsub(/draftproof::(gpu::)?/, "", kernel)
  }
  /bytes stack frame/ { if (stack == "") stack = $1; spilled += $5 + $9 }
  /Used [0-9]+ registers/ {
    match($0, /Used [0-9]+/); registers = substr($0, RSTART + 5, RLENGTH - 5)
  }
  END { tell() }' | sort -t "$(printf '\t')" -k5,5 -k1,1 | awk -F '\t' '
  BEGIN { printf "%-8s %9s %6s %7s  %s\n", "code", "registers", "stack", "spilled", "kernel" }
  {
    printf "%-8s %9d %6d %7d  %s\n", $1, $2, $3, $4, $5
    kernels++
    if ($4 > 0) {
      spilling++
      if ($5 !~ /by_split|mutants::|LadderWor|LadderBlockWor/ && !($5 ~ /verify_by_(block|cluster)</ && $4 <= 384)) hot = hot "\n  " $1 " " $5
    }
  }
  END {
    printf "%d kernels, %d of them spill\n", kernels, spilling
    if (hot != "") { print "hot kernels that spill:" hot; exit 1 }
  }'
