// Mutants: wrong token-by-token verification of a path. `Hidden` says where a bug does not show, `Smallest` gives a
// small instance that shows it: (1 2)/3 means (1/3, 2/3), TV is the total variation between output and p.
#pragma once

#include <vector>

#include <draftproof/sim/info.hpp>
#include <draftproof/sim/random/uniform_source.hpp>
#include <draftproof/verifiers/mutants/paths/bonus_token.hpp>
#include <draftproof/verifiers/paths/block/block_rule.hpp>

namespace draftproof::mutants::paths {

// Mutant: token verification that counts accepted tokens by a second loop, which flips again for the refused token.
//
//   n        accepted of the extra token     the reported number of accepted tokens
//
// Source: flashinfer-ai/flashinfer, chain kernel, found by reading its source.
// Error: the count contradicts the emitted tokens.
// Hidden: in all distributions of tokens, because the emitted tokens are right.
// Smallest: L = 1, q=(1 0), p=(1 1)/2: refused with probability 1/2, then counted as accepted with probability 1/2.
struct AcceptedCountsRejectedOne {
  static constexpr Info info{.name = "accepted_counts_rejected_one",
                             .summary = "token verification that tests the rejected token a second time to count it",
                             .source = "flashinfer-ai/flashinfer, chain kernel, reading of the source",
                             .drafts = DraftSamplings{"iid_paths"},
                             .most_drafts = 1,
                             .claims = {.accepts_equal_distributions = true, .one_path_is_token_path = true},
                             .derived_from = "token_path"};

  template <class L, class R>
  StepOutput verify(const DraftedTree<L>& at, R& random) const {
    const PlainSteps<L> steps(at);
    for (int i = 0; i < steps.length(); ++i) {
      if (random.flip(steps.target(i), steps.proposal(i))) continue;
      int counted = i;
      while (counted < steps.length() && random.flip(steps.target(counted), steps.proposal(counted))) ++counted;
      Verdict extra = last_draw(steps.distributions(i), random, steps.correction(i, steps.one()));
      extra.accepted = counted;
      return {steps.node(i), extra};
    }
    Verdict extra = random.emit(steps.bonus());
    extra.accepted = steps.length();
    return {steps.node(steps.length()), extra};
  }
};

// Mutant: token verification that corrects one row late: it draws from the residual of the position after the refused
// token, given that token, or, at the end of the path, from the target row there.
//
// Source: openvinotoolkit/openvino.genai#4190.
// Hidden: where all rows are equal, except at the last position.
struct CorrectionOneRowLate {
  static constexpr Info info{.name = "correction_one_row_late",
                             .summary = "token verification with the residual of the row after the refused token",
                             .source = "bug reported as openvinotoolkit/openvino.genai#4190",
                             .drafts = DraftSamplings{"iid_paths"},
                             .most_drafts = 1,
                             .derived_from = "token_path"};

  template <class L, class R>
  StepOutput verify(const DraftedTree<L>& at, R& random) const {
    return verify_tokens(
        at, random, [&](const auto& steps) { return random.emit(steps.bonus()); },
        [&](const auto& steps, int i) {
          // If the rows at the later position are equal, the residual has no mass, and the token is drawn from the
          // target row, as at the end of the path.
          const auto& late = steps.distributions(i + 1);
          const bool residual = i + 1 < steps.length() && late.residual_mass(steps.one()) > steps.zero();
          return random.emit(late.residual(residual ? steps.one() : steps.zero()));
        });
  }
};

// Mutant: token verification whose loop starts at the second drafted token: the first is kept without a test.
//
// Source: ohdearquant/lattice#243.
// Error: the first token has distribution q; at L = 1 nothing is tested.
// Hidden: where p = q after the empty prefix.
// Smallest: L = 1, p = (0 1), q = (1 0): the first token is 0, TV 1.
struct FirstDraftUncheckedPath {
  static constexpr Info info{.name = "first_draft_unchecked_path",
                             .summary = "token verification that keeps the first drafted token untested",
                             .source = "bug reported as ohdearquant/lattice#243",
                             .drafts = DraftSamplings{"iid_paths"},
                             .most_drafts = 1,
                             .derived_from = "token_path"};

  template <class L, class R>
  StepOutput verify(const DraftedTree<L>& at, R& random) const {
    const PlainSteps<L> steps(at);
    for (int i = 1; i < steps.length(); ++i)
      if (!random.flip(steps.target(i), steps.proposal(i)))
        return {steps.node(i), last_draw(steps.distributions(i), random, steps.correction(i, steps.one()))};
    return {steps.node(steps.length()), random.emit(steps.bonus())};
  }
};

// Mutant: token verification that draws its random bits when its state is made and uses them again in every later
// iteration.
//
//   u_i      plan       uniform of position i, and 64 bits for the token that ends the step: drawn once
//
// Source: Infini-AI-Lab/Sequoia, found by reading its source.
// Error: every single iteration has the right distribution, so enumeration, which starts each branch with a new
// state, shows no error. Two iterations with p=(1 1)/2 end in equal tokens. Visible: in tests that decide twice with
// one state.

struct NoiseDrawnOncePerPrompt {
  static constexpr Info info{
      .name = "noise_drawn_once_per_prompt",
      .summary = "token verification that uses the accept uniforms of its first iteration in every later one",
      .source = "Infini-AI-Lab/Sequoia, reading of the source",
      .drafts = DraftSamplings{"iid_paths"},
      .most_drafts = 1,
      .claims = {.accepts_equal_distributions = true, .one_path_is_token_path = true},
      .unsupported = {.simulate = "its plan keeps random bits, so trials would depend on their order",
                      .fresh = "its plan keeps random bits, so trials would depend on their order"},
      .derived_from = "token_path"};

  /// Random bits of the accept tests, then of the last draw.
  using Kept = std::vector<std::uint64_t>;

  template <class L>
  Kept prepare(const ConditionalModel<L>&, const TreeShape&) const {
    return {};
  }

  template <class L, class R>
  StepOutput verify(const DraftedTree<L>& at, [[maybe_unused]] Kept& kept, R& random) const {
    const PlainSteps<L> steps(at);
    const int length = steps.length();
    if constexpr (requires { random.next(Purpose::flip); }) {
      if (kept.empty()) {
        for (int i = 0; i < length; ++i) kept.push_back(random.next(Purpose::flip));
        kept.push_back(random.next(Purpose::emit));
      }
      const std::size_t coins = kept.size() - 1;
      for (int i = 0; i < length; ++i) {
        const double u = unit_interval(kept[static_cast<std::size_t>(i) % coins]);
        if (u * static_cast<double>(steps.proposal(i)) < static_cast<double>(steps.target(i))) continue;
        const Token left = steps.correction(i, steps.one()).draw(kept.back());
        const Token last = left != no_token ? left : steps.distributions(i).residual(steps.zero()).draw(kept.back());
        return {steps.node(i), {last, none_accepted}};
      }
      return {steps.node(length), {steps.bonus().draw(kept.back()), none_accepted}};
    } else {
      for (int i = 0; i < length; ++i)
        if (!random.flip(steps.target(i), steps.proposal(i)))
          return {steps.node(i), last_draw(steps.distributions(i), random, steps.correction(i, steps.one()))};
      return {steps.node(length), random.emit(steps.bonus())};
    }
  }
};

// Mutant: token verification with one accept uniform for the whole path: the generator restarts at every position.
//
//   u        one uniform  token i is accepted while u < p / q; the least ratio so far decides
//
// Source: feifeibear/LLMSpeculativeSampling, found by reading its source.
// Error: every single position has the right distribution, but the joint distribution is wrong: an acceptance makes the
// next acceptance more likely. Hidden: in the first token, and at L = 1.
struct OneCoinForAllPositions {
  static constexpr Info info{.name = "one_coin_for_all_positions",
                             .summary = "token verification that uses one accept uniform for the whole path",
                             .source = "feifeibear/LLMSpeculativeSampling, reading of the source",
                             .drafts = DraftSamplings{"iid_paths"},
                             .most_drafts = 1,
                             .derived_from = "token_path"};

  /// Simulates the single uniform u by flips: given u < least (the least ratio so far), u < ratio has probability
  /// min(1, ratio / least).
  template <class L, class R>
  StepOutput verify(const DraftedTree<L>& at, R& random) const {
    using Scalar = typename L::Scalar;
    const PlainSteps<L> steps(at);
    Scalar least = steps.one();
    for (int i = 0; i < steps.length(); ++i) {
      const Scalar ratio = steps.target(i) / steps.proposal(i);
      if (!random.flip(ratio, least))
        return {steps.node(i), last_draw(steps.distributions(i), random, steps.correction(i, steps.one()))};
      if (ratio < least) least = ratio;
    }
    return {steps.node(steps.length()), random.emit(steps.bonus())};
  }
};

// Mutant: token verification that after a refusal draws from the target, not from its residual, and ends the step. (The
// node-by-node form of the same bug continues if the drawn token was drafted.)
//
// Source: alibaba/rtp-llm#1295.
// Error: accepted drafts have already emitted min(p, q).
// Hidden: at p = q.
struct ResampleFromTargetPath {
  static constexpr Info info{.name = "resample_from_target_path",
                             .summary = "token verification corrected with a draw from the target",
                             .source = "bug reported as alibaba/rtp-llm#1295",
                             .drafts = DraftSamplings{"iid_paths"},
                             .most_drafts = 1,
                             .derived_from = "token_path"};

  template <class L, class R>
  StepOutput verify(const DraftedTree<L>& at, R& random) const {
    return verify_tokens(
        at, random, [&](const auto& steps) { return random.emit(steps.bonus()); },
        [&](const auto& steps, int i) { return random.emit(steps.distributions(i).residual(steps.zero())); });
  }
};

}  // namespace draftproof::mutants::paths
