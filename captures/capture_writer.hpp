// Writes a capture: collects rows one position at a time, then writes one .npz with its sidecar JSON. f64
// probabilities are read back equal up to double rounding; f32 log-probabilities are the compact form.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <draftproof/captures/capture_schema.hpp>
#include <draftproof/captures/npz.hpp>
#include <draftproof/captures/row.hpp>

namespace draftproof {

/// The format of a written capture.
struct CaptureFormat {
  Values values = Values::LogProbability;  // a Logit row is written as log-probabilities
  DType dtype = DType::F32;                // F32 or F64
  Compression compression = Compression::Deflated;
};

class CaptureWriter {
 public:
  /// `proposals`: distinct names, each beginning with `draft`, at least one. Throws: InputError otherwise.
  CaptureWriter(std::size_t vocabulary, std::vector<std::string> proposals, CaptureFormat format = {});

  /// Adds one position: laws over `vocabulary` tokens, one proposal for each name.
  void add(const RowPair& pair);

  /// Number of positions added.
  std::size_t positions() const { return positions_; }

  /// Writes `path` (suffix .npz) and its sidecar: `metadata` with schema, values, vocabulary, positions and proposals
  /// added. Requires at least one position. Throws: InputError if a file cannot be written.
  void write(const std::filesystem::path& path, nlohmann::json metadata = nlohmann::json::object()) const;

 private:
  std::size_t vocabulary_;
  std::vector<std::string> names_;            // target first
  std::vector<std::vector<double>> columns_;  // per name, rows one after another, as stored
  CaptureFormat format_;
  std::size_t positions_ = 0;
};

}  // namespace draftproof
