// The arrays of a table in device memory, and their host counterpart: the table that they were copied from, or a copy
// made by the first call of host().
#pragma once

#include <cstddef>
#include <deque>
#include <mutex>
#include <vector>

#include <draftproof/gpu/device/device_buffer.cuh>
#include <draftproof/gpu/device/stream_memory.cuh>
#include <draftproof/gpu/simulate.hpp>
#include <draftproof/gpu/tables/table_arrays.hpp>

namespace draftproof::gpu {

class DeviceTable::Buffers {
 public:
  /// Copies the host's table.
  explicit Buffers(const RatioTable& table);
  /// Allocates arrays that the device writes later; their initial contents are undefined.
  Buffers(std::size_t vocabulary, std::size_t rows, std::size_t tokens);

  const TableArrays& arrays() const { return arrays_; }
  const TableView& device() const { return device_; }
  const TableView& host() const;
  const HotTokens& hot() const { return hot_; }

 private:
  DeviceBuffer<char> memory_;
  TableArrays arrays_;
  TableView device_;
  HotTokens hot_;
  mutable std::once_flag copied_;
  mutable std::vector<char> copy_;
  mutable TableView host_;
};

// The arrays of a plan in device memory for the trials of one call: copied on a stream, freed after the trials.

/// Copies arrays of a plan for its view. The sources may change once a call has returned, because a copy from
/// pageable memory has been read by then. Throws: DeviceError.
class PlanCopy {
 public:
  explicit PlanCopy(cudaStream_t stream) : stream_{stream} {}

  template <class T>
  const T* operator()(const T* data, std::size_t size) const {
    const StreamMemory& own = memories_.emplace_back(size * sizeof(T), stream_);
    if (size > 0)
      device_call("cudaMemcpyAsync",
                  cudaMemcpyAsync(own.data(), data, size * sizeof(T), cudaMemcpyHostToDevice, stream_));
    return static_cast<const T*>(own.data());
  }

 private:
  cudaStream_t stream_;
  mutable std::deque<StreamMemory> memories_;
};

}  // namespace draftproof::gpu
