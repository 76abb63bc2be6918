#!/bin/bash
# One MPI job, with one rank a node and its cores as threads: sbatch --nodes=8 slurm_mpi.sh
#SBATCH --ntasks-per-node=1
#SBATCH --cpus-per-task=16
set -eu
mpirun draftproof check --tier sampled --profile nightly --threads "$SLURM_CPUS_PER_TASK" --json --output all.json \
  --checkpoint checkpoint --resume
