// Claims about the order of schemes: pairs where one never accepts more than the other, proved or without a known
// counterexample, and pairs that cross, with an instance in either direction.
//
// The proofs are in docs/findings/order-of-schemes.md. Instances of crossing pairs have full support and were shrunk
// from instances of a search; the study computes them again.
#pragma once

#include <string_view>
#include <vector>

#include <draftproof/studies/acceptances.hpp>

namespace draftproof {

struct OrderClaim {
  Scheme lower, upper;
  bool proved;
};

struct CrossingClaim {
  Scheme first, second;
  std::string_view first_ahead, second_ahead;  ///< instances
};

/// `lower` never accepts more than `upper`.
inline const std::vector<OrderClaim> order_claims{
    {Scheme::sample_and_match, Scheme::naive_tree, true},
    {Scheme::naive_tree, Scheme::recursive_rejection, true},
    {Scheme::recursive_rejection, Scheme::k_seq, true},
    {Scheme::k_seq, Scheme::optimum_iid, true},
    {Scheme::sample_and_match, Scheme::sample_and_match_wor, true},
    {Scheme::recursive_rejection, Scheme::recursive_rejection_wor, true},
    {Scheme::recursive_rejection_wor, Scheme::optimum_wor, true},
    {Scheme::optimum_iid, Scheme::optimum_wor, true},
    {Scheme::sample_and_match_wor, Scheme::recursive_rejection_wor, false},
    {Scheme::naive_tree, Scheme::recursive_rejection_distinct, false},
    {Scheme::recursive_rejection_distinct, Scheme::k_seq, false},
};

inline const std::vector<CrossingClaim> crossing_claims{
    {Scheme::greedy_drafts, Scheme::recursive_rejection, "p=(2 1)/3 q=(1 1)/2 K=2", "p=(1 1 11)/13 q=(1 1 1)/3 K=2"},
    {Scheme::greedy_drafts, Scheme::k_seq, "p=(2 1)/3 q=(1 1)/2 K=2", "p=(1 1 7)/9 q=(1 1 1)/3 K=2"},
    {Scheme::greedy_drafts, Scheme::optimum_iid, "p=(1 1)/2 q=(1 3)/4 K=2", "p=(1 1 3)/5 q=(1 1 1)/3 K=2"},
    {Scheme::greedy_drafts, Scheme::optimum_wor, "p=(5 1 1)/7 q=(1 1 1)/3 K=2", "p=(1 1 3)/5 q=(1 1 1)/3 K=2"},
    {Scheme::k_seq, Scheme::recursive_rejection_wor, "p=(1 1 2)/4 q=(1 1 1)/3 K=2", "p=(2 1)/3 q=(1 1)/2 K=2"},
    {Scheme::optimum_iid, Scheme::recursive_rejection_wor, "p=(1 1 2)/4 q=(1 1 1)/3 K=2", "p=(2 1)/3 q=(1 2)/3 K=2"},
    {Scheme::recursive_rejection_distinct, Scheme::recursive_rejection, "p=(1 2 7)/10 q=(2 1 3)/6 K=3",
     "p=(1 1 2)/4 q=(3 1 1)/5 K=2"},
    {Scheme::sample_and_match_wor, Scheme::optimum_iid, "p=(2 1)/3 q=(1 2)/3 K=2", "p=(1 1)/2 q=(1 1)/2 K=1"},
};

}  // namespace draftproof
