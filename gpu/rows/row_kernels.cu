#include <draftproof/gpu/rows/row_kernels.cuh>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <draftproof/gpu/device/device_call.cuh>
#include <draftproof/gpu/device/grids.hpp>
#include <draftproof/gpu/rows/check_row.cuh>
#include <draftproof/gpu/rows/convert_row.cuh>
#include <draftproof/gpu/teams/block_teams.cuh>

namespace draftproof::gpu {
namespace {

constexpr int most_threads = 512;

/// The launch bounds let two blocks share a multiprocessor, so that one computes while the other waits for its rows.
template <class Entry>
__global__ void __launch_bounds__(most_threads, 2) convert_rows_kernel(const DistinctRows rows, float* out) {
  extern __shared__ SoftmaxNote notes[];
  __shared__ TeamScratch scratch;
  const BlockTeam team(&scratch);
  for (std::int64_t i = blockIdx.x; i < rows.size(); i += gridDim.x)
    convert_row_of<Entry>(team, rows, i, out + i * rows.row_apart(), notes);
}

__global__ void __launch_bounds__(most_threads, 1) check_rows_kernel(const DistinctRows rows, double tolerance) {
  __shared__ TeamScratch scratch;
  const BlockTeam team(&scratch);
  for (std::int64_t i = blockIdx.x; i < rows.size(); i += gridDim.x) check_row(team, rows, i, tolerance);
}

unsigned grid_of(const DistinctRows& rows) {
  return static_cast<unsigned>(std::min<std::int64_t>(rows.size(), most_blocks));
}

unsigned threads_of(const DistinctRows& rows) {
  return static_cast<unsigned>(std::min(most_threads, 32 * softmax_blocks(rows.batch.vocabulary)));
}

}  // namespace

void convert_rows(const DistinctRows& rows, float* out, Stream stream) {
  const auto kernel = rows.batch.format == Format::float32    ? convert_rows_kernel<float>
                      : rows.batch.format == Format::bfloat16 ? convert_rows_kernel<Bfloat16>
                                                              : convert_rows_kernel<Half>;
  const std::size_t notes =
      rows.batch.contents == Contents::logits
          ? sizeof(SoftmaxNote) * static_cast<std::size_t>(softmax_blocks(rows.batch.vocabulary))
          : 0;
  // The notes of the longest row, one for each block of the softmax, take 64 KiB of shared memory. Together with the
  // team's scratch this exceeds the default limit of a block, so a higher limit is requested.
  allow_shared(kernel, notes);
  kernel<<<grid_of(rows), threads_of(rows), notes, stream>>>(rows, out);
  device_call("cudaLaunchKernel", cudaGetLastError());
}

void check_rows(const DistinctRows& rows, double tolerance, Stream stream) {
  check_rows_kernel<<<grid_of(rows), threads_of(rows), 0, stream>>>(rows, tolerance);
  device_call("cudaLaunchKernel", cudaGetLastError());
}

}  // namespace draftproof::gpu
