// Coins at the ends of the unit interval and on the thresholds, for trees that can be drafted: as of one position
// (properties/checks/boundary_uniforms.hpp), along whole outputs.
//
//   u        0, 2^-53 and the largest     for all draws an iteration goes on after, and for those that end it
//            num / den of a flip          where it is on the grid of uniforms: on it the flip refuses, below it
//            accepts
//   p = q    largest coins                every draft is accepted where the scheme claims so
//
// Deterministic: trees are drafted by seeded words.
#pragma once

#include <cmath>

#include <draftproof/properties/paths/path_analysis.hpp>
#include <draftproof/properties/paths/path_scripted.hpp>

namespace draftproof::checks::paths {

struct BoundaryUniforms {
  static constexpr std::string_view name = "boundary_uniforms";
  static constexpr std::string_view about = "coins at 0, at the largest and around the thresholds decide strictly";
  static constexpr int every = 1;
  static constexpr bool explores = false;
  static constexpr Tier tier = Tier::edge;
  static constexpr std::uint64_t trees = 8;

  static bool applies(const AnyPathVerifier& verifier, const AnyTreeDrafter&) {
    return !verifier.info().shared_noise;
  }

  static Answer check(PathInstanceAnalysis& at) {
    if (auto wrong = first_fault(at, at.instance(), false)) return Answer::violated(*wrong);
    PathInstance equal = at.instance();
    for (auto& [prefix, weights] : equal.rows) weights.target = weights.proposal;
    const Info& info = at.verifier().info();
    if (auto wrong = first_fault(
            at, equal, info.claims.accepts_equal_laws && info.unsupported.simulate.empty() && !at.drafter().info().fixed))
      return Answer::violated("with p = q, " + *wrong);
    return Answer::held();
  }

 private:
  using Wrong = std::optional<std::string>;

  static Wrong first_fault(const PathInstanceAnalysis& at, const PathInstance& instance, bool accepts_all) {
    const auto conditionals = double_contexts(instance);
    const auto decider = at.verifier().scripted_on(conditionals, instance.shape);
    for (std::uint64_t t = 0; t < trees; ++t) {
      TrialWords drafting(1, t, Philox::Role::draft);
      const DraftTree tree = drafted(at.drafter(), conditionals, instance.shape, drafting);
      for (const std::uint64_t inner : {edge::zero, edge::smallest, edge::largest})
        for (const std::uint64_t last : {edge::zero, edge::smallest, edge::largest})
          if (auto wrong = fault_of_coins(*decider, conditionals, tree, inner, last))
            return "tree " + std::to_string(t) + ", coins " + text(inner) + ", last draw " + text(last) + ", " +
                   *wrong;
      BoundaryWords largest(edge::largest, edge::largest);
      if (!accepts_all) continue;
      const StepOutput output = run_scripted(*decider, tree, {}, largest).output;
      if (!tree.leaf(output.node))
        return "tree " + std::to_string(t) + ", largest coins: emits " + step_text(output, tree) +
               ", short of the drafts";
    }
    return std::nullopt;
  }

  static std::string text(std::uint64_t word) {
    return word == edge::zero ? "0" : word == edge::smallest ? "2^-53" : "1 - 2^-53";
  }

  static Wrong fault_of_coins(PathPlayable& decider, const DoubleContexts& conditionals, const DraftTree& tree,
                              std::uint64_t inner, std::uint64_t last) {
    BoundaryWords words(inner, last);
    const ScriptedStep played = run_scripted(decider, tree, {}, words);
    if (auto wrong = support_fault(played.output, tree, conditionals)) return wrong;
    std::uint32_t flip = 0;
    for (std::size_t n = 0; n < played.draws.size(); ++n) {
      const Draw& draw = played.draws[n];
      if (draw.purpose != Purpose::flip) continue;
      const double u = draw.num > 0 && draw.num < draw.den ? draw.num / draw.den : 0;
      const bool on_grid = u > 0 && std::fma(u, draw.den, -draw.num) == 0 && u * 0x1p53 == std::floor(u * 0x1p53);
      for (const std::uint64_t below : {std::uint64_t{0}, edge::step}) {
        if (!on_grid) break;
        BoundaryWords around(inner, last);
        around.set_flip(flip, Tape::word(u) - below);
        const ScriptedStep there = run_scripted(decider, tree, {}, around);
        const std::string coin = "flip " + std::to_string(flip) + (below ? " below" : " on") + " its threshold";
        if (there.draws.size() <= n || there.draws[n].value != (below > 0))
          return coin + (below ? " refuses" : " accepts");
        if (auto wrong = support_fault(there.output, tree, conditionals)) return coin + ", " + *wrong;
      }
      ++flip;
    }
    return std::nullopt;
  }
};

}  // namespace draftproof::checks::paths
