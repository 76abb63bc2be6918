// Coins at the ends of the unit interval and on the thresholds, for every draft tuple an instance can have: what no
// sample would ever see.
//
//   u        0, 2^-53 and the largest     for all draws a decision goes on after, and for those that end it
//            num / den of a flip          where it is on the grid of uniforms: on it the flip refuses, below it
//            accepts p / q                        the same for schemes that are single-draft sampling at K = 1,
//            whatever they
//                                         draw: where p, q and p / q are on the grid
//
// Deterministic. A scheme that reads its coins through `flip` alone is strict by the source it runs on; one that
// compares by itself is held to the third line.
#pragma once

#include <algorithm>
#include <cmath>

#include <draftproof/properties/proof/property.hpp>
#include <draftproof/properties/scripted/scripted_decision.hpp>

namespace draftproof::checks {

struct BoundaryUniforms {
  static constexpr std::string_view name = "boundary_uniforms";
  static constexpr std::string_view about = "coins at 0, at the largest and around the thresholds decide strictly";
  static constexpr int every = 4;
  static constexpr bool explores = false;
  static constexpr Tier tier = Tier::edge;

  /// Drafts of couplings come from the words themselves: no tuple goes with any coin.
  static bool applies(const AnyVerifier& verifier, const AnyDrafter&) { return !verifier.info().shared_noise; }

  static Answer check(InstanceAnalysis& at) {
    const Rows<double> rows = double_rows(at.instance());
    const auto decider = at.verifier().scripted_on(rows, at.instance().drafts);
    for (const Tuple& tuple : possible_tuples(at.drafter(), rows, at.instance().drafts, most_tuples)) {
      for (const std::uint64_t inner : {edge::zero, edge::smallest, edge::largest})
        for (const std::uint64_t last : {edge::zero, edge::smallest, edge::largest})
          if (auto wrong = fault_at_the_ends(*decider, rows, tuple, inner, last)) return Answer::violated(*wrong);
      if (at.verifier().info().claims.one_draft_is_single_draft && tuple.size() == 1)
        if (auto wrong = fault_at_the_ratio(*decider, rows, tuple)) return Answer::violated(*wrong);
    }
    return Answer::held();
  }

 private:
  static constexpr std::size_t most_tuples = 64;
  using Playable = Decider<Rows<double>, Scripted>;

  static std::string at_coins(const Tuple& tuple, std::uint64_t inner, std::uint64_t last) {
    const auto text = [](std::uint64_t word) {
      return word == edge::largest    ? std::string("1 - 2^-53")
             : word == edge::smallest ? std::string("2^-53")
             : word == edge::zero     ? std::string("0")
                                      : std::to_string(unit_interval(word));
    };
    return "drafts " + tuple_text(tuple) + ", coins " + text(inner) + ", last draw " + text(last) + ": ";
  }

  static std::optional<std::string> fault_at_the_ends(const Playable& decider, const Rows<double>& rows,
                                                      const Tuple& tuple, std::uint64_t inner, std::uint64_t last) {
    BoundaryWords words(inner, last);
    const ScriptedDecision played = run_scripted(decider, tuple, words);
    if (const auto fault = fault_of(played.verdict, tuple, rows)) return at_coins(tuple, inner, last) + *fault;
    std::uint32_t flip = 0;
    for (std::size_t n = 0; n < played.draws.size(); ++n) {
      const Draw& draw = played.draws[n];
      if (draw.purpose != Purpose::flip) continue;
      const auto threshold = on_grid(draw.num, draw.den);
      for (const std::uint64_t below : {std::uint64_t{0}, edge::step}) {
        if (!threshold) break;
        BoundaryWords around(inner, last);
        around.set_flip(flip, *threshold - below);
        const ScriptedDecision there = run_scripted(decider, tuple, around);
        const bool accepts = below > 0;
        if (there.draws.size() <= n || there.draws[n].value != accepts)
          return at_coins(tuple, inner, last) + "flip " + std::to_string(flip) + " of " + std::to_string(draw.num) +
                 " in " + std::to_string(draw.den) + (accepts ? " refuses below" : " accepts on") + " its threshold";
        if (const auto fault = fault_of(there.verdict, tuple, rows))
          return at_coins(tuple, inner, last) + "flip " + std::to_string(flip) + (accepts ? " below" : " on") +
                 " its threshold: " + *fault;
      }
      ++flip;
    }
    return std::nullopt;
  }

  /// The word of u = num / den, where that is a uniform between 0 and 1 and the product u den has no rounding.
  static std::optional<std::uint64_t> on_grid(double num, double den) {
    if (!(num > 0) || !(num < den)) return std::nullopt;
    const double u = num / den;
    if (std::fma(u, den, -num) != 0 || u * 0x1p53 != std::floor(u * 0x1p53)) return std::nullopt;
    return Tape::word(u);
  }

  /// Single-draft sampling accepts exactly below p / q, whatever its draws are for.
  static std::optional<std::string> fault_at_the_ratio(const Playable& decider, const Rows<double>& rows,
                                                       const Tuple& tuple) {
    const double p = rows.target(tuple[0]), q = rows.proposal(tuple[0]);
    const auto accepts = [&](std::uint64_t coin) {
      BoundaryWords words(coin, edge::zero);
      return run_scripted(decider, tuple, words).verdict.accepted == 0;
    };
    if (p > 0 && !accepts(edge::zero)) return at_coins(tuple, edge::zero, edge::zero) + "refuses a draft with p > 0";
    // Plans share a mass out on a grid of their own and may keep its last unit; tests of a draft may not.
    if (tested(decider, tuple)) {
      if (p >= q && !accepts(edge::largest))
        return at_coins(tuple, edge::largest, edge::zero) + "refuses a draft with p >= q";
      for (const std::uint64_t last : {edge::zero, edge::largest}) {
        BoundaryWords words(edge::largest, last);
        const Verdict verdict = run_scripted(decider, tuple, words).verdict;
        if (verdict.accepted < 0 && !(rows.target(verdict.token) > rows.proposal(verdict.token)))
          return at_coins(tuple, edge::largest, last) + "corrects to " + std::to_string(verdict.token) +
                 ", of which accepted drafts leave nothing";
      }
    }
    const auto threshold = dyadic(p) && dyadic(q) ? on_grid(p, q) : std::nullopt;
    if (!threshold) return std::nullopt;
    if (accepts(*threshold)) return at_coins(tuple, *threshold, edge::zero) + "accepts on p / q";
    if (!accepts(*threshold - edge::step))
      return at_coins(tuple, *threshold - edge::step, edge::zero) + "refuses just below p / q";
    return std::nullopt;
  }

  /// Whether the draft is kept or not by a coin, rather than by a draw among several.
  static bool tested(const Playable& decider, const Tuple& tuple) {
    BoundaryWords words(edge::zero, edge::zero);
    const ScriptedDecision played = run_scripted(decider, tuple, words);
    return !played.draws.empty() && std::none_of(played.draws.begin(), played.draws.end(),
                                                 [](const Draw& draw) { return draw.purpose == Purpose::pick; });
  }

  /// A multiple of 2^-20: sums and quotients of a few such numbers have no rounding.
  static bool dyadic(double value) { return value * 0x1p20 == std::floor(value * 0x1p20); }
};

}  // namespace draftproof::checks
