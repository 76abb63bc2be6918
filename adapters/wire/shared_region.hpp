// Memory of the host that a program on the same machine maps and reads in place. Rows that lie there are not sent.
//
//   writer     the host alone. The seals below refuse every other writer, also one of the same user
//   size       fixed: the file can be neither cut off nor extended, so that no mapping of it has a page without memory
//   memory     taken when the region grows, all of it: a lack of memory is no signal at a later write
//   life       as long as a mapping or descriptor of it. The host's own mapping depends on no other process
//
// A region that is too small is replaced by a larger file. Programs that map the one before keep its old contents.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace draftproof::adapters {

class SharedRegion {
 public:
  SharedRegion() = default;
  ~SharedRegion() { release(); }
  SharedRegion(const SharedRegion&) = delete;
  SharedRegion& operator=(const SharedRegion&) = delete;

  /// The first `size` bytes. Where the region has to grow its contents and earlier spans are lost. Empty if the system
  /// has no such memory. Cost: nothing, or a pass over new memory; grown by doubling up to 256 MiB at a time.
  std::span<std::byte> room(std::size_t size);

  /// Whether `part` lies in the region.
  bool holds(std::span<const std::byte> part) const;
  /// Where `part`, which lies in the region, begins.
  std::size_t offset(std::span<const std::byte> part) const {
    return static_cast<std::size_t>(part.data() - memory_.data());
  }

  /// Name under which another process of this user opens the file.
  std::string path() const;
  /// Number of the file, which no other file of its kind has: a path may be another one's in another container.
  std::uint64_t inode() const { return inode_; }
  /// Bytes of the file: different after each growth.
  std::size_t bytes() const { return memory_.size(); }

 private:
  bool grow(std::size_t size);
  void release();

  int file_ = -1;
  std::uint64_t inode_ = 0;
  std::span<std::byte> memory_{};
  std::size_t refused_ = SIZE_MAX;  // this many bytes were not to be had
};

}  // namespace draftproof::adapters
