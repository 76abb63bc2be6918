// The exact results of a selection policy on a small batch: what its choices depend on, and the distribution of the
// output of drafter, policy and verifier.
//
//   choice     drafts of every request and which are kept: one branch of drafters and policy
//   rule       the verifier of the kept drafts: token verification, block verification, sample-and-match
//   input      part of the policy's view that depends on drafts: a token, or a value computed after it
//
// An input is masked by a redrawn value: the policy gets it from an independent second batch of drafts, while
// the verifier gets the first batch. Because a redrawn value has the same distribution as the original, a
// masked policy keeps as many drafts as before; with a constant the policy could keep no draft, which
// would hide the bias. If all inputs are masked, the choice is independent of the drafts. No rule is biased
// then, unless the policy keeps a draft without the siblings drawn before it.
//
// Cost: every draft tuple of the batch and every branch of the verifier on it; with masked inputs every pair of
// tuples.
//
// Correctness: all branches are enumerated in fractions. EnumerationCut, thrown at the limit on branches, leaves the
// check undecided.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <draftproof/properties/components/selection/selection_case.hpp>
#include <draftproof/properties/components/verify_rule.hpp>
#include <draftproof/properties/subjects/any_path_verifier.hpp>
#include <draftproof/sim/components/component_info.hpp>
#include <draftproof/sim/components/selection_view.hpp>
#include <draftproof/sim/random/explorer.hpp>
#include <draftproof/sim/random/philox.hpp>

namespace draftproof {

/// A type-erased policy.
struct SelectionRule {
  using Keep = std::function<KeptDrafts(const SelectionView<Rational>&, Explorer<Rational>&)>;
  using KeepSimulated = std::function<KeptDrafts(const SelectionView<double>&, Philox&)>;

  const ComponentInfo* described;
  SelectionCut cut;
  bool trees, matching_alone;
  Keep keep;
  KeepSimulated keep_simulated{};  ///< the same policy in simulations; empty for policies of called programs
  bool reads_past = false, reads_row = true;

  const ComponentInfo& info() const { return *described; }
  /// Whether the policy supports the drafts of the case.
  bool takes(const SelectionCase& one) const { return trees || one.chains(); }
};

struct SelectionInput {
  enum class What { token, confidence, row, grammar } what;
  int request, position;
  /// Returns a text such as "the confidence after position 1 of request 0".
  std::string text() const;
  auto operator<=>(const SelectionInput&) const = default;
};

class SelectionAnalysis {
 public:
  using Masked = std::vector<SelectionInput>;

  /// Both must outlive the analysis. Requires a policy that supports the case.
  SelectionAnalysis(const SelectionRule& policy, const SelectionCase& one);
  SelectionAnalysis(const SelectionAnalysis&) = delete;
  SelectionAnalysis& operator=(const SelectionAnalysis&) = delete;

  /// Returns a text on the first draft whose probability of being kept, averaged over later drafts and other requests,
  /// depends on its token; nullopt if there is none. If the policy cuts the output after a token of the verifier, the
  /// probability that the draft's parent is kept is tested instead.
  std::optional<std::string> anticipation();
  /// Returns a text on the first request and prefix at which the output does not follow the target; otherwise on a
  /// dependence between the outputs of requests; otherwise nullopt.
  std::optional<std::string> wrong_output(VerifyRule rule, const Masked& masked = {});
  /// Returns as text the inputs that the choice must not depend on: a smallest set whose masking makes the
  /// output right, searched up to size three.
  std::string seen(VerifyRule rule);
  /// Whether the rule has a verifier for all requests.
  bool has(VerifyRule rule) const;
  /// Returns the number of branches enumerated so far.
  std::uint64_t work() const { return work_; }

 private:
  using Distributions = Rows<Rational>;
  using Emitted = std::map<Tokens, Rational>;
  /// A verifier's input for one request: largest number of emitted tokens, then parent and token of each draft.
  using Verified = std::vector<int>;
  using Choices = std::map<std::vector<Verified>, Rational>;
  using Visit = std::function<void(const std::vector<DraftTree>&, const KeptDrafts&, const Rational&)>;

  struct Request {
    const SelectionCaseRequest* given;
    PrefixTable<Distributions> conditionals;
    std::vector<std::vector<Rational>> rows{};  ///< rows of q, by context
    std::vector<std::vector<std::uint8_t>> legal{};
    std::vector<Rational> confidence{};
    std::vector<Rational> past{};
    std::array<PathDeciderPtr<Distributions, Explorer<Rational>>, all_verify_rules.size()> deciders{};
    std::map<std::pair<VerifyRule, Verified>, Emitted> emitted{};
  };

  static Request request_of(const SelectionCaseRequest& given);
  std::vector<SelectionInput> inputs() const;
  SelectionView<Rational> view_of(const std::vector<DraftTree>& drafts, const std::vector<DraftTree>& redrawn,
                                  const Masked& masked) const;
  void each_choice(const Masked& masked, const Visit& visit);
  Choices choices(const Masked& masked);
  Verified verified(const DraftTree& tree, const std::vector<bool>& kept) const;
  const Emitted& emitted(Request& request, VerifyRule rule, const Verified& verified);
  std::optional<std::string> dependence(VerifyRule rule, const Choices& choices);

  const SelectionRule& policy_;
  const SelectionCase& case_;
  std::deque<Request> requests_;  ///< a deque, because its deciders refer to its models
  std::optional<Choices> unmasked_{};
  std::uint64_t work_ = 0;
};

}  // namespace draftproof
