// The evidence of emitted tokens against the target along each path, from trials of programs of chains or trees.
//
//   c         context   of a small model; a token leads from one context to the next
//   d         depth     tokens of the trial before this one
//   X(c, x)             tokens x emitted in context c
//   tokens              a bet on X(c, .) for each c, weight 1/2 in all
//   groups              a bet for each (c, d) on 32 groups along p / q, and one along p, weight 1/4 each in all
//
//   e         the weighted average of the bets (statistics/count_models.hpp)
//
// Correctness: a lossless verifier that emits a token beyond a prefix draws it from the target after that prefix, whatever
// was emitted before: the masses of the strings that begin with u x are those beyond u times p(x|u). Every bet multiplies
// stakes of mean 1 given all tokens before, so e reaches 1 / alpha with probability at most alpha at any number of trials
// (Ville). A token with p = 0 is a proof: e is infinite.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <draftproof/sim/distributions/ratio_table.hpp>
#include <draftproof/sim/trees/conditional_model.hpp>

namespace draftproof::doors {

class PathEvidence {
 public:
  /// Contexts 0 .. `contexts` - 1 of `conditionals`, and depths 0 .. `depths` - 1.
  PathEvidence(const ConditionalModel<RatioTable>& conditionals, int contexts, int depths);

  void add(int depth, int context, Token token) {
    ++tokens_[at(context)][static_cast<std::size_t>(token)];
    for (std::size_t key = 0; key < keys; ++key)
      ++groups_[(at(context) * depths_ + at(depth)) * keys + key][context_[at(context)].group[key][at(token)]];
  }

  /// log e, natural. Cost: 11 logarithms of the gamma function for each cell with a count.
  double log_e() const;
  /// The bet with the most evidence and its cell that departs most, in words.
  std::string worst() const;

 private:
  static constexpr std::size_t keys = 2;
  struct Context {
    std::vector<double> target;
    std::vector<std::uint32_t> group[keys];  ///< of each token, along p / q and along p
    std::vector<double> mass[keys];          ///< of each group
  };

  static std::size_t at(int i) { return static_cast<std::size_t>(i); }
  struct Bet {
    const std::vector<double>* law;
    const std::vector<std::uint64_t>* counts;
    double weight;
    std::string name;
  };
  std::vector<Bet> bets() const;

  std::size_t depths_;
  std::vector<Context> context_;
  std::vector<std::vector<std::uint64_t>> tokens_, groups_;
};

}  // namespace draftproof::doors
