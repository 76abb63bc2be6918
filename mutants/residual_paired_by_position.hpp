// Mutant: single-draft sampling whose residual subtracts two lists entry by entry. A list has the tokens of a row that
// are possible, by ascending id, as top-k leaves them.
//
//   p        at.target(x)        target probability of token x
//   q        at.proposal(x)      probability the draft was drawn with
//   q'       paired[x]           q of the r-th possible token of q, where x is the r-th possible token of p; 0 if none
//
// Cost: V entries a plan, one flip, a pass after a refusal.
// Source: llama.cpp, examples/speculative (docs/findings/engine-llama-cpp-speculative.md).
// Error: a refusal serves (p - q')+, not (p - q)+.
// Hidden: where p and q have the same possible tokens, so without top-k.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include <draftproof/sim/verifier.hpp>

namespace draftproof::mutants {

struct ResidualPairedByPosition {
  static constexpr Info info{.name = "residual_paired_by_position",
                             .summary = "after a refusal subtract q from p by place among possible tokens, not by id",
                             .source = "ggml-org/llama.cpp, examples/speculative; rule of arXiv:2211.17192",
                             .drafts = DraftLaws{"iid"},
                             .most_drafts = 1,
                             .unsupported = {.device = "the plan keeps V entries on the host"},
                             .derived_from = "single_draft"};

  template <class Scalar>
  struct Pairs {
    std::vector<Scalar> paired;
  };

  template <Laws L>
  Pairs<typename L::Scalar> prepare(const L& laws, int) const {
    std::vector<typename L::Scalar> paired(static_cast<std::size_t>(laws.vocabulary()), laws.zero());
    Token behind = 0;  // the possible tokens of q below it have their pairs
    for (Token x = 0; x < laws.vocabulary(); ++x) {
      if (!(laws.target(x) > laws.zero())) continue;
      while (behind < laws.vocabulary() && !(laws.proposal(behind) > laws.zero())) ++behind;
      if (behind < laws.vocabulary()) paired[static_cast<std::size_t>(x)] = laws.proposal(behind++);
    }
    return {std::move(paired)};
  }

  template <Position P, RandomSource R>
  Verdict verify(const P& at, const Pairs<typename P::Scalar>& pairs, R& random) const {
    using Scalar = typename P::Scalar;
    const auto left = [&at, &pairs](Token x) -> Scalar {
      const Scalar weight = at.target(x) - pairs.paired[static_cast<std::size_t>(x)];
      return weight > at.zero() ? weight : at.zero();
    };
    const Token x = at.draft(0);
    if (random.flip(at.target(x), at.proposal(x))) return accepted(x, 0);
    if (at.sum(left) > at.zero()) return random.emit(at.weights(left));
    return random.emit(at.residual(at.zero()));
  }
};

}  // namespace draftproof::mutants
