#include <draftproof/optimum/cut_certificate.hpp>

#include <cassert>
#include <cmath>
#include <draftproof/optimum/iid_acceptance.hpp>

namespace draftproof {
namespace {

Rational mass(std::span<const double> row, std::span<const Token> tokens) {
  const auto quantised = quantise(row);
  std::uint64_t sum = 0;  // at most 2^62
  for (const Token x : tokens) sum += quantised[static_cast<std::size_t>(x)];
  return Rational(sum, row_total);
}

double rounded_up(const Rational& value) {
  auto above = static_cast<double>(value);
  while (Rational(above) < value) above = std::nextafter(above, 2.0);
  return above;
}

}  // namespace

Rational exact_cut_value(std::span<const double> target, std::span<const std::vector<double>> proposals, int drafts,
                         std::span<const Token> tokens) {
  assert(proposals.size() == 1 || proposals.size() >= static_cast<std::size_t>(drafts));
  Rational inside = 1;
  if (proposals.size() == 1) {
    const Rational each = mass(proposals.front(), tokens);
    for (int k = 0; k < drafts; ++k) inside *= each;
  } else {
    for (int k = 0; k < drafts; ++k) inside *= mass(proposals[static_cast<std::size_t>(k)], tokens);
  }
  return mass(target, tokens) + 1 - inside;
}

CutCertificate iid_cut_certificate(const RatioTable& table, std::span<const double> target,
                                   std::span<const std::vector<double>> proposals, int drafts) {
  const auto order = table.order();
  const auto inside = order.subspan(iid_optimum(table, drafts).cut);
  CutCertificate certificate{{inside.begin(), inside.end()}, 0};
  certificate.bound = rounded_up(exact_cut_value(target, proposals.first(1), drafts, certificate.tokens));
  return certificate;
}

std::string reject(std::span<const double> target, std::span<const std::vector<double>> proposals, int drafts,
                   const CutCertificate& certificate) {
  std::vector<char> seen(target.size(), 0);
  for (const Token x : certificate.tokens) {
    if (x < 0 || x >= std::ssize(target)) return "token " + std::to_string(x) + " is not of the vocabulary";
    if (seen[static_cast<std::size_t>(x)]++) return "token " + std::to_string(x) + " is listed twice";
  }
  if (!std::isfinite(certificate.bound)) return "the bound is not a number";
  const Rational value = exact_cut_value(target, proposals, drafts, certificate.tokens);
  if (Rational(certificate.bound) >= value) return "";
  return "the cut is worth " + std::to_string(rounded_up(value)) + ", above the bound by " +
         std::to_string(static_cast<double>(value - Rational(certificate.bound)));
}

}  // namespace draftproof
