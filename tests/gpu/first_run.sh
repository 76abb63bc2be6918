#!/bin/sh
# Runs the tests and benchmarks that need a device, in some minutes: comparisons of kernels with the host, the toolkit's
# sanitizers, Python and other engines' kernels at the same time; then benchmarks; then comparisons while time is left.
#
#   sh tests/gpu/first_run.sh [--built FOLDER] [--program FILE] [--engines FOLDER] [--seconds N] RESULTS
#
#   --built      folder of a build by the device preset; without it the preset is built here
#   --program    draftproof with `--device cuda`; without it the commands that need one are left out
#   --engines    folder of installed engines, whose kernels are judged (DRAFTPROOF_ENGINE_PACKAGES, docs/engines.md)
#   --seconds    no part begins after so many seconds (480)
#   RESULTS      folder: summary.json (part, exit code, seconds; the device), log.txt, gpu_bench.json, more
#
# A part that takes too long is stopped and has the exit code 124; a part that cannot run here has 77. The exit code is 1
# if a part failed. PYTHON names the interpreter that has PyTorch (python3).
set -u
cd "$(dirname "$0")/../.."
source=$(pwd)
built= program= engines= seconds=480 results=
usage() { sed -n '2,/^set -u/{/^set -u/d;s/^# \{0,1\}//;p}' "$0"; exit 2; }
while [ $# -gt 0 ]; do
  case $1 in
    --built|--program|--engines|--seconds)
      [ $# -ge 2 ] || usage
      case $1 in --built) built=$2 ;; --program) program=$2 ;; --engines) engines=$2 ;; *) seconds=$2 ;; esac
      shift 2 ;;
    -*) usage ;;
    *) results=$1; shift ;;
  esac
done
[ -n "$results" ] || usage
mkdir -p "$results" || exit 2
results=$(cd "$results" && pwd)
parts=$(mktemp -d)
: >"$results/log.txt"
: >"$parts/ended"
start=$(date +%s)
now() { date +%s; }

# Writes summary.json from the parts that have ended so far.
tell() {
  {
    printf '{\n  "schema": "draftproof.device_run/1",\n  "date": "%s",\n' "$(date -u +%Y-%m-%dT%H:%M:%SZ)"
    nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader 2>/dev/null | head -n 1 |
      awk -F ', ' '{ printf "  \"device\": \"%s\",\n  \"driver\": \"%s\",\n  \"memory\": \"%s\",\n", $1, $2, $3 }'
    printf '  "processors": %s,\n  "parts": [' "$(getconf _NPROCESSORS_ONLN)"
    awk '{ printf "%s\n    {\"part\": \"%s\", \"exit_code\": %s, \"seconds\": %s}", before, $1, $2, $3; before = "," }' \
      "$parts/ended"
    printf '\n  ]\n}\n'
  } >"$results/summary.part" && mv "$results/summary.part" "$results/summary.json"
}

# part NAME LIMIT COMMAND...: runs the command, keeps its output, prints a line. Parts may run at the same time.
part() {
  name=$1 limit=$2
  shift 2
  began=$(now)
  if [ $((began - start)) -ge "$seconds" ]; then
    printf '%s 124 0\n' "$name" >>"$parts/ended"
    printf '%-28s left out: no time\n' "$name"
    return
  fi
  timeout -k 5 "$limit" "$@" >"$parts/$name" 2>&1
  code=$?
  took=$(($(now) - began))
  printf '%s %s %s\n' "$name" "$code" "$took" >>"$parts/ended"
  { printf '\n==== %s: exit code %s, %s s\n' "$name" "$code" "$took"; tail -c 200000 "$parts/$name"; } >>"$results/log.txt"
  printf '%-28s exit code %3s %4s s  %s\n' "$name" "$code" "$took" "$(tail -n 1 "$parts/$name" | cut -c 1-110)"
}

if [ -z "$built" ]; then
  built=$source/build/device
  part configure 60 cmake --preset device
  part build 420 cmake --build "$built" --parallel "$(getconf _NPROCESSORS_ONLN)"
fi
tests=$built/tests/gpu

# Tests run at the same time and share the device.
limit=$((seconds / 3))
for test in device_parity device_trials device_rows device_tables device_kernel_mutants refusals; do
  part "$test" "$limit" "$tests/draftproof_${test}_test" &
done
part device_steps "$limit" "$tests/draftproof_device_steps_test" short &
[ -z "$program" ] || part check_on_device "$limit" "$program" check recursive_rejection k_seq ladder single_draft \
  --tier sampled --device cuda &
part memcheck "$limit" sh tests/gpu/sanitize.sh memcheck "$tests/draftproof_device_parity_test" 1 33 3000 &
part racecheck "$((seconds / 2))" sh tests/gpu/sanitize.sh racecheck "$tests/draftproof_device_parity_test" 1 33 &
python=${PYTHON:-python3}
if "$python" -c 'import torch, pytest; raise SystemExit(not torch.cuda.is_available())' 2>/dev/null; then
  [ -z "$program" ] || export DRAFTPROOF_PROGRAM="$program"
  export PYTHONPATH="$source/python"
  kernels=$(find "$built" -name 'libdraftproof_kernels.so' | head -n 1)
  [ -z "$kernels" ] || export DRAFTPROOF_KERNELS="$kernels"
  at_once=
  "$python" -c 'import xdist' 2>/dev/null && at_once="-n 4"
  for test in torch_kernels cuda torch_verifiers; do
    # shellcheck disable=SC2086
    part "python_$test" "$limit" "$python" -m pytest -v $at_once --tb short --maxfail 15 --durations 5 \
      -p no:cacheprovider "python/tests/test_$test.py" &
  done
  [ -z "$engines" ] || for file in python/engines/[a-z]*_kernels.py; do
    engine=$(basename "$file" .py | tr _ -)
    # Exit code 1, an adapter that fails checks, is a result and not a failure of this run.
    # shellcheck disable=SC2016
    part "$engine" "$limit" sh -c '"$@"; code=$?; [ $code -eq 1 ] || exit $code' sh \
      env DRAFTPROOF_ENGINE_PACKAGES="$engines" "$python" -m draftproof engines "$engine" --limit 12 --timings &
  done
else
  python=
fi
wait
tell
[ -z "$engines" ] || cp python/engines/results/*-kernels-*.json "$results" || :

# Benchmarks run one at a time, alone on the device.
part bench 120 "$built/draftproof_gpu_bench" --output "$results/gpu_bench.json"
tell
[ -z "$python" ] || part python_bench 60 "$python" python/bench/torch_verifiers.py --device cuda --repeats 3
tell

# Times tuples drawn, decided and counted on the device and on all processors of the host.
if [ -n "$program" ]; then
  tuples() {
    part "simulate_$1_$2" 60 "$program" simulate recursive_rejection zipf:vocabulary=32000 -K 4 --tokens 0 --tuples "$2" \
      --device "$1"
  }
  tuples cuda 1000000 && tuples cuda 20000000000 && tuples cpu 1000000 && tuples cpu 1000000000
  tell
fi

# Compares as many decisions as there is time for.
left=$((seconds - ($(now) - start)))
[ "$left" -lt 20 ] || part parity_many "$left" "$tests/draftproof_device_parity_test" 20000 32 4096 32000
tell
cat "$results/summary.json"
! awk '$2 != 0 && $2 != 77 && $2 != 124 { failed = 1 } END { exit !failed }' "$parts/ended"
