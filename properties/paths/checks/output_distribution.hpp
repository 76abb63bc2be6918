// Properties of the output distribution of a verifier of paths.
#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include <draftproof/properties/paths/carried_target.hpp>
#include <draftproof/properties/paths/path_analysis.hpp>
#include <draftproof/properties/paths/path_scripted.hpp>
#include <draftproof/properties/paths/step_distribution.hpp>
#include <draftproof/properties/statistics/count_models.hpp>
#include <draftproof/sim/trees/fixed_tokens.hpp>

namespace draftproof::checks::paths {

// Losslessness of a scheme without state: a step, completed with tokens of the target to L + 1 tokens, has the
// target's distribution.
//
//   e          the emitted tokens of a step: the accepted drafts and one more token, 1 .. L + 1 tokens
//   beyond(x)  Pr[e goes beyond prefix x]
//   checked    Pr[e begins with xy] = beyond(x) p(y|x) for every prefix x of at most L tokens and every y
//
// This local form is equivalent to the completed distribution: with C(x) the completed probability of x, C(xy)
// = Pr[e begins with xy] + (C(x) - beyond(x)) p(y|x), so C(xy) = C(x) p(y|x) exactly if it holds. It needs no
// correction for random lengths and names the prefix at which a scheme is wrong.

struct CompletedDistribution {
  static constexpr std::string_view name = "completed_distribution";
  static constexpr std::string_view about =
      "whenever a step goes beyond a prefix, its next token has the target's distribution";
  static constexpr int every = 1;

  static bool applies(const AnyPathVerifier& verifier, const AnyTreeDrafter&) {
    return verifier.info().promise != Promise::lossless_up_to && !verifier.stateful();
  }
  static Answer check(PathInstanceAnalysis& at) {
    const auto& distribution = at.distribution();
    if (!distribution.complete)
      return Answer::undecided("more than " + std::to_string(at.limits().leaves) + " branches");
    if (distribution.mass != 1) return Answer::failed("emits with probability " + to_text(distribution.mass));
    const auto wrong = first_wrong_prefix(distribution.emitted, at.instance().conditionals());
    return Answer::passed_if(!wrong, [&] { return wrong->text(); });
  }
};

// The tree has the distribution that its drafter declares, whatever the verifier. A verifier that is exact for one
// draft distribution is not exact for another; in most public bugs the drafts were not sampled from the q of the tests.
//
//   repeats    at node u, draws x_1, x_2, .. have probability q(x_1|u) q(x_2|u) ..
//   distinct   each draw from the rest: q(x_i|u) / (1 - q(x_1|u) - .. - q(x_(i-1)|u))
//   fixed      one tree, with probability 1
//   hybrid     the fixed children first, with probability 1, then distinct draws from the rest
//   pruned     the same with fewer fixed children
//   suffix     one path below the first root child, and the same tokens below the others; root children are fixed
//
// A tree with its draws in order arises in one way only, so its probability is a product over its nodes. The drafter
// may choose the number of draws per node, but not by their values; the check requires that the probabilities of all
// trees sum to 1.

struct DeclaredDistribution {
  static constexpr std::string_view name = "declared_distribution";
  static constexpr std::string_view about = "the tree has the distribution that its drafter declares";
  static constexpr int every = 4;

  static bool applies(const AnyPathVerifier&, const AnyTreeDrafter&) { return true; }
  static Answer check(PathInstanceAnalysis& at) {
    const auto conditionals = at.instance().conditionals();
    const TreeDrafterInfo& info = at.drafter().info();
    Rational mass = 0;
    std::string evidence;
    const auto on_tree = [&](const DraftTree& tree, const Rational& probability) {
      mass += probability;
      if (!evidence.empty()) return;
      const Rational declared =
          info.fixed ? Rational(1) : declared_probability(info, conditionals, at.instance().shape, tree);
      if (probability != declared)
        evidence = "draws the tree " + tree_text(tree) + " with probability " + to_text(probability) + ", declared " +
                   to_text(declared);
    };
    const bool all = at.each_tree(conditionals, at.instance().shape, on_tree);
    if (!evidence.empty()) return Answer::failed(evidence);
    if (!all) return Answer::undecided("more than " + std::to_string(at.limits().leaves) + " trees");
    return Answer::passed_if(mass == 1, [&] { return "draws trees with probability " + to_text(mass) + " in all"; });
  }

 private:
  static Rational declared_probability(const TreeDrafterInfo& info,
                                       const ConditionalModel<PathInstanceAnalysis::Distributions>& conditionals,
                                       const TreeShape& shape, const DraftTree& tree) {
    Rational probability = 1;
    if (info.shared_suffix) return shared_suffix_probability(conditionals, shape, tree);
    for (int u = 0; u < tree.size(); ++u) {
      const auto& distributions = conditionals.distributions(tree.context(u));
      const FixedTokens fixed(distributions, info.has_fixed_children ? shape.fixed : 0);
      Rational left = 1;
      int number = 0;
      bool drawing = false;
      for (const int child : tree.draws(u)) {
        const Rational& q = distributions.proposal(tree.token(child));
        if (!drawing && number < fixed.count && tree.token(child) == fixed.tokens[number]) {
          ++number;
          continue;
        }
        if (!drawing) {
          drawing = true;
          for (int k = 0; k < fixed.count; ++k) left -= distributions.proposal(fixed.tokens[k]);
        }
        if (left <= 0 || fixed.contains(tree.token(child))) return 0;  // this child cannot be drawn
        probability *= q / left;
        if (info.distinct_siblings) left -= q;
      }
      const int wanted = std::min(fixed.count, shape.length > tree.depth(u) ? shape.children_at(tree.depth(u)) : 0);
      if (!info.prunes && number < wanted) return 0;
    }
    return probability;
  }

  static Rational shared_suffix_probability(const ConditionalModel<PathInstanceAnalysis::Distributions>& conditionals,
                                            const TreeShape& shape, const DraftTree& tree) {
    const FixedTokens roots(conditionals.distributions(tree.context(DraftTree::root)), shape.drafts);
    Rational probability = 1;
    Tokens suffix;
    int number = 0;
    for (const int first : tree.draws(DraftTree::root)) {
      if (number == roots.count || tree.token(first) != roots.tokens[number]) return 0;
      Tokens below;
      int u = first;
      for (; tree.draw_count(u) == 1; u = *tree.draws(u).begin()) {
        const Token x = tree.token(*tree.draws(u).begin());
        below.push_back(x);
        if (number == 0) probability *= conditionals.distributions(tree.context(u)).proposal(x);
      }
      if (number++ == 0) suffix = below;
      if (below != suffix || tree.draw_count(u) != 0 || std::ssize(below) != shape.length - 1) return 0;
    }
    return number == roots.count ? probability : Rational(0);
  }
};

// Losslessness on one tree at a time: drafts that are a function of the context leave no randomness to average
// over, and a scheme for arbitrary drafts may not rely on the distribution of the drafts. Checks
// completed_distribution given each drafted tree.
//
// Does not apply to schemes for sampled drafts, which are not exact given their drafts.
struct FixedTreeSampling {
  static constexpr std::string_view name = "fixed_tree_distribution";
  static constexpr std::string_view about =
      "fixed drafts, or a verifier for any drafts: given the tree, the next token has the target's distribution";
  static constexpr int every = 4;

  static bool applies(const AnyPathVerifier& verifier, const AnyTreeDrafter& drafter) {
    return verifier.info().promise == Promise::lossless && !verifier.stateful() &&
           (drafter.info().fixed || verifier.info().drafts.any());
  }
  static Answer check(PathInstanceAnalysis& at) {
    const auto conditionals = at.instance().conditionals();
    const auto decider = at.verifier().prove_on(conditionals, at.instance().shape);
    bool complete = true;
    std::string evidence;
    const auto on_tree = [&](const DraftTree& tree, const Rational&) {
      const auto steps = complete ? at.outputs(*decider, tree) : std::nullopt;
      complete = complete && steps;
      if (!complete || !evidence.empty()) return;
      std::map<Tokens, Rational> emitted;
      for (const auto& [step, probability] : *steps) {
        Tokens tokens = path_to(tree, step.first);
        tokens.push_back(step.second);
        emitted[std::move(tokens)] += probability;
      }
      if (const auto wrong = first_wrong_prefix(emitted, conditionals))
        evidence = "given the tree " + tree_text(tree) + ", " + wrong->text();
    };
    const bool all = at.each_tree(conditionals, at.instance().shape, on_tree);
    if (!evidence.empty()) return Answer::failed(evidence);
    if (!all || !complete) return Answer::undecided("more than " + std::to_string(at.limits().leaves) + " branches");
    return Answer::passed();
  }
};

// Losslessness of a scheme with state: consecutive iterations, each with the carry of the previous one, emit a
// sequence whose first N tokens have the target's distribution. N = L + 2 exceeds the longest step.
//
// A single iteration of such a scheme need not have the target's distribution, because its carry changes later
// iterations such that the whole sequence has it.
struct ProcessDistribution {
  static constexpr std::string_view name = "process_distribution";
  static constexpr std::string_view about =
      "with state: the first L + 2 tokens of the process have the target's distribution";
  static constexpr int every = 1;

  static bool applies(const AnyPathVerifier& verifier, const AnyTreeDrafter& drafter) {
    return verifier.info().promise != Promise::lossless_up_to && verifier.stateful() && declares_every_row(drafter);
  }
  static Answer check(PathInstanceAnalysis& at) {
    const PathInstance& instance = at.instance();
    const auto conditionals = instance.conditionals();
    const auto decider = at.verifier().prove_on(conditionals, instance.shape);
    const auto process = at.verifier().process_on(conditionals);
    // Enumerates one iteration, within the limit on branches of the whole analysis.
    const auto iterate = [&](int context, const VerifierState<Rational>& carry, auto&& sink) {
      bool complete = true;
      const auto on_tree = [&](const DraftTree& tree, const Rational& drawn) {
        const auto steps = complete ? at.outputs(*decider, tree, carry) : std::nullopt;
        complete = complete && steps;
        if (!complete) return;
        for (const auto& [step, probability] : *steps) {
          const auto [node, extra] = step;
          Tokens emitted = path_to(tree, node);
          emitted.push_back(extra);
          sink(std::move(emitted), conditionals.next(tree.context(node), extra),
               process->after(tree, carry, {node, {extra, none_accepted}}), Rational(drawn * probability));
        }
      };
      return at.each_tree(conditionals, instance.shape, on_tree, context) && complete;
    };
    const auto distribution = enumerate_process<Rational>(iterate, instance.shape.length + 2);
    if (!distribution.complete)
      return Answer::undecided("more than " + std::to_string(at.limits().leaves) + " branches");
    const auto wrong = first_wrong_prefix(distribution.emitted, conditionals);
    return Answer::passed_if(!wrong, [&] { return wrong->text(); });
  }
};

// Losslessness of paths by trials, for schemes that cannot be enumerated: whenever a step goes beyond a prefix,
// the next token is a draw from the target after the prefix. There is one bet per prefix, and the e-values of the bets
// are averaged with weights fixed before the trials: p(prefix) / (L + 1), which sum to 1 over all prefixes of at most
// L tokens.
struct SampledPrefixDistribution {
  static constexpr std::string_view name = "sampled_prefix_distribution";
  static constexpr std::string_view about =
      "schemes that cannot be enumerated: after every prefix the next token follows p, tested by an e-value";
  static constexpr int every = 8;
  static constexpr bool explores = false;
  static constexpr Tier tier = Tier::sampled;
  static constexpr int trials = 1 << 15;
  static constexpr double alarm = 2e15;  ///< equals the alarm of properties/checks/output_distribution.hpp

  static bool applies(const AnyPathVerifier& verifier, const AnyTreeDrafter&) {
    return !verifier.info().unsupported.explore.empty() && verifier.info().promise == Promise::lossless &&
           verifier.info().unsupported.simulate.empty() && !verifier.stateful();
  }
  static Answer check(PathInstanceAnalysis& at) {
    std::map<Tokens, std::vector<std::uint64_t>> counts;
    const auto vocabulary = static_cast<std::size_t>(at.instance().vocabulary());
    for (const PathTrial& trial : at.trials(at.instance(), trials))
      for (auto token = trial.emitted.begin(); token != trial.emitted.end(); ++token) {
        if (*token < 0) return Answer::failed("a branch of probability zero was reached");
        auto& here = counts[Tokens(trial.emitted.begin(), token)];
        here.resize(vocabulary);
        ++here[static_cast<std::size_t>(*token)];
      }
    std::vector<double> bets, weights;
    double unseen = 1;
    const std::pair<const Tokens, std::vector<std::uint64_t>>* worst = nullptr;
    for (const auto& entry : counts) {
      bets.push_back(log_e_multinomial(distribution_after(at, entry.first), entry.second));
      weights.push_back(chance(at, entry.first) / (at.instance().shape.length + 1));
      unseen -= weights.back();
      if (!worst || bets.back() > *std::max_element(bets.begin(), bets.end() - 1)) worst = &entry;
    }
    // The e-value of a prefix beyond which no step went is 1; all such prefixes are added as one entry.
    bets.push_back(0);
    weights.push_back(std::max(unseen, 0.0));
    const double log_e = log_weighted_mean_exp(bets, weights);
    return Answer::passed_if(log_e < std::log(alarm), [&] {
      std::string text = "e = 10^" + std::to_string(static_cast<int>(log_e / std::log(10.0))) + ", after " +
                         prefix_text(worst->first) + " got";
      for (const auto count : worst->second) text += " " + std::to_string(count);
      return text + ", expected in proportion to " + brief(normalised(at.instance().after(worst->first).target));
    });
  }

 private:
  /// Returns the probability of `prefix` under the target.
  static double chance(const PathInstanceAnalysis& at, const Tokens& prefix) {
    double product = 1;
    for (auto token = prefix.begin(); token != prefix.end(); ++token)
      product *= distribution_after(at, Tokens(prefix.begin(), token))[static_cast<std::size_t>(*token)];
    return product;
  }
  static std::vector<double> distribution_after(const PathInstanceAnalysis& at, const Tokens& prefix) {
    std::vector<double> distribution;
    for (const Rational& p : normalised(at.instance().after(prefix).target))
      distribution.push_back(static_cast<double>(p));
    return distribution;
  }
};

// No iteration emits a token with p = 0, and none ends without a token, over consecutive iterations: one
// exception proves a defect. Seeded, deterministic.
struct ZeroSupport {
  static constexpr std::string_view name = "zero_support";
  static constexpr std::string_view about = "every iteration emits only tokens with p > 0, at least one";
  static constexpr int every = 2;
  static constexpr bool explores = false;
  static constexpr Tier tier = Tier::edge;
  static constexpr std::uint64_t iterations = 12;

  static bool applies(const AnyPathVerifier&, const AnyTreeDrafter& drafter) { return declares_every_row(drafter); }
  static Answer check(PathInstanceAnalysis& at) {
    const auto conditionals = double_distributions(at.instance());
    const auto plan = plan_on(at, conditionals);
    const auto wrong = first_fault(at, conditionals, *plan, iterations,
                                   [&](std::uint64_t t, const Iteration& one, const auto&, const auto&) {
                                     auto fault = fault_of(one.played, one, conditionals);
                                     if (fault) fault = place_of(t, one) + " " + *fault;
                                     return fault;
                                   });
    return Answer::passed_if(!wrong, [&] { return *wrong; });
  }
};

}  // namespace draftproof::checks::paths
