// The inputs of one call of a library: copies of arrays in host memory or on its device, rows that are mapped for
// reading as they are, and the tapes.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <draftproof/doors/library/library_table.hpp>
#include <draftproof/doors/library/row_tape.hpp>
#include <draftproof/doors/wire/served.hpp>

namespace draftproof::doors {

/// An array for a library to read: a copy, or the array itself if it is mapped for reading.
class LibraryInput {
 public:
  /// `original` must outlive the input. The library `on_device`, unless null, gets it on its device. An array that is
  /// `mapped` for reading is not copied if it begins where a copy could.
  /// Throws: DoorError if the upload fails.
  explicit LibraryInput(std::span<const std::byte> original, const LibraryTable* on_device = nullptr,
                        bool mapped = false);
  ~LibraryInput();
  LibraryInput(const LibraryInput&) = delete;
  LibraryInput& operator=(const LibraryInput&) = delete;

  /// Null for an empty array.
  template <class T>
  const T* as() const {
    return static_cast<const T*>(uploaded_ != nullptr ? uploaded_ : given_);
  }
  /// Whether the copy in host memory still has the bytes of the original. True without a copy.
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
  /// A row that was drawn for and does not exist; `nobody` if there was none.
  int stranger() const { return stranger_; }
  static constexpr int nobody = INT32_MAX;

 private:
  /// The row's tape; null, and noted, for a row that does not exist.
  static RowTape* find(void* self, std::int32_t row);

  std::vector<RowTape> rows_;
  std::atomic<int> stranger_ = nobody;
  dp_tape callbacks_;
};

}  // namespace draftproof::doors
