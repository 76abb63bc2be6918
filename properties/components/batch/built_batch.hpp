// A case laid out in memory as in an engine, with drafts drawn, and a runner's output for each request.
//
//   turn       selects the random bits: turn n starts 8 n tokens into the text, so that each turn has other bits
//   drafted    drafts of each request, from its proposal rows and the drafter's random bits at the same address
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <draftproof/properties/components/batch/batch_case.hpp>
#include <draftproof/properties/components/batch/batch_group.hpp>

namespace draftproof {

/// Number of turns (seeds of the drafts and random bits) with which a deterministic check runs a case.
inline constexpr std::uint32_t batch_turns = 24;

/// The output for one request.
struct BatchRow {
  std::vector<Token> emitted;
  int accepted = 0;
  bool refused = false;
  bool operator==(const BatchRow&) const = default;
  /// Returns a text such as "[0 1], 1 accepted".
  std::string text() const;
};

class BuiltBatch {
 public:
  /// Variations of the layout of a case.
  struct Layout {
    int only = -1;        ///< if not negative, the only request; it keeps its id in the engine and its random bits
    Token pad = pad_id;   ///< fills the columns after each row's drafts
    bool sorted = false;  ///< whether slots are in the order of drafting
    std::vector<std::uint32_t> numbers{};    ///< by request: id in the engine; empty: 0, 1, ..
    std::vector<std::uint32_t> positions{};  ///< by request: tokens emitted so far; empty: 8 times the turn
  };

  BuiltBatch(const BatchCase& one, std::uint32_t turn, const Layout& layout);
  /// The case with the default layout.
  BuiltBatch(const BatchCase& one, std::uint32_t turn) : BuiltBatch(one, turn, Layout{}) {}

  /// Replaces the drafts of a request.
  void draft(int request, const std::vector<Token>& tokens);
  /// Returns the drafts of a request.
  const std::vector<Token>& drafted(int request) const { return drafted_[static_cast<std::size_t>(request)]; }
  /// Returns the address of the request's random bits at its first position.
  StreamAddress address(int request) const;
  /// Returns the target rows in memory, which a check may corrupt.
  std::vector<float>& target() { return target_; }
  /// Returns the index in memory of the request's first target row.
  std::size_t target_row(int request) const;

  /// Returns the batch as passed to a runner. Refers to this object.
  RaggedBatch view() const;
  /// Runs the batch. Returns one result for each request, in the order of requests, not of slots.
  std::vector<BatchRow> run(const BatchRunner& runner, BatchStreams& streams) const;
  std::vector<BatchRow> run(const BatchRunner& runner) const;
  /// Runs the batch as the next call of a started runner.
  std::vector<BatchRow> run(BatchSession& session, BatchStreams& streams) const;

 private:
  void lay_out(const BatchCase& one);
  std::vector<BatchRow> by_request(BatchOutput output) const;
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

/// Engine seed, for requests without a seed.
inline constexpr std::uint64_t batch_engine_seed = 0x9E3779B97F4A7C15;

}  // namespace draftproof
