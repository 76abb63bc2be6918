// Traversal verification with full rows, as published: an independent implementation to compare the scalar form with.
#include <gtest/gtest.h>

#include <draftproof/properties/subjects/path_erased.hpp>
#include <draftproof/tests/support/small_models.hpp>

namespace draftproof {
namespace {

/// The complete tree with a target row, a draft row and a weight at every node; changed rows are recomputed.
class RowsOfTraversal {
 public:
  static constexpr Info info{.name = "rows_of_traversal",
                             .summary = "traversal verification with full rows",
                             .source = "Weng et al. 2025, arXiv:2505.12398",
                             .drafts = DraftLaws{"without_replacement_tree", "iid_paths"},
                             .unsupported = {.simulate = "a test", .fresh = "a test"}};

  template <class L, class R>
  StepOutput verify(const DraftedTree<L>& at, R& random) const {
    using Scalar = typename L::Scalar;
    const DraftTree& tree = at.tree();
    State<Scalar> state;
    const int vocabulary = at.laws(0).vocabulary();
    for (int u = 0; u < tree.size(); ++u) {
      auto& node = state.emplace_back();
      for (Token x = 0; x < vocabulary; ++x) {
        node.target.push_back(at.laws(u).target(x));
        node.proposal.push_back(at.laws(u).proposal(x));
      }
      for (const int child : tree.children(u)) node.children.push_back(child);
    }
    weigh(tree, state, 0, Scalar(1));
    for (;;) {
      int v = 0;
      while (!state[index(v)].children.empty()) v = state[index(v)].children.front();
      Node<Scalar>& leaf = state[index(v)];
      if (v == 0 || random.flip(leaf.weight, Scalar(1))) {
        const auto row = leaf.target;
        return {v, random.emit(at.laws(v).weights([&row](Token x) { return row[index(x)]; }))};
      }
      refuse(tree, state, v);
    }
  }

 private:
  template <class Scalar>
  struct Node {
    std::vector<Scalar> target, proposal;
    Scalar weight{0};
    std::vector<int> children{};
  };
  template <class Scalar>
  using State = std::vector<Node<Scalar>>;

  static std::size_t index(int i) { return static_cast<std::size_t>(i); }

  template <class Scalar>
  static void weigh(const DraftTree& tree, State<Scalar>& state, int u, const Scalar& weight) {
    Node<Scalar>& node = state[index(u)];
    node.weight = weight;
    for (const int child : node.children) {
      const auto x = index(tree.token(child));
      weigh(tree, state, child, std::min<Scalar>(weight * node.target[x] / node.proposal[x], Scalar(1)));
    }
  }

  template <class Scalar>
  static void refuse(const DraftTree& tree, State<Scalar>& state, int v) {
    const int u = tree.parent(v);
    Node<Scalar>& node = state[index(u)];
    node.children.erase(node.children.begin());
    std::vector<Scalar> left;
    Scalar sum(0);
    for (std::size_t x = 0; x < node.target.size(); ++x) {
      left.push_back(std::max<Scalar>(node.weight * node.target[x] - node.proposal[x], Scalar(0)));
      sum += left.back();
    }
    Scalar weight(0);
    if (sum > 0) {
      weight = sum / (sum + (1 - node.weight));
      for (std::size_t x = 0; x < left.size(); ++x) node.target[x] = left[x] / sum;
    }
    node.proposal[index(tree.token(v))] = 0;
    Scalar mass(0);
    for (const Scalar& q : node.proposal) mass += q;
    if (mass > 0)
      for (Scalar& q : node.proposal) q /= mass;
    weigh(tree, state, u, u == 0 ? Scalar(1) : weight);
  }
};

TEST(TraversalRows, ScalarsAndFullRowsAgreeTreeByTree) {
  const PathVerifierOf<RowsOfTraversal> rows(Kind::verifier);
  const std::vector<std::tuple<std::string_view, int, TreeShape>> sizes{
      {"without_replacement_tree", 2, {.length = 2, .branching = {2, 2}}},
      {"without_replacement_tree", 3, {.length = 2, .branching = {3, 2}}},
      {"without_replacement_tree", 3, {.length = 2, .branching = {2, 3}}},
      {"without_replacement_tree", 4, {.length = 2, .branching = {3, 1}}},
      {"without_replacement_tree", 2, {.length = 3, .branching = {2, 2, 1}}},
      {"iid_paths", 3, {.drafts = 2, .length = 2}},
      {"iid_paths", 2, {.drafts = 3, .length = 2}},
      {"iid_paths", 2, {.drafts = 2, .length = 3}}};
  int trees = 0;
  for (const auto& [drafter, vocabulary, shape] : sizes)
    for (int seed = 0; seed < 5; ++seed) {
      const auto model = small::random_model(300 + seed, vocabulary, shape.length);
      const auto scalars = small::verifier("traversal").prove_on(model, shape);
      const auto full = rows.prove_on(model, shape);
      trees += small::for_each_tree(drafter, model, shape, [&](const DraftTree& tree, const Rational&) {
        EXPECT_EQ(small::on_tree(*scalars, tree), small::on_tree(*full, tree));
      });
    }
  EXPECT_GT(trees, 1000);
}

}  // namespace
}  // namespace draftproof
