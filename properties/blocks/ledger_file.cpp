#include <fstream>
#include <sstream>

#include <fmt/format.h>
#include <boost/crc.hpp>

#include <draftproof/captures/array.hpp>
#include <draftproof/captures/input_error.hpp>
#include <draftproof/captures/json_input.hpp>
#include <draftproof/captures/written_file.hpp>
#include <draftproof/properties/blocks/ledger.hpp>

namespace draftproof {
namespace {

/// CRC-64 of ECMA-182, reflected.
using Checksum = boost::crc_optimal<64, 0x42F0E1EBA9EA3693, ~0ull, ~0ull, true, true>;

std::string checksum(const std::string& text) {
  Checksum sum;
  sum.process_bytes(text.data(), text.size());
  return fmt::format("{:016x}", sum.checksum());
}

constexpr std::string_view heading = "draftproof blocks, checksum ";

}  // namespace

void write_ledger(const std::string& path, const BlockLedger& ledger) {
  const std::string text = ledger.to_json().dump() + "\n";
  write_whole(path, fmt::format("{}{}\n{}", heading, checksum(text), text));
}

nlohmann::json read_ledger(const std::string& path) {
  FileBytes file(path);
  std::string text(file.size(), '\0');
  file.read(std::as_writable_bytes(std::span(text)));
  const auto end = text.find('\n');
  if (!text.starts_with(heading) || end == std::string::npos)
    throw InputError({.file = path, .found = "no heading of blocks", .wanted = "a part or a checkpoint"});
  const std::string stated = text.substr(heading.size(), end - heading.size());
  text.erase(0, end + 1);
  if (const std::string found = checksum(text); found != stated)
    throw InputError(
        {.file = path, .found = "a truncated or edited file: checksum " + found, .wanted = "checksum " + stated});
  return parse_own_json(text);
}

nlohmann::json fingerprint(const std::string& path) {
  constexpr std::uint64_t piece = 1 << 16, pieces = 4096;
  const std::uint64_t size = FileBytes(path).size();
  std::ifstream file(path, std::ios::binary);
  std::vector<char> bytes(piece);
  Checksum sum;
  const std::uint64_t step = std::max(piece, size <= piece * pieces ? piece : size / pieces);
  for (std::uint64_t at = 0; at < size; at += step) {
    file.seekg(static_cast<std::streamoff>(at));
    file.read(bytes.data(), static_cast<std::streamsize>(std::min(piece, size - at)));
    sum.process_bytes(bytes.data(), static_cast<std::size_t>(file.gcount()));
  }
  return fmt::format("{} bytes, {:016x}", size, sum.checksum());
}

}  // namespace draftproof
