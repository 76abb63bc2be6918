// Small models of paths from integer weights, and the error of a verifier's distribution on them.
#pragma once

#include <random>
#include <span>
#include <string>
#include <vector>

#include <draftproof/optimum/exact/rational.hpp>
#include <draftproof/properties/paths/step_distribution.hpp>
#include <draftproof/sim/trees/conditional_model.hpp>

namespace draftproof::weighted {

/// A model with rows of integer weights at every prefix of at most `length` tokens, in breadth-first order of the
/// prefixes.
struct Model {
  int vocabulary, length;
  std::vector<std::vector<int>> target, proposal;

  template <class Scalar>
  PrefixTable<Rows<Scalar>> conditionals() const {
    std::vector<Rows<Scalar>> rows;
    for (std::size_t c = 0; c < target.size(); ++c)
      rows.emplace_back(normal<Scalar>(target[c]), normal<Scalar>(proposal[c]));
    return PrefixTable<Rows<Scalar>>(std::move(rows));
  }

  std::string text() const {
    std::string text = "V = " + std::to_string(vocabulary) + ", L = " + std::to_string(length) + "; p, q:";
    for (std::size_t c = 0; c < target.size(); ++c) {
      text += " (";
      for (const int weight : target[c]) text += std::to_string(weight) + ' ';
      text += '|';
      for (const int weight : proposal[c]) text += ' ' + std::to_string(weight);
      text += ')';
    }
    return text;
  }

 private:
  template <class Scalar>
  static std::vector<Scalar> normal(const std::vector<int>& weights) {
    int sum = 0;
    for (const int weight : weights) sum += weight;
    std::vector<Scalar> row;
    for (const int weight : weights) row.push_back(Scalar(weight) / Scalar(sum));
    return row;
  }
};

inline std::size_t prefixes(int vocabulary, int length) {
  std::size_t count = 1, level = 1;
  for (int i = 0; i < length; ++i) count += level *= static_cast<std::size_t>(vocabulary);
  return count;
}

/// Returns rows with weights 0 .. `largest`, so that zeros and equal ratios are common. The C++ standard fixes the
/// numbers of std::mt19937, so models are the same everywhere.
inline Model random_model(int vocabulary, int length, int largest, std::uint32_t seed) {
  std::mt19937 words(seed);
  const auto row = [&] {
    std::vector<int> weights(static_cast<std::size_t>(vocabulary));
    int sum = 0;
    while (sum == 0)
      for (int& weight : weights) sum += weight = static_cast<int>(words() % static_cast<std::uint32_t>(largest + 1));
    return weights;
  };
  Model model{vocabulary, length, {}, {}};
  for (std::size_t c = prefixes(vocabulary, length); c-- > 0;) {
    model.target.push_back(row());
    model.proposal.push_back(row());
  }
  return model;
}

/// Returns the largest error of the probability of a sequence of L + 1 tokens. Shorter emitted sequences are continued
/// to L + 1 tokens by the target.
template <class Scalar>
Scalar completed_error(const StepDistribution<Scalar>& distribution, const PrefixTable<Rows<Scalar>>& conditionals,
                       int length) {
  Scalar largest{0};
  Tokens tokens(static_cast<std::size_t>(length) + 1, 0);
  for (;;) {
    Scalar mass{0};
    int context = 0;
    for (std::size_t n = 1; n <= tokens.size(); ++n) {
      context = conditionals.next(context, tokens[n - 1]);
      const auto emitted =
          distribution.emitted.find(Tokens(tokens.begin(), tokens.begin() + static_cast<std::ptrdiff_t>(n)));
      if (emitted != distribution.emitted.end())
        mass += emitted->second * target_probability(conditionals, context, std::span(tokens).subspan(n));
    }
    const Scalar error = mass - target_probability(conditionals, 0, tokens);
    largest = std::max<Scalar>({largest, error, Scalar(-error)});
    std::size_t i = 0;
    while (i < tokens.size() && ++tokens[i] == conditionals.vocabulary()) tokens[i++] = 0;
    if (i == tokens.size()) return largest;
  }
}

}  // namespace draftproof::weighted
