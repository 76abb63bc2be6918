#include <draftproof/properties/proof/instance_analysis.hpp>

#include <draftproof/optimum/set_distribution.hpp>
#include <draftproof/properties/instances/instance.hpp>

namespace draftproof {

bool InstanceAnalysis::possible(const AnyVerifier& verifier, const AnyDrafter& drafter, const Instance& instance) {
  return verifier.takes(instance.drafts) &&
         drafter.defined(instance.vocabulary(), instance.drafts, static_cast<int>(instance.proposals.size()));
}

const ExactDistribution<Rational>& InstanceAnalysis::distribution() {
  if (!distribution_) distribution_ = distribution_of(instance_);
  return *distribution_;
}

ExactDistribution<Rational> InstanceAnalysis::distribution_of(const Instance& variation) {
  const auto rows = variation.rows();
  const auto decider = verifier_.prove_on(rows, variation.drafts);
  auto distribution = explore_distribution(drafter_, *decider, rows, variation.drafts, limits_);
  leaves_ += distribution.leaves;
  return distribution;
}

bool InstanceAnalysis::each_tuple(const std::function<void(std::span<const Token>, const Rational&)>& visit) {
  const auto rows = instance_.rows();
  Explorer<Rational> explorer(limits_);
  const bool whole = each_drafted_tuple(
      explorer,
      [&](Explorer<Rational>& random, Token* out) { return drafter_.draw(rows, instance_.drafts, random, out); },
      visit);
  leaves_ += explorer.leaves();
  return whole;
}

bool InstanceAnalysis::each_verdict(const Decider<Rows<Rational>, Explorer<Rational>>& decider,
                                    std::span<const Token> tuple,
                                    const std::function<void(Token, int, const Rational&)>& visit) {
  Explorer<Rational> explorer({.leaves = limits_.leaves, .vocabulary = instance_.vocabulary()});
  const bool whole = explorer.explore(
      [&](Explorer<Rational>& random) { return decider.decide(tuple, random); },
      [&](const Leaf<Rational>& leaf) {
        leaf.each_token([&](Token x, const Rational& probability) { visit(x, leaf.verdict.accepted, probability); });
      });
  leaves_ += explorer.leaves();
  return whole;
}

Trials InstanceAnalysis::trials(const Instance& variation, int count) const {
  const auto rows = as_doubles(variation.rows());
  Trials trials(count, variation.drafts);
  drafter_.draw(rows, variation.drafts, trials.batch());
  verifier_.simulate_on(rows, variation.drafts)->decide(trials.batch(), trials.verdicts.data());
  return trials;
}

Trials InstanceAnalysis::trials(const Instance& variation, Trials drafted) const {
  const auto rows = as_doubles(variation.rows());
  verifier_.simulate_on(rows, variation.drafts)->decide(drafted.batch(), drafted.verdicts.data());
  return drafted;
}

Rational InstanceAnalysis::optimum() const {
  const auto rows = instance_.rows();
  const auto sets = set_distribution<Rational>(
      [&](Explorer<Rational>& random, Token* out) { return drafter_.draw(rows, instance_.drafts, random, out); },
      limits_);
  const auto target = normalised(instance_.target);
  return cut_optimum<Rational>(target, sets);
}

}  // namespace draftproof
