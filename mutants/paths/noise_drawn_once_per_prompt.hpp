// Mutant: token verification that draws its words when its state is made and reads them again in every later
// iteration.
//
//   u_i      plan       uniform of position i, and one word for the token that ends the step: drawn once
//
// Source: Infini-AI-Lab/Sequoia, reading of the source.
// Error: every single iteration has the right law, so an explorer, which starts each branch anew, finds it exact. Two
// iterations with p=(1 1)/2 end in equal tokens.
// Visible: to tests that decide twice with one state.
#pragma once

#include <vector>

#include <draftproof/sim/info.hpp>
#include <draftproof/sim/random/uniform_source.hpp>
#include <draftproof/verifiers/paths/block/block_rule.hpp>

namespace draftproof::mutants::paths {

struct NoiseDrawnOncePerPrompt {
  static constexpr Info info{
      .name = "noise_drawn_once_per_prompt",
      .summary = "token verification with the coins of its first iteration in every later one",
      .source = "Infini-AI-Lab/Sequoia, reading of the source",
      .drafts = DraftLaws{"iid_paths"},
      .most_drafts = 1,
      .claims = {.accepts_equal_laws = true, .one_path_is_token_path = true},
      .unsupported = {.simulate = "its words stay with its plan: trials would depend on their order",
                      .fresh = "its words stay with its plan: trials would depend on their order"},
      .derived_from = "token_path"};

  /// Words of the accept tests, then that of the last draw.
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
        const Token last = left != no_token ? left : steps.laws(i).residual(steps.zero()).draw(kept.back());
        return {steps.node(i), {last, none_accepted}};
      }
      return {steps.node(length), {steps.bonus().draw(kept.back()), none_accepted}};
    } else {
      for (int i = 0; i < length; ++i)
        if (!random.flip(steps.target(i), steps.proposal(i)))
          return {steps.node(i), last_draw(steps.laws(i), random, steps.correction(i, steps.one()))};
      return {steps.node(length), random.emit(steps.bonus())};
    }
  }
};

}  // namespace draftproof::mutants::paths
