// Tests that schemes that compare entries make the same decisions on every form of rows with ties (for example plain
// rows and tables), and that a scheme that compares sums does not.
#include <algorithm>
#include <cmath>
#include <set>

#include <gtest/gtest.h>

#include <draftproof/properties/checks/same_results.hpp>
#include <draftproof/properties/precision/audit.hpp>
#include <draftproof/properties/prover/prover.hpp>
#include <draftproof/properties/prover/registry.hpp>
#include <draftproof/properties/subjects/erased.hpp>

namespace draftproof::tied_schemes_test {
namespace {

/// Tests only the i.i.d. draft with the largest Value::of, the first of several such drafts. The scheme is lossless if
/// all values are equal, because it then tests the first draft, and wrong otherwise.
template <class Value>
struct TestsTheLargest {
  static constexpr Info info{.name = "tests_the_largest", .summary = "one draft", .source = "this test"};
  template <Position P, RandomSource R>
  Verdict verify(const P& at, R& random) const {
    int best = 0;
    for (int k = 1; k < at.drafts(); ++k)
      if (Value::of(at, at.draft(k)) > Value::of(at, at.draft(best))) best = k;
    const Token x = at.draft(best);
    if (random.flip(at.target(x), at.proposal(x))) return accepted(x, best);
    return random.emit(at.residual(at.one()));
  }
};

struct Entry {
  static auto of(const auto& at, Token x) { return at.proposal(x); }
};
/// The value is a difference of running sums, whose rounding differs between tokens.
struct StepOfSums {
  static auto of(const auto& at, Token x) {
    const auto below = [&at](Token end) {
      return at.sum([&at, end](Token y) { return y < end ? at.proposal(y) + at.zero() : at.zero(); });
    };
    return below(x + 1) - below(x);
  }
};

/// Compares the values of two fixed tokens, and depending on the result tests the draft or draws from p. Both are
/// lossless, so a different result of the comparison changes only the acceptance.
template <class Value>
struct TestsIfLarger {
  static constexpr Info info{.name = "tests_if_larger", .summary = "one draft or none", .source = "this test"};
  template <Position P, RandomSource R>
  Verdict verify(const P& at, R& random) const {
    const Token last = at.vocabulary() - 1;
    if (last > 0 && Value::of(at, last) > Value::of(at, last - 1)) return random.emit(at.residual(at.zero()));
    const Token x = at.draft(0);
    if (random.flip(at.target(x), at.proposal(x))) return accepted(x, 0);
    return random.emit(at.residual(at.one()));
  }
};

template <class V>
const AnyVerifier& subject() {
  static const VerifierOf<V> verifier(Kind::verifier);
  return verifier;
}
template <class Value>
const AnyVerifier& largest() {
  return subject<TestsTheLargest<Value>>();
}

const AnyDrafter& iid_drafts() { return *registry().drafter("iid"); }

/// Returns instances of the family "flat" with a uniform q.
std::vector<Instance> flat_instances(std::uint64_t seed) {
  std::vector<Instance> found;
  for (int n = 0; n < 400; ++n) {
    Instance instance = generate_instance(seed, n, 3, false);
    const auto& q = instance.proposals.front();
    const bool flat = std::all_of(q.begin(), q.end(), [&q](int weight) { return weight == q.front(); });
    if (flat && instance.drafts > 1) found.push_back(std::move(instance));
  }
  return found;
}

bool forms_agree(const AnyVerifier& verifier, const Instance& instance) {
  InstanceAnalysis at(verifier, iid_drafts(), instance);
  return checks::FormsAgree::check(at).status != Status::failed;
}

TEST(TiedEntries, ASchemeThatComparesEntriesHasOneDistributionInEveryForm) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const auto instances = flat_instances(seed);
    ASSERT_GE(instances.size(), 10u);
    for (const Instance& instance : instances)
      EXPECT_TRUE(forms_agree(largest<Entry>(), instance)) << instance.text();
  }
}

TEST(TiedEntries, ASchemeThatComparesRoundedTermsDoesNot) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const auto instances = flat_instances(seed);
    const auto shown = [&](const AnyVerifier& verifier) {
      return std::count_if(instances.begin(), instances.end(),
                           [&](const Instance& instance) { return !forms_agree(verifier, instance); });
    };
    EXPECT_GT(shown(largest<StepOfSums>()), 0) << seed;
  }
}

TEST(TiedEntries, AcceptanceAloneShowsAComparisonOfRoundedTerms) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    int shown = 0;
    for (const Instance& instance : flat_instances(seed)) {
      EXPECT_TRUE(forms_agree(subject<TestsIfLarger<Entry>>(), instance)) << instance.text();
      shown += !forms_agree(subject<TestsIfLarger<StepOfSums>>(), instance);
    }
    EXPECT_GT(shown, 0) << seed;
  }
}

// For falling p and uniform q, the audited output distribution on every form of rows must be the target up to rounding.
TEST(TiedEntries, TheDistributionOfEachFormIsTheTargetUpToRounding) {
  for (const int size : {3, 5, 6, 7, 10})
    for (const int drafts : {1, 2, 3}) {
      std::vector<double> p;
      double sum = 0;
      for (int x = 0; x < size; ++x) sum += p.emplace_back(1.0 / (x + 1));
      for (double& entry : p) entry /= sum;
      const RowPair rows{p, {std::vector<double>(static_cast<std::size_t>(size), 1.0 / size)}};
      for (const Form form : all_forms) {
        const auto distribution = audit(largest<Entry>(), iid_drafts(), form, rows, drafts, 1'000'000);
        ASSERT_TRUE(distribution && distribution->complete);
        EXPECT_LT(distribution->distance(exact_target(p)), small_limit) << to_text(form) << " of V = " << size;
      }
    }
}

}  // namespace
}  // namespace draftproof::tied_schemes_test
