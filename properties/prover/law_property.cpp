#include <draftproof/properties/prover/law_property.hpp>

#include <utility>

namespace draftproof {

EmittedLaw emitted_law(InstanceAnalysis& at) {
  const Instance& instance = at.instance();
  EmittedLaw law{.vocabulary = instance.vocabulary(), .length = 1};
  for (Token x = 0; x < law.vocabulary; ++x) law.emitted[{x}] = at.law().output[static_cast<std::size_t>(x)];
  law.target = [target = normalised(instance.target)](const Tokens&) { return target; };
  return law;
}

EmittedLaw emitted_law(PathInstanceAnalysis& at) {
  const PathInstance& instance = at.instance();
  EmittedLaw law{.vocabulary = instance.vocabulary(), .length = instance.shape.length + 1};
  law.emitted = at.law().emitted;
  law.target = [&instance](const Tokens& prefix) { return normalised(instance.after(prefix).target); };
  return law;
}

}  // namespace draftproof
