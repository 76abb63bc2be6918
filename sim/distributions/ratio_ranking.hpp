// The tokens with q > 0 one by one in descending p / q, with masses of any range of ranks: bins (ratio_bins.hpp) that
// can also be listed. The ranking of a ratio table reads the table's order without copying it.
//
//   n           size()                   tokens with q > 0; their ranks are 0 .. n - 1
//               token(j), of(x)          token of rank j, rank of token x; ties of p / q to the lower id
//   r_j         ratio(j)                 p / q, never rising with j
//               target(a, b)             p-mass of ranks a .. b - 1
//               proposal(a, b)           q-mass of ranks a .. b - 1
//               undraftable()            p-mass of the tokens with q = 0
//               draw_undraftable(mass)   the token with q = 0 at which their running p-mass exceeds `mass`
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include <draftproof/sim/distributions/ratio_bins.hpp>

namespace draftproof {

/// Laws that rank single tokens. Other laws have buckets.
template <class L>
concept Ranked = requires(const L& laws) {
  laws.ranking();
};

/// The ranking of plain rows. Refers to the rows.
template <class L>
class TokenRanking {
 public:
  using Scalar = typename L::Scalar;

  explicit TokenRanking(const L& laws)
      : laws_{&laws}, bins_{laws.bins()}, order_(static_cast<std::size_t>(bins_.size())) {
    for (Token x = 0; x < laws.vocabulary(); ++x)
      if (bins_.of(x) >= 0) order_[static_cast<std::size_t>(bins_.of(x))] = x;
  }

  int size() const { return bins_.size(); }
  Token token(int j) const { return order_[static_cast<std::size_t>(j)]; }
  int of(Token x) const { return bins_.of(x); }
  Scalar ratio(int j) const { return laws_->target(token(j)) / laws_->proposal(token(j)); }
  Scalar target(int a, int b) const { return bins_.target_below(b) - bins_.target_below(a); }
  Scalar proposal(int a, int b) const { return bins_.proposal_below(b) - bins_.proposal_below(a); }
  Scalar undraftable() const { return bins_.target_below(0); }
  Token draw_undraftable(Scalar mass) const {
    Token last = no_token;
    for (Token x = 0; x < laws_->vocabulary(); ++x)
      if (of(x) < 0 && laws_->target(x) > laws_->zero()) {
        last = x;
        mass -= laws_->target(x);
        if (mass < laws_->zero()) break;
      }
    return last;
  }

 private:
  const L* laws_;
  decltype(std::declval<const L&>().bins()) bins_;
  std::vector<Token> order_;
};

}  // namespace draftproof
