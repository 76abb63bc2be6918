// The arrays of a table in device memory, and where the host reads them: in the table that they were copied from, or
// in a copy of them made when somebody first asks.
#pragma once

#include <mutex>
#include <vector>

#include <draftproof/gpu/device/device_buffer.cuh>
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

}  // namespace draftproof::gpu
