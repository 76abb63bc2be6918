// The exact law of the tokens of one request in its batch, while the other requests read their counters.
//
//   emitted    probability of each list of tokens, over all branches of drafts and verification
//   unseen     probability that the limit on branches cut off; `emitted` has lower bounds then
//   allowed    weight of a token at a position under the request's mask
#pragma once

#include <fmt/format.h>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <draftproof/properties/components/batch/built_batch.hpp>

namespace draftproof {

struct BatchLaw {
  std::map<std::vector<Token>, Rational> emitted;
  Rational unseen = 0;

  /// The first prefix after which the next token does not have the law of the request's target, as "after [0] got
  /// (1 0), wanted (1/2 1/2), TV 1/2; reached with probability 1"; nothing if there is none. Of a law with unseen
  /// probability, only lists that no right law emits.
  std::optional<std::string> wrong_prefix(const BatchCaseRequest& request) const;
  /// A token that must not be emitted, with its probability; nothing if there is none.
  std::optional<std::string> forbidden(const BatchCaseRequest& request) const;
};

/// Walks the decisions of `request` in the case `one` at this turn. Adds the branches walked to `work`.
BatchLaw explore_batch_row(const BatchRunner& runner, const BatchCase& one, std::uint32_t turn, int request,
                           std::uint64_t& work, ExplorerLimits limits = {});

/// The answer of a check that `complaint` makes of every request's law in three turns: violated by the first
/// complaint, else undecided if a law has unseen probability.
Answer judge_rows(const BatchRunner& runner, const BatchCase& one, std::uint64_t& work, ExplorerLimits limits,
                  std::optional<std::string> (BatchLaw::*complaint)(const BatchCaseRequest&) const);

}  // namespace draftproof
