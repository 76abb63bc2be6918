#include <draftproof/properties/prover/path_prover.hpp>

#include <algorithm>

#include <draftproof/properties/proof/prove_with.hpp>
#include <draftproof/properties/prover/registry.hpp>

namespace draftproof {

const std::vector<PathProperty>& BlockLevel::properties() { return path_registry().properties(); }

namespace {

/// Sum over all prefixes of L + 1 tokens of (p - completed law)+. `settled` is the completed mass of the prefix at
/// `context`, `wanted` its target probability.
Rational missing_mass(const StepLaw<Rational>& law, const ConditionalModel<Rows<Rational>>& conditionals,
                      Tokens& prefix, int context, int left, const Rational& settled, const Rational& wanted) {
  if (left == 0) return wanted > settled ? Rational(wanted - settled) : Rational(0);
  Rational missing = 0;
  const Rows<Rational>& laws = conditionals.laws(context);
  for (Token x = 0; x < laws.vocabulary(); ++x) {
    prefix.push_back(x);
    const auto ended = law.emitted.find(prefix);
    Rational mass = settled * laws.target(x);
    if (ended != law.emitted.end()) mass += ended->second;
    missing += missing_mass(law, conditionals, prefix, conditionals.next(context, x), left - 1, mass,
                            Rational(wanted * laws.target(x)));
    prefix.pop_back();
  }
  return missing;
}

}  // namespace

std::optional<Rational> BlockLevel::distance(PathInstanceAnalysis& at) {
  if (at.verifier().stateful() || !at.law().complete) return std::nullopt;
  const auto conditionals = at.instance().conditionals();
  Tokens prefix;
  return missing_mass(at.law(), conditionals, prefix, 0, at.instance().shape.length + 1, 0, 1);
}

namespace {

PathSizes sizes_for(const AnyPathVerifier& verifier, const AnyTreeDrafter& drafter) {
  PathSizes sizes{.fewest_drafts = verifier.info().fewest_drafts,
                  .stem = drafter.info().has_stem,
                  .branches = drafter.info().branches,
                  .fixed = drafter.info().fixed};
  if (sizes.fixed) sizes.most_drafts = 6;
  if (const int limit = verifier.info().most_drafts; limit > 0)
    sizes.most_drafts = std::min(sizes.most_drafts, limit);
  // A process walks the trees again after every sequence of up to L + 1 tokens: up to V = 3, L = 2, rarely L = 3.
  if (verifier.stateful()) sizes.most_trees = 9;
  return sizes;
}

}  // namespace

std::vector<PathInstance> instances_for(const AnyPathVerifier& verifier, const AnyTreeDrafter& drafter,
                                        const ProofOptions& options) {
  const PathSizes sizes = sizes_for(verifier, drafter);
  const int wanted = options.instances > 0 ? options.instances : BlockLevel::instances;
  std::vector<PathInstance> instances;
  if (sizes.fewest_drafts <= sizes.most_drafts)
    for (int n = 0; n < wanted && !options.stopped(); ++n)
      instances.push_back(generate_path_instance(options.seed, n, sizes));
  return instances;
}

PathProof prove(const AnyPathVerifier& verifier, const AnyTreeDrafter& drafter, const ProofOptions& options) {
  const Prover<BlockLevel> prover(verifier, drafter, options);
  const auto make = [&] { return instances_for(verifier, drafter, options); };
  const std::size_t families = registry().generators().size();
  const int wanted = options.instances > 0 ? options.instances : BlockLevel::instances;
  return prover.examine(make, wanted, families);
}

PathProof prove_on(const AnyPathVerifier& verifier, const AnyTreeDrafter& drafter, const PathInstance& instance,
                   const ProofOptions& options) {
  return Prover<BlockLevel>(verifier, drafter, options).examine(std::span(&instance, 1), 1);
}

}  // namespace draftproof
