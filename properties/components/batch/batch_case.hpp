// A readable batch: the rows of each request at its draft positions, and the order of slots at verification. It
// prints and parses as "order=(1 0) [p=(1 1)/2,(1 0)/1 q=(1 1)/2 mask=(1 0),(1 1) seed=7 stop=1 limit=2] [...]".
//
//   p      L + 1 rows, one for each draft position and one after the last draft; they do not depend on drafted tokens
//   q      L rows
//   order  request in each slot at verification; drafts were made with request r in slot r
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
  int seed = -1;                           ///< negative: the request has no seed
  Token stop = no_token;
  int limit = 0;  ///< largest number of emitted tokens; 0: no limit

  int drafts() const { return static_cast<int>(proposal.size()); }
  bool operator==(const BatchCaseRequest&) const = default;
};

struct BatchCase {
  std::vector<BatchCaseRequest> requests;
  std::vector<int> order;

  int vocabulary() const { return static_cast<int>(requests.front().target.front().size()); }
  /// Returns the largest number of drafts of a request.
  int longest() const;
  /// Whether a request has masks.
  bool masked() const;
  /// Returns the case without stop tokens and limits.
  BatchCase uncut() const;
  /// Whether every row has mass on tokens that its mask allows, the order is a permutation, and the seeds differ.
  bool valid() const;
  std::string text() const;
  /// The inverse of text(). Throws: std::invalid_argument, which names the text and the expected format.
  static BatchCase parse(std::string_view text);
  static constexpr std::string_view example = "order=(1 0) [p=(1 1)/2,(1 0)/1 q=(0 1)/1 seed=3] [p=(0 1)/1]";

  bool operator==(const BatchCase&) const = default;
};

/// Returns pointers to the target rows, then to the proposal rows, for editing; not to the masks.
std::vector<std::vector<int>*> rows_of(BatchCase& one);

/// Returns the cases one step smaller, most drastic first: a request, draft or token removed, no masks, no
/// reordering, smaller weights.
std::vector<BatchCase> shrinks(const BatchCase& one);

/// Returns case n of a seed. Even n have 2 to 4 requests with 0 to 3 drafts and V from 2 to 5. Odd n have 1 to
/// 9 requests with at most one draft, or a V near a power of two up to 16 with at most two drafts.
BatchCase generate_batch_case(std::uint64_t seed, int n);

/// Returns a case with this many requests of at most one draft each.
BatchCase batch_case_of_size(std::uint64_t seed, int requests, int vocabulary);

}  // namespace draftproof
