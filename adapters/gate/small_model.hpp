// A small model in the form that an external program receives: every drafted input of an instance with its
// probability, and the target after every prefix. Proofs use the same instances (properties/instances), so
// counterexamples print, replay and shrink in the same way.
//
//   level      instance       inputs                          tokens compared
//   position   Instance       tuples of the draft sampling    1
//   chain      PathInstance   paths of L drafts               L + 1, completed by the target
//   tree       PathInstance   trees of the tree drafter       L + 1, completed by the target
//
// Repeated draws are separate entries: a tree has one entry for each draw, in draw order, and a repeated draw has no
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

struct SmallModel {
  std::string text{};  ///< text of the instance
  int length = 1;      ///< number of tokens compared
  int vocabulary = 0;
  std::vector<Input> inputs{};
  std::vector<double> drawn{};  ///< probability of each input; they sum to 1
  /// Largest acceptance of any lossless verifier; at the level of one position only.
  std::optional<double> optimum{};
  bool greedy = false;  ///< whether the target emits the likeliest token of each row
  /// Returns the target after a prefix of fewer than `length` tokens: V probabilities.
  std::function<const std::vector<double>&(const Tokens& prefix)> target{};
  /// For chains and trees: appends the inputs of a call after `prefix` to `inputs` and their probabilities to `drawn`.
  /// The members `inputs` and `drawn` of this struct are the inputs of a first call and their probabilities.
  std::function<void(const Tokens& prefix, std::vector<Input>& inputs, std::vector<double>& drawn)> drafted{};
};

/// Returns the small model of an instance. Throws: AdapterError if the sampling cannot draw that many drafts, or has
/// more tuples of drafts than the limit.
SmallModel small_model_of(const Instance& instance, std::string_view sampling, ExplorerLimits limits = {});
SmallModel small_model_of(const PathInstance& instance, std::string_view sampling, Level level);
/// Returns the small model for a program of this declaration. Under a grammar the tokens with p = 0 are forbidden:
/// inputs then have masks, and rows of p in which half of the mass is on forbidden tokens. `zero` is whether all
/// requests have temperature 0, for a program that is greedy at temperature 0; without it requests_at_zero() decides.
SmallModel small_model_of(const Instance& instance, const Declaration& declaration, std::optional<bool> zero = {});
SmallModel small_model_of(const PathInstance& instance, const Declaration& declaration,
                          std::optional<bool> zero = {});

/// Whether all requests of the generated model of an instance have temperature 0. This holds for one instance in three,
/// chosen by a hash of its text; for two in three if the first row has equally likely tokens; and for every instance
/// in which a token is nearly as likely as the likeliest, by a factor of 1 - 2^-15 to 1 - 2^-17.
bool requests_at_zero(const Instance& instance, const Declaration& declaration);
bool requests_at_zero(const PathInstance& instance, const Declaration& declaration);

/// Returns the number of the row of p that the input has after a prefix; nothing if its drafts do not lead there.
std::optional<std::size_t> row_after(const Input& input, const Tokens& prefix);

/// Returns "p before the settings (..), temperature 0.5, p after them (..)" for the row after a prefix; for the first
/// row if the drafts do not lead to the prefix. `start` are the tokens of earlier calls.
std::string settings_text(const SmallModel& model, const Input& input, const Tokens& prefix, Tokens start = {});

/// Replaces the target by the likeliest token of each row, after rounding to the declared type. Of equally likely
/// tokens the target is the first or the last, as declared; with `any` all equally likely tokens have equal
/// probabilities. The rows of the inputs are not changed.
void make_greedy(SmallModel& model, const Declaration& declaration);

/// The name of the tree drafter that drafts chains: its tree of one path is a chain.
inline constexpr std::string_view chain_sampling = "iid_paths";

/// The draft sampling of a program that drafts inside its step. Its tree gives the program the rows of both models
/// after every prefix: every prefix of at most L tokens is a node, and nothing is drawn.
inline constexpr std::string_view every_prefix = "every_prefix";

/// The tree sampling of a program of chains or trees. A chain is one path of chain_sampling, or of the declared sampling
/// if that reads noise which the verifier reads, too.
std::string_view path_sampling(const Declaration& declaration);
/// Returns the tree drafter of that name. Throws: AdapterError if there is no such drafter.
const AnyTreeDrafter& tree_sampling(std::string_view sampling);
/// Throws: AdapterError, with similar names, if a program that verifies or drafts declares a draft sampling that its
/// level does not have. A chain has `iid` only; a scheme of paths may name the tree sampling from which the path is
/// drawn.
void check_draft_sampling(const Declaration& declaration);
/// Largest number of entries of a tree of this shape under the sampling.
int most_entries(const TreeShape& shape, int vocabulary, const TreeDrafterInfo& sampling);
/// Returns an upper bound on the number of trees that may be drafted.
double most_trees_of(const Declaration& declaration, const PathInstance& instance);

/// Whether a program of this declaration takes the number of drafts of the instance.
bool takes(const Declaration& declaration, const Instance& instance);
bool takes(const Declaration& declaration, const PathInstance& instance);

/// Throws: InputError for text that does not parse as an instance of the declared level, or for an instance outside
/// the declared limits.
void check_instance(const Declaration& declaration, const std::string& text);

/// Largest number of drafts of generated instances, but for one chain of 6 among the first 32. Tuples of drafts have at
/// most 3 unless the program requires more; paths of trees have at most 3.
inline constexpr int usual_drafts = 4;
/// Returns the value of --drafts for a replay line: empty, which leaves the option out, for the default.
inline std::string drafts_option(int drafts) { return drafts == usual_drafts ? "" : std::to_string(drafts); }
/// Vocabulary of the sampled tier if no source is named: small, because every trial sends its rows through the adapter;
/// a prime, because a kernel may lose the last block of a vocabulary that blocks do not divide.
inline constexpr int usual_vocabulary = 1031;

/// Returns the n-th instance of a seed for a program, small enough for calls to explore. `most` bounds the drafts of a
/// tuple or path, unless the program requires more.
Instance external_instance(const Declaration& declaration, std::uint64_t seed, int n, int most = usual_drafts);
PathInstance external_path_instance(const Declaration& declaration, std::uint64_t seed, int n,
                                    int most = usual_drafts);
/// Thrown by external_instance() and external_path_instance() if no small model is within the program's declaration,
/// for example because the program requires more drafts than small models have.
class NoSmallModel : public AdapterError {
 public:
  using AdapterError::AdapterError;
};
/// Returns the text of that exception, or "" if there is a small model.
std::string why_no_small_model(const Declaration& declaration);

}  // namespace draftproof::adapters
