#include <draftproof/gpu/rows/stored_launch.cuh>

#include <cstdint>

#include <draftproof/gpu/rows/row_kernels.cuh>

namespace draftproof::gpu {
namespace {

Mapped mapping_of(const StoredBatch& batch, const VerifyOptions& options, const DeviceTraits& device) {
  return mapped(options.mapping, device, batch.positions, batch.vocabulary, batch.proposals,
                static_cast<std::size_t>(bytes_of(batch.format)), drafts_that_choose(batch));
}

}  // namespace

StoredLaunch::StoredLaunch(const StoredBatch& batch, Stream stream, const VerifyOptions& options,
                           const DeviceTraits& device)
    : mapped_{mapping_of(checked_shape(batch), options, device)},
      workspace_{workspace_of(batch, mapped_, this_device(), options.check_probabilities)},
      own_{options.workspace == nullptr ? workspace_.bytes : 0, stream},
      memory_{options.workspace == nullptr
                  ? static_cast<char*>(own_.data())
                  : given_workspace(options.workspace, options.workspace_bytes, workspace_.bytes)},
      rows_{batch} {
  StoredBatch& prepared = rows_.batch;
  if (workspace_.has_faults) prepared.faults = reinterpret_cast<std::uint64_t*>(memory_ + workspace_.faults);
  if (prepared.faults != nullptr)
    device_call("cudaMemsetAsync",
                cudaMemsetAsync(prepared.faults, 0xFF,
                                static_cast<std::size_t>(batch.positions) * sizeof(std::uint64_t), stream));
  if (options.check_probabilities && batch.contents == Contents::probabilities)
    check_rows(rows_, sum_tolerance_of(batch), stream);
  if (workspace_.converts) convert_rows(rows_, reinterpret_cast<float*>(memory_ + workspace_.rows), stream);
}

Batch<float> StoredLaunch::floats() const {
  return workspace_.converts ? rows_.converted(reinterpret_cast<const float*>(memory_ + workspace_.rows))
                             : rows_.as_they_are();
}

std::size_t workspace_bytes_of(const StoredBatch& batch, const VerifyOptions& options, std::size_t plan_bytes) {
  return workspace_for_up_to(checked_shape(batch), options.mapping, beside_plans(this_device(), plan_bytes),
                             options.check_probabilities);
}

}  // namespace draftproof::gpu
