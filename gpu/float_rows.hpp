// Converts rows of any format in device memory to rows of float probabilities, the input of drafting and of steps.
// Logits become the probabilities of LogitRows on the host, bit for bit; entries of 16 bits keep their values.
//
//   first      [N, V]    the rows, `stride` entries apart; stride 0: one row
//   out        [N, V]    written, float_row_stride(V) floats apart
//   faults     [N]       written: one word of row_fault.hpp per row; required for logits and for checks
#pragma once

#include <cstdint>

#include <draftproof/gpu/stored_batch.hpp>

struct CUstream_st;

namespace draftproof::gpu {

struct StoredRows {
  Format format = Format::float32;
  Contents contents = Contents::probabilities;
  double temperature = 1;  ///< of logits
  int rows = 0, vocabulary = 0;
  const void* first = nullptr;
  std::int64_t stride = 0;
  std::uint64_t* faults = nullptr;

  /// Returns a batch whose targets are the rows that this struct describes, without proposals.
  StoredBatch batch() const {
    StoredBatch batch{.format = format, .contents = contents, .temperatures = {temperature, temperature}};
    batch.positions = rows;
    batch.vocabulary = vocabulary;
    batch.proposals = 0;
    batch.target = first;
    batch.target_stride = stride;
    batch.faults = faults;
    return batch;
  }
};

/// Returns the number of floats from one converted row to the next: V rounded up to a multiple of 32, so that rows take
/// a whole number of memory lines.
DRAFTPROOF_DEVICE constexpr std::int64_t float_row_stride(int vocabulary) {
  return (std::int64_t{vocabulary} + 31) / 32 * 32;
}

/// Queues the conversion of rows in device memory on `stream`. With `check_probabilities` it first checks that rows
/// of probabilities are distributions. A row with a fault is left unwritten, or holds its entries as they are.
/// Throws: std::invalid_argument if a size is out of range, or if `faults` is null and the rows are logits or are
/// checked; DeviceError if a CUDA call fails.
void float_rows(const StoredRows& rows, float* out, CUstream_st* stream, bool check_probabilities = false);

}  // namespace draftproof::gpu
