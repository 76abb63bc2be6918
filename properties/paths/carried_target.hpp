// The target of a stateful scheme at a point of its process, computed from its carry alone, in rows of fractions. It
// does not use the one-number form that schemes compute with.
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
#include <string>
#include <utility>
#include <vector>

#include <draftproof/exact/rational.hpp>
#include <draftproof/sim/distributions/plain_rows.hpp>
#include <draftproof/sim/trees/conditional_model.hpp>

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

}  // namespace draftproof
