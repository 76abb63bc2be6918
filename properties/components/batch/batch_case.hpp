// A batch small enough to be read: what each request has at its draft positions, and the slots at verification.
// Prints and parses as "order=(1 0) [p=(1 1)/2,(1 0)/1 q=(1 1)/2 mask=(1 0),(1 1) seed=7 stop=1 limit=2] [...]".
//
//   p      L + 1 rows, at each draft position and behind them; rows depend on the position alone
//   q      L rows
//   order  request of each slot; requests were drafted in slots 0, 1, ...
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <draftproof/sim/token.hpp>

namespace draftproof {

struct BatchCaseRequest {
  std::vector<std::vector<int>> target;    ///< L + 1 rows of V weights
  std::vector<std::vector<int>> proposal;  ///< L rows
  std::vector<std::vector<int>> masks{};   ///< L + 1 rows of 0 and 1; empty: every token may be emitted
  int seed = -1;                           ///< negative: none of its own
  Token stop = no_token;
  int limit = 0;  ///< 0: none

  int drafts() const { return static_cast<int>(proposal.size()); }
  bool operator==(const BatchCaseRequest&) const = default;
};

struct BatchCase {
  std::vector<BatchCaseRequest> requests;
  std::vector<int> order;

  int vocabulary() const { return static_cast<int>(requests.front().target.front().size()); }
  int longest() const;
  bool masked() const;
  /// Rows are laws under their masks, the order is one, and seeds differ.
  bool valid() const;
  std::string text() const;
  /// Throws std::invalid_argument with what was found and wanted.
  static BatchCase parse(std::string_view text);
  static constexpr std::string_view example = "order=(1 0) [p=(1 1)/2,(1 0)/1 q=(0 1)/1 seed=3] [p=(0 1)/1]";

  bool operator==(const BatchCase&) const = default;
};

/// Target, then proposal rows, to be edited; masks are not among them.
std::vector<std::vector<int>*> rows_of(BatchCase& one);

/// One step shrinks, most drastic first: a request, a draft, a token less, no masks, no reordering, smaller weights.
std::vector<BatchCase> shrinks(const BatchCase& one);

/// Case n of a seed: 2 to 4 requests, 0 to 3 drafts, V 2 to 5.
BatchCase generate_batch_case(std::uint64_t seed, int n);

}  // namespace draftproof
