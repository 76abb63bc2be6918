// Places of arrays in one piece of memory, one after the other: the same text tells how much memory there has to be
// and, once it is there, where each array lies.
//
// Places begin at multiples of 256 bytes. On no memory the pointers are null and bytes() alone says something.
#pragma once

#include <cstddef>

namespace draftproof::gpu {

class Places {
 public:
  explicit Places(void* memory) : memory_{static_cast<char*>(memory)} {}

  /// `count` elements of T, as the memory happens to be.
  template <class T>
  T* take(std::size_t count) {
    const std::size_t start = bytes_;
    bytes_ += (count * sizeof(T) + alignment - 1) / alignment * alignment;
    return memory_ == nullptr ? nullptr : reinterpret_cast<T*>(memory_ + start);
  }
  std::size_t bytes() const { return bytes_; }

  static constexpr std::size_t alignment = 256;

 private:
  char* memory_;
  std::size_t bytes_ = 0;
};

}  // namespace draftproof::gpu
