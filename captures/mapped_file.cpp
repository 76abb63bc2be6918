#include <draftproof/captures/mapped_file.hpp>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <draftproof/captures/file_bytes.hpp>
#include <draftproof/captures/input_error.hpp>

namespace draftproof {

MappedFile::MappedFile(const std::filesystem::path& path) {
  const auto size = static_cast<std::size_t>(FileBytes(path).size());
  if (size == 0) return;
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  void* const start = descriptor < 0 ? MAP_FAILED : mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
  if (descriptor >= 0) close(descriptor);
  if (start == MAP_FAILED)
    throw InputError({.file = path.string(), .found = "a file that cannot be mapped", .wanted = "a readable file"});
  madvise(start, size, MADV_SEQUENTIAL);
  bytes_ = {static_cast<const std::byte*>(start), size};
  ++mapped_;
}

MappedFile::~MappedFile() {
  if (bytes_.empty()) return;
  munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
  --mapped_;
}

void MappedFile::note_read(std::size_t count) const {
  // A fault brings in the pages around it, 64 KiB by default.
  constexpr std::size_t around = 1 << 16, most = std::size_t{1} << 28;
  if (resident_.fetch_add(count + around, std::memory_order_relaxed) < most) return;
  resident_.store(0, std::memory_order_relaxed);
  madvise(const_cast<std::byte*>(bytes_.data()), bytes_.size(), MADV_DONTNEED);
}

}  // namespace draftproof
