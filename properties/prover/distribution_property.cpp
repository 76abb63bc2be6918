#include <draftproof/properties/prover/distribution_property.hpp>

#include <utility>

namespace draftproof {

EmittedDistribution emitted_distribution(InstanceAnalysis& at) {
  const Instance& instance = at.instance();
  EmittedDistribution law{.vocabulary = instance.vocabulary(), .length = 1};
  for (Token x = 0; x < law.vocabulary; ++x) law.emitted[{x}] = at.law().output[static_cast<std::size_t>(x)];
  law.target = [target = normalised(instance.target)](const Tokens&) { return target; };
  return law;
}

EmittedDistribution emitted_distribution(PathInstanceAnalysis& at) {
  const PathInstance& instance = at.instance();
  EmittedDistribution law{.vocabulary = instance.vocabulary(), .length = instance.shape.length + 1};
  law.emitted = at.law().emitted;
  law.target = [&instance](const Tokens& prefix) { return normalised(instance.after(prefix).target); };
  return law;
}

}  // namespace draftproof
