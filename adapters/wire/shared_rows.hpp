// Arrays of a request that lie in shared memory: the field `shared` of a message says where.
//
//   "shared": {"path": "/proc/812/fd/9", "inode": 4711, "bytes": 67108864,
//              "arrays": {"p": {"dtype": "F32", "shape": [32, 5, 32000], "offset": 0}, ..}}
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include <nlohmann/json.hpp>

#include <draftproof/adapters/wire/message.hpp>
#include <draftproof/adapters/wire/shared_region.hpp>

namespace draftproof::adapters {

/// p and q are shared if they have at least as many bytes together. Smaller ones cost less in a frame.
inline constexpr std::size_t least_shared_bytes = std::size_t{256} << 10;

/// Where p and q lie in a region: q begins at `q`, and both need `size` bytes.
struct RowPlaces {
  std::size_t q = 0, size = 0;
};
RowPlaces row_places(std::size_t p_bytes, std::size_t q_bytes);

/// Whether a hello says that the program maps shared memory: version 1.1 or later, and `shared_memory`.
/// Throws: DoorError if that field is neither true nor false.
bool takes_shared_rows(const nlohmann::json& hello);
/// Adds that to a hello.
void offer_shared_rows(nlohmann::json& hello);

/// Makes `shared` the message that has p and q of `request` in `region`; they are copied there unless they lie there.
/// False if they are too small, or if there is no memory. Cost: one copy of the rows, or none.
bool share_rows(const Message& request, SharedRegion& region, Message& shared);

/// The program found no way to map the region. The host sends the request again, in a frame.
class Unmapped : public DoorError {
 public:
  using DoorError::DoorError;
};

/// The region as the program maps it: for reading alone, once for each growth.
/// From the first mapping on a write there ends the process with a line on standard error that says so.
class MappedRows {
 public:
  MappedRows() = default;
  ~MappedRows() { release(); }
  MappedRows(const MappedRows&) = delete;
  MappedRows& operator=(const MappedRows&) = delete;

  /// Adds to `message` the arrays of its field `shared`, in place; without that field nothing. They are valid until the
  /// next call. Returns whether there were any. Throws: Unmapped if the file is not the one that is meant, or cannot be
  /// mapped; DoorError if the field is malformed or an array reaches beyond the region.
  bool add_to(Message& message);

 private:
  void map(const std::string& path, std::uint64_t inode, std::size_t size);
  void release();

  std::string path_;
  std::uint64_t inode_ = 0;
  std::span<const std::byte> memory_{};
};

}  // namespace draftproof::adapters
