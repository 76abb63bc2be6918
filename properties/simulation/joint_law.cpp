#include <draftproof/properties/simulation/joint_law.hpp>

#include <algorithm>

#include <draftproof/properties/prover/registry.hpp>

namespace draftproof {

JointLaws& JointLaws::instance() {
  static JointLaws laws;
  return laws;
}

void JointLaws::add(const JointLaw& law) {
  insert_sorted(laws_, law, [](const JointLaw& l) { return std::tuple(0, l.verifier, l.drafts.names[0]); });
}

const JointLaw* JointLaws::of(std::string_view verifier, std::string_view drafts) const {
  const auto found = std::find_if(laws_.begin(), laws_.end(), [&](const JointLaw& law) {
    return law.verifier == verifier && law.drafts.includes(drafts);
  });
  return found == laws_.end() ? nullptr : &*found;
}

const JointLaws& known_joint_laws() {
  registry();  // fills all registries
  return JointLaws::instance();
}

}  // namespace draftproof
