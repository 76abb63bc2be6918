// The exact distribution of the tokens of one request in its batch, while the other requests draw their random bits.
//
//   emitted    probability of each list of tokens, over all branches of drafts and verification
//   unseen     probability beyond the limit on branches; the entries of `emitted` are then lower bounds
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

struct BatchDistribution {
  std::map<std::vector<Token>, Rational> emitted;
  Rational unseen = 0;

  /// Returns a text on the first prefix after which the next token does not follow the request's target: "after [0] got
  /// (1 0), expected (1/2 1/2), TV 1/2; reached with probability 1"; nullopt if there is none. If `unseen` is positive,
  /// checks only that the emitted lists have possible ids and lengths.
  std::optional<std::string> wrong_prefix(const BatchCaseRequest& request) const;
  /// Returns a token that must not be emitted, with its probability; nullopt if there is none.
  std::optional<std::string> forbidden(const BatchCaseRequest& request) const;
};

/// Enumerates the decisions of `request` in the case `one`, while the other requests draw random bits seeded by `turn`.
/// Adds the number of branches to `work`.
BatchDistribution explore_batch_row(const BatchRunner& runner, const BatchCase& one, std::uint32_t turn, int request,
                                    std::uint64_t& work, ExplorerLimits limits = {});

/// Applies `complaint` to the distribution of every request, for each of three choices of the other requests' random
/// bits (turns 0 to 2). Returns failed with the first text that `complaint` returns; undecided if a distribution has
/// unseen probability.
Answer judge_rows(const BatchRunner& runner, const BatchCase& one, std::uint64_t& work, ExplorerLimits limits,
                  std::optional<std::string> (BatchDistribution::*complaint)(const BatchCaseRequest&) const);

}  // namespace draftproof
