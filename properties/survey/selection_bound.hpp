// The best selection policies of chains: the most drafts that a non-anticipating policy gets accepted, at a given mean
// number of verified drafts. Surveys of policies report this bound (policy_survey.hpp).
//
//   t           price of a verified draft
//   r(x)        probability that the draft x is accepted if the draft before it was: min(1, p(x) / q(x))
//   R           product of r over the drafts before a position
//   gain        R sum_x q(x) r(x) at a prefix: the accepted drafts that its next draft adds
//   U(t)        largest value of accepted - t verified of any policy
//
// A policy decides about a position from the drafts before the position and from p and q after them. So the best policy
// for a price is found from the last position to the first: it verifies the next draft if this has a positive value,
// accepted - t verified, with the best decisions after it.
//
// Cost: visits every prefix once for each price; about ten prices.
// Correctness: Lagrangian duality. A policy with k verified drafts has at most t k + U(t) accepted drafts, for every t.
// The certificate consists of the price with the smallest bound, and of two best policies for this price, with fewer
// and with more verified drafts than k: a random choice between the two policies verifies k drafts on average and
// attains the bound. If the best policy at price 0 verifies at most k drafts, it attains the bound alone, and `fewer`
// is empty.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace draftproof {

/// The drafts that may follow each context: the probability that a draft is drawn (`share`), the probability that it is
/// accepted, and the context after it.
template <class S>
struct DraftedContexts {
  struct Draft {
    S share, accepted;
    int context;
  };
  std::vector<std::vector<Draft>> drafts{};  ///< indexed by context; the shares after a context sum to 1
};

/// The mean numbers of verified and accepted drafts of a policy.
template <class S>
struct SelectionPoint {
  S verified{0}, accepted{0};
};

template <class S>
struct SelectionCertificate {
  S price{0}, bound{0};
  SelectionPoint<S> fewer{}, more{};
};

/// Finds the best policies on one model.
template <class S>
class SelectionBound {
 public:
  /// `starts` has the contexts where steps start, with their probabilities. Requires that the contexts outlive this
  /// object, and drafts after all prefixes of less than `length` drafts.
  SelectionBound(const DraftedContexts<S>& contexts, std::vector<std::pair<int, S>> starts, int length)
      : contexts_{contexts}, starts_{std::move(starts)}, length_{length} {}

  /// Returns the best policy for a price; of policies with equal values it is the policy that verifies fewer drafts.
  SelectionPoint<S> best(const S& price) const {
    SelectionPoint<S> sum;
    for (const auto& [context, probability] : starts_) add(sum, best(context, length_, probability, S(1), price));
    return sum;
  }

  /// Returns the largest number of accepted drafts at a mean number of verified drafts, with its certificate.
  SelectionCertificate<S> at(const S& verified) const {
    SelectionCertificate<S> found{.fewer = {}, .more = best(S(0))};
    if (!(verified < found.more.verified)) {
      found.bound = found.more.accepted;
      return found;
    }
    while (true) {
      found.price = (found.more.accepted - found.fewer.accepted) / (found.more.verified - found.fewer.verified);
      const SelectionPoint<S> between = best(found.price);
      // The line through the two policies is the smallest bound if no policy lies above it. With rounded numbers
      // `between` may equal one of the two and seem to lie above the line.
      const bool above = found.fewer.accepted - found.price * found.fewer.verified <
                         between.accepted - found.price * between.verified;
      if (!above || !(found.fewer.verified < between.verified) || !(between.verified < found.more.verified)) break;
      (verified < between.verified ? found.more : found.fewer) = between;
    }
    found.bound = found.price * verified + (found.fewer.accepted - found.price * found.fewer.verified);
    return found;
  }

 private:
  static void add(SelectionPoint<S>& sum, const SelectionPoint<S>& more) {
    sum.verified = sum.verified + more.verified;
    sum.accepted = sum.accepted + more.accepted;
  }

  /// Returns the mean numbers of verified and accepted drafts of the best continuation after a prefix that is drawn
  /// with `probability`; `accepted` is R of the prefix.
  SelectionPoint<S> best(int context, int length, const S& probability, const S& accepted, const S& price) const {
    if (length == 0 || !(S(0) < accepted)) return {};
    SelectionPoint<S> point{probability, S(0)};
    for (const auto& draft : contexts_.drafts[static_cast<std::size_t>(context)]) {
      const S drawn = probability * draft.share, both = accepted * draft.accepted;
      point.accepted = point.accepted + drawn * both;
      add(point, best(draft.context, length - 1, drawn, both, price));
    }
    return price * point.verified < point.accepted ? point : SelectionPoint<S>{};
  }

  const DraftedContexts<S>& contexts_;
  std::vector<std::pair<int, S>> starts_;
  int length_;
};

}  // namespace draftproof
