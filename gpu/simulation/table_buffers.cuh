// The arrays of a table in device memory, and where the host reads them: in the table that they were copied from, or
// in a copy of them made when somebody first asks.
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
  /// Copied.
  explicit Buffers(const RatioTable& table);
  /// To be written by the device; what is there at first is no table.
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

// The arrays of a plan in device memory for the trials of one call: copied on a stream, freed behind them.

/// What a plan's view is made with. Throws DeviceError. The sources may change once a call has returned: what is
/// copied from pageable memory has been read by then.
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
