#include <draftproof/studies/acceptances.hpp>

#include <cassert>
#include <stdexcept>

#include <draftproof/optimum/k_seq_root.hpp>
#include <draftproof/properties/proof/output_law.hpp>
#include <draftproof/properties/prover/registry.hpp>

namespace draftproof {

std::string_view to_text(Scheme scheme) {
  constexpr std::array<std::string_view, scheme_count> names{"sample_and_match",
                                                             "naive_tree",
                                                             "recursive_rejection",
                                                             "recursive_rejection_distinct",
                                                             "k_seq",
                                                             "optimum_iid",
                                                             "sample_and_match_wor",
                                                             "recursive_rejection_wor",
                                                             "optimum_wor",
                                                             "greedy_drafts"};
  return names[static_cast<std::size_t>(scheme)];
}

bool is_lifted(Scheme scheme) {
  switch (scheme) {
    case Scheme::recursive_rejection_distinct:
    case Scheme::sample_and_match_wor:
    case Scheme::recursive_rejection_wor:
    case Scheme::optimum_wor:
    case Scheme::greedy_drafts:
      return true;
    default:
      return false;
  }
}

Acceptances::Acceptances(const Instance& instance)
    : rows_{instance.rows()},
      p_{normalised(instance.target)},
      q_{normalised(instance.proposals.front())},
      drafts_{instance.drafts} {}

bool Acceptances::defined(Scheme scheme) const {
  return scheme != Scheme::greedy_drafts || drafts_ <= static_cast<int>(p_.size());
}

const Rational& Acceptances::of(Scheme scheme) {
  auto& known = known_[static_cast<std::size_t>(scheme)];
  if (!known) known = computed(scheme);
  return *known;
}

int Acceptances::compare(Scheme a, Scheme b) {
  if (a == b) return 0;
  if (b == Scheme::k_seq) return acceptance::compare_with_k_seq(of(a), p_, q_, drafts_);
  if (a == Scheme::k_seq) return -acceptance::compare_with_k_seq(of(b), p_, q_, drafts_);
  return of(a).compare(of(b));
}

double Acceptances::approximately(Scheme scheme) {
  if (scheme != Scheme::k_seq) return static_cast<double>(of(scheme));
  std::vector<double> p, q;
  for (const Rational& value : p_) p.push_back(static_cast<double>(value));
  for (const Rational& value : q_) q.push_back(static_cast<double>(value));
  return acceptance::k_seq(p, q, drafts_);
}

Rational Acceptances::computed(Scheme scheme) {
  switch (scheme) {
    case Scheme::sample_and_match:
      return acceptance::sample_and_match(p_, q_, drafts_);
    case Scheme::naive_tree:
      return acceptance::naive_tree(p_, q_, drafts_);
    case Scheme::recursive_rejection:
      return acceptance::recursive_rejection(p_, q_, drafts_);
    case Scheme::recursive_rejection_distinct:
      return walked("recursive_rejection_distinct", "iid");
    case Scheme::optimum_iid:
      return acceptance::optimum(p_, q_, drafts_);
    case Scheme::recursive_rejection_wor:
      return walked("recursive_rejection_wor", "without_replacement");
    case Scheme::sample_and_match_wor: {
      Rational matched = 0;
      for (const auto& [set, probability] : sets_without_replacement())
        for (std::size_t x = 0; x < p_.size(); ++x)
          if (set >> x & 1) matched += probability * p_[x];
      return matched;
    }
    case Scheme::optimum_wor:
      return cut_optimum<Rational>(p_, sets_without_replacement());
    case Scheme::greedy_drafts:
      return walked("greedy_drafts", "greedy");
    case Scheme::k_seq:
      break;
  }
  throw std::logic_error("the acceptance of K-SEQ at its root is no fraction");
}

Rational Acceptances::walked(std::string_view scheme, std::string_view law) const {
  const auto decider = registry().verifier(scheme)->prove_on(rows_, drafts_);
  const auto found = explore_law(*registry().drafter(law), *decider, rows_, drafts_);
  if (!found.complete || found.output != p_) throw std::logic_error("a proof of a scheme of ours failed");
  return found.membership;
}

const std::map<TokenSet, Rational>& Acceptances::sets_without_replacement() {
  if (sets_.empty())
    sets_ = set_law<Rational>([this](Explorer<Rational>& random, Token* out) {
      return registry().drafter("without_replacement")->draw(rows_, drafts_, random, out);
    });
  return sets_;
}

}  // namespace draftproof
