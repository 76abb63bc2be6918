// The exact law of what one request emits in its batch while the others read their counters.
//
//   emitted    probability of each list of tokens, drafts and verification walked
//   allowed    weight of a token at a position under the request's mask
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <draftproof/properties/components/batch/built_batch.hpp>

namespace draftproof {

struct BatchLaw {
  std::map<std::vector<Token>, Rational> emitted;

  /// "after [0] got (1 0), wanted (1/2 1/2), TV 1/2; reached with probability 1": the first prefix after which the
  /// next token has not the law of the request's target.
  std::optional<std::string> wrong_prefix(const BatchCaseRequest& request) const;
  /// A token that may not be emitted, and its probability.
  std::optional<std::string> forbidden(const BatchCaseRequest& request) const;
};

BatchLaw explore_batch_row(const BatchRunner& runner, const BatchCase& one, std::uint32_t turn, int request,
                           std::uint64_t& work);

}  // namespace draftproof
