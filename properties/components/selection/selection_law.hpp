// The exact results of a selection policy on a small batch: what its choices depend on, and the distribution of the
// output of drafter, policy and verifier.
//
//   choice     drafts of every request, and which are kept: a branch of drafters and policy
//   rule       the verifier that the kept drafts get: token verification, block verification, sample-and-match
//   input      part of the policy's view that depends on drafts: a token, or what is read after it
//
// An input is masked by an independently redrawn value: the policy sees what a second batch of drafts has in its
// place, while the verifier sees the drafts of the first. Because a redrawn value has the same distribution as the
// one it replaces, a masked policy keeps as many drafts as before; a fixed value could make it keep none, and hide
// the bias for another reason. If all inputs are masked, the choice is independent of the drafts. No rule is biased
// then, unless the policy keeps drafts without siblings that were drawn before them.
//
// Cost: every draft tuple of the batch and every branch of the verifier on it; with masked inputs every pair of
// tuples.
// Correctness: in fractions. An enumeration that was cut throws EnumerationCut, which leaves the check undecided.
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
#include <draftproof/properties/subjects/any_path_verifier.hpp>
#include <draftproof/sim/components/component_info.hpp>
#include <draftproof/sim/components/selection_view.hpp>
#include <draftproof/sim/random/explorer.hpp>

namespace draftproof {

/// A type-erased policy.
struct SelectionRule {
  using Keep = KeptDrafts (*)(const SelectionView<Rational>&, Explorer<Rational>&);

  const ComponentInfo* described;
  SelectionCut cut;
  bool trees, matching_alone;
  Keep keep;

  const ComponentInfo& info() const { return *described; }
  /// Whether it chooses from such drafts.
  bool takes(const SelectionCase& one) const { return trees || one.chains(); }
};

enum class VerifyRule { token, block, matching };
inline constexpr std::array<VerifyRule, 3> all_verify_rules{VerifyRule::token, VerifyRule::block,
                                                            VerifyRule::matching};

/// The registered verifier of paths that is meant: one for chains, another for trees; "" if there is none.
std::string_view verifier_of(VerifyRule rule, bool chain);

struct SelectionInput {
  enum class What { token, confidence, row, grammar } what;
  int request, position;
  /// "the confidence after position 1 of request 0".
  std::string text() const;
  auto operator<=>(const SelectionInput&) const = default;
};

class SelectionAnalysis {
 public:
  using Masked = std::vector<SelectionInput>;

  /// Both must outlive the analysis. Requires a policy that takes the case.
  SelectionAnalysis(const SelectionRule& policy, const SelectionCase& one);
  SelectionAnalysis(const SelectionAnalysis&) = delete;
  SelectionAnalysis& operator=(const SelectionAnalysis&) = delete;

  /// The first draft whose probability of being kept depends on its own token; nothing if there is none. Drafts of
  /// other requests and later drafts are averaged over. For a policy that cuts the output after a token of the
  /// verifier, the first draft whose probability of being reached does.
  std::optional<std::string> anticipation();
  /// Where the output is not distributed as the target, by request and prefix; if every request is right, where the
  /// requests are not independent; nothing if all is right.
  std::optional<std::string> wrong_output(VerifyRule rule, const Masked& masked = {});
  /// What the choice must not have seen, in words: a smallest set of inputs whose masking leaves nothing wrong,
  /// searched up to three.
  std::string seen(VerifyRule rule);
  /// Whether there is a verifier for all requests.
  bool has(VerifyRule rule) const;
  /// Number of branches walked so far.
  std::uint64_t work() const { return work_; }

 private:
  using Laws = Rows<Rational>;
  using Emitted = std::map<Tokens, Rational>;
  /// What a verifier gets of one request: most tokens that it may emit, then parent and token of each draft.
  using Verified = std::vector<int>;
  using Choices = std::map<std::vector<Verified>, Rational>;
  using Visit = std::function<void(const std::vector<DraftTree>&, const KeptDrafts&, const Rational&)>;

  struct Request {
    const SelectionCaseRequest* given;
    PrefixTable<Laws> conditionals;
    std::vector<std::vector<Rational>> rows{};  ///< of q, by context
    std::vector<std::vector<std::uint8_t>> legal{};
    std::vector<Rational> confidence{};
    std::vector<Rational> past{};
    std::array<PathDeciderPtr<Laws, Explorer<Rational>>, all_verify_rules.size()> deciders{};
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
  std::deque<Request> requests_;  ///< deciders refer to the models in it
  std::optional<Choices> unmasked_{};
  std::uint64_t work_ = 0;
};

}  // namespace draftproof
