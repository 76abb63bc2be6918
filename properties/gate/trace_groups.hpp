// The rows of some blocks of a recording, summed by groups of tokens, and the groups of the recorded tokens.
// All threads read rows; the bets then use the sums in the order of the recording.
//
// Cost: reads each row once; stores 6 KB per pair of rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <draftproof/captures/trace.hpp>
#include <draftproof/properties/statistics/row_groups.hpp>

namespace draftproof {

/// One drawn symbol (a token, or the rest of a truncated row) and its probabilities.
struct DrawnSymbol {
  std::size_t symbol = 0;
  float p = 0, q = 0;
};

/// A record (emitted token with its target row) and its proposal row; either may be absent.
struct RowItem {
  static constexpr std::int64_t none = -1;
  std::int64_t record = none, q_row = none;
  DrawnSymbol emitted{};
  RowGroups groups{};
};

/// A draft and its row.
struct DraftItem {
  std::size_t item = 0;      ///< index of the RowItem with the row that the draft was drawn from
  DrawnSymbol drawn{};       ///< p is 0 if the item has no record
  std::size_t likelier = 0;  ///< number of tokens likelier than the draft; counted for greedy drafts only
};

struct TraceGroups {
  std::size_t first_block = 0, end_block = 0;
  std::vector<RowItem> items{};
  std::vector<std::size_t> item_of_record{}, item_of_q_row{};  ///< index 0 is the first row of first_block
  std::vector<DraftItem> drafts{};                             ///< index 0 is the first draft of first_block
};

/// The entry of item_of_record or item_of_q_row for a row without an item.
inline constexpr std::size_t no_item = ~std::size_t{0};

/// Reads blocks from `first_block` on, until they have about 512 rows. Proposal rows without a record are read only if
/// `judge_drafts` is true. Throws: InputError for the first row that is not a distribution.
TraceGroups read_groups(const Trace& trace, std::size_t first_block, bool judge_drafts, bool greedy, int threads);

/// Whether every draft of block b is the child of the previous one.
bool is_chain(const Trace& trace, std::size_t b);

}  // namespace draftproof
