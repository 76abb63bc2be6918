// The exact output of drafter, grammar component and verifier: the tokens of one step, and the first token of the next
// step, whose row is masked by the state that the component carries over.
//
// Cost: every draft tuple and every branch of the verifier on it; the target's rows are masked for each tuple.
//
// Correctness: all branches are enumerated in fractions. EnumerationCut, thrown at the limit on branches, leaves the
// check undecided.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <draftproof/properties/components/grammar/grammar_case.hpp>
#include <draftproof/properties/components/verify_rule.hpp>
#include <draftproof/sim/components/component_info.hpp>

namespace draftproof {

/// A type-erased grammar component.
struct GrammarRule {
  const ComponentInfo* described;
  bool trees;
  std::function<int(const GrammarStep&, int)> mask_state;
  std::function<bool(const GrammarStep&, int)> verified;
  std::function<int(const GrammarStep&, int, Token)> next_state;

  const ComponentInfo& info() const { return *described; }
};

class GrammarAnalysis {
 public:
  /// Both must outlive the analysis. Requires a component that serves the drafts of the case.
  GrammarAnalysis(const GrammarRule& component, const GrammarCase& one);
  GrammarAnalysis(const GrammarAnalysis&) = delete;
  GrammarAnalysis& operator=(const GrammarAnalysis&) = delete;

  bool has(VerifyRule rule) const { return !verifier_of(rule, case_.chain()).empty(); }
  /// Returns the first prefix after which the output is not distributed as the target under the grammar; nullopt if
  /// there is none.
  std::optional<std::string> wrong_output(VerifyRule rule);
  /// Returns the first prefix after which the output has a token that the grammar forbids; nullopt if there is none.
  std::optional<std::string> forbidden_token(VerifyRule rule);
  /// Returns the number of branches enumerated so far.
  std::uint64_t work() const { return work_; }

 private:
  using Emitted = std::map<Tokens, Rational>;
  struct MaskedVerifier {
    PrefixTable<Rows<Rational>> conditionals;
    PathDeciderPtr<Rows<Rational>, Explorer<Rational>> decider{};
  };

  const Emitted& emitted(VerifyRule rule);
  void add_step(VerifyRule rule, const DraftTree& tree, const Rational& probability, Emitted& emitted);
  MaskedVerifier& verifier(VerifyRule rule, const DraftTree& tree, const GrammarStep& step);

  const GrammarRule& component_;
  const GrammarCase& case_;
  PrefixTable<Rows<Rational>> conditionals_;
  std::map<VerifyRule, Emitted> emitted_{};
  /// The verifiers, by rule and by the list of states that mask the rows of the prefixes.
  std::map<std::pair<VerifyRule, std::vector<int>>, MaskedVerifier> verifiers_{};
  std::uint64_t work_ = 0;
};

}  // namespace draftproof
