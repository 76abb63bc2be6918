// Writes files for tests of readers: arrays as .npz, and captures with their sidecar.
#pragma once

#include <cmath>
#include <fstream>
#include <stdexcept>

#include <fmt/format.h>
#include <zip.h>

#include <draftproof/captures/capture.hpp>
#include <draftproof/captures/row.hpp>

namespace draftproof {

/// Returns an array of float, double, std::int32_t or std::int64_t values. `values` has as many elements as `shape`.
template <class T>
Array make_array(std::vector<std::size_t> shape, std::span<const T> values) {
  constexpr DType dtype = std::is_floating_point_v<T> ? (sizeof(T) == 4 ? DType::F32 : DType::F64)
                                                      : (sizeof(T) == 4 ? DType::I32 : DType::I64);
  const auto bytes = std::as_bytes(values);
  return {.dtype = dtype, .shape = std::move(shape), .bytes = {bytes.begin(), bytes.end()}};
}

enum class Compression { Stored, Deflated };

/// Writes `arrays` (any type except BF16) to `path`, replacing the file. The bytes depend on the arrays only: entries
/// have a fixed date.
inline void write_npz(const std::filesystem::path& path, const NamedArrays& arrays,
                      Compression compression = Compression::Deflated) {
  zip_t* const archive = zip_open(path.c_str(), ZIP_CREATE | ZIP_TRUNCATE, nullptr);
  const auto require = [&](bool good) {
    if (!good) throw std::runtime_error("cannot write " + path.string());
  };
  require(archive != nullptr);
  std::vector<std::string> contents;  // kept until the archive is closed, because libzip reads them only then
  contents.reserve(arrays.size());
  for (const auto& [name, array] : arrays) {
    std::string shape;
    for (const std::size_t extent : array.shape) shape += fmt::format("{},", extent);
    std::string dict =
        fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}\n", names_of(array.dtype).npy, shape);
    std::string& content = contents.emplace_back("\x93NUMPY\x01\x00", 8);
    content += {static_cast<char>(dict.size() & 255), static_cast<char>(dict.size() >> 8)};
    content += dict;
    content.append(reinterpret_cast<const char*>(array.bytes.data()), array.bytes.size());
    zip_source_t* source = zip_source_buffer(archive, content.data(), content.size(), 0);
    const zip_int64_t added = zip_file_add(archive, (name + ".npy").c_str(), source, ZIP_FL_ENC_UTF_8);
    require(added >= 0);
    const auto index = static_cast<zip_uint64_t>(added);
    constexpr zip_uint16_t first_of_1980 = (1 << 5) | 1;
    const zip_int32_t method = compression == Compression::Stored ? ZIP_CM_STORE : ZIP_CM_DEFLATE;
    require(zip_set_file_compression(archive, index, method, 0) == 0 &&
            zip_file_set_dostime(archive, index, 0, first_of_1980, 0) == 0);
  }
  require(zip_close(archive) == 0);
}

/// The form in which the rows of a written capture are stored.
struct CaptureFormat {
  Values values = Values::LogProbability;
  DType dtype = DType::F32;  // F32 or F64
  Compression compression = Compression::Deflated;
};

/// Writes `path` (.npz) with the rows of `pairs`, one array of proposals for each name in `proposals`, and its sidecar:
/// `metadata` with schema, values and vocabulary added.
inline void write_capture(const std::filesystem::path& path, const std::vector<std::string>& proposals,
                          const std::vector<RowPair>& pairs, CaptureFormat format = {},
                          nlohmann::json metadata = nlohmann::json::object()) {
  const std::size_t vocabulary = pairs.front().target.size();
  NamedArrays arrays;
  for (std::size_t a = 0; a <= proposals.size(); ++a) {
    std::vector<double> rows;
    for (const RowPair& pair : pairs)
      for (const double p : a == 0 ? pair.target : pair.proposals.at(a - 1))
        rows.push_back(format.values == Values::Probability ? p : std::log(p));
    const std::vector<float> rounded(rows.begin(), rows.end());
    const std::vector<std::size_t> shape{pairs.size(), vocabulary};
    arrays.emplace_back(a == 0 ? "target" : proposals[a - 1], format.dtype == DType::F64
                                                                  ? make_array<double>(shape, rows)
                                                                  : make_array<float>(shape, rounded));
  }
  write_npz(path, arrays, format.compression);
  metadata["schema"] = capture_schema;
  metadata["values"] = to_string(format.values);
  metadata["vocabulary"] = vocabulary;
  std::ofstream(std::filesystem::path(path).replace_extension(".json")) << metadata.dump() << '\n';
}

}  // namespace draftproof
