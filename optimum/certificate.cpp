#include <draftproof/optimum/certificate.hpp>

namespace draftproof {
namespace {

std::string braces(TokenSet set) {
  std::string text = "{";
  for (Token x = 0; x < 64; ++x)
    if (set >> x & 1) text += (text.size() > 1 ? " " : "") + std::to_string(x);
  return text + "}";
}

/// Why `target` or `drafts` is not a probability law, which the cut formula requires; empty if both are.
std::string reject_laws(std::span<const Rational> target, const std::map<TokenSet, Rational>& drafts) {
  Rational sum = 0;
  for (const Rational& p : target) {
    if (p < 0) return "the target has the negative probability " + to_text(p);
    sum += p;
  }
  if (sum != 1) return "the target sums to " + to_text(sum);
  sum = 0;
  for (const auto& [set, probability] : drafts) {
    if (probability < 0) return "set " + braces(set) + " is drafted with " + to_text(probability);
    if (target.size() < 64 && set >> target.size() != 0) return "set " + braces(set) + " is not of the vocabulary";
    sum += probability;
  }
  return sum == 1 ? "" : "the draft law sums to " + to_text(sum);
}

std::string reject_cut(std::span<const Rational> target, const std::map<TokenSet, Rational>& drafts,
                       const Certificate<Rational>& certificate) {
  const TokenSet cut = certificate.cut;
  if (target.size() < 64 && cut >> target.size() != 0) return "the cut " + braces(cut) + " is not of the vocabulary";
  Rational value = 1;
  for (std::size_t x = 0; x < target.size(); ++x)
    if (cut >> x & 1) value += target[x];
  for (const auto& [set, probability] : drafts)
    if ((set & ~cut) == 0) value -= probability;
  if (value == certificate.acceptance) return "";
  return "the cut " + braces(cut) + " is worth " + to_text(value) + ", not " + to_text(certificate.acceptance);
}

std::string reject_plan(std::span<const Rational> target, const std::map<TokenSet, Rational>& drafts,
                        const Certificate<Rational>& certificate) {
  std::map<TokenSet, Rational> builtin;
  std::vector<Rational> emitted(target.size());
  Rational value = 0;
  for (const auto& [set, token, mass] : certificate.plan) {
    const std::string name = "the plan's f(" + braces(set) + ", " + std::to_string(token) + ")";
    if (mass < 0) return name + " is " + to_text(mass);
    if (token < 0 || token >= std::ssize(target) || !(set >> token & 1)) return name + ": no such token in the set";
    if (!drafts.contains(set)) return name + ": the set is never drafted";
    builtin[set] += mass;
    emitted[static_cast<std::size_t>(token)] += mass;
    value += mass;
  }
  for (const auto& [set, mass] : builtin)
    if (mass > drafts.at(set))
      return "the plan uses " + to_text(mass) + " of set " + braces(set) + ", drafted with " +
             to_text(drafts.at(set));
  for (std::size_t x = 0; x < target.size(); ++x)
    if (emitted[x] > target[x])
      return "the plan emits token " + std::to_string(x) + " with " + to_text(emitted[x]) + ", above its target " +
             to_text(target[x]);
  if (value == certificate.acceptance) return "";
  return "the plan accepts " + to_text(value) + ", not " + to_text(certificate.acceptance);
}

}  // namespace

std::string reject(std::span<const Rational> target, const std::map<TokenSet, Rational>& drafts,
                   const Certificate<Rational>& certificate) {
  if (target.empty() || target.size() > 64) return "the vocabulary has " + std::to_string(target.size()) + " tokens";
  std::string reason = reject_laws(target, drafts);
  if (reason.empty()) reason = reject_cut(target, drafts, certificate);
  if (reason.empty()) reason = reject_plan(target, drafts, certificate);
  return reason;
}

}  // namespace draftproof
