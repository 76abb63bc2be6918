// A case laid out in memory as an engine does it, with drafts drawn, and what a runner makes of it, request by
// request.
//
//   turn       which words are read: turn n starts 8 n tokens into the text, so that one case is tried on many words
//   drafted    drafts of each request, from its proposal rows and the words of drafting at the same address
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <draftproof/properties/components/batch/batch_case.hpp>
#include <draftproof/properties/components/batch/batch_group.hpp>

namespace draftproof {

/// Turns that deterministic checks try a case on.
inline constexpr std::uint32_t batch_turns = 24;

/// What came out for one request.
struct BatchRow {
  std::vector<Token> emitted;
  int accepted = 0;
  bool refused = false;
  bool operator==(const BatchRow&) const = default;
  /// "[0 1], 1 accepted".
  std::string text() const;
};

class BuiltBatch {
 public:
  /// How a case is laid out, where it is not as it stands.
  struct Layout {
    int only = -1;        ///< this request alone; it keeps its number in the engine, and with it its words
    Token pad = pad_id;   ///< fills the drafts behind each row's own
    bool sorted = false;  ///< slots in the order of drafting
  };

  BuiltBatch(const BatchCase& one, std::uint32_t turn, const Layout& layout);
  BuiltBatch(const BatchCase& one, std::uint32_t turn) : BuiltBatch(one, turn, Layout{}) {}

  /// Replaces the drafts of a request.
  void draft(int request, const std::vector<Token>& tokens);
  const std::vector<Token>& drafted(int request) const { return drafted_[static_cast<std::size_t>(request)]; }
  /// Where the words of a request are, from its first position on.
  StreamAddress address(int request) const;
  /// Rows as they lie in memory, to be damaged.
  std::vector<float>& target() { return target_; }
  /// First target row of a request in memory.
  std::size_t target_row(int request) const;

  RaggedBatch view() const;
  /// Of each request, not of each slot.
  std::vector<BatchRow> run(const BatchRunner& runner, BatchStreams& streams) const;
  std::vector<BatchRow> run(const BatchRunner& runner) const;

 private:
  void lay_out(const BatchCase& one);
  void pad_drafts();

  int vocabulary_, longest_;
  std::int64_t pitch_;
  Token pad_;
  std::vector<int> order_;                ///< request of each slot
  std::vector<int> length_, drafted_at_;  ///< by slot
  std::vector<float> target_, proposal_;
  std::vector<std::uint8_t> mask_;
  std::vector<Token> padded_;
  std::vector<BatchRequest> request_;        ///< by slot
  std::vector<std::vector<Token>> drafted_;  ///< by request
};

/// Of words without a seed.
inline constexpr std::uint64_t batch_engine_seed = 0x9E3779B97F4A7C15;

}  // namespace draftproof
