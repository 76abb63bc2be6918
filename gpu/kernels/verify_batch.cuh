// The definition of verify_batch, for custom verifiers. Include it in a CUDA source and instantiate verify_batch, and
// also verify_clusters if the source is compiled for compute capability 9 or later.
#pragma once

#include <draftproof/gpu/positions/verify_clusters.cuh>
#include <draftproof/gpu/positions/verify_plain.cuh>
