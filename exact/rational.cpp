#include <draftproof/exact/rational.hpp>

#include <cassert>
#include <iomanip>
#include <locale>
#include <numeric>
#include <sstream>

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

namespace {

std::string in_brackets(std::span<const Rational> law, std::string (*one)(const Rational&)) {
  std::string text = "(";
  for (const Rational& value : law) text += (text.size() > 1 ? " " : "") + one(value);
  return text + ")";
}

}  // namespace

std::string to_text(std::span<const Rational> law) { return in_brackets(law, to_text); }

std::string brief(const Rational& value) {
  // Two numbers of nine digits are about as long as a reader can compare.
  constexpr std::size_t readable = 19;
  const std::string text = to_text(value);
  if (text.size() <= readable) return text;
  std::ostringstream decimal;
  decimal.imbue(std::locale::classic());
  decimal << std::fixed << std::setprecision(9) << static_cast<double>(value) << "...";
  return decimal.str();
}

std::string brief(std::span<const Rational> law) { return in_brackets(law, brief); }

Rational total_variation(std::span<const Rational> a, std::span<const Rational> b) {
  Rational distance = 0;
  for (std::size_t x = 0; x < a.size(); ++x) distance += abs(a[x] - b[x]);
  return distance / 2;
}

}  // namespace draftproof
