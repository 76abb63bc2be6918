// An opened shared library of the C interface (draftproof_adapter.h): its checked table of functions, one instance
// and the declaration. Also the memory of a call, with guards where the library writes.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include <draftproof/adapters/draftproof_adapter.h>
#include <draftproof/adapters/declaration.hpp>
#include <draftproof/adapters/library/row_tape.hpp>
#include <draftproof/adapters/wire/served.hpp>

namespace draftproof::adapters {

/// Memory that an external library writes: filled with a pattern, between two guards that no correct library touches.
///
///   pattern   differs from call to call, so that entries left unwritten make equal calls give different results
///   guard     bytes before and after the entries
template <class T>
class GuardedBuffer {
 public:
  /// Makes `size` entries, in which every byte is `pattern`.
  GuardedBuffer(std::size_t size, unsigned char pattern) : size_{size}, memory_(size + 2 * guard) {
    std::memset(static_cast<void*>(memory_.data()), ~pattern & 0xFF, memory_.size() * sizeof(T));
    std::memset(static_cast<void*>(data()), pattern, size * sizeof(T));
    around_.assign(guard * sizeof(T), static_cast<unsigned char>(~pattern & 0xFF));
  }

  T* data() { return memory_.data() + guard; }
  std::span<T> entries() { return {data(), size_}; }
  T operator[](std::size_t i) const { return memory_[guard + i]; }

  /// Whether both guards are unchanged.
  bool intact() const {
    return std::memcmp(memory_.data(), around_.data(), around_.size()) == 0 &&
           std::memcmp(memory_.data() + guard + size_, around_.data(), around_.size()) == 0;
  }

 private:
  static constexpr std::size_t guard = 64;

  std::size_t size_;
  std::vector<T> memory_;
  std::vector<unsigned char> around_;
};

/// Owns the instance. The library is never unloaded, because the runtimes of CUDA and OpenMP fail after unloading.
class LibraryTable {
 public:
  /// Opens the library at `path` and makes an instance from `options`, a JSON object.
  /// Throws: AdapterError with path, found and expected value if there is no such library, no symbol
  /// draftproof_adapter, another ABI, a table that is too small, a declaration with unknown values, or no instance.
  LibraryTable(const std::string& path, const std::string& options);
  /// As above, for a library that is already linked: `adapter` is its draftproof_adapter, `name` replaces the path.
  using Adapter = const dp_verifier* (*)(std::uint32_t abi);
  LibraryTable(const std::string& name, Adapter adapter, const std::string& options);
  ~LibraryTable();
  LibraryTable(const LibraryTable&) = delete;
  LibraryTable& operator=(const LibraryTable&) = delete;

  /// Returns the functions; fields that the library's table lacks are 0.
  const dp_verifier& functions() const { return table_; }
  void* self() const { return self_; }
  const Declaration& declaration() const { return declaration_; }
  const std::string& path() const { return path_; }

  /// Whether the library must copy rows to a device before a call.
  bool on_device() const { return on_device_; }

 private:
  AdapterError refuse(const std::string& what, const std::string& found, const std::string& wanted) const;
  void take(const dp_verifier* found);
  void check();
  Declaration declared() const;

  std::string path_;
  dp_verifier table_{};
  void* self_ = nullptr;
  bool on_device_ = false;
  Declaration declaration_{};
};

// The inputs of one call of a library: copies of arrays in host memory or on its device, and the tapes.

/// A copy of an array for a library to read.
class LibraryInput {
 public:
  /// `original` must outlive the input. If `on_device` is not null, this library copies the array to its device.
  /// Throws: AdapterError if the upload fails.
  explicit LibraryInput(std::span<const std::byte> original, const LibraryTable* on_device = nullptr);
  ~LibraryInput();
  LibraryInput(const LibraryInput&) = delete;
  LibraryInput& operator=(const LibraryInput&) = delete;

  /// Null for an empty array.
  template <class T>
  const T* as() const {
    return static_cast<const T*>(uploaded_ != nullptr ? uploaded_ : given_);
  }
  /// Whether the copy in host memory still has the bytes of the original.
  bool unchanged() const;

 private:
  const LibraryTable* on_device_;
  std::span<const std::byte> original_;
  std::vector<std::max_align_t> copy_;
  const void* given_ = nullptr;  // in host memory; null for an empty array
  void* uploaded_ = nullptr;
};

/// The tapes of a batch, and the callbacks that draw from them.
class LibraryTapes {
 public:
  explicit LibraryTapes(const ServedBatch& batch);
  LibraryTapes(const LibraryTapes&) = delete;
  LibraryTapes& operator=(const LibraryTapes&) = delete;

  const dp_tape* callbacks() const { return &callbacks_; }
  const RowTape& row(int row) const { return rows_[static_cast<std::size_t>(row)]; }
  /// Returns the row number of a draw for a row that the batch does not have; `none` if there was no such draw.
  int unknown_row() const { return unknown_row_; }
  static constexpr int none = INT32_MAX;

 private:
  /// Returns the tape of `row`, or null if the batch has no such row; unknown_row() then returns that row.
  static RowTape* find(void* self, std::int32_t row);

  std::vector<RowTape> rows_;
  std::atomic<int> unknown_row_ = none;
  dp_tape callbacks_;
};

}  // namespace draftproof::adapters
