#include <draftproof/properties/instances/generator.hpp>
#include <draftproof/properties/prover/prover.hpp>

#include <algorithm>

#include <draftproof/properties/instances/instance_text.hpp>
#include <draftproof/properties/proof/prove_with.hpp>

namespace draftproof {

std::optional<Rational> TokenLevel::distance(draftproof::InstanceAnalysis& at) {
  if (!at.distribution().complete) return std::nullopt;
  return total_variation(at.distribution().output, normalised(at.instance().target));
}

std::vector<Instance> instances_for(const AnyVerifier& verifier, const AnyDrafter& drafter,
                                    const ProofOptions& options) {
  int fewest = std::max(verifier.info().fewest_drafts, drafter.info().fewest_drafts), most = 4;
  for (const int limit : {verifier.info().most_drafts, drafter.info().most_drafts})
    if (limit > 0) most = std::min(most, limit);
  const int wanted = options.instances > 0 ? options.instances : TokenLevel::instances;
  std::vector<Instance> instances;
  // An instance may be impossible for a draft sampling (K > V without replacement); more instances are then generated.
  for (int n = 0; std::ssize(instances) < wanted && n < 4 * wanted && !options.stopped(); ++n) {
    Instance instance = generate_instance(options.seed, n, most, drafter.info().several_proposals, fewest);
    if (InstanceAnalysis::possible(verifier, drafter, instance)) instances.push_back(std::move(instance));
  }
  return instances;
}

Proof prove(const AnyVerifier& verifier, const AnyDrafter& drafter, const ProofOptions& options) {
  const Prover<TokenLevel> prover(verifier, drafter, options);
  const auto make = [&] { return instances_for(verifier, drafter, options); };
  const std::size_t families = registry().generators().size();
  const int wanted = options.instances > 0 ? options.instances : TokenLevel::instances;
  return prover.examine(make, wanted, families);
}

Proof prove_on(const AnyVerifier& verifier, const AnyDrafter& drafter, const Instance& instance,
               const ProofOptions& options) {
  return Prover<TokenLevel>(verifier, drafter, options).examine(std::span(&instance, 1), 1);
}

// Random instances: their sizes, families, and the repair of degenerate rows.

Instance generate_instance(std::uint64_t seed, int n, int most_drafts, bool several, int fewest_drafts) {
  const auto& generators = registry().generators();
  const Generator& generator = generators[static_cast<std::size_t>(n) % generators.size()];
  InstanceRng dice(seed, static_cast<std::uint64_t>(n));
  Instance instance;
  instance.drafts = dice.between(fewest_drafts, std::min(most_drafts, 4));
  // An enumeration has about V^K (K + 1) leaves, so V is at most 8 at K <= 2, 6 at K = 3 and 5 at K = 4. Because bugs
  // of late stages need V > K + 2, one instance in a hundred may have V up to 8 at any K.
  const bool large = dice.chance(1, 100);
  const int largest = instance.drafts <= 2 || large ? 8 : (instance.drafts == 3 ? 6 : 5);
  const int vocabulary = dice.between(2, largest);
  WeightPair weights = generator.weights(dice, vocabulary);
  instance.target = std::move(weights.target);
  instance.proposals.push_back(std::move(weights.proposal));
  while (several && std::ssize(instance.proposals) < instance.drafts)
    instance.proposals.push_back(generator.weights(dice, vocabulary).proposal);
  repair_weights(instance.target, 1, dice);
  // In three rows of four the support has more than K tokens, so that the residual after the last draft is tested. In
  // the others drafts without replacement may use up the support.
  for (auto& row : instance.proposals) {
    const bool wide = dice.chance(3, 4) && !generator.keeps_supports;
    repair_weights(row, wide ? instance.drafts + 1 : 1, dice);
  }
  return instance;
}

}  // namespace draftproof
