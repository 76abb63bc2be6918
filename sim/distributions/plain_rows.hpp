// Target and proposals as plain vectors in any scalar: rationals for proofs, double and float for the exact law of
// the floating-point program. Every call costs O(V), the baseline for the prepared forms.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include <draftproof/sim/distributions/ratio_ranking.hpp>
#include <draftproof/sim/position.hpp>
#include <draftproof/sim/sampling/function_weights.hpp>
#include <draftproof/sim/sampling/top_k.hpp>

namespace draftproof {

/// p and one proposal row for all drafts, or one row per draft. Rows have V entries each and sum to one().
template <class Number>
class Rows {
 public:
  using Scalar = Number;

  Rows(std::vector<Scalar> target, std::vector<std::vector<Scalar>> proposals)
      : target_{std::move(target)},
        proposals_{std::move(proposals)},
        top_{top_tokens(static_cast<int>(target_.size()), [this](Token x) -> const Scalar& { return proposal(x); })} {
  }
  Rows(std::vector<Scalar> target, std::vector<Scalar> proposal)
      : Rows(std::move(target), std::vector<std::vector<Scalar>>{std::move(proposal)}) {}

  int vocabulary() const { return static_cast<int>(target_.size()); }
  int proposals() const { return static_cast<int>(proposals_.size()); }
  Scalar zero() const { return Scalar{0}; }
  Scalar one() const { return Scalar{1}; }

  const Scalar& target(Token x) const { return target_[index(x)]; }
  const Scalar& proposal(Token x, int k = 0) const { return row_of(k)[index(x)]; }
  Token kth_most_probable(int j) const { return top_[static_cast<std::size_t>(j)]; }

  Scalar residual_mass(const Scalar& b) const {
    return sum([this, &b](Token x) { return above(x, b); });
  }
  MassAndSlope<Scalar> mass_and_slope(const Scalar& b) const {
    return {residual_mass(b), sum([this, &b](Token x) { return above(x, b) > Scalar{0} ? proposal(x) : Scalar{0}; })};
  }
  auto residual(const Scalar& b) const {
    return weights([this, b](Token x) { return above(x, b); });
  }
  auto clipped(const Scalar& b, const Scalar& clip_ratio) const {
    return weights([this, b, clip_ratio](Token x) -> Scalar {
      const Scalar share = target(x) / clip_ratio;
      return std::max<Scalar>(target(x) - b * std::min<Scalar>(proposal(x), share), Scalar{0});
    });
  }
  auto row(int k) const {
    return weights([this, k](Token x) { return proposal(x, k); });
  }
  auto row_without(int k, const Token* seen, int n) const {
    return weights([this, k, seen, n](Token x) { return among(x, seen, n) ? Scalar{0} : proposal(x, k); });
  }
  Scalar mass_without(int k, const Token* seen, int n) const {
    if (n == 0) return one();  // a floating-point sum may miss 1 by an ulp and reject where p = q
    return sum([this, k, seen, n](Token x) { return among(x, seen, n) ? Scalar{0} : proposal(x, k); });
  }

  template <class F>
  auto sum(F f) const {
    std::decay_t<decltype(f(Token{}))> total{0};
    for (Token x = 0; x < vocabulary(); ++x) total += f(x);
    return total;
  }
  template <class F>
  auto weights(F f) const {
    return FunctionWeights<F>{vocabulary(), std::move(f)};
  }
  template <class F>
  auto alias_weights(F f) const {
    std::vector<Scalar> values;
    for (Token x = 0; x < vocabulary(); ++x) values.push_back(f(x));
    return weights([values = std::move(values)](Token x) -> const Scalar& { return values[index(x)]; });
  }

  TokenBins<Scalar> bins() const {
    std::vector<Token> order;
    Scalar undraftable{0};
    for (Token x = 0; x < vocabulary(); ++x) {
      if (proposal(x) > Scalar{0})
        order.push_back(x);
      else
        undraftable += target(x);
    }
    std::stable_sort(order.begin(), order.end(),
                     [this](Token a, Token b) { return target(a) * proposal(b) > target(b) * proposal(a); });
    return {*this, order, undraftable};
  }
  int bin(const TokenBins<Scalar>& bins, Token x) const { return bins.of(x); }
  auto ranking() const { return TokenRanking<Rows>(*this); }

 private:
  static std::size_t index(Token x) { return static_cast<std::size_t>(x); }
  const std::vector<Scalar>& row_of(int k) const {
    return proposals_[proposals_.size() == 1 ? 0 : static_cast<std::size_t>(k)];
  }
  Scalar above(Token x, const Scalar& b) const { return std::max<Scalar>(target(x) - b * proposal(x), Scalar{0}); }

  std::vector<Scalar> target_;
  std::vector<std::vector<Scalar>> proposals_;
  std::vector<Token> top_;
};

}  // namespace draftproof
