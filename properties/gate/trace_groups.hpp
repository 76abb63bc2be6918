// The rows of some blocks of a recording, as groups of tokens, and the groups in which its draws lie. Rows are read by
// all threads; bets then go through them in order.
//
// Cost: each row once; 6 KB a pair of rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <draftproof/captures/trace.hpp>
#include <draftproof/properties/statistics/row_groups.hpp>

namespace draftproof {

/// The probabilities of one drawn symbol.
struct DrawnSymbol {
  std::size_t symbol = 0;
  float p = 0, q = 0;
};

/// A record with its proposal row, or one of them alone.
struct RowItem {
  static constexpr std::int64_t none = -1;
  std::int64_t record = none, q_row = none;
  DrawnSymbol emitted{};
  RowGroups groups{};
};

/// A draft in its row.
struct DraftItem {
  std::size_t item = 0;      ///< of its row, in items
  DrawnSymbol drawn{};       ///< p is 0 where the item has no record
  std::size_t likelier = 0;  ///< tokens of its row that are likelier than it; counted for greedy drafts alone
};

struct TraceGroups {
  std::size_t first_block = 0, end_block = 0;
  std::vector<RowItem> items{};
  std::vector<std::size_t> item_of_record{}, item_of_q_row{};  ///< from the first of the blocks on
  std::vector<DraftItem> drafts{};                             ///< from the first of the blocks on
};

/// Number of a place that has no item.
inline constexpr std::size_t no_item = ~std::size_t{0};

/// Blocks from `first_block` on, until they have some 512 rows. `judge_drafts`: whether rows of the proposal without a
/// record are read too. Throws: InputError for the first row that is no law.
TraceGroups read_groups(const Trace& trace, std::size_t first_block, bool judge_drafts, bool greedy, int threads);

/// Whether every draft of block b follows the one before it: no node has two.
bool is_chain(const Trace& trace, std::size_t b);

}  // namespace draftproof
