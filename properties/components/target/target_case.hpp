// A readable request: weights at each position, the text before, settings and a proposal. It prints and parses as
// "w=(2 1)/3,(1 1)/2 q=(1 1)/2 text=(0) cold=2 grain=4 top_k=1 min_p=3 top_p=90 typical_p=50 joint cold_last bias=(1 2)/3
// penalty=2 mask=(1 1)/2,(0 1)/1 generic".
//
//   w, cold, min_p, ...   settings of sim/components/target_filters.hpp; settings that are off are omitted
//   q                     law of the drafts at every position
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <draftproof/sim/components/target_filters.hpp>

namespace draftproof {

struct TargetCase {
  TargetRequest request;
  std::vector<int> proposal;

  bool valid() const;
  std::string text() const;
  /// The inverse of text(). Throws: std::invalid_argument, which says what was found and what was expected.
  static TargetCase parse(std::string_view text);
  static constexpr std::string_view example = "w=(2 1)/3,(1 1)/2 q=(1 1)/2 text=(0) cold=2 penalty=2";

  bool operator==(const TargetCase&) const = default;
};

/// Pointers to the rows of weights and the proposal, for editing.
std::vector<std::vector<int>*> rows_of(TargetCase& one);

/// The cases one step smaller, most drastic first: one draft, token or setting less, smaller weights.
std::vector<TargetCase> shrinks(const TargetCase& one);

/// Case n of a seed: V 2 to 4, 0 to 3 drafts; each setting is on in some cases.
TargetCase generate_target_case(std::uint64_t seed, int n);

}  // namespace draftproof
