#include <draftproof/properties/prover/distribution_property.hpp>

#include <utility>

namespace draftproof {

EmittedDistribution emitted_distribution(InstanceAnalysis& at) {
  const Instance& instance = at.instance();
  EmittedDistribution distribution{.vocabulary = instance.vocabulary(), .length = 1};
  for (Token x = 0; x < distribution.vocabulary; ++x)
    distribution.emitted[{x}] = at.distribution().output[static_cast<std::size_t>(x)];
  distribution.target = [target = normalised(instance.target)](const Tokens&) { return target; };
  return distribution;
}

EmittedDistribution emitted_distribution(PathInstanceAnalysis& at) {
  const PathInstance& instance = at.instance();
  EmittedDistribution distribution{.vocabulary = instance.vocabulary(), .length = instance.shape.length + 1};
  distribution.emitted = at.distribution().emitted;
  distribution.target = [&instance](const Tokens& prefix) { return normalised(instance.after(prefix).target); };
  return distribution;
}

}  // namespace draftproof
