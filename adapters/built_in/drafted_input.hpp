// A conditional model and a drafted tree, made from the rows and drafts of one input of a chain or tree.
//
//   context   0 at the root, i + 1 after draft i; repeated drafts of a node are one node, with the first's context
//   p(.|u)    row of its context
//   q(.|u)    row of the drafts at u; at a leaf, where no draft is drawn, the row of the leaf's draft
#pragma once

#include <vector>

#include <draftproof/adapters/program.hpp>
#include <draftproof/sim/distributions/plain_rows.hpp>
#include <draftproof/sim/trees/conditional_model.hpp>
#include <draftproof/sim/trees/tree_drafter.hpp>

namespace draftproof::adapters {

class DraftedInput final : public ConditionalModel<Rows<double>> {
 public:
  /// If the scheme reads shared noise, `drafter` determines which noise stream each draft has read. If the input is a
  /// chain, its parents are not read.
  /// Throws: RowRefused, with location, found and expected value, if drafts, parents and rows do not fit together.
  DraftedInput(const Input& input, bool chain, const TreeDrafterInfo& drafter);

  const Rows<double>& distributions(int context) const override {
    return distributions_[static_cast<std::size_t>(context)];
  }
  /// Returns the context after token x if x was drafted at `context`, otherwise no_context.
  int next(int context, Token x) const override;

  const DraftTree& tree() const { return tree_; }
  /// Returns the largest number of drafts at one node, repeats counted.
  int most_at_node() const;

 private:
  DraftTree tree_;
  std::vector<Rows<double>> distributions_;
};

/// Checks that each row has V entries that are finite, not negative and not all zero.
/// Throws: RowRefused with row, token, found and expected value.
void check_rows(const Input& input);

}  // namespace draftproof::adapters
