// Fractions rounded to doubles, row by row, for programs that run in double on an instance given in fractions.
#pragma once

#include <utility>
#include <vector>

#include <draftproof/exact/rational.hpp>
#include <draftproof/sim/distributions/plain_rows.hpp>
#include <draftproof/sim/trees/conditional_model.hpp>

namespace draftproof {

/// The laws with every probability rounded to the nearest double.
inline Rows<double> as_doubles(const Rows<Rational>& rows) {
  const auto row = [&rows](auto probability) {
    std::vector<double> values;
    for (Token x = 0; x < rows.vocabulary(); ++x) values.push_back(static_cast<double>(probability(x)));
    return values;
  };
  std::vector<std::vector<double>> proposals;
  for (int k = 0; k < rows.proposals(); ++k)
    proposals.push_back(row([&](Token x) -> const Rational& { return rows.proposal(x, k); }));
  return {row([&](Token x) -> const Rational& { return rows.target(x); }), std::move(proposals)};
}

/// The same for every context; contexts keep their numbers.
inline PrefixTable<Rows<double>> as_doubles(const PrefixTable<Rows<Rational>>& conditionals) {
  std::vector<Rows<double>> laws;
  for (int context = 0; context < conditionals.size(); ++context)
    laws.push_back(as_doubles(conditionals.laws(context)));
  return PrefixTable<Rows<double>>(std::move(laws));
}

}  // namespace draftproof
