// Captured trees: contexts of a real model; for each context P independent paths of L tokens drawn from a proposal,
// with equal prefixes merged; and the distributions of target and proposals at every node (data/README.md).
//
//   array                  shape          meaning
//   target, draft*, ...    [M, ..]        distributions at M nodes, in full or truncated form
//   paths                  [C, P, L]      drawn tokens
//   path_nodes             [C, P, L + 1]  row of every node along a path, starting with the root
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <vector>

#include <draftproof/captures/capture.hpp>
#include <draftproof/captures/path_source.hpp>

namespace draftproof {

class TreeCapture {
 public:
  /// Reads the whole file. Throws: InputError if an array is missing, has the wrong shape or contradicts another: if
  /// two different prefixes share a node, or a path has a token that the row of its node does not have.
  static TreeCapture open(const std::filesystem::path& path);

  /// Whether the file contains trees, decided by the names of its arrays alone. Throws: InputError if the file cannot
  /// be read.
  static bool recognises(const std::filesystem::path& path);

  /// Number C of contexts.
  std::size_t conditionals() const { return conditionals_; }
  /// Number P of paths in a context.
  std::size_t paths() const { return paths_; }
  /// Number L of tokens of a path.
  std::size_t length() const { return length_; }

  /// Returns the row of the node after the first `depth` tokens of a path.
  std::size_t node(std::size_t context, std::size_t path, std::size_t depth) const {
    return nodes_[(context * paths_ + path) * (length_ + 1) + depth];
  }
  /// Returns token `depth` of a path, as a symbol of its row: the id, or the column in the truncated form.
  std::size_t symbol(std::size_t context, std::size_t path, std::size_t depth) const {
    return symbols_[(context * paths_ + path) * length_ + depth];
  }

  /// The distributions at the nodes: a node's row is a position of this capture.
  const Capture& rows() const { return rows_; }

 private:
  explicit TreeCapture(Capture rows) : rows_{std::move(rows)} {}

  Capture rows_;
  std::size_t conditionals_ = 0, paths_ = 0, length_ = 0;
  std::vector<std::size_t> nodes_, symbols_;
};

// Captured trees as a source of steps.

/// Opens captured trees. Throws: InputError if the file contains no trees, or if `options` request filters, because
/// the stored paths were drawn from the rows without filters.
std::unique_ptr<PathSource> open_captured_trees(const std::filesystem::path& path, const SourceOptions& options);

}  // namespace draftproof
