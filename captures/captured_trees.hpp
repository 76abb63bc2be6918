// Captured trees as a source of steps.
#pragma once

#include <filesystem>
#include <memory>

#include <draftproof/captures/path_source.hpp>
#include <draftproof/captures/tree_capture.hpp>

namespace draftproof {

/// Throws InputError if the file holds no trees, or if `options` ask for filters: stored paths have the law of the
/// stored rows.
std::unique_ptr<PathSource> open_captured_trees(const std::filesystem::path& path, const SourceOptions& options);

}  // namespace draftproof
