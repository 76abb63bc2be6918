// Rows of any format on a device as rows of float probabilities: for what takes float rows alone, which is drafting
// and steps. Logits become what LogitRows makes of them on the host, bit for bit; entries of 16 bits keep their
// value.
//
//   first      [N, V]    the rows, `stride` entries apart; 0: one row
//   out        [N, V]    written, float_row_stride(V) floats apart
//   faults     [N]       written: a word of row_fault.hpp for each row; wanted for logits and for checks
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

  /// The same as the targets of a batch without proposals.
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

/// Floats from one converted row to the next: whole lines of memory.
DRAFTPROOF_DEVICE constexpr std::int64_t float_row_stride(int vocabulary) {
  return (std::int64_t{vocabulary} + 31) / 32 * 32;
}

/// Queues the conversion of rows in device memory on `stream`, and before it, if asked, the check that rows of
/// probabilities are laws. A row with a fault is not written, or holds entries as they were. Throws
/// std::invalid_argument on sizes that no rows have and where faults can be found but not told, DeviceError.
void float_rows(const StoredRows& rows, float* out, CUstream_st* stream, bool check_probabilities = false);

}  // namespace draftproof::gpu
