// The first prefix after which the next token of a law of sequences does not have the target's law.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include <draftproof/properties/instances/path_instance.hpp>
#include <draftproof/sim/trees/conditional_model.hpp>

namespace draftproof {

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

}  // namespace draftproof
