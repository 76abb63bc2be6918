#include <draftproof/optimum/rational.hpp>

#include <cassert>
#include <numeric>

namespace draftproof {

std::vector<Rational> normalised(std::span<const int> weights) {
  const int total = std::accumulate(weights.begin(), weights.end(), 0);
  assert(total > 0);
  std::vector<Rational> law;
  law.reserve(weights.size());
  for (const int weight : weights) law.emplace_back(weight, total);
  return law;
}

std::string to_text(const Rational& value) { return value.str(); }

std::string to_text(std::span<const Rational> law) {
  std::string text = "(";
  for (const Rational& value : law) text += (text.size() > 1 ? " " : "") + to_text(value);
  return text + ")";
}

Rational total_variation(std::span<const Rational> a, std::span<const Rational> b) {
  Rational distance = 0;
  for (std::size_t x = 0; x < a.size(); ++x) distance += abs(a[x] - b[x]);
  return distance / 2;
}

}  // namespace draftproof
