// Memory that a foreign library writes: filled with a pattern, between two guards that no correct library touches.
//
//   pattern   differs from call to call, so that entries left unwritten make equal calls give different results
//   guard     bytes before and after the entries
#pragma once

#include <cstddef>
#include <cstring>
#include <span>
#include <vector>

namespace draftproof::doors {

template <class T>
class GuardedBuffer {
 public:
  /// `size` entries, every byte of them `pattern`.
  GuardedBuffer(std::size_t size, unsigned char pattern) : size_{size}, memory_(size + 2 * guard) {
    std::memset(static_cast<void*>(memory_.data()), ~pattern & 0xFF, memory_.size() * sizeof(T));
    std::memset(static_cast<void*>(data()), pattern, size * sizeof(T));
    around_.assign(guard * sizeof(T), static_cast<unsigned char>(~pattern & 0xFF));
  }

  T* data() { return memory_.data() + guard; }
  std::span<T> entries() { return {data(), size_}; }
  T operator[](std::size_t i) const { return memory_[guard + i]; }

  /// Whether both guards are as they were.
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

}  // namespace draftproof::doors
