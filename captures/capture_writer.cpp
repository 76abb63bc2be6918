#include <draftproof/captures/capture_writer.hpp>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <fstream>
#include <set>

#include <draftproof/captures/input_error.hpp>

namespace draftproof {
namespace {

Array stored_array(std::span<const double> values, std::vector<std::size_t> shape, DType dtype) {
  if (dtype == DType::F64) return make_array<double>(std::move(shape), values);
  std::vector<float> rounded(values.size());
  std::transform(values.begin(), values.end(), rounded.begin(), [](double v) { return static_cast<float>(v); });
  return make_array<float>(std::move(shape), rounded);
}

}  // namespace

CaptureWriter::CaptureWriter(std::size_t vocabulary, std::vector<std::string> proposals, CaptureFormat format)
    : vocabulary_(vocabulary), names_(std::move(proposals)), format_(format) {
  assert(format.dtype == DType::F32 || format.dtype == DType::F64);
  const bool good = !names_.empty() && std::all_of(names_.begin(), names_.end(), is_proposal_array) &&
                    std::set(names_.begin(), names_.end()).size() == names_.size();
  if (!good)
    throw InputError({.file = "capture writer",
                      .found = "proposal names that a capture cannot hold",
                      .wanted = "at least one, all different, each beginning with draft"});
  names_.insert(names_.begin(), "target");
  columns_.resize(names_.size());
}

void CaptureWriter::add(const RowPair& pair) {
  assert(pair.proposals.size() + 1 == names_.size());
  const auto append = [this](std::vector<double>& column, const std::vector<double>& law) {
    assert(law.size() == vocabulary_);
    for (const double p : law) column.push_back(format_.values == Values::Probability ? p : std::log(p));
  };
  append(columns_[0], pair.target);
  for (std::size_t d = 0; d < pair.proposals.size(); ++d) append(columns_[d + 1], pair.proposals[d]);
  ++positions_;
}

void CaptureWriter::write(const std::filesystem::path& path, nlohmann::json metadata) const {
  assert(positions_ > 0);
  if (path.extension() != ".npz")
    throw InputError(
        {.file = path.string(), .found = "suffix " + in_quotes(path.extension().string()), .wanted = ".npz"});
  NamedArrays arrays;
  for (std::size_t a = 0; a < names_.size(); ++a)
    arrays.emplace_back(names_[a], stored_array(columns_[a], {positions_, vocabulary_}, format_.dtype));
  write_npz(path, arrays, format_.compression);

  metadata["schema"] = capture_schema;
  metadata["values"] = to_string(format_.values);
  metadata["vocabulary"] = vocabulary_;
  metadata["positions"] = positions_;
  metadata["proposals"] = std::vector(names_.begin() + 1, names_.end());
  std::filesystem::path sidecar = path;
  sidecar.replace_extension(".json");
  std::ofstream stream(sidecar);
  stream << metadata.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) << '\n';
  stream.flush();
  if (!stream) throw InputError({.file = sidecar.string(), .found = "a failed write", .wanted = "a file to write"});
}

}  // namespace draftproof
