#include <draftproof/captures/npz.hpp>

#include <algorithm>
#include <limits>
#include <set>

#include <fmt/format.h>
#include <zip.h>

namespace draftproof {
namespace {

/// Fills the span with the next bytes of a stream; throws InputError if the stream has fewer bytes.
using ReadBytes = std::function<void(std::span<std::byte>)>;

/// The Python dict literal in an .npy header, e.g. `{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }`:
/// exactly the three keys that NumPy writes, each once, in any order. Nothing is evaluated.
class NpyDict {
 public:
  std::string descr{};
  bool fortran_order = false;
  std::vector<std::uint64_t> shape{};

  NpyDict(std::string_view text, const std::string& file, const std::string& array)
      : text_(text), file_(file), array_(array) {
    std::set<std::string> seen;
    list("{", "}", [&] {
      const std::string key = string();
      if (!seen.insert(key).second) refuse("the .npy header key " + in_quotes(key) + " twice", "each key once");
      expect(":");
      if (key == "descr") {
        descr = string();
      } else if (key == "fortran_order") {
        fortran_order = take("True");
        if (!fortran_order) expect("False");
      } else if (key == "shape") {
        list("(", ")", [&] {
          shape.push_back(integer());
          if (shape.size() > 32) refuse("more than 32 dimensions", "at most 32");
        });
      } else {
        refuse("the .npy header key " + in_quotes(key), "descr, fortran_order and shape");
      }
    });
    skip_space();
    if (!text_.empty()) refuse(in_quotes(text_) + " after the .npy header", "spaces and a line end");
    if (seen.size() != 3) refuse(fmt::format("{} .npy header keys", seen.size()), "descr, fortran_order and shape");
  }

 private:
  [[noreturn]] void refuse(std::string found, std::string wanted) const {
    throw array_error(file_, array_, std::move(found), std::move(wanted));
  }
  void skip_space() { text_.remove_prefix(std::min(text_.find_first_not_of(" \n"), text_.size())); }
  bool take(std::string_view word) {
    skip_space();
    if (!text_.starts_with(word)) return false;
    text_.remove_prefix(word.size());
    return true;
  }
  void expect(std::string_view word) {
    if (!take(word)) refuse(in_quotes(text_.substr(0, 12)) + " in the .npy header", in_quotes(word));
  }
  /// Parses items between brackets, separated by commas, with an optional comma after the last item.
  template <class Item>
  void list(std::string_view open, std::string_view close, Item item) {
    expect(open);
    while (!take(close)) {
      item();
      if (!take(",")) return expect(close);
    }
  }
  std::string string() {
    const char quote = take("'") ? '\'' : '"';
    if (quote == '"') expect("\"");
    const std::size_t end = text_.find(quote);
    if (end == std::string_view::npos) refuse("an open string in the .npy header", "a closing quote");
    const std::string result(text_.substr(0, end));
    text_.remove_prefix(end + 1);
    return result;
  }
  std::uint64_t integer() {
    skip_space();
    constexpr std::uint64_t largest = std::numeric_limits<std::int64_t>::max();
    const std::size_t digits = std::min(text_.find_first_not_of("0123456789"), text_.size());
    if (digits == 0) refuse(in_quotes(text_.substr(0, 12)) + " in the shape", "a non-negative whole number");
    std::uint64_t value = 0;
    for (const char character : text_.substr(0, digits)) {
      const auto digit = static_cast<std::uint64_t>(character - '0');
      if (value > (largest - digit) / 10) refuse("a dimension beyond 2^63", "a shape that fits a file");
      value = 10 * value + digit;
    }
    text_.remove_prefix(digits);
    return value;
  }

  std::string_view text_;  // the text that is not parsed yet
  const std::string& file_;
  const std::string& array_;
};

/// Reads one .npy stream of `total` bytes, which its header must match exactly. Throws: InputError.
Array read_stream(const ReadBytes& read, std::uint64_t total, const std::string& file, const std::string& array) {
  const auto refuse = [&](std::string found, std::string wanted) {
    return array_error(file, array, std::move(found), std::move(wanted));
  };
  std::uint64_t left = total;
  const auto take = [&](std::span<std::byte> bytes, std::string_view what) {
    if (bytes.size() > left) throw refuse(fmt::format("{} bytes", total), fmt::format("a whole .npy {}", what));
    left -= bytes.size();
    read(bytes);
  };

  std::array<std::byte, 8> start{};
  take(start, "magic string");
  if (std::memcmp(start.data(), "\x93NUMPY", 6) != 0) throw refuse("no .npy magic string", "\"\\x93NUMPY\"");
  const int version = std::to_integer<int>(start[6]);
  if (version < 1 || version > 3 || start[7] != std::byte{0})
    throw refuse(fmt::format(".npy version {}.{}", version, std::to_integer<int>(start[7])),
                 "version 1.0, 2.0 or 3.0");

  std::uint32_t length = 0;
  take(std::as_writable_bytes(std::span(&length, 1)).first(version == 1 ? 2 : 4), "header length");
  // NumPy refuses headers of more than 10000 bytes unless allow_pickle or max_header_size permits them.
  constexpr std::size_t longest_header = 10000;
  if (length > longest_header || length > left)
    throw refuse(fmt::format("a header of {} bytes", length),
                 fmt::format("at most {} and within the array's {} bytes", longest_header, total));
  std::string text(length, '\0');
  take(std::as_writable_bytes(std::span(text)), "header");

  const NpyDict dict(text, file, array);
  const auto known = std::find_if(type_names.begin(), type_names.end(),
                                  [&](const TypeNames& type) { return !type.npy.empty() && type.npy == dict.descr; });
  if (known == type_names.end())
    throw refuse("elements of type " + in_quotes(dict.descr), "<f2, <f4, <f8, |i1, |u1, <i4 or <i8 (little-endian)");
  if (dict.fortran_order) throw refuse("Fortran order", "rows stored one after another (C order)");
  const auto bytes = array_bytes(known->dtype, dict.shape);
  if (!bytes || *bytes != left)
    throw refuse(fmt::format("{} bytes of {} for shape {}", left, known->text, shape_text(dict.shape)),
                 bytes ? fmt::format("{} bytes", *bytes) : fmt::format("at most {} bytes", most_array_bytes));

  Array result{.dtype = known->dtype, .shape = {dict.shape.begin(), dict.shape.end()}, .bytes = {}};
  // The array grows as data arrives, so that memory is proportional to the data present and not to the claimed size.
  constexpr std::size_t chunk = std::size_t{1} << 24;
  while (result.bytes.size() < *bytes) {
    const std::size_t done = result.bytes.size();
    result.bytes.resize(std::min(*bytes, std::max(chunk, 2 * done)));
    take(std::span(result.bytes).subspan(done), "body");
  }
  return result;
}

using Archive = std::unique_ptr<zip_t, decltype([](zip_t* archive) { zip_discard(archive); })>;
using ZipEntry = std::unique_ptr<zip_file_t, decltype([](zip_file_t* entry) { zip_fclose(entry); })>;

// Deflate uses at least one bit for the length and one bit for the distance of a match of at most 258 bytes: at most
// 1032 bytes for each byte read (RFC 1951). A ZIP directory that states a larger ratio is wrong.
constexpr std::uint64_t largest_ratio = 1032;

/// Returns the uncompressed size of entry `index`, checked as far as possible from the ZIP directory, before any data
/// is read. Throws: InputError.
std::uint64_t checked_size(zip_t* archive, zip_uint64_t index, std::uint64_t file_size, const std::string& file,
                           const std::string& array) {
  const auto refuse = [&](std::string found, std::string wanted) {
    return array_error(file, array, std::move(found), std::move(wanted));
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
                 "consistent sizes");
  return stat.size;
}

Array read_entry(zip_t* archive, zip_uint64_t index, std::uint64_t size, const std::string& file,
                 const std::string& array) {
  const ZipEntry entry(zip_fopen_index(archive, index, 0));
  if (!entry) throw array_error(file, array, zip_strerror(archive), "data");
  const auto refuse = [&](std::string wanted) {
    const bool sound = zip_error_code_zip(zip_file_get_error(entry.get())) == ZIP_ER_OK;
    return array_error(file, array,
                       sound ? "data whose length differs from the zip directory" : zip_file_strerror(entry.get()),
                       std::move(wanted));
  };
  const auto read = [&](std::span<std::byte> bytes) {
    while (!bytes.empty()) {
      const zip_int64_t count = zip_fread(entry.get(), bytes.data(), bytes.size());
      if (count <= 0) throw refuse(fmt::format("{} more bytes", bytes.size()));
      bytes = bytes.subspan(static_cast<std::size_t>(count));
    }
  };
  Array result = read_stream(read, size, file, array);
  // libzip compares the checksum when a read reaches the end.
  std::byte beyond{};
  if (zip_fread(entry.get(), &beyond, 1) != 0) throw refuse("the end of the entry and its checksum");
  return result;
}

}  // namespace

Array read_npy(const std::filesystem::path& path) {
  FileBytes file(path);
  return read_stream([&file](std::span<std::byte> bytes) { file.read(bytes); }, file.size(), path.string(), "");
}

NamedArrays read_npz(const std::filesystem::path& path, const WantArray& want) {
  const std::string file = path.string();
  const std::uint64_t file_size = FileBytes(path).size();
  int code = 0;
  const Archive archive(zip_open(path.c_str(), ZIP_RDONLY, &code));
  if (!archive) {
    zip_error_t error;
    zip_error_init_with_code(&error, code);
    const std::string text = zip_error_strerror(&error);
    zip_error_fini(&error);
    throw file_error(file, text, "a zip archive (.npz)");
  }
  NamedArrays arrays;
  std::set<std::string> seen;
  std::uint64_t total = 0;
  const auto entries = static_cast<zip_uint64_t>(zip_get_num_entries(archive.get(), 0));
  for (zip_uint64_t index = 0; index < entries; ++index) {
    const char* entry_name = zip_get_name(archive.get(), index, ZIP_FL_ENC_RAW);
    std::string name = entry_name == nullptr ? "" : entry_name;
    if (!seen.insert(name).second) throw file_error(file, "two entries named " + in_quotes(name), "each name once");
    constexpr std::string_view suffix = ".npy";
    if (!name.ends_with(suffix)) continue;
    name.resize(name.size() - suffix.size());
    if (!want(name)) continue;
    const std::uint64_t size = checked_size(archive.get(), index, file_size, file, name);
    total += std::min(size, most_array_bytes + 1);
    if (total > most_array_bytes)
      throw array_error(file, name, fmt::format("more than {} bytes of arrays", most_array_bytes),
                        "a smaller capture, or several");
    arrays.emplace_back(name, read_entry(archive.get(), index, size, file, name));
  }
  return arrays;
}

}  // namespace draftproof
