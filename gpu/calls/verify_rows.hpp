// The kernels of all verifiers as C functions, for languages that load a shared library, libdraftproof_kernels.so.
// draftproof.torch loads it in python/draftproof/torch/kernels.py.
//
//   field                 shape        meaning
//   target                [B, V]       target rows, `target_stride` entries apart
//   proposal              [B, M, V]    proposal rows; M = `proposals` is 1 or the number of drafts
//   drafts                [B, K]       draft tokens in draw order, `draft_stride` apart
//   counts                [B]          number of drafts of each position, 0 .. K, K at most 32; 1 .. K if the
//                                      verifier makes a plan, as ladders do
//   faults                [B]          null, or output: the fault of each position's rows, encoded by row_fault.hpp
//   verdicts              [B, 2]       output: token, and index of the accepted draft or -1
//
// Position i is trial first_trial + i of `seed`. A position that reaches a branch of probability zero, or whose rows
// have a fault, gets the token -1.
#pragma once

#include <cstddef>
#include <cstdint>

#if defined(_WIN32)
#define DRAFTPROOF_EXPORT
#else
#define DRAFTPROOF_EXPORT __attribute__((visibility("default")))
#endif

extern "C" {

/// A batch of rows. Strides are in entries; 0 means one row for all positions.
struct draftproof_rows {
  std::int32_t format;  ///< type of the entries: 0 float, 1 bfloat16, 2 IEEE half
  std::int32_t logits;  ///< 0: entries are probabilities; 1: natural logarithms up to a constant
  std::int32_t check;   ///< 1: rows of probabilities are read once more to check that they are distributions
  std::int32_t positions, vocabulary, proposals;
  double target_temperature, proposal_temperature;  ///< divide logits; above 0
  const void* target;
  std::int64_t target_stride;
  const void* proposal;
  std::int64_t proposal_stride, proposal_row_stride;
  const std::int32_t* drafts;
  std::int64_t draft_stride;
  const std::int32_t* counts;
  std::uint64_t seed, first_trial;
  std::uint64_t* faults;
  std::int32_t* verdicts;
};

// The functions return 0 on success, 2 on bad input, 3 if the verifier has no kernel and 4 if a CUDA call fails.
// After a failure `error`, of `error_size` bytes, has a null-terminated message.

/// Queues on `stream`, a cudaStream_t, a kernel that writes the verdicts of rows in device memory, and returns without
/// waiting. Temporary device memory comes from the stream's memory pool. Counts and drafts are not checked.
DRAFTPROOF_EXPORT int draftproof_verify_rows(const char* verifier, const draftproof_rows* rows, void* stream,
                                             char* error, std::size_t error_size);

/// Writes the verdicts of rows in host memory, computed on the host one position after another, as a reference for
/// tests of the kernels. Counts and drafts are checked; `check` and `faults` are not read, and logits without a softmax
/// are bad input.
DRAFTPROOF_EXPORT int draftproof_verify_rows_on_host(const char* verifier, const draftproof_rows* rows, char* error,
                                                     std::size_t error_size);

/// Writes one line for each verifier that has a kernel, with fields separated by spaces: its name, its fewest and its
/// most drafts (0: no limit), 1 if the kernel makes a plan and so needs at least one draft, else 0, and the draft
/// samplings that the verifier supports; no draft sampling is listed if it supports all.
DRAFTPROOF_EXPORT int draftproof_kernel_names(char* names, std::size_t size);

/// Writes to `text` the message of a fault at a position; `word` is the entry of `faults` that encodes the fault.
DRAFTPROOF_EXPORT int draftproof_describe_fault(std::int64_t position, std::uint64_t word, char* text,
                                                std::size_t size);
}
