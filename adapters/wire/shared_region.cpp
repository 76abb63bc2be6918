#include <draftproof/adapters/wire/shared_region.hpp>

#include <algorithm>
#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace draftproof::adapters {
namespace {

/// Gives `file` its size and all its memory. False if there is not as much.
bool reserve_file(int file, std::size_t size) {
  while (fallocate(file, 0, 0, static_cast<off_t>(size)) != 0)
    if (errno != EINTR) return false;
  return true;
}

/// Most bytes of a region. The system would take all memory of the machine before it refuses.
std::size_t most_region_bytes() {
  constexpr std::size_t share = 8;
  const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  return pages <= 0 || page <= 0 ? 0 : static_cast<std::size_t>(pages) / share * static_cast<std::size_t>(page);
}

}  // namespace

bool SharedRegion::grow(std::size_t size) {
  constexpr std::size_t least = std::size_t{1} << 20, most_more = std::size_t{256} << 20;
  const std::size_t most = most_region_bytes() / least * least;
  if (size > most) return false;
  const std::size_t wanted = std::max(size, bytes() + std::min(bytes(), most_more));
  const std::size_t total = std::min((wanted + least - 1) / least * least, most);
  release();
  file_ = memfd_create("draftproof-rows", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  struct stat status {};
  if (file_ < 0 || !reserve_file(file_, total) || fstat(file_, &status) != 0) return false;
  void* const start = mmap(nullptr, total, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, file_, 0);
  if (start == MAP_FAILED) return false;
  memory_ = {static_cast<std::byte*>(start), total};
  inode_ = status.st_ino;
  madvise(start, total, MADV_DONTFORK);  // a child that is started has no use for it and would keep it alive
  // This mapping stays writable. Mappings and descriptors made from now on are not.
  return fcntl(file_, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE | F_SEAL_SEAL) == 0;
}

void SharedRegion::release() {
  if (!memory_.empty()) munmap(memory_.data(), memory_.size());
  memory_ = {};
  if (file_ >= 0) close(std::exchange(file_, -1));
}

std::span<std::byte> SharedRegion::room(std::size_t size) {
  if (size <= memory_.size()) return memory_.first(size);
  if (size >= refused_) return {};
  if (!grow(size)) {
    refused_ = size;
    release();
    return {};
  }
  return memory_.first(size);
}

bool SharedRegion::holds(std::span<const std::byte> part) const {
  const auto first = reinterpret_cast<std::uintptr_t>(memory_.data()),
             begin = reinterpret_cast<std::uintptr_t>(part.data());
  return begin >= first && begin - first <= memory_.size() && part.size() <= memory_.size() - (begin - first);
}

std::string SharedRegion::path() const { return fmt::format("/proc/{}/fd/{}", getpid(), file_); }

}  // namespace draftproof::adapters
