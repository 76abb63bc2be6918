#include <draftproof/properties/instances/generator.hpp>
#include <draftproof/properties/prover/path_prover.hpp>

#include <algorithm>

#include <draftproof/properties/instances/instance_text.hpp>
#include <draftproof/properties/proof/prove_with.hpp>
#include <draftproof/properties/prover/registry.hpp>

namespace draftproof {

namespace {

/// Returns the sum of (p(s) - c(s))+ over all strings s of L + 1 tokens, where c(s) is the probability that the emitted
/// tokens, continued by draws from the target, are s. `settled` is the probability so far of the prefix at `context`,
/// `wanted` its target probability.
Rational missing_mass(const StepDistribution<Rational>& distribution,
                      const ConditionalModel<Rows<Rational>>& conditionals, Tokens& prefix, int context, int left,
                      const Rational& settled, const Rational& wanted) {
  if (left == 0) return wanted > settled ? Rational(wanted - settled) : Rational(0);
  Rational missing = 0;
  const Rows<Rational>& distributions = conditionals.distributions(context);
  for (Token x = 0; x < distributions.vocabulary(); ++x) {
    prefix.push_back(x);
    const auto ended = distribution.emitted.find(prefix);
    Rational mass = settled * distributions.target(x);
    if (ended != distribution.emitted.end()) mass += ended->second;
    missing += missing_mass(distribution, conditionals, prefix, conditionals.next(context, x), left - 1, mass,
                            Rational(wanted * distributions.target(x)));
    prefix.pop_back();
  }
  return missing;
}

}  // namespace

std::optional<Rational> BlockLevel::distance(PathInstanceAnalysis& at) {
  if (at.verifier().stateful() || !at.distribution().complete) return std::nullopt;
  const auto conditionals = at.instance().conditionals();
  Tokens prefix;
  return missing_mass(at.distribution(), conditionals, prefix, 0, at.instance().shape.length + 1, 0, 1);
}

namespace {

/// Largest number of nodes of a fixed tree in a small model. With 8 nodes, a tree of the most probable prefixes can
/// have several children below the second level.
constexpr int most_fixed_nodes = 8;

PathSizes sizes_for(const AnyPathVerifier& verifier, const AnyTreeDrafter& drafter) {
  PathSizes sizes = sizes_of(drafter.info());
  sizes.fewest_drafts = verifier.info().fewest_drafts;
  if (sizes.fixed) sizes.most_drafts = most_fixed_nodes;
  if (const int limit = verifier.info().most_drafts; limit > 0)
    sizes.most_drafts = std::min(sizes.most_drafts, limit);
  // For a verifier with state the trees are enumerated again after every sequence of up to L + 1 tokens. A limit of 9
  // trees allows sizes up to V = 3, L = 2, and rarely L = 3.
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

// Random small models for paths: their sizes, context, and rows.

namespace {

/// Returns the number of trees of this shape that can be drafted, or a number above `most` if there are more.
int drafted_trees(const TreeShape& shape, int vocabulary, int most, const PathSizes& sizes) {
  int trees = 1;
  const auto draw = [&](int tokens, int choices) {
    for (; tokens > 0 && trees <= most; --tokens) trees *= choices;
  };
  if (sizes.fixed) return 1;
  if (sizes.shared_suffix) {
    draw(shape.length - 1, vocabulary);
    return trees;
  }
  if (!sizes.branches) {
    draw(shape.stem + shape.drafts * (shape.length - shape.stem), vocabulary);
    return trees;
  }
  for (int depth = 0, parents = 1; depth < shape.length; ++depth) {
    const int children = std::min(shape.children_at(depth), vocabulary);
    for (int k = std::min(shape.fixed, children); k < children; ++k)
      draw(parents, sizes.distinct ? vocabulary - k : vocabulary);
    parents *= children;
  }
  return trees;
}

/// Of eight models three are wide (several drafts and V >= 3; for a verifier of one draft only V is larger), two are
/// deep, two have several children below the second level (branched), and one is of any form. With uniform sizes most
/// models within the limit of trees would have V = 2, and only one model in fifty would reveal a bug of late drafts, of
/// long paths, or of later drafts after long paths.
enum class PathForm { any, deep, wide, branched };

/// Returns a shape of three or four levels with several children below the second level and few children elsewhere.
TreeShape branched_shape(InstanceRng& dice, const PathSizes& sizes, int several) {
  TreeShape shape{.drafts = dice.between(several, sizes.most_drafts),
                  .length = dice.chance(1, 4) ? 4 : 3,
                  .branching = {},
                  .stem = 0};
  if (sizes.fixed) shape.drafts = std::max(shape.drafts, sizes.most_drafts - 2);
  if (sizes.stem) shape.stem = dice.between(0, shape.length - 1);
  if (sizes.fixed_children) shape.fixed = dice.between(0, 2);
  if (sizes.nodes) shape.nodes = dice.between(shape.length, most_fixed_nodes);
  if (!sizes.branches) return shape;
  const int branched = dice.between(2, shape.length - 1);
  for (int depth = 0; depth < shape.length; ++depth)
    shape.branching.push_back(depth == branched || dice.chance(1, 4) ? dice.between(several, sizes.most_drafts)
                                                                     : sizes.fewest_drafts);
  return shape;
}

TreeShape draw_shape(InstanceRng& dice, const PathSizes& sizes, PathForm form) {
  const int several = std::clamp(2, sizes.fewest_drafts, sizes.most_drafts);
  if (form == PathForm::branched) {
    if (several > 1) return branched_shape(dice, sizes, several);
    form = PathForm::deep;
  }
  const int fewest = form == PathForm::wide ? several : sizes.fewest_drafts;
  const int most = form == PathForm::deep ? sizes.fewest_drafts : sizes.most_drafts;
  TreeShape shape{.drafts = dice.between(fewest, most),
                  .length = form == PathForm::wide && most > 1 ? dice.between(1, 2)
                            : form == PathForm::deep           ? std::min(4, dice.between(2, 7))
                                                               : dice.between(1, 4),
                  .branching = {},
                  .stem = 0};
  if (sizes.stem) shape.stem = dice.between(0, shape.length);
  if (sizes.fixed_children) shape.fixed = dice.between(0, 2);
  if (sizes.nodes) shape.nodes = dice.between(1, most_fixed_nodes);
  if (sizes.branches && dice.chance(1, 2))
    for (int depth = 0; depth < shape.length; ++depth) shape.branching.push_back(dice.between(fewest, most));
  return shape;
}

bool affordable(const TreeShape& shape, int vocabulary, int most_trees, const PathSizes& sizes) {
  return drafted_trees(shape, vocabulary, most_trees, sizes) <= most_trees;
}

/// Whether the n-th model has two separate paths of three tokens that both begin with the same draft, at V = 3. These
/// are the only models within the limit where separate paths part below the second level and a rejection leaves more
/// than one token.
bool parts_late(int n, const PathSizes& sizes) {
  constexpr int trees = 81;  // 3^4: two tokens of each path are drawn
  return n % 24 == 17 && !sizes.branches && !sizes.stem && !sizes.fixed && !sizes.shared_suffix &&
         sizes.fewest_drafts <= 2 && sizes.most_drafts >= 2 && sizes.most_trees >= trees;
}

/// The relation of the rows after different prefixes.
enum class Context {
  none,      ///< the same rows after every prefix
  own,       ///< separately drawn rows after each prefix that the model lists
  repeated,  ///< the rows are a function of the last token, so they repeat along a path
  opposed,   ///< p and q after a prefix differ as much as possible from the rows of its parent and siblings
};

Context draw_context(InstanceRng& dice) { return static_cast<Context>(dice.between(0, 3)); }

/// Puts most mass of p on one token, and most mass of q on another. If the last token of the prefix increases by 1, the
/// token of p increases by 1 and the token of q decreases by 1, modulo V. The other tokens have little or no mass, so
/// that ratios are far from 1 and supports may lack tokens.
PrefixWeights opposed_rows(InstanceRng& dice, const Tokens& prefix, int vocabulary) {
  const auto size = static_cast<std::size_t>(vocabulary);
  std::size_t heavy_target = 0, heavy_proposal = prefix.size();
  for (const Token x : prefix) {
    heavy_target += static_cast<std::size_t>(x) + 1;
    heavy_proposal += size - static_cast<std::size_t>(x);
  }
  PrefixWeights rows{std::vector<int>(size), std::vector<int>(size)};
  for (auto* row : {&rows.target, &rows.proposal})
    for (int& weight : *row) weight = dice.between(0, 2);
  rows.target[heavy_target % size] = dice.between(5, 9);
  rows.proposal[heavy_proposal % size] = dice.between(3, 9);
  return rows;
}

/// Calls `visit` for all prefixes of `length` tokens.
template <class Visit>
void each_prefix(int vocabulary, int length, Tokens& prefix, Visit& visit) {
  if (length == 0) return visit(prefix);
  for (Token x = 0; x < vocabulary; ++x) {
    prefix.push_back(x);
    each_prefix(vocabulary, length - 1, prefix, visit);
    prefix.pop_back();
  }
}

}  // namespace

PathInstance generate_path_instance(std::uint64_t seed, int n, const PathSizes& sizes) {
  constexpr int most_rows = 81;  // limit of rows after the longest listed prefixes: 3^4, for V = 3, L = 4
  const auto& generators = registry().generators();
  const Generator& generator = generators[static_cast<std::size_t>(n) % generators.size()];
  InstanceRng dice(seed, static_cast<std::uint64_t>(n));
  // Some bugs need deep or wide trees. A proof with only such trees would take seconds, so only one instance in thirty
  // may have them.
  const int most_trees = dice.chance(1, 30) ? 4 * sizes.most_trees : sizes.most_trees;
  PathInstance instance;
  int vocabulary = 2;
  constexpr PathForm forms[]{PathForm::any,  PathForm::deep, PathForm::deep,     PathForm::wide,
                             PathForm::wide, PathForm::wide, PathForm::branched, PathForm::branched};
  PathForm form = forms[dice.between(0, 7)];
  const bool late = parts_late(n, sizes);
  if (late) {
    instance.shape = {.drafts = 2, .length = 3, .branching = {}, .stem = 0};
    vocabulary = 3;
  }
  for (int attempt = 0; !late; ++attempt) {
    if (attempt == 32) form = PathForm::any;  // after 32 shapes of this form with too many trees
    // With V = 2 only one token remains after a rejection, so two of three branched models have V >= 3. Separate paths
    // then have too many trees, but paths with a common stem do not.
    const bool more = form == PathForm::wide || (form == PathForm::branched && dice.chance(2, 3));
    vocabulary = dice.between(more ? 3 : 2, 4);
    instance.shape = draw_shape(dice, sizes, form);
    if (affordable(instance.shape, vocabulary, most_trees, sizes)) break;
  }

  const Context context = late ? (dice.chance(1, 2) ? Context::own : Context::opposed) : draw_context(dice);
  // The rows of a branched model differ between prefixes of two tokens, that is, below the second level.
  const int fewest_listed = late || form == PathForm::branched ? 2 : 1;
  int listed = context == Context::none ? 0 : dice.between(fewest_listed, instance.shape.length);
  const auto rows_of_level = [vocabulary](int level) {
    int count = 1;
    while (level-- > 0) count *= vocabulary;
    return count;
  };
  while (rows_of_level(listed) > most_rows) --listed;
  const auto own_rows = [&] {
    WeightPair weights = generator.weights(dice, vocabulary);
    repair_weights(weights.target, 1, dice);
    // In three rows of four the support of q has more than K tokens. In the others, as in the models of one position,
    // it may have fewer, and drafts without replacement may use it up.
    const bool wide = dice.chance(3, 4) && !generator.keeps_supports;
    repair_weights(weights.proposal, wide ? instance.shape.drafts + 1 : 1, dice);
    return PrefixWeights{std::move(weights.target), std::move(weights.proposal)};
  };
  const auto add_rows = [&](const Tokens& prefix) {
    instance.rows.emplace(prefix, context == Context::opposed ? opposed_rows(dice, prefix, vocabulary)
                                  : context == Context::repeated && prefix.size() > 1
                                      ? instance.rows.at({prefix.back()})
                                      : own_rows());
  };
  Tokens prefix;
  for (int length = 0; length <= listed; ++length) each_prefix(vocabulary, length, prefix, add_rows);
  if (late) {
    PrefixWeights& root = instance.rows.at({});
    const std::ptrdiff_t first = std::ranges::max_element(root.target) - root.target.begin();
    std::ranges::fill(root.proposal, 0);
    root.proposal[static_cast<std::size_t>(first)] = 1;
  }
  // In half of the models with repeated rows, the rows after token 0 equal the rows after the empty prefix, so all
  // rows along a path of zeros are equal.
  if (context == Context::repeated && dice.chance(1, 2))
    for (auto& [listed_prefix, rows] : instance.rows)
      if (!listed_prefix.empty() && listed_prefix.back() == 0) rows = instance.rows.at({});
  return instance;
}

}  // namespace draftproof
