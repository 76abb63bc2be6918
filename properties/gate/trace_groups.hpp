// The rows of some blocks of a recording, summed by groups of tokens, and the groups of the recorded tokens.
// All threads read rows; bets then use them in order.
//
// Cost: each row once; 6 KB per pair of rows.
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

/// A record with its proposal row, a record alone, or a proposal row alone.
struct RowItem {
  static constexpr std::int64_t none = -1;
  std::int64_t record = none, q_row = none;
  DrawnSymbol emitted{};
  RowGroups groups{};
};

/// A draft and its row.
struct DraftItem {
  std::size_t item = 0;      ///< index of its row's item
  DrawnSymbol drawn{};       ///< p is 0 if the item has no record
  std::size_t likelier = 0;  ///< number of likelier tokens in its row; counted for greedy drafts only
};

struct TraceGroups {
  std::size_t first_block = 0, end_block = 0;
  std::vector<RowItem> items{};
  std::vector<std::size_t> item_of_record{}, item_of_q_row{};  ///< indexed from the first block
  std::vector<DraftItem> drafts{};                             ///< indexed from the first block
};

/// Marks a row without an item.
inline constexpr std::size_t no_item = ~std::size_t{0};

/// Reads blocks from `first_block` on, until they have some 512 rows. `judge_drafts`: whether to read also
/// proposal rows without a record. Throws: InputError for the first row that is not a distribution.
TraceGroups read_groups(const Trace& trace, std::size_t first_block, bool judge_drafts, bool greedy, int threads);

/// Whether every draft of block b is the child of the previous one.
bool is_chain(const Trace& trace, std::size_t b);

}  // namespace draftproof
