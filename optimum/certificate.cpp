#include <draftproof/optimum/certificate.hpp>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

#include <draftproof/optimum/iid_acceptance.hpp>
#include <draftproof/optimum/race_acceptance.hpp>

namespace draftproof {

namespace {

std::string braces(TokenSet set) {
  std::string text = "{";
  for (Token x = 0; x < 64; ++x)
    if (set >> x & 1) text += (text.size() > 1 ? " " : "") + std::to_string(x);
  return text + "}";
}

/// Returns the reason why `target` or `drafts` is not a probability distribution, or "". The cut formula requires both.
std::string reject_distributions(std::span<const Rational> target, const std::map<TokenSet, Rational>& drafts) {
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
  return sum == 1 ? "" : "the draft sampling sums to " + to_text(sum);
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
  std::string reason = reject_distributions(target, drafts);
  if (reason.empty()) reason = reject_cut(target, drafts, certificate);
  if (reason.empty()) reason = reject_plan(target, drafts, certificate);
  return reason;
}

namespace {

constexpr long double rounding = std::numeric_limits<long double>::epsilon();
static_assert(std::numeric_limits<long double>::digits >= 62, "masses are exact in long double");

__extension__ using Wide = unsigned __int128;

PrefixCertificate around(const RatioTable& table, const Optimum& found, double error) {
  struct Entry {
    Token token;
    std::uint64_t p, q;
  };
  std::vector<Entry> rising;
  const auto order = table.order();
  const auto prefix = table.exact_prefix();
  for (std::size_t j = order.size(); j-- > 0;)
    if (prefix[j + 1].proposal > prefix[j].proposal)
      rising.push_back(
          {order[j], prefix[j + 1].target - prefix[j].target, prefix[j + 1].proposal - prefix[j].proposal});
  // The tokens are sorted again, by exact ratios, because the table compares rounded ratios.
  std::stable_sort(rising.begin(), rising.end(),
                   [](const Entry& a, const Entry& b) { return Wide{a.p} * b.q < Wide{b.p} * a.q; });
  PrefixCertificate certificate{{}, order.size() - found.cut, found.acceptance - error, found.acceptance + error};
  for (const Entry& entry : rising) certificate.order.push_back(entry.token);
  return certificate;
}

/// The rows as integers that sum to 2^62, and the check of the order of a certificate's tokens.
class Prefixes {
 public:
  Prefixes(std::span<const double> target, std::span<const double> proposal)
      : p_{quantise(target)}, q_{quantise(proposal)} {}

  std::string reject_order(const std::vector<Token>& order) const {
    std::vector<char> seen(p_.size(), 0);
    for (std::size_t i = 0; i < order.size(); ++i) {
      const std::string name = "token " + std::to_string(order[i]);
      if (order[i] < 0 || order[i] >= std::ssize(p_)) return name + " is not of the vocabulary";
      if (seen[place(order[i])]++) return name + " is listed twice";
      if (proposal(order[i]) == 0) return name + " cannot be drafted";
      if (i > 0 && lower_ratio(order[i], order[i - 1])) return name + " has a lower ratio than the one before";
    }
    for (std::size_t x = 0; x < q_.size(); ++x)
      if (q_[x] > 0 && !seen[x]) return "token " + std::to_string(x) + " can be drafted and is not listed";
    return "";
  }

  std::uint64_t target(Token x) const { return p_[place(x)]; }
  std::uint64_t proposal(Token x) const { return q_[place(x)]; }

 private:
  static std::size_t place(Token x) { return static_cast<std::size_t>(x); }
  bool lower_ratio(Token a, Token b) const { return Wide{target(a)} * proposal(b) < Wide{target(b)} * proposal(a); }
  std::vector<std::uint64_t> p_, q_;
};

/// Returns p(S) + 1 - q(S)^K for masses in units of 2^-62.
Rational iid_cut(std::uint64_t p, std::uint64_t q, int drafts) {
  Rational inside = 1;
  for (int k = 0; k < drafts; ++k) inside *= Rational(q, row_total);
  return Rational(p, row_total) + 1 - inside;
}
/// Returns the value of iid_cut with an error below (K + 3) `rounding`, computed by a product of K factors and two sums
/// of numbers that are at most 2.
long double iid_cut_nearly(std::uint64_t p, std::uint64_t q, int drafts) {
  long double inside = 1;
  for (int k = 0; k < drafts; ++k) inside *= static_cast<long double>(q) * 0x1p-62L;
  return static_cast<long double>(p) * 0x1p-62L + (1 - inside);
}

std::string reject_numbers(const PrefixCertificate& certificate, int drafts) {
  if (drafts < 1 || drafts > max_drafts) return std::to_string(drafts) + " drafts";
  if (!std::isfinite(certificate.lower) || !std::isfinite(certificate.upper)) return "a bound is not a number";
  if (certificate.cut > certificate.order.size())
    return "the cut has " + std::to_string(certificate.cut) + " of " + std::to_string(certificate.order.size()) +
           " tokens";
  return "";
}

std::string at_prefix(std::size_t size, const char* bound) {
  return "the cut of the first " + std::to_string(size) + " tokens is not shown to be " + bound;
}

}  // namespace

PrefixCertificate iid_prefix_certificate(const RatioTable& table, int drafts) {
  // The last argument bounds the error of iid_optimum, including the rounding of its prefix masses to doubles.
  return around(table, iid_optimum(table, drafts), (2 * drafts + 6) * 0x1p-53);
}

PrefixCertificate without_replacement_prefix_certificate(const RatioTable& table, int drafts) {
  return around(table, without_replacement_optimum(table, drafts),
                1e-13 + static_cast<double>(table.vocabulary() + 2) * 0x1p-53);
}

std::string reject_iid(std::span<const double> target, std::span<const double> proposal, int drafts,
                       const PrefixCertificate& certificate) {
  if (auto reason = reject_numbers(certificate, drafts); !reason.empty()) return reason;
  const Prefixes rows(target, proposal);
  if (auto reason = rows.reject_order(certificate.order); !reason.empty()) return reason;
  std::uint64_t p = 0, q = 0;
  for (std::size_t size = 0;; ++size) {
    const long double nearly = iid_cut_nearly(p, q, drafts), margin = (drafts + 3) * rounding;
    if (nearly - margin < certificate.lower && iid_cut(p, q, drafts) < Rational(certificate.lower))
      return at_prefix(size, "above the lower bound");
    if (size == certificate.cut && iid_cut(p, q, drafts) > Rational(certificate.upper))
      return at_prefix(size, "below the upper bound");
    if (size == certificate.order.size()) return "";
    p += rows.target(certificate.order[size]);
    q += rows.proposal(certificate.order[size]);
  }
}

std::string reject_without_replacement(std::span<const double> target, std::span<const double> proposal, int drafts,
                                       const PrefixCertificate& certificate) {
  if (auto reason = reject_numbers(certificate, drafts); !reason.empty()) return reason;
  const Prefixes rows(target, proposal);
  const auto& order = certificate.order;
  if (auto reason = rows.reject_order(order); !reason.empty()) return reason;
  // Every cut of S is at least p(S), which grows with S. So once p(S) reaches the lower bound, the cuts of all further
  // prefixes are at least the bound.
  const auto far = static_cast<long double>(certificate.lower);
  std::uint64_t p = 0, q = 0, slowest = row_total;
  std::size_t last = 0;
  while (last < order.size() && (last < certificate.cut || static_cast<long double>(p) * 0x1p-62L < far)) {
    p += rows.target(order[last]);
    q += rows.proposal(order[last]);
    if (q < row_total) slowest = std::min(slowest, row_total - q);
    ++last;
  }
  RaceEnclosure race(drafts, slowest);
  p = q = 0;
  for (std::size_t size = 0;; ++size) {
    const long double inside = static_cast<long double>(p) * 0x1p-62L;
    // Drafts without replacement all lie in S less often than i.i.d. drafts, so the i.i.d. cut is at most this cut.
    const bool high = iid_cut_nearly(p, q, drafts) - (drafts + 3) * rounding >= certificate.lower;
    if (!high || size == certificate.cut) {
      Enclosure missed{0, 0};  // Pr(a draft lies outside S): 0 if no token outside S can be drafted
      if (q < row_total) {
        missed = {1, 1};  // 1 if S has fewer than K tokens, because the K drafts are distinct
        if (size >= static_cast<std::size_t>(drafts)) missed = race.missed(row_total - q);
      }
      if (!high && inside + missed.lower - 2 * rounding < certificate.lower)
        return at_prefix(size, "above the lower bound");
      if (size == certificate.cut && inside + missed.upper + 2 * rounding > certificate.upper)
        return at_prefix(size, "below the upper bound");
    }
    if (size == last) return "";
    p += rows.target(order[size]);
    q += rows.proposal(order[size]);
    race.add(rows.proposal(order[size]));
  }
}

}  // namespace draftproof
