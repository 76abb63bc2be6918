// Expected distributions for the emitted tokens of paths: the target of a stateful scheme at any point of its
// process, the first prefix after which a distribution differs from its target, and the proposals that a
// drafter declares.
//
// The target of a stateful scheme is computed from its carry alone, with whole rows in fractions, independently
// of the schemes, which carry a single ratio.
//
//   p_0(.|u)   rows_[0]       the model's target after node u
//   R_j(u)     layer.ratio    of layer j; then R_j(uy) = R_j(u) p_(j-1)(y|u) / q(y|u)
//   p_j(.|u)   rows_[j]       (R_j p_(j-1) - q)+ over its sum, for layers oldest first
//   p_s        row()          the target of the newest layer
//
// A layer ends after its `remaining` tokens, and at a token with q = 0, where its ratio is infinite and the layer has
// no effect.
//
// Cost: V fractions per layer.
//
// Correctness: the recursion is the definition of a carry. A target exists for every ratio above 1, because the
// sum is at least R - 1. Then R_j(uy) > 1 wherever p_j(y|u) > 0, so if a target exists now, it exists at all
// later tokens.
//
// Source: sim/trees/conditional_model.hpp defines a carry.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <draftproof/optimum/exact/rational.hpp>
#include <draftproof/properties/instances/path_instance.hpp>
#include <draftproof/properties/subjects/any_path_verifier.hpp>
#include <draftproof/sim/distributions/plain_rows.hpp>
#include <draftproof/sim/trees/conditional_model.hpp>
#include <draftproof/sim/trees/tree_drafter.hpp>

namespace draftproof {

class CarriedTarget {
 public:
  using Row = std::vector<Rational>;

  CarriedTarget(const ConditionalModel<Rows<Rational>>& conditionals, int context,
                const VerifierState<Rational>& carry)
      : conditionals_{&conditionals}, context_{context} {
    const Rows<Rational>& distributions = conditionals.distributions(context);
    Row plain;
    for (Token x = 0; x < distributions.vocabulary(); ++x) plain.push_back(distributions.target(x));
    rows_.push_back(std::move(plain));
    for (const PendingResidual<Rational>& layer : carry) {
      if (layer.remaining <= 0) continue;
      layers_.push_back(layer);
      rows_.push_back(residual(distributions, layer.ratio, rows_.back()));
    }
  }

  /// Returns the distribution of the next token; all entries are 0 if the residual of a layer is empty.
  const Row& row() const { return rows_.back(); }
  /// Whether row() has mass.
  bool exists() const {
    for (const Rational& probability : row())
      if (probability > 0) return true;
    return false;
  }
  /// Returns the number of tokens after which this is the model's target again.
  int reach() const {
    int reach = 0;
    for (const PendingResidual<Rational>& layer : layers_) reach = std::max(reach, layer.remaining);
    return reach;
  }

  /// Returns the target after token x.
  CarriedTarget after(Token x) const {
    const Rational& q = conditionals_->distributions(context_).proposal(x);
    VerifierState<Rational> left;
    for (std::size_t j = 0; j < layers_.size() && q > 0; ++j)
      left.push_back({layers_[j].remaining - 1, layers_[j].ratio * rows_[j][static_cast<std::size_t>(x)] / q});
    return {*conditionals_, conditionals_->next(context_, x), left};
  }

 private:
  static Row residual(const Rows<Rational>& distributions, const Rational& ratio, const Row& before) {
    Row row;
    Rational sum = 0;
    for (std::size_t x = 0; x < before.size(); ++x) {
      const Rational left = ratio * before[x] - distributions.proposal(static_cast<Token>(x));
      row.push_back(left > 0 ? left : Rational(0));
      sum += row.back();
    }
    if (sum > 0)
      for (Rational& probability : row) probability /= sum;
    return row;
  }

  const ConditionalModel<Rows<Rational>>* conditionals_;
  int context_;
  VerifierState<Rational> layers_;
  std::vector<Row> rows_;  ///< one more than layers
};

/// Returns the layers, oldest first, as "2 tokens at ratio 3/2, 1 at 4"; "nothing" if there are none.
inline std::string carry_text(const VerifierState<Rational>& carry) {
  std::string text;
  for (const PendingResidual<Rational>& layer : carry)
    text += (text.empty() ? "" : ", ") + std::to_string(layer.remaining) +
            (text.empty() ? (layer.remaining == 1 ? " token at ratio " : " tokens at ratio ") : " at ") +
            to_text(layer.ratio);
  return text.empty() ? "nothing" : text;
}

// The first prefix of a distribution of sequences after which the next token is not distributed as the target.

struct WrongPrefix {
  Tokens prefix;
  Rational beyond;                    ///< probability that a sequence continues after the prefix
  std::vector<Rational> got, wanted;  ///< distributions of the next token, given that it continues

  std::string text() const {
    return "after " + prefix_text(prefix) + " got " + to_text(got) + ", expected " + to_text(wanted) + ", TV " +
           to_text(total_variation(got, wanted)) + "; reached with probability " + to_text(beyond);
  }
};

/// Returns the first wrong prefix, in order of length and then of token ids. Returns nullopt if after every prefix at
/// which a sequence continues the next token has distribution `target_after(prefix)`, V probabilities.
template <class TargetAfter>
std::optional<WrongPrefix> first_wrong_prefix(const std::map<Tokens, Rational>& sequences, int vocabulary,
                                              TargetAfter&& target_after) {
  const auto size = static_cast<std::size_t>(vocabulary);
  std::map<Tokens, std::vector<Rational>, ShorterFirst> next;  // mass of each token after each prefix
  for (const auto& [sequence, mass] : sequences)
    for (std::size_t i = 0; i < sequence.size(); ++i) {
      auto& row = next[Tokens(sequence.begin(), sequence.begin() + static_cast<std::ptrdiff_t>(i))];
      if (row.empty()) row.resize(size);
      row[static_cast<std::size_t>(sequence[i])] += mass;
    }
  for (auto& [prefix, row] : next) {
    std::vector<Rational> wanted = target_after(prefix);
    Rational beyond = 0;
    for (const Rational& mass : row) beyond += mass;
    bool right = true;
    for (std::size_t x = 0; x < size; ++x) right = right && row[x] == beyond * wanted[x];
    if (right) continue;
    WrongPrefix wrong{.prefix = prefix, .beyond = beyond, .got = std::move(row), .wanted = std::move(wanted)};
    for (Rational& mass : wrong.got) mass /= beyond;  // not 0: if `beyond` were 0, the row of zeros would be right
    return wrong;
  }
  return std::nullopt;
}

/// Returns the first wrong prefix, with the model's target as the expected distribution.
inline std::optional<WrongPrefix> first_wrong_prefix(const std::map<Tokens, Rational>& sequences,
                                                     const PrefixTable<Rows<Rational>>& conditionals) {
  return first_wrong_prefix(sequences, conditionals.vocabulary(), [&conditionals](const Tokens& prefix) {
    int context = 0;
    for (const Token x : prefix) context = conditionals.next(context, x);
    std::vector<Rational> target;
    for (Token x = 0; x < conditionals.vocabulary(); ++x)
      target.push_back(conditionals.distributions(context).target(x));
    return target;
  });
}

// A small model with the proposals that a drafter of trees declares: the model's rows, or cached rows at every
// prefix. Verifiers and checks of the drafter run on it.
//
// Cost: V^L prefixes for cached rows, because the declared model then lists the row of every prefix.

/// Whether the declared rows are known after any number of iterations. Cached rows are listed for the prefixes
/// of one step only, and no row is declared for a longer text.
inline bool declares_every_row(const AnyTreeDrafter& drafter) { return drafter.info().row == DraftRow::context; }

inline PathInstance declared_instance(const TreeDrafterInfo& drafter, const PathInstance& instance) {
  if (drafter.row == DraftRow::context) return instance;
  PathInstance declared{.shape = instance.shape, .rows = {}};
  for (Tokens& prefix : prefixes_up_to(instance.vocabulary(), instance.shape.length)) {
    PrefixWeights rows = instance.after(prefix);
    if (!prefix.empty()) rows.proposal = instance.after({prefix.back()}).proposal;
    declared.rows.emplace(std::move(prefix), std::move(rows));
  }
  return declared;
}

}  // namespace draftproof
