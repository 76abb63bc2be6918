// The short lists of verifiers of paths: a vector on the host, an array in the local memory of a thread on a device.
// The code that uses a list states why its size is bounded.
#pragma once

#include <cassert>
#include <cstddef>
#include <type_traits>
#include <vector>

#include <draftproof/sim/device/host_device.hpp>

namespace draftproof {

/// An array of at most `most` items, with the functions of std::vector that verifiers of paths use; T is trivial.
template <class T, int most>
class FixedList {
 public:
  FixedList() = default;
  // Copies only size() items, because a copy of the whole array would take more registers.
  DRAFTPROOF_DEVICE FixedList(const FixedList& other) { *this = other; }
  DRAFTPROOF_DEVICE FixedList& operator=(const FixedList& other) {
    size_ = other.size_;
#if defined(__CUDA_ARCH__)
#pragma unroll 1
#endif
    for (int i = 0; i < size_; ++i) items_[i] = other.items_[i];
    return *this;
  }

  DRAFTPROOF_DEVICE int size() const { return size_; }
  DRAFTPROOF_DEVICE void push_back(const T& item) {
    assert(size_ < most);
    items_[size_++] = item;
  }
  DRAFTPROOF_DEVICE void pop_back() { --size_; }
  DRAFTPROOF_DEVICE void clear() { size_ = 0; }
  /// Shrinks the list to `size` items.
  DRAFTPROOF_DEVICE void resize(std::size_t size) { size_ = static_cast<int>(size); }
  DRAFTPROOF_DEVICE T& operator[](std::size_t i) { return items_[i]; }
  DRAFTPROOF_DEVICE T& back() { return items_[size_ - 1]; }
  DRAFTPROOF_DEVICE T* begin() { return items_; }
  DRAFTPROOF_DEVICE T* end() { return items_ + size_; }
  DRAFTPROOF_DEVICE const T* begin() const { return items_; }
  DRAFTPROOF_DEVICE const T* end() const { return items_ + size_; }

 private:
  int size_ = 0;
  T items_[static_cast<std::size_t>(most)];
};

/// Whether distributions of type L are read by threads of a device. Verifiers on such distributions use FixedList,
/// because device code allocates no memory.
template <class L>
concept OnDevice = requires {
  requires L::on_device;
};

/// The list type for verifiers on distributions of type L: a FixedList of at most `most` items on a device, a vector
/// on the host.
template <class L, class T, int most>
using ListAt = std::conditional_t<OnDevice<L>, FixedList<T, most>, std::vector<T>>;

}  // namespace draftproof
