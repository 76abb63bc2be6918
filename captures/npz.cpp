#include <draftproof/captures/npz.hpp>

#include <algorithm>
#include <cassert>
#include <memory>
#include <set>

#include <fmt/format.h>
#include <zip.h>

#include <draftproof/captures/file_bytes.hpp>
#include <draftproof/captures/input_error.hpp>
#include <draftproof/captures/npy.hpp>

namespace draftproof {
namespace {

struct DiscardArchive {
  void operator()(zip_t* archive) const { zip_discard(archive); }
};
using Archive = std::unique_ptr<zip_t, DiscardArchive>;

struct CloseEntry {
  void operator()(zip_file_t* entry) const { zip_fclose(entry); }
};
using Entry = std::unique_ptr<zip_file_t, CloseEntry>;

Archive open_archive(const std::filesystem::path& path, int flags) {
  int code = 0;
  Archive archive(zip_open(path.c_str(), flags, &code));
  if (archive) return archive;
  zip_error_t error;
  zip_error_init_with_code(&error, code);
  const std::string text = zip_error_strerror(&error);
  zip_error_fini(&error);
  throw InputError({.file = path.string(), .found = text, .wanted = "a zip archive (.npz)"});
}

// Deflate uses at least one bit for the length and one for the distance of a match of at most 258 bytes: at most 1032
// bytes for each byte read (RFC 1951). A directory that claims a larger ratio is wrong.
constexpr std::uint64_t largest_ratio = 1032;

/// The directory record of entry `index`, checked as far as the directory alone permits. Throws: InputError.
zip_stat_t checked_stat(zip_t* archive, zip_uint64_t index, std::uint64_t file_size, const std::string& file,
                        const std::string& array) {
  const auto refuse = [&](std::string found, std::string wanted) {
    return InputError({.file = file, .array = array, .found = std::move(found), .wanted = std::move(wanted)});
  };
  zip_stat_t stat;
  constexpr zip_uint64_t needed =
      ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_COMP_METHOD | ZIP_STAT_ENCRYPTION_METHOD;
  if (zip_stat_index(archive, index, 0, &stat) != 0 || (stat.valid & needed) != needed)
    throw refuse("a broken directory entry", "sizes and method of the entry");
  if (stat.encryption_method != ZIP_EM_NONE) throw refuse("an encrypted entry", "plain data");
  if (stat.comp_method != ZIP_CM_STORE && stat.comp_method != ZIP_CM_DEFLATE)
    throw refuse(fmt::format("compression method {}", stat.comp_method), "stored (0) or deflate (8)");
  const std::uint64_t reachable = stat.comp_method == ZIP_CM_STORE ? 1 : largest_ratio;
  if (stat.comp_size > file_size || stat.size > stat.comp_size * reachable)
    throw refuse(fmt::format("{} bytes in {} compressed ones, in a file of {}", stat.size, stat.comp_size, file_size),
                 "sizes that fit each other");
  return stat;
}

Array read_entry(zip_t* archive, zip_uint64_t index, const zip_stat_t& stat, const std::string& file,
                 const std::string& array) {
  const Entry entry(zip_fopen_index(archive, index, 0));
  if (!entry) throw InputError({.file = file, .array = array, .found = zip_strerror(archive), .wanted = "data"});
  const auto refuse = [&](std::string wanted) {
    const char* problem = zip_file_strerror(entry.get());
    return InputError({.file = file,
                       .array = array,
                       .found = zip_error_code_zip(zip_file_get_error(entry.get())) == ZIP_ER_OK
                                    ? std::string("data of another length than the zip directory says")
                                    : std::string(problem),
                       .wanted = std::move(wanted)});
  };
  Array result = read_npy(
      [&](std::span<std::byte> bytes) {
        while (!bytes.empty()) {
          const zip_int64_t count = zip_fread(entry.get(), bytes.data(), bytes.size());
          if (count <= 0) throw refuse(fmt::format("{} more bytes", bytes.size()));
          bytes = bytes.subspan(static_cast<std::size_t>(count));
        }
      },
      stat.size, file, array);
  // libzip compares the checksum when the end is read.
  std::byte beyond{};
  if (zip_fread(entry.get(), &beyond, 1) != 0) throw refuse("the end of the entry and its checksum");
  return result;
}

}  // namespace

NamedArrays read_npz(const std::filesystem::path& path, const WantArray& want) {
  const std::string file = path.string();
  const std::uint64_t file_size = FileBytes(path).size();
  const Archive archive = open_archive(path, ZIP_RDONLY);
  NamedArrays arrays;
  std::set<std::string> seen;
  std::uint64_t total = 0;
  const zip_int64_t entries = zip_get_num_entries(archive.get(), 0);
  for (zip_int64_t i = 0; i < entries; ++i) {
    const auto index = static_cast<zip_uint64_t>(i);
    const char* entry_name = zip_get_name(archive.get(), index, ZIP_FL_ENC_RAW);
    std::string name = entry_name == nullptr ? "" : entry_name;
    if (!seen.insert(name).second)
      throw InputError({.file = file, .found = "two entries named " + in_quotes(name), .wanted = "each name once"});
    constexpr std::string_view suffix = ".npy";
    if (!name.ends_with(suffix)) continue;
    name.resize(name.size() - suffix.size());
    if (!want(name)) continue;
    const zip_stat_t stat = checked_stat(archive.get(), index, file_size, file, name);
    total += std::min<std::uint64_t>(stat.size, most_array_bytes + 1);
    if (total > most_array_bytes)
      throw InputError({.file = file,
                        .array = name,
                        .found = fmt::format("more than {} bytes of arrays", most_array_bytes),
                        .wanted = "a smaller capture, or several"});
    arrays.emplace_back(name, read_entry(archive.get(), index, stat, file, name));
  }
  return arrays;
}

void write_npz(const std::filesystem::path& path, const NamedArrays& arrays, Compression compression) {
  Archive archive = open_archive(path, ZIP_CREATE | ZIP_TRUNCATE);
  const auto refuse = [&] {
    return InputError({.file = path.string(), .found = zip_strerror(archive.get()), .wanted = "a file to write"});
  };
  std::vector<std::vector<std::byte>> contents;  // libzip reads them when the archive is closed
  contents.reserve(arrays.size());
  for (const auto& [name, array] : arrays) {
    assert(array.dtype != DType::BF16);
    const std::string header = npy_header(array);
    const auto header_bytes = std::as_bytes(std::span(header));
    auto& content = contents.emplace_back(header_bytes.begin(), header_bytes.end());
    content.insert(content.end(), array.bytes.begin(), array.bytes.end());
    zip_source_t* source = zip_source_buffer(archive.get(), content.data(), content.size(), 0);
    if (source == nullptr) throw refuse();
    const zip_int64_t added = zip_file_add(archive.get(), (name + ".npy").c_str(), source, ZIP_FL_ENC_UTF_8);
    if (added < 0) {
      zip_source_free(source);
      throw refuse();
    }
    const auto index = static_cast<zip_uint64_t>(added);
    constexpr zip_uint16_t first_of_1980 = (1 << 5) | 1;
    const zip_int32_t method = compression == Compression::Stored ? ZIP_CM_STORE : ZIP_CM_DEFLATE;
    if (zip_set_file_compression(archive.get(), index, method, 0) != 0 ||
        zip_file_set_dostime(archive.get(), index, 0, first_of_1980, 0) != 0)
      throw refuse();
  }
  if (zip_close(archive.get()) != 0) throw refuse();
  (void)archive.release();
}

}  // namespace draftproof
