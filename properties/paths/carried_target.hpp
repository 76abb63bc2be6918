// The laws with which the emitted tokens of paths are compared: the target of a stateful scheme at a point of its
// process, the first prefix after which a law differs from a target, and the proposals that a drafter declares.
//
// The target of a stateful scheme is computed from its carry alone, in rows of fractions, and not in the one-number
// form that schemes compute with.
//
//   p_0(.|u)   rows_[0]       the model's target after node u
//   R_j(u)     layer.ratio    of layer j; then R_j(uy) = R_j(u) p_(j-1)(y|u) / q(y|u)
//   p_j(.|u)   rows_[j]       (R_j p_(j-1) - q)+ over its sum, for layers oldest first
//   p_s        row()          the target of the newest layer
//
// A layer ends after its `remaining` tokens, and at a token with q = 0, where its ratio is infinite and the layer has
// no effect.
//
// Cost: V fractions a layer.
//
// Correctness: the recursion is the definition of a carry. A target exists for every ratio above 1, because the sum
// is at least R - 1. Then R_j(uy) > 1 wherever p_j(y|u) > 0, so a target that exists now exists at all later tokens.
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
    const Rows<Rational>& laws = conditionals.laws(context);
    Row plain;
    for (Token x = 0; x < laws.vocabulary(); ++x) plain.push_back(laws.target(x));
    rows_.push_back(std::move(plain));
    for (const PendingResidual<Rational>& layer : carry) {
      if (layer.remaining <= 0) continue;
      layers_.push_back(layer);
      rows_.push_back(residual(laws, layer.ratio, rows_.back()));
    }
  }

  /// Law of the next token; all 0 if the layers leave no target.
  const Row& row() const { return rows_.back(); }
  /// Whether row() has mass.
  bool exists() const {
    for (const Rational& probability : row())
      if (probability > 0) return true;
    return false;
  }
  /// Number of tokens after which this is the model's target again.
  int reach() const {
    int reach = 0;
    for (const PendingResidual<Rational>& layer : layers_) reach = std::max(reach, layer.remaining);
    return reach;
  }

  /// The target after token x.
  CarriedTarget after(Token x) const {
    const Rational& q = conditionals_->laws(context_).proposal(x);
    VerifierState<Rational> left;
    for (std::size_t j = 0; j < layers_.size() && q > 0; ++j)
      left.push_back({layers_[j].remaining - 1, layers_[j].ratio * rows_[j][static_cast<std::size_t>(x)] / q});
    return {*conditionals_, conditionals_->next(context_, x), left};
  }

 private:
  static Row residual(const Rows<Rational>& laws, const Rational& ratio, const Row& before) {
    Row row;
    Rational sum = 0;
    for (std::size_t x = 0; x < before.size(); ++x) {
      const Rational left = ratio * before[x] - laws.proposal(static_cast<Token>(x));
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

/// The layers, oldest first, as "2 tokens at ratio 3/2, 1 at 4"; "nothing" if there are none.
inline std::string carry_text(const VerifierState<Rational>& carry) {
  std::string text;
  for (const PendingResidual<Rational>& layer : carry)
    text += (text.empty() ? "" : ", ") + std::to_string(layer.remaining) +
            (text.empty() ? (layer.remaining == 1 ? " token at ratio " : " tokens at ratio ") : " at ") +
            to_text(layer.ratio);
  return text.empty() ? "nothing" : text;
}

// The first prefix after which the next token of a law of sequences does not have the target's law.

struct WrongPrefix {
  Tokens prefix;
  Rational beyond;                    ///< probability that a sequence continues after the prefix
  std::vector<Rational> got, wanted;  ///< laws of the next token, given that it continues

  std::string text() const {
    return "after " + prefix_text(prefix) + " got " + to_text(got) + ", wanted " + to_text(wanted) + ", TV " +
           to_text(total_variation(got, wanted)) + "; reached with probability " + to_text(beyond);
  }
};

/// The first wrong prefix: shorter ones first, then by token ids. Nothing if after every prefix at which a sequence
/// continues the next token has the law `target_after(prefix)`, V probabilities.
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
    for (Rational& mass : wrong.got) mass /= beyond;  // not 0: the row would be right
    return wrong;
  }
  return std::nullopt;
}

/// The same with the model's target as the wanted law.
inline std::optional<WrongPrefix> first_wrong_prefix(const std::map<Tokens, Rational>& sequences,
                                                     const PrefixTable<Rows<Rational>>& conditionals) {
  return first_wrong_prefix(sequences, conditionals.vocabulary(), [&conditionals](const Tokens& prefix) {
    int context = 0;
    for (const Token x : prefix) context = conditionals.next(context, x);
    std::vector<Rational> target;
    for (Token x = 0; x < conditionals.vocabulary(); ++x) target.push_back(conditionals.laws(context).target(x));
    return target;
  });
}

// A small model with the proposals that a drafter of trees declares: those of the model, or the row of a cache at
// every prefix. Verifiers and checks of the drafter work on it.
//
// Cost: V^L prefixes for a cache: the rows of prefixes that are not listed may differ then.

/// Whether the declared rows are there after any number of iterations. Those of a cache are listed for the prefixes
/// of one step; a longer text has the row of its beginning, which is not that of its last token.
inline bool declares_every_row(const AnyTreeDrafter& drafter) { return drafter.info().row == DraftRow::context; }

inline PathInstance declared_instance(const TreeDrafterInfo& drafter, const PathInstance& instance) {
  if (drafter.row == DraftRow::context) return instance;
  PathInstance declared{.shape = instance.shape, .rows = {}};
  std::vector<Tokens> level{{}};
  for (int depth = 0; depth <= instance.shape.length; ++depth) {
    std::vector<Tokens> next;
    for (Tokens& prefix : level) {
      PrefixWeights rows = instance.after(prefix);
      if (!prefix.empty()) rows.proposal = instance.after({prefix.back()}).proposal;
      for (Token x = 0; x < instance.vocabulary(); ++x) {
        next.push_back(prefix);
        next.back().push_back(x);
      }
      declared.rows.emplace(std::move(prefix), std::move(rows));
    }
    level = std::move(next);
  }
  return declared;
}

}  // namespace draftproof
