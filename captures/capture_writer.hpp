// Writes a capture: rows collected one position at a time, then one .npz with its sidecar JSON. What is
// written as f64 probabilities reads back equal to double rounding; f32 log-probabilities are the compact
// form.
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

struct CaptureFormat {
  Values values = Values::LogProbability;  // a Logit row is written as log-probabilities
  DType dtype = DType::F32;                // F32 or F64
  Compression compression = Compression::Deflated;
};

class CaptureWriter {
 public:
  /// `proposals`: names, each beginning with `draft`; InputError if one does not, is repeated, or there is
  /// none.
  CaptureWriter(std::size_t vocabulary, std::vector<std::string> proposals, CaptureFormat format = {});

  /// Appends one position: laws over `vocabulary` tokens, as many proposals as names.
  void add(const RowPair& pair);

  std::size_t positions() const { return positions_; }

  /// Writes `path` (suffix .npz) and beside it the sidecar: `metadata` plus schema, values, vocabulary,
  /// positions and proposals. At least one position must have been added. Throws InputError if a file cannot
  /// be written.
  void write(const std::filesystem::path& path, nlohmann::json metadata = nlohmann::json::object()) const;

 private:
  std::size_t vocabulary_;
  std::vector<std::string> names_;            // target first
  std::vector<std::vector<double>> columns_;  // per name, rows one after another, as stored
  CaptureFormat format_;
  std::size_t positions_ = 0;
};

}  // namespace draftproof
