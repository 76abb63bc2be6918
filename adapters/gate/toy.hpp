// A small model as a foreign program sees it: every drafted input of an instance with its probability, and the target
// after every prefix. The instances are those of the proofs (properties/instances), so a counterexample prints, replays
// and shrinks as theirs do.
//
//   level      instance       inputs                          tokens compared
//   position   Instance       tuples of the draft law         1
//   chain      PathInstance   paths of L drafts               L + 1, completed by the target
//   tree       PathInstance   trees of the tree drafter       L + 1, completed by the target
//
// Repeated drafts are inputs of their own: a tree has one entry for each draw, in draw order, and a repeated draw has no
// children.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <draftproof/adapters/declaration.hpp>
#include <draftproof/adapters/program.hpp>
#include <draftproof/properties/instances/instance.hpp>
#include <draftproof/properties/instances/path_instance.hpp>
#include <draftproof/properties/subjects/any_path_verifier.hpp>

namespace draftproof::adapters {

struct Toy {
  std::string text{};  ///< of the instance
  int length = 1;      ///< number of tokens compared
  int vocabulary = 0;
  std::vector<Input> inputs{};
  std::vector<double> drawn{};  ///< probability of each input; they sum to 1
  /// Largest acceptance of a lossless verifier, at the level of one position.
  std::optional<double> optimum{};
  /// The target after a prefix of fewer than `length` tokens, V probabilities.
  std::function<const std::vector<double>&(const Tokens& prefix)> target{};
  /// Of chains and trees: adds the inputs of a call after `prefix` and their probabilities, as `inputs` and `drawn` are
  /// those of a first call.
  std::function<void(const Tokens& prefix, std::vector<Input>& inputs, std::vector<double>& drawn)> drafted{};
};

/// The toy of an instance. Throws: DoorError if the law has no such drafts, or more than the limit.
Toy toy_of(const Instance& instance, std::string_view law, ExplorerLimits limits = {});
Toy toy_of(const PathInstance& instance, std::string_view law, Level level);

/// The name of the tree drafter whose drafts a chain has: one path.
inline constexpr std::string_view chain_law = "iid_paths";

/// The tree law of a program of chains or trees.
inline std::string_view path_law(const Declaration& declaration) {
  return declaration.level == Level::chain ? chain_law : std::string_view(declaration.law);
}
/// The tree drafter of that name. Throws: DoorError if there is none.
const AnyTreeDrafter& tree_law(std::string_view law);
/// Throws: DoorError, with the names that may be meant, if a program that verifies or drafts declares a law that nothing of
/// its level draws. One path has no law but iid; a scheme of paths may name the tree law that the path is drawn from.
void check_law(const Declaration& declaration);
/// Most entries of a tree of this shape under the law.
int most_entries(const TreeShape& shape, int vocabulary, const TreeDrafterInfo& law);

/// Whether a program of this declaration takes the drafts of the instance.
bool takes(const Declaration& declaration, const Instance& instance);
bool takes(const Declaration& declaration, const PathInstance& instance);

/// Throws: InputError for text that is no instance of the declared level, or one that the declaration does not take.
void check_instance(const Declaration& declaration, const std::string& text);

/// Most drafts of generated instances: a tuple has at most 3, unless the program wants more, a path in a tree 3.
inline constexpr int usual_drafts = 4;

/// The n-th instances of a seed for a program: sizes that calls can explore. `most` bounds the drafts of a tuple or path,
/// unless the program wants more.
Instance foreign_instance(const Declaration& declaration, std::uint64_t seed, int n, int most = usual_drafts);
PathInstance foreign_path_instance(const Declaration& declaration, std::uint64_t seed, int n,
                                   int most = usual_drafts);

}  // namespace draftproof::adapters
