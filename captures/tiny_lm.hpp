// A small language model of the llama architecture, read from one file, and cheaper copies of it for drafting: the
// weights rounded to few bits, or the first layers alone.
//
//   d, ff    width of the residual stream, of the feed-forward layer        shape().width, shape().hidden
//   heads    query heads; a group of query heads shares a key-value head    shape().heads, shape().key_heads
//   V        tokens; token 1 starts a text                                  shape().vocabulary
//
// Forward pass: RMS norm (1e-5), rotary positions on adjacent pairs (base 10000), attention with grouped key and
// value heads, w2(silu(w1 x) * w3 x). File layout: data/README.md. tests/captures compares the pass with
// captured rows.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace draftproof {

struct StoryShape {
  int width = 0, hidden = 0, context = 0, vocabulary = 0, layers = 0, heads = 0, key_heads = 0;

  int head_width() const { return width / heads; }
  int key_width() const { return key_heads * head_width(); }
};

/// The keys and values of every layer for one token, which later tokens read.
struct StoryMemory {
  std::vector<double> keys, values;  ///< layers x key_width
};

class TinyLm {
 public:
  /// Throws: InputError on a file of another format or size.
  static TinyLm open(const std::filesystem::path& path);

  /// Returns a copy whose matrices are rounded to `bits` bits, symmetrically, with one scale for every 32 values.
  TinyLm rounded(int bits) const;
  /// Returns a copy with the first `layers` layers.
  TinyLm cut(int layers) const;

  const StoryShape& shape() const { return shape_; }
  /// Returns the text of a token.
  std::string_view piece(int token) const { return pieces_[static_cast<std::size_t>(token)]; }

  /// Reads `token`, given the keys and values of all earlier tokens in `before`, in order of position. Returns the
  /// natural-log probabilities [V] of the next token and writes the keys and values of `token` to `own`.
  std::vector<double> read(int token, std::span<const StoryMemory* const> before, StoryMemory& own) const;

 private:
  struct Layer {
    std::vector<float> attention_norm, query, key, value, output, forward_norm, gate, down, up;
  };

  StoryShape shape_;
  std::vector<std::string> pieces_;
  std::vector<float> embedding_, final_norm_, head_;  ///< if head_ is empty, the embedding is the output matrix
  std::vector<Layer> layers_;
};

}  // namespace draftproof
