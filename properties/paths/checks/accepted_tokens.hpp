// Properties of the number of accepted tokens of a verifier of paths.
#pragma once

#include <algorithm>

#include <draftproof/properties/paths/path_analysis.hpp>
#include <draftproof/properties/paths/path_scripted.hpp>
#include <draftproof/properties/subjects/path_erased.hpp>
#include <draftproof/verifiers/paths/block.hpp>
#include <draftproof/verifiers/paths/token_path.hpp>

namespace draftproof::checks::paths {

// Counts agree with tokens: a step that reports n accepted drafts (its extra token's `accepted`) emits n + 1 tokens,
// and n is at most the number of drafts on a path. A wrong count leaves the output distribution right. Seeded,
// deterministic.
struct Counters {
  static constexpr std::string_view name = "counters";
  static constexpr std::string_view about = "the reported number of accepted drafts is the number emitted";
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
                                     auto fault = count_fault(one.played.output, one.tree);
                                     if (fault) fault = place_of(t, one) + " " + *fault;
                                     return fault;
                                   });
    return Answer::passed_if(!wrong, [&] { return *wrong; });
  }
};

// If p and q share no token after any prefix, no draft can be accepted and the one emitted token has distribution p.
struct DisjointSupports {
  static constexpr std::string_view name = "disjoint_supports";
  static constexpr std::string_view about =
      "p and q with disjoint supports after every prefix: no draft is accepted, the emitted token has distribution p";
  static constexpr int every = 4;

  static bool applies(const AnyPathVerifier& verifier, const AnyTreeDrafter&) {
    return verifier.info().promise == Promise::lossless;
  }
  static Answer check(PathInstanceAnalysis& at) {
    PathInstance apart = at.instance();
    for (auto& [prefix, weights] : apart.rows)
      for (std::size_t x = 0; x < weights.target.size(); ++x) (x % 2 ? weights.proposal[x] : weights.target[x]) = 0;
    if (!apart.valid()) return Answer::not_applicable();
    const auto distribution = at.distribution_of(apart);
    if (!distribution.complete) return Answer::undecided("the enumeration reached its limit");
    std::vector<Rational> output(static_cast<std::size_t>(apart.vocabulary()));
    for (const auto& [tokens, probability] : distribution.emitted)
      if (tokens.size() == 1) output[static_cast<std::size_t>(tokens.front())] += probability;
    return Answer::passed_if(distribution.accepted.front() == 1 && output == normalised(apart.after({}).target), [&] {
      return "on " + apart.text() + " nothing is accepted with probability " +
             to_text(distribution.accepted.front()) + ", the emitted token then has distribution " + to_text(output);
    });
  }
};

// Schemes that claim to equal token verification or block verification with one path have the same probability of
// every output, given the tree.
struct OnePath {
  static constexpr std::string_view name = "one_path";
  static constexpr std::string_view about = "where claimed: K = 1 equals token verification, or block verification";
  static constexpr int every = 4;

  static bool applies(const AnyPathVerifier& verifier, const AnyTreeDrafter& drafter) {
    const Claims& claims = verifier.info().claims;
    return (claims.one_path_is_token_path || claims.one_path_is_block) && !drafter.info().fixed;
  }
  static Answer check(PathInstanceAnalysis& at) {
    PathInstance one = at.instance();
    one.shape.drafts = 1;
    one.shape.branching.clear();
    const auto conditionals = one.conditionals();
    if (at.verifier().info().claims.one_path_is_block) return compare<verifiers::paths::Block>(at, one, conditionals);
    return compare<verifiers::paths::TokenPath>(at, one, conditionals);
  }

 private:
  template <class Reference>
  static Answer compare(PathInstanceAnalysis& at, const PathInstance& one,
                        const PrefixTable<PathInstanceAnalysis::Distributions>& conditionals) {
    const auto decider = at.verifier().prove_on(conditionals, one.shape);
    PathDeciderOf<Reference, PathInstanceAnalysis::Distributions, Explorer<Rational>> reference({}, conditionals,
                                                                                                one.shape);
    bool complete = true;
    std::string evidence;
    const auto on_tree = [&](const DraftTree& tree, const Rational&) {
      if (!complete || !evidence.empty()) return;
      const auto got = at.outputs(*decider, tree), wanted = at.outputs(reference, tree);
      complete = got && wanted;
      if (complete && *got != *wanted)
        evidence = "given the path " + tree_text(tree) + ", emits " + to_text(tree, *got) + ", " +
                   std::string(Reference::info.name) + " " + to_text(tree, *wanted);
    };
    const bool all = at.each_tree(conditionals, one.shape, on_tree);
    if (!evidence.empty()) return Answer::failed(evidence);
    return complete && all ? Answer::passed() : Answer::undecided("the enumeration reached its limit");
  }

  /// Returns a text such as "[0]+1: 1/3, []+0: 2/3".
  static std::string to_text(const DraftTree& tree, const Outputs& steps) {
    std::string text;
    for (const auto& [step, probability] : steps)
      text += (text.empty() ? "" : ", ") + prefix_text(path_to(tree, step.first)) + "+" +
              std::to_string(step.second) + ": " + draftproof::to_text(probability);
    return text;
  }
};

// Permuting the token ids permutes the distribution of the step and leaves the number accepted unchanged.
struct Relabelling {
  static constexpr std::string_view name = "relabelling";
  static constexpr std::string_view about = "reversing the token ids reverses the distribution of the step";
  static constexpr int every = 4;

  /// Does not apply to a drafter that ranks tokens: it breaks ties by id, so a permutation of ids changes its trees.
  static bool applies(const AnyPathVerifier& verifier, const AnyTreeDrafter& drafter) {
    return !drafter.info().ranks_tokens && !verifier.info().ranks_tokens;
  }
  static Answer check(PathInstanceAnalysis& at) {
    const Token last = at.instance().vocabulary() - 1;
    const auto reversed_ids = [last](Tokens tokens) {
      for (Token& x : tokens) x = last - x;
      return tokens;
    };
    PathInstance reversed = at.instance();
    reversed.rows.clear();
    for (const auto& [prefix, weights] : at.instance().rows) reversed.rows.emplace(reversed_ids(prefix), weights);
    for (auto* row : rows_of(reversed)) std::reverse(row->begin(), row->end());
    const auto distribution = at.distribution_of(reversed);
    if (!distribution.complete || !at.distribution().complete)
      return Answer::undecided("the enumeration reached its limit");
    if (distribution.accepted != at.distribution().accepted)
      return Answer::failed("accepts " + to_text(at.distribution().accepted) + ", with reversed ids " +
                            to_text(distribution.accepted));
    std::map<Tokens, Rational> back;
    for (const auto& [tokens, probability] : distribution.emitted) back.emplace(reversed_ids(tokens), probability);
    for (const auto& [tokens, probability] : at.distribution().emitted)
      if (const auto found = back.find(tokens); found == back.end() || found->second != probability)
        return Answer::failed("emits " + prefix_text(tokens) + " with probability " + to_text(probability) +
                              ", with reversed ids " + (found == back.end() ? "0" : to_text(found->second)));
    return Answer::passed();
  }
};

// No lossless verifier accepts a prefix more often than this bound, which needs no linear program.
//
//   a(x)      probability that x is accepted, possibly with more; E[tau] is the sum over x != []
//   drawn(x)  probability that x is in the tree
//   bound     u([]) = 1, u(xy) = min(drawn(xy), u(x) p(y|x));    with state: u(xy) = u(x) p(y|x)
//
// Proof: a(xy) <= drawn(xy), because only drafted tokens are accepted; and a(xy) <= Pr[e begins with xy], which
// is Pr[e goes beyond x] p(y|x) <= a(x) p(y|x), so a <= u by induction. With state a single iteration need not
// follow the target, but xy is emitted if it is accepted, and the process emits it with probability p(xy).

struct TauBounds {
  static constexpr std::string_view name = "tau_bounds";
  static constexpr std::string_view about =
      "no prefix is accepted more often than it is drafted, or than the target emits it";
  static constexpr int every = 1;

  static bool applies(const AnyPathVerifier& verifier, const AnyTreeDrafter&) {
    return verifier.info().promise == Promise::lossless;
  }
  static Answer check(PathInstanceAnalysis& at) {
    const auto& distribution = at.distribution();
    const auto conditionals = at.instance().conditionals();
    std::map<Tokens, Rational, ShorterFirst> drawn, accepted, bound;
    const auto on_tree = [&](const DraftTree& tree, const Rational& probability) {
      for (int u = DraftTree::root + 1; u < tree.size(); ++u) drawn[path_to(tree, u)] += probability;
    };
    if (!at.each_tree(conditionals, at.instance().shape, on_tree) || !distribution.complete)
      return Answer::undecided("the enumeration reached its limit");
    for (const auto& [step, probability] : distribution.emitted)
      for (std::size_t i = 1; i < step.size(); ++i)  // all tokens but the extra one
        accepted[Tokens(step.begin(), step.begin() + static_cast<std::ptrdiff_t>(i))] += probability;
    bound[{}] = 1;
    for (const auto& [prefix, probability] : drawn) {
      const Tokens before(prefix.begin(), prefix.end() - 1);
      const Rational allowed = bound.at(before) * target(conditionals, before, prefix.back());
      // For a scheme with state, the bound does not contain drawn(xy) (formula above).
      bound[prefix] = at.verifier().stateful() ? allowed : std::min(probability, allowed);
      if (accepted[prefix] > bound[prefix])
        return Answer::failed("accepts " + prefix_text(prefix) + " with probability " + to_text(accepted[prefix]) +
                              ", at most " + to_text(bound[prefix]) + " is possible");
    }
    return Answer::passed();
  }

 private:
  static Rational target(const PrefixTable<Rows<Rational>>& conditionals, const Tokens& prefix, Token next) {
    int context = 0;
    for (const Token x : prefix) context = conditionals.next(context, x);
    return conditionals.distributions(context).target(next);
  }
};

}  // namespace draftproof::checks::paths
