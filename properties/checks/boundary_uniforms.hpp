// Runs decisions on uniforms at the ends of the unit interval and at the thresholds, which sampling practically
// never draws: for every draft tuple of an instance, or for trees drafted from seeded random bits.
//
//   u        0, 2^-53 and the largest     for all draws except the last of a decision, and for the last
//            num / den of a flip          if it is on the grid of uniforms: the flip must reject at it and
//                                         accept just below it
//            p / q                        the same test, for schemes that equal single-draft sampling at K = 1,
//                                         whatever the purpose of the draw; it runs if p, q and p / q are on the
//                                         grid (positions)
//   p = q    largest uniforms             every draft is accepted if the scheme claims so (paths)
//   p        0 on the last id             the ends again: a uniform above a rounded sum must not give the last id
//                                         (paths)
//
// Deterministic. The random source compares strictly in `flip`, so a scheme that tests its drafts through `flip` alone
// compares strictly too; the line p / q is for schemes whose own code compares uniforms.
#pragma once

#include <algorithm>
#include <cmath>

#include <draftproof/properties/paths/path_scripted.hpp>
#include <draftproof/properties/scripted/scripted_trials.hpp>

namespace draftproof::checks {

template <class Level>
struct BoundaryUniforms {
  static constexpr std::string_view name = "boundary_uniforms";
  static constexpr std::string_view about =
      "uniforms at 0, at the largest value and around thresholds are compared strictly";
  static constexpr int every = on_level<Level>(4, 1);
  static constexpr bool explores = false;
  static constexpr Tier tier = Tier::edge;

  /// Does not apply to couplings: they compute their drafts from the verifier's random bits, so tuples and uniforms
  /// cannot be combined freely.
  static bool applies(const typename Level::Verifier& verifier, const typename Level::Drafter&) {
    return !verifier.info().shared_noise;
  }
  static Answer check(typename Level::InstanceAnalysis& at) {
    const Wrong wrong = first_fault_at(at);
    return Answer::passed_if(!wrong, [&] { return *wrong; });
  }

 private:
  using Wrong = std::optional<std::string>;
  static constexpr std::size_t most_tuples = 64;
  static constexpr std::uint64_t trees = 8;

  static Wrong first_fault_at(const InstanceAnalysis& at) {
    const Rows<double> rows = double_distributions(at.instance());
    const auto plan = plan_on(at, rows);
    for (const Tuple& tuple : possible_tuples(at.drafter(), rows, at.instance().drafts, most_tuples)) {
      const ScriptedTrial trial{tuple};
      if (auto wrong = fault_at_the_ends(*plan, rows, trial, "drafts " + tuple_text(tuple))) return wrong;
      if (at.verifier().info().claims.one_draft_is_single_draft && tuple.size() == 1)
        if (auto wrong = fault_at_the_ratio(*plan, rows, trial)) return wrong;
    }
    return std::nullopt;
  }

  static Wrong first_fault_at(const PathInstanceAnalysis& at) {
    if (auto wrong = first_fault_on(at, at.instance(), false)) return wrong;
    PathInstance equal = at.instance();
    for (auto& [prefix, weights] : equal.rows) weights.target = weights.proposal;
    const Info& info = at.verifier().info();
    const bool accepts_all =
        info.claims.accepts_equal_distributions && info.unsupported.simulate.empty() && !at.drafter().info().fixed;
    auto wrong = first_fault_on(at, equal, accepts_all);
    if (wrong) return "with p = q, " + *wrong;
    // If rounding leaves a running sum below the largest uniform, the draw falls on the last id. This is an error only
    // if the last id has probability 0.
    PathInstance without = at.instance();
    for (auto& [prefix, weights] : without.rows) weights.target.back() = 0;
    if (!without.valid()) return std::nullopt;
    wrong = first_fault_on(at, without, false);
    if (wrong) wrong = "with p = 0 on the last id, " + *wrong;
    return wrong;
  }

  static Wrong first_fault_on(const PathInstanceAnalysis& at, const PathInstance& instance, bool accepts_all) {
    const DoubleContexts conditionals = double_distributions(instance);
    const auto plan = at.verifier().scripted_on(conditionals, instance.shape);
    for (std::uint64_t t = 0; t < trees; ++t) {
      TrialWords drafting(1, t, Philox::Role::draft);
      const Iteration start{drafted(at.drafter(), conditionals, instance.shape, drafting)};
      const std::string drafts = "tree " + std::to_string(t);
      if (auto wrong = fault_at_the_ends(*plan, conditionals, start, drafts)) return wrong;
      BoundaryWords largest(edge::largest, edge::largest);
      if (!accepts_all) continue;
      const StepOutput output = run_scripted(*plan, start, largest).output;
      if (!start.tree.leaf(output.node))
        return drafts + ", largest uniforms: emits " + step_text(output, start.tree) + ", short of the drafts";
    }
    return std::nullopt;
  }

  static std::string at_coins(const std::string& drafts, std::uint64_t inner, std::uint64_t last) {
    const auto text = [](std::uint64_t word) {
      return word == edge::largest    ? std::string("1 - 2^-53")
             : word == edge::smallest ? std::string("2^-53")
             : word == edge::zero     ? std::string("0")
                                      : std::to_string(unit_interval(word));
    };
    return drafts + ", uniforms " + text(inner) + ", last draw " + text(last) + on_level<Level>(": ", ", ");
  }

  static Wrong fault_at_the_ends(auto& plan, const auto& distributions, const auto& trial,
                                 const std::string& drafts) {
    for (const std::uint64_t inner : {edge::zero, edge::smallest, edge::largest})
      for (const std::uint64_t last : {edge::zero, edge::smallest, edge::largest})
        if (auto wrong = fault_of_coins(plan, distributions, trial, inner, last))
          return at_coins(drafts, inner, last) + *wrong;
    return std::nullopt;
  }

  static Wrong fault_of_coins(auto& plan, const auto& distributions, const auto& trial, std::uint64_t inner,
                              std::uint64_t last) {
    BoundaryWords words(inner, last);
    const auto played = run_scripted(plan, trial, words);
    if (auto fault = fault_of(played, trial, distributions)) return fault;
    std::uint32_t flip = 0;
    for (std::size_t n = 0; n < played.draws.size(); ++n) {
      const Draw& draw = played.draws[n];
      if (draw.purpose != Purpose::flip) continue;
      const auto threshold = on_grid(draw.num, draw.den);
      for (const std::uint64_t below : {std::uint64_t{0}, edge::step}) {
        if (!threshold) break;
        BoundaryWords around(inner, last);
        around.set_flip(flip, *threshold - below);
        const auto there = run_scripted(plan, trial, around);
        const bool accepts = below > 0;
        const std::string coin = "flip " + std::to_string(flip), side = accepts ? " below" : " on";
        if (there.draws.size() <= n || there.draws[n].value != accepts) {
          const std::string does = accepts ? " rejects" : " accepts";
          return on_level<Level>(coin + " of " + std::to_string(draw.num) + " in " + std::to_string(draw.den) + does +
                                     side + " its threshold",
                                 coin + side + " its threshold" + does);
        }
        if (const auto fault = fault_of(there, trial, distributions))
          return coin + side + " its threshold" + on_level<Level>(": ", ", ") + *fault;
      }
      ++flip;
    }
    return std::nullopt;
  }

  /// Returns the random bits of the uniform u = num / den if 0 < u < 1, u is a multiple of 2^-53 and the product u den
  /// needs no rounding; otherwise nullopt.
  static std::optional<std::uint64_t> on_grid(double num, double den) {
    if (!(num > 0) || !(num < den)) return std::nullopt;
    const double u = num / den;
    if (std::fma(u, den, -num) != 0 || u * 0x1p53 != std::floor(u * 0x1p53)) return std::nullopt;
    return Tape::word(u);
  }

  /// Returns the defect of a decision at u = p / q and just below: single-draft sampling accepts exactly if u < p / q.
  static Wrong fault_at_the_ratio(const Decider<Rows<double>, Scripted>& plan, const Rows<double>& rows,
                                  const ScriptedTrial& trial) {
    const double p = rows.target(trial.drafts[0]), q = rows.proposal(trial.drafts[0]);
    const auto place = [&](std::uint64_t coin, std::uint64_t last) {
      return at_coins("drafts " + tuple_text(trial.drafts), coin, last);
    };
    const auto verdict = [&](std::uint64_t coin, std::uint64_t last) {
      BoundaryWords words(coin, last);
      return run_scripted(plan, trial, words).verdict;
    };
    const auto accepts = [&](std::uint64_t coin) { return verdict(coin, edge::zero).accepted == 0; };
    if (p > 0 && !accepts(edge::zero)) return place(edge::zero, edge::zero) + "rejects a draft with p > 0";
    // A draw among several tokens distributes mass in units of a grid; a unit may be left over, so the draw may reject
    // at the largest uniform although p >= q. A test of the draft alone may not reject it.
    if (tested(plan, trial)) {
      if (p >= q && !accepts(edge::largest))
        return place(edge::largest, edge::zero) +
               "rejects a draft with p >= q; in double a mass that is 1 in fractions, such as F(0), need not be 1: "
               "write at.one() for it (docs/edges.md)";
      for (const std::uint64_t last : {edge::zero, edge::largest})
        if (const Verdict v = verdict(edge::largest, last);
            v.accepted < 0 && !(rows.target(v.token) > rows.proposal(v.token)))
          return place(edge::largest, last) + "emits the correction " + std::to_string(v.token) +
                 ", although accepted drafts cover its whole probability";
    }
    // A draw among several tokens divides by the sum of a row, which needs no rounding if all entries are multiples of
    // 2^-20.
    const auto threshold =
        dyadic(p) && dyadic(q) && (tested(plan, trial) || dyadic(rows)) ? on_grid(p, q) : std::nullopt;
    if (!threshold) return std::nullopt;
    if (accepts(*threshold)) return place(*threshold, edge::zero) + "accepts on p / q";
    if (!accepts(*threshold - edge::step))
      return place(*threshold - edge::step, edge::zero) + "rejects just below p / q";
    return std::nullopt;
  }

  /// Whether acceptance is decided by comparing a uniform for the draft alone, not by a draw among several tokens.
  static bool tested(const Decider<Rows<double>, Scripted>& plan, const ScriptedTrial& trial) {
    BoundaryWords words(edge::zero, edge::zero);
    const ScriptedDecision played = run_scripted(plan, trial, words);
    return !played.draws.empty() && std::none_of(played.draws.begin(), played.draws.end(),
                                                 [](const Draw& draw) { return draw.purpose == Purpose::pick; });
  }

  /// Whether the value is a multiple of 2^-20: sums and quotients of a few such numbers need no rounding.
  static bool dyadic(double value) { return value * 0x1p20 == std::floor(value * 0x1p20); }
  static bool dyadic(const Rows<double>& rows) {
    for (Token x = 0; x < rows.vocabulary(); ++x)
      if (!dyadic(rows.target(x)) || !dyadic(rows.proposal(x))) return false;
    return true;
  }
};

}  // namespace draftproof::checks
