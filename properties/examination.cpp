#include <draftproof/properties/examination.hpp>

#include <draftproof/optimum/set_law.hpp>
#include <draftproof/properties/as_doubles.hpp>

namespace draftproof {

bool Examination::possible(const AnyVerifier& verifier, const AnyDrafter& drafter, const Instance& instance) {
  return verifier.takes(instance.drafts) &&
         drafter.defined(instance.vocabulary(), instance.drafts, static_cast<int>(instance.proposals.size()));
}

const ExactLaw<Rational>& Examination::law() {
  if (!law_) law_ = law_of(instance_);
  return *law_;
}

ExactLaw<Rational> Examination::law_of(const Instance& variation) {
  const auto rows = variation.rows();
  const auto decider = verifier_.prove_on(rows, variation.drafts);
  auto law = explore_law(drafter_, *decider, rows, variation.drafts, limits_);
  leaves_ += law.leaves;
  return law;
}

Trials Examination::trials(const Instance& variation, int count) const {
  const auto rows = as_doubles(variation.rows());
  Trials trials(count, variation.drafts);
  drafter_.draw(rows, variation.drafts, trials.batch());
  verifier_.simulate_on(rows, variation.drafts)->decide(trials.batch(), trials.verdicts.data());
  return trials;
}

Trials Examination::trials(const Instance& variation, Trials drafted) const {
  const auto rows = as_doubles(variation.rows());
  verifier_.simulate_on(rows, variation.drafts)->decide(drafted.batch(), drafted.verdicts.data());
  return drafted;
}

Rational Examination::optimum() const {
  const auto rows = instance_.rows();
  const auto sets = set_law<Rational>(
      [&](Explorer<Rational>& random, Token* out) { return drafter_.draw(rows, instance_.drafts, random, out); });
  const auto target = normalised(instance_.target);
  return cut_optimum<Rational>(target, sets);
}

}  // namespace draftproof
