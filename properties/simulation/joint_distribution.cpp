#include <draftproof/properties/simulation/joint_distribution.hpp>

#include <algorithm>

#include <draftproof/properties/prover/registry.hpp>

namespace draftproof {

JointDistributions& JointDistributions::instance() {
  static JointDistributions distributions;
  return distributions;
}

void JointDistributions::add(const JointDistribution& distribution) {
  insert_sorted(distributions_, distribution,
                [](const JointDistribution& l) { return std::tuple(0, l.verifier, l.drafts.names[0]); });
}

const JointDistribution* JointDistributions::of(std::string_view verifier, std::string_view drafts) const {
  const auto found =
      std::find_if(distributions_.begin(), distributions_.end(), [&](const JointDistribution& distribution) {
        return distribution.verifier == verifier && distribution.drafts.includes(drafts);
      });
  return found == distributions_.end() ? nullptr : &*found;
}

const JointDistributions& known_joint_distributions() {
  registry();  // fills all registries
  return JointDistributions::instance();
}

}  // namespace draftproof
