// The law of the greatest path's next token at a node, and the residual of a target and this law: (c p - law)+, its
// sum and draws from it. For laws that rank their tokens; bucketed_row.hpp is for the others.
//
//   lo(y), hi(y)   B + q(u) (mass of z < y), the same with y's own mass (max_of_k_paths.hpp, token_order.hpp)
//   w(y)           divided_difference: sum of hi^i lo^j over i + j = K - 1, (hi^K - lo^K) / (hi - lo)
//   law(y)         q(y) w(y) / W; W is w of all tokens together, as the differences hi^K - lo^K telescope
//   run [a, b)     ranks that all have c p > law; their sum telescopes too
//
// Runs: r = p / q and w never rise along the ranks. So on a stretch c W r > w holds everywhere if the least r exceeds
// the greatest w, and nowhere if the greatest r does not exceed the least w; otherwise the stretch is halved.
// Cost: O(K) for the law of a token; O(K log V) for each place where c W r crosses w, one to three in practice, V at
// worst.
// Source: Thomas and Pal, arXiv:2602.16961; row and runs derived here, and proved by exploration.
// Correctness: the runs are those of a test token by token, in floating point too, because products, sums and
// quotients of positive numbers round monotonically. Which tokens count depends on no sum.
#pragma once

#include <utility>

#include <draftproof/sim/random/uniform_source.hpp>
#include <draftproof/sim/random_source.hpp>
#include <draftproof/verifiers/paths/greatest/max_of_k_paths.hpp>
#include <draftproof/verifiers/paths/greatest/token_order.hpp>

namespace draftproof {

/// The row of laws that rank their tokens (Ranked).
template <class L>
class GreatestRow {
 public:
  using Scalar = typename L::Scalar;

  /// `laws` must outlive this.
  GreatestRow(const L& laws, TokenOrder<L> order, MaxOfKPaths<Scalar> max_of_k)
      : laws_{&laws}, order_{std::move(order)}, max_of_k_{std::move(max_of_k)} {
    norm_ = order_.total() * max_of_k_.divided_difference(max_of_k_.under(order_.total()), max_of_k_.below);
  }

  /// Probability that the greatest path goes on with x.
  Scalar law(Token x) const {
    const auto& q = laws_->proposal(x);
    return q > laws_->zero() ? Scalar(max_of_k_.skewed(q, order_.below(x)) / norm_) : laws_->zero();
  }

  /// The max_of_k at the child with token x.
  MaxOfKPaths<Scalar> after(Token x) const { return max_of_k_.after(laws_->proposal(x), order_.below(x)); }

  /// Sum of (c p - law)+ over the vocabulary.
  Scalar excess(const Scalar& c) const {
    Scalar sum = c * ranking().undraftable();
    for_each_run(c, [&](int a, int b) {
      sum += run_mass(a, b, c);
      return true;
    });
    return sum;
  }

  /// The token drawn from (c p - law)+ by a random word; no_token if nothing is left.
  Token draw(const Scalar& c, std::uint64_t word) const {
    double left = unit_interval(word) * static_cast<double>(excess(c));
    const auto undraftable = static_cast<double>(c * ranking().undraftable());
    if (left < undraftable) return ranking().draw_undraftable(Scalar(left / static_cast<double>(c)));
    left -= undraftable;
    Token drawn = no_token;
    for_each_run(c, [&](int a, int b) {
      const auto mass = static_cast<double>(run_mass(a, b, c));
      int low = a, high = b - 1;  // the answer lies in [low, high], unless it lies in a later run
      while (low < high) {
        const int middle = low + (high - low) / 2;
        if (static_cast<double>(run_mass(a, middle + 1, c)) > left)
          high = middle;
        else
          low = middle + 1;
      }
      drawn = ranking().token(low);
      if (left < mass) return false;
      left -= mass;
      return true;
    });
    return drawn;
  }

  /// Calls `visit(x, weight)` for all x with c p > law.
  template <class Visit>
  void for_each(const Scalar& c, Visit visit) const {
    for (Token x = 0; x < laws_->vocabulary(); ++x)
      if (!(laws_->proposal(x) > laws_->zero()) && laws_->target(x) > laws_->zero())
        visit(x, Scalar(c * laws_->target(x)));
    for_each_run(c, [&](int a, int b) {
      for (int j = a; j < b; ++j) {
        const Token x = ranking().token(j);
        const Scalar left = c * norm_ * ranking().ratio(j) - skew_at(j);  // positive by the test of the run
        visit(x, Scalar(laws_->proposal(x) * left / norm_));
      }
      return true;
    });
  }

 private:
  const auto& ranking() const { return order_.ranking(); }
  /// The divided_difference of ranks a .. b - 1 as if they were one token.
  Scalar skew_of(int a, int b) const {
    const int n = ranking().size();
    return max_of_k_.divided_difference(max_of_k_.under(ranking().proposal(a, n)),
                                        max_of_k_.under(ranking().proposal(b, n)));
  }
  Scalar skew_at(int j) const { return skew_of(j, j + 1); }
  Scalar run_mass(int a, int b, const Scalar& c) const {
    const Scalar left = c * ranking().target(a, b) - ranking().proposal(a, b) * skew_of(a, b) / norm_;
    return left > laws_->zero() ? left : laws_->zero();
  }

  /// Calls `visit(a, b)` for disjoint runs in the order of ranks, until one returns false.
  template <class Visit>
  void for_each_run(const Scalar& c, Visit visit) const {
    if (const int n = ranking().size(); n > 0) search(0, n, skew_at(0), skew_at(n - 1), Scalar(c * norm_), visit);
  }
  /// Searches ranks a .. b - 1, whose skews range from `first` down to `last`.
  template <class Visit>
  bool search(int a, int b, const Scalar& first, const Scalar& last, const Scalar& scale, Visit& visit) const {
    if (scale * ranking().ratio(b - 1) > first) return visit(a, b);
    if (!(scale * ranking().ratio(a) > last)) return true;
    const int middle = a + (b - a) / 2;
    return search(a, middle, first, skew_at(middle - 1), scale, visit) &&
           search(middle, b, skew_at(middle), last, scale, visit);
  }

  const L* laws_;
  TokenOrder<L> order_;
  MaxOfKPaths<Scalar> max_of_k_;
  Scalar norm_{0};
};

}  // namespace draftproof
