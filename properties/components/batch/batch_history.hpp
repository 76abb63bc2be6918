// A history is a sequence of calls: which requests of a case take part in a call, in which slots, and with how
// many of their drafts.
//
// Correctness: a call depends only on the case's number of requests, the turn and the number of the call, so a
// smaller case has a history too and a counterexample can be shrunk.
#pragma once

#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <draftproof/properties/components/batch/built_batch.hpp>
#include <draftproof/properties/instances/generator.hpp>
#include <draftproof/properties/instances/instance_text.hpp>

namespace draftproof {

struct BatchCall {
  BatchCase batch;            ///< the requests that take part
  std::vector<int> requests;  ///< indices of these requests in the case
  std::vector<int> drafts;    ///< number of drafts of each request

  /// Returns the requests and their numbers of drafts in the order of slots, as "(2 0 with 1 0 drafts)".
  std::string text() const {
    std::vector<int> slots, lengths;
    for (const int n : batch.order) {
      slots.push_back(requests[static_cast<std::size_t>(n)]);
      lengths.push_back(drafts[static_cast<std::size_t>(n)]);
    }
    return fmt::format("({} with {} drafts)", fmt::join(slots, " "), fmt::join(lengths, " "));
  }

  /// Returns the call laid out in memory, given how many tokens every request has emitted; if `only` is not negative,
  /// with request `only` alone.
  BuiltBatch built(const std::vector<std::uint32_t>& emitted, int only = -1) const {
    BuiltBatch::Layout layout{.only = only};
    for (const int r : requests) {
      layout.numbers.push_back(static_cast<std::uint32_t>(r));
      layout.positions.push_back(emitted[static_cast<std::size_t>(r)]);
    }
    return BuiltBatch(batch, 0, layout);
  }
};

/// Returns the request with its first `drafts` drafts only, and with the target row after the last of them.
inline BatchCaseRequest first_drafts(BatchCaseRequest request, int drafts) {
  const auto kept = static_cast<std::size_t>(drafts);
  request.proposal.resize(kept);
  request.target.resize(kept + 1);
  if (!request.masks.empty()) request.masks.resize(kept + 1);
  return request;
}

/// Returns call number `call` of a history. A request takes part in three calls of four, in half of them with
/// fewer drafts or none; one request always takes part.
inline BatchCall history_call(const BatchCase& one, std::uint32_t turn, int call) {
  InstanceRng dice(turn, static_cast<std::uint64_t>(call));
  BatchCall now;
  const int all = static_cast<int>(one.requests.size()), always = dice.between(0, all - 1);
  for (int r = 0; r < all; ++r) {
    const bool present = dice.chance(3, 4), fewer = dice.chance(1, 2);
    const BatchCaseRequest& request = one.requests[static_cast<std::size_t>(r)];
    const int drafts = fewer ? dice.between(0, request.drafts()) : request.drafts();
    const int slot = dice.between(0, static_cast<int>(now.requests.size()));
    if (!present && r != always) continue;
    const int n = static_cast<int>(now.requests.size());
    now.batch.order.insert(now.batch.order.begin() + slot, n);
    now.batch.requests.push_back(first_drafts(request, drafts));
    now.requests.push_back(r);
    now.drafts.push_back(drafts);
  }
  return now;
}

}  // namespace draftproof
