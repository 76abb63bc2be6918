#include <draftproof/properties/simulation/joint_law.hpp>

#include <algorithm>

#include <draftproof/properties/prover/registry.hpp>

namespace draftproof {

PathLaws& PathLaws::instance() {
  static PathLaws laws;
  return laws;
}

void PathLaws::add(const PathLaw& law) {
  insert_sorted(laws_, law, [](const PathLaw& l) { return std::tuple(0, l.verifier, l.drafts.names[0]); });
}

const PathLaw* PathLaws::of(std::string_view verifier, std::string_view drafts) const {
  const auto found = std::find_if(laws_.begin(), laws_.end(), [&](const PathLaw& law) {
    return law.verifier == verifier && law.drafts.includes(drafts);
  });
  return found == laws_.end() ? nullptr : &*found;
}

const PathLaws& known_path_laws() {
  registry();  // everything is found at once
  return PathLaws::instance();
}

}  // namespace draftproof
