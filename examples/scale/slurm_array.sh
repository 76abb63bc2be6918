#!/bin/bash
# A job array without MPI: sbatch --array=1-64 slurm_array.sh, then `draftproof merge part-*.json -o all.json`.
# A requeued task goes on from its checkpoint.
#SBATCH --cpus-per-task=16
#SBATCH --requeue
set -eu
n=$SLURM_ARRAY_TASK_ID
draftproof check --tier sampled --profile nightly --shard "$n/$SLURM_ARRAY_TASK_MAX" --output "part-$n.json" \
  --checkpoint "checkpoint-$n" --resume --threads "$SLURM_CPUS_PER_TASK"
