#include <draftproof/properties/prover/prover.hpp>

#include <algorithm>

#include <draftproof/properties/proof/prove_with.hpp>

namespace draftproof {

std::string_view to_text(Status status) {
  switch (status) {
    case Status::held:
      return "held";
    case Status::violated:
      return "violated";
    case Status::undecided:
      return "undecided";
    case Status::skipped:
      return "skipped";
  }
  return "";
}

const std::vector<Property>& TokenLevel::properties() { return registry().properties(); }

std::optional<Rational> TokenLevel::distance(draftproof::InstanceAnalysis& at) {
  if (!at.law().complete) return std::nullopt;
  return total_variation(at.law().output, normalised(at.instance().target));
}

std::vector<Instance> instances_for(const AnyVerifier& verifier, const AnyDrafter& drafter,
                                    const ProofOptions& options) {
  int fewest = std::max(verifier.info().fewest_drafts, drafter.info().fewest_drafts), most = 4;
  for (const int limit : {verifier.info().most_drafts, drafter.info().most_drafts})
    if (limit > 0) most = std::min(most, limit);
  const int wanted = options.instances > 0 ? options.instances : TokenLevel::instances;
  std::vector<Instance> instances;
  // Some instances are not possible for some draft laws (K > V): generate until there are enough.
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

}  // namespace draftproof
