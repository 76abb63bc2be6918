// Tests of the precision audit of paths and trees: it gives a distance that was computed by hand, correct verifiers are
// below its limits, and it detects wrong sums in tree forms as it does at one position.
#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <draftproof/properties/gate/gate.hpp>
#include <draftproof/properties/precision/audit.hpp>
#include <draftproof/properties/prover/registry.hpp>
#include <draftproof/properties/subjects/path_erased.hpp>
#include <draftproof/sim/trees/node_by_node.hpp>
#include <draftproof/tests/support/nightly.hpp>
#include <draftproof/verifiers/paths/token_path.hpp>

namespace draftproof::path_audit_test {
namespace {

constexpr std::uint64_t seeds = 100;

/// Returns the value rounded to float, or unchanged if it is a fraction.
template <class Scalar>
Scalar narrow(const Scalar& value) {
  if constexpr (std::floating_point<Scalar>) return static_cast<float>(value);
  return value;
}

/// Rejection sampling of the first draft that rounds the residual's entries to float; in fractions it is correct.
struct FloatResidual {
  static constexpr Info info{.name = "float_residual", .summary = "", .source = ""};
  template <Position P, RandomSource R>
  Verdict verify(const P& at, R& random) const {
    const Token x = at.draft(0);
    if (random.flip(at.target(x), at.proposal(x))) return accepted(x, 0);
    return random.emit(at.weights([&at](Token y) {
      const auto above = at.target(y) - at.proposal(y);
      return above > at.zero() ? narrow<typename P::Scalar>(above) : at.zero();
    }));
  }
};

/// Rejection sampling of the first draft that adds 1e-10 to each entry of the residual in floating point.
struct FloorUnderResidual {
  static constexpr Info info{.name = "floor_under_residual", .summary = "", .source = ""};
  template <Position P, RandomSource R>
  Verdict verify(const P& at, R& random) const {
    const Token x = at.draft(0);
    if (random.flip(at.target(x), at.proposal(x))) return accepted(x, 0);
    return random.emit(at.weights([&at](Token y) {
      typename P::Scalar above = at.target(y) - at.proposal(y);
      if (!(above > at.zero())) above = at.zero();
      if constexpr (std::floating_point<typename P::Scalar>) above += 1e-10;
      return above;
    }));
  }
};

/// Rejection sampling of the first draft that rounds p / q to float; in fractions it is correct.
struct FloatQuotient {
  static constexpr Info info{.name = "float_quotient", .summary = "", .source = ""};
  template <Position P, RandomSource R>
  Verdict verify(const P& at, R& random) const {
    const Token x = at.draft(0);
    if (random.flip(narrow<typename P::Scalar>(at.target(x) / at.proposal(x)), at.one())) return accepted(x, 0);
    return random.emit(at.residual(at.one()));
  }
};

/// A verifier of trees that is correct at the root and decides like `Wrong` below, so that an audit of one position
/// cannot reveal the error.
template <class Wrong>
struct WrongBelow {
  static constexpr Info info{.name = "wrong_below", .summary = "", .source = ""};
  template <class L, class R>
  StepOutput verify(const DraftedTree<L>& at, R& random) const {
    ImmediateEmit<R> immediate(random);
    return verify_nodes<false>(
        at, true, immediate,
        [&](int u, const L& distributions, const Token* drafts, int count, const std::uint32_t*) {
          const DraftedPosition<L> position(distributions, drafts, count);
          if (u != DraftTree::root) return Wrong{}.verify(position, immediate);
          if (immediate.flip(position.target(drafts[0]), position.proposal(drafts[0]))) return accepted(drafts[0], 0);
          return immediate.emit(position.residual(position.one()));
        });
  }
};

template <class V>
const AnyPathVerifier& subject() {
  static const PathVerifierOf<V> verifier(Kind::verifier);
  return verifier;
}
const AnyTreeDrafter& iid_paths() { return *path_registry().drafter("iid_paths"); }

// At the root p = (1 1)/2 and q = (1 0): token 0 is always drafted and accepted with probability 1/2. The second row
// has p = (1 3)/4 and the same q, so token 0 is accepted with probability 1/4. NoTest accepts both drafts untested.
struct NoTest {
  static constexpr Info info{.name = "no_test", .summary = "", .source = ""};
  template <class L, class R>
  StepOutput verify(const DraftedTree<L>& at, R& random) const {
    const int last = at.tree().size() - 1;
    return {last, random.emit(at.distributions(last).residual(at.distributions(0).zero()))};
  }
};

TEST(PathAudit, DistancesByHand) {
  const std::vector<RowPair> rows{{{0.5, 0.5}, {{1, 0}}}, {{0.25, 0.75}, {{1, 0}}}};
  for (const Form form : all_forms) {
    const auto right = audit(subject<verifiers::paths::TokenPath>(), iid_paths(), form, rows, {.length = 2}, 1000);
    ASSERT_TRUE(right && right->complete) << to_text(form);
    EXPECT_EQ(right->distance, 0) << to_text(form);
    const auto wrong = audit(subject<NoTest>(), iid_paths(), form, rows, {.length = 2}, 1000);
    ASSERT_TRUE(wrong && wrong->complete) << to_text(form);
    EXPECT_EQ(wrong->distance, 0.5 + 0.75) << to_text(form) << ": (1 0) for (1 1)/2 and then for (1 3)/4";
  }
}

TEST(PathAudit, StopsAtItsLeavesAndSaysSo) {
  const std::vector<RowPair> rows{dense_rows(12, 1, 3)};
  const auto cut = audit(subject<verifiers::paths::TokenPath>(), iid_paths(), Form::rows, rows, {.length = 2}, 5);
  ASSERT_TRUE(cut);
  EXPECT_FALSE(cut->complete);
  EXPECT_EQ(cut->leaves, 5u);
}

TEST(PathAudit, RightVerifiersHoldInEveryForm) {
  const std::vector<std::string_view> names{
      "token_path", "traversal",      "greedy_multipath_block",   "single_draft_tree",
      "block",      "branch_reentry", "recursive_rejection_tree", "recursive_rejection_wor_tree",
      "k_seq_tree"};
  for (const std::string_view name : std::span(names).first(swept<std::size_t>(4, names.size()))) {
    const AnyPathVerifier& verifier = *path_registry().verifier(name);
    const PrecisionAudit audit = audit_precision(verifier, *audited_trees(verifier), {});
    EXPECT_GE(audit.findings.size(), 10u) << name;
    for (const Finding& finding : audit.findings)
      EXPECT_EQ(finding.status, Status::passed) << name << ", " << finding.property << ": " << finding.evidence;
    EXPECT_GT(audit.largest, 0) << name;
  }
}

/// Returns the audited distance on trees of two paths of two tokens, on three random pairs of rows.
double distance_at(const AnyPathVerifier& verifier, Form form, std::uint64_t seed) {
  const std::vector<RowPair> rows{dense_rows(6, 1, seed), dense_rows(6, 1, seed + 1000),
                                  dense_rows(6, 1, seed + 2000)};
  const auto audited = audit(verifier, iid_paths(), form, rows, {.drafts = 2, .length = 2}, 1'000'000);
  EXPECT_TRUE(audited && audited->complete) << verifier.info().name << ", " << to_text(form);
  return audited ? audited->distance : 0;
}

/// Expects that on every form of rows the audit reveals V at 99 of 100 seeds or more, and that the audit of a gate
/// fails for V on every form.
template <class V>
void expect_seen() {
  for (const Form form : all_forms) {
    std::uint64_t missed = 0;
    for (std::uint64_t seed = 1; seed <= seeds; ++seed)
      missed += distance_at(subject<V>(), form, seed) <= small_limit;
    EXPECT_LE(missed, 1u) << V::info.name << ", " << to_text(form) << ", of " << seeds << " seeds";
  }
  const PrecisionAudit audit = audit_precision(subject<V>(), iid_paths(), {});
  for (const Form form : all_forms)
    EXPECT_TRUE(std::any_of(audit.findings.begin(), audit.findings.end(),
                            [&](const Finding& finding) {
                              return finding.status == Status::failed && finding.property.starts_with(to_text(form));
                            }))
        << V::info.name << ", " << to_text(form);
}

TEST(PathAudit, RightTreeFormsHoldAtEverySeed) {
  for (const std::string_view name : {"single_draft_tree", "recursive_rejection_tree", "traversal"})
    for (const Form form : all_forms)
      for (std::uint64_t seed = 1; seed <= seeds; ++seed)
        EXPECT_LE(distance_at(*path_registry().verifier(name), form, seed), small_limit)
            << name << ", seed " << seed << ", " << to_text(form);
}

TEST(PathAudit, SeesRoundingInTreeForms) {
  expect_seen<LiftedToTrees<FloatResidual>>();
  expect_seen<LiftedToTrees<FloorUnderResidual>>();
  expect_seen<LiftedToTrees<FloatQuotient>>();
}

TEST(PathAudit, SeesRoundingBelowTheRootAlone) {
  expect_seen<WrongBelow<FloatResidual>>();
  expect_seen<WrongBelow<FloorUnderResidual>>();
  expect_seen<WrongBelow<FloatQuotient>>();
}

TEST(PathAudit, IsPartOfTheProofGate) {
  GateOptions options;
  options.profile.path_instances = 5;
  const auto with = [&options](std::string_view name) {
    return run_gate({.paths = path_registry().verifier(name), .tier = Tier::proof}, options);
  };
  const GateResult right = with("single_draft_tree"), wrong = with("float_running_sum_tree");
  EXPECT_EQ(right.status, Status::passed);
  EXPECT_EQ(wrong.status, Status::failed);
  for (const GateResult* result : {&right, &wrong})
    EXPECT_TRUE(std::any_of(result->findings.begin(), result->findings.end(), [](const Finding& finding) {
      return finding.property == "tables at 3 of V = 262144, L = 2";
    }));
}

TEST(PathAudit, SchemesWithAStateAndLossyOnesHaveNone) {
  for (const std::string_view name : {"greedy_block", "lenience_tree"}) {
    const AnyPathVerifier& verifier = *path_registry().verifier(name);
    EXPECT_TRUE(audit_precision(verifier, *audited_trees(verifier), {}).findings.empty()) << name;
  }
}

}  // namespace
}  // namespace draftproof::path_audit_test
