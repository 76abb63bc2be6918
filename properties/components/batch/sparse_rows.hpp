// Rows far apart in memory: a mapping of gigabytes in which only the pages of rows are allocated.
//
//   pitch     elements from a row to the next
//   before    2^31 elements before the first row, where an offset that wraps in 32 bits ends up
//
// Cost: address space, and one or two pages a row. If address space is limited, the mapping fails and the check
// reports it.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace draftproof {

class SparseRows {
 public:
  static constexpr std::size_t before = std::size_t{1} << 31;

  /// `rows` has rows of `size` entries each, one after another.
  SparseRows(const std::vector<float>& rows, std::size_t size, std::size_t pitch) {
    const std::size_t count = rows.size() / size;
    bytes_ = (before + (count + 1) * pitch) * sizeof(float);
    memory_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (!mapped()) return;
    for (std::size_t row = 0; row < count; ++row)
      for (std::size_t x = 0; x < size; ++x) first()[row * pitch + x] = rows[row * size + x];
  }
  SparseRows(const SparseRows&) = delete;
  SparseRows& operator=(const SparseRows&) = delete;
  ~SparseRows() {
    if (mapped()) munmap(memory_, bytes_);
  }

  /// Whether the mapping succeeded.
  bool mapped() const { return memory_ != MAP_FAILED; }
  /// The first entry of the first row; requires mapped().
  float* first() const { return static_cast<float*>(memory_) + before; }

 private:
  std::size_t bytes_;
  void* memory_;
};

}  // namespace draftproof
