#include <draftproof/gpu/float_rows.hpp>

#include <cstddef>
#include <stdexcept>

#include <draftproof/gpu/device/device_call.cuh>
#include <draftproof/gpu/rows/distinct_rows.hpp>
#include <draftproof/gpu/rows/row_kernels.cuh>

namespace draftproof::gpu {

void float_rows(const StoredRows& rows, float* out, Stream stream, bool check_probabilities) {
  const StoredBatch batch = rows.batch();
  // Rows alone form a batch of targets without proposals. checked_shape throws on such a batch, so it gets a copy
  // that has one proposal.
  StoredBatch shape = batch;
  shape.proposals = 1;
  checked_shape(shape);
  const bool logits = rows.contents == Contents::logits;
  if (rows.faults == nullptr && (logits || check_probabilities))
    throw std::invalid_argument("rows: got no array for faults, expected one if rows are logits or are checked");
  if (rows.rows == 0) return;
  if (rows.faults != nullptr)
    device_call(
        "cudaMemsetAsync",
        cudaMemsetAsync(rows.faults, 0xFF, static_cast<std::size_t>(rows.rows) * sizeof(std::uint64_t), stream));
  const DistinctRows distinct{batch};
  if (check_probabilities && !logits) check_rows(distinct, sum_tolerance_of(batch), stream);
  convert_rows(distinct, out, stream);
}

}  // namespace draftproof::gpu
