// Tests of the optimum of drafted trees: reference values, published small models in fractions, closed forms, and the
// inequalities acceptance of a scheme <= one-shot optimum <= optimum of a verifier that reads the whole block.
#include <cmath>
#include <iostream>

#include <gtest/gtest.h>

#include <draftproof/optimum/paths/path_bounds.hpp>
#include <draftproof/properties/prover/registry.hpp>
#include <draftproof/tests/support/golden_path.hpp>
#include <draftproof/tests/support/random_trees.hpp>

namespace draftproof {
namespace {

/// Returns a reference entry as a fraction with denominator 10^6 or 3.
Rational fraction_of(double value) {
  for (const int denominator : {1'000'000, 3}) {
    const double scaled = value * denominator;
    // An entry below 1 has an error of at most 2^-53, so `scaled` has an error of at most 1e6 * 2^-53, below 1e-9.
    if (std::abs(scaled - std::round(scaled)) < 1e-9)
      return Rational(static_cast<long long>(std::round(scaled)), denominator);
  }
  throw std::logic_error("neither sixth decimals nor thirds: " + std::to_string(value));
}

ExactContexts exact(const golden::PathModel& model) {
  std::vector<Rows<Rational>> rows;
  for (std::size_t c = 0; c < model.target.size(); ++c) {
    std::vector<Rational> p, q;
    for (const double value : model.target[c]) p.push_back(fraction_of(value));
    for (const double value : model.proposal[c]) q.push_back(fraction_of(value));
    rows.emplace_back(p, q);
  }
  return ExactContexts(std::move(rows));
}

std::string_view drafter_of(const golden::PathCase& c) {
  if (c.entry.contains("tree")) return "top_k_tree";
  return c.entry.contains("branching") ? "without_replacement_tree" : "iid_paths";
}

/// The accuracy of the fields lp_one_shot and ot_ideal in tests/golden/path.json, which come from a solver.
const Rational solver_accuracy(1, 10'000'000);

void expect_close(const TreeCertificate& certificate, const nlohmann::json& value, const std::string& what) {
  const Rational wanted(value.get<double>());
  EXPECT_LE(certificate.lower, wanted + solver_accuracy) << what;
  EXPECT_GE(certificate.upper, wanted - solver_accuracy) << what;
  EXPECT_LE(certificate.upper - certificate.lower, Rational(1, 1'000'000'000)) << what;
}

TEST(TreeOptimum, OfEveryReferenceModel) {
  std::set<std::string> done;
  int one_shot = 0, whole_block = 0;
  double widest = 0;
  for (const golden::PathCase& c : golden::path_cases()) {
    const std::string model = c.entry.at("model"), what = model + " " + std::string(drafter_of(c));
    if (!c.entry.contains("lp_one_shot") || !done.insert(what).second) continue;
    const auto distribution =
        enumerate_tree_sampling(*path_registry().drafter(drafter_of(c)), exact(*c.model), c.shape);
    ASSERT_TRUE(distribution) << what;
    for (const Sight sight : {Sight::one_shot, Sight::whole_block}) {
      const char* field = sight == Sight::one_shot ? "lp_one_shot" : "ot_ideal";
      if (!c.entry.contains(field)) continue;
      const TreeCertificate certificate = tree_optimum(*distribution, sight);
      ASSERT_EQ(reject(*distribution, sight, certificate), "") << what;
      expect_close(certificate, c.entry.at(field), what + " " + field);
      widest = std::max(widest, static_cast<double>(Rational(certificate.upper - certificate.lower)));
      ++(sight == Sight::one_shot ? one_shot : whole_block);
    }
  }
  std::cout << one_shot << " and " << whole_block << " values, widest certificate " << widest << '\n';
  EXPECT_EQ(one_shot, 16);
  EXPECT_EQ(whole_block, 15);
}

TEST(TreeOptimum, OfThePublishedSmallModelInFractions) {
  // The model has p = (1/3, 2/3) and q = (2/3, 1/3) after every prefix; K paths of two tokens are drawn independently.
  const ExactContexts small_model({Rows<Rational>({{1, 3}, {2, 3}}, std::vector<Rational>{{2, 3}, {1, 3}})});
  const auto optimum = [&](int drafts, Sight sight) {
    const auto distribution =
        enumerate_tree_sampling(*path_registry().drafter("iid_paths"), small_model, {.drafts = drafts, .length = 2});
    const TreeCertificate certificate = tree_optimum(*distribution, sight);
    EXPECT_EQ(reject(*distribution, sight, certificate), "");
    EXPECT_EQ(certificate.lower, certificate.upper);
    return certificate.upper;
  };
  EXPECT_EQ(optimum(1, Sight::one_shot), Rational(11, 9));
  EXPECT_EQ(optimum(1, Sight::whole_block), Rational(12, 9));
  EXPECT_EQ(optimum(2, Sight::one_shot), Rational(131, 81));
  EXPECT_EQ(optimum(2, Sight::whole_block), Rational(134, 81));
  EXPECT_EQ(optimum(3, Sight::one_shot), Rational(1351, 729));
  EXPECT_EQ(optimum(3, Sight::whole_block), Rational(1351, 729));
}

TEST(TreeOptimum, OfOnePathIsBlockVerificationExactly) {
  SmallTreeModels models(31);
  const AnyTreeDrafter& drafter = *path_registry().drafter("iid_paths");
  const AnyPathVerifier& block = *path_registry().verifier("block");
  for (int i = 0; i < 100; ++i) {
    SmallTreeModel model = models.next();
    model.shape.drafts = 1;
    const TreeSampling distribution = model.distribution("iid_paths");
    const TreeCertificate closed = block_optimum(distribution);
    ASSERT_EQ(closed.lower, closed.upper);
    ASSERT_EQ(reject(distribution, Sight::one_shot, closed), "");
    const auto decider = block.prove_on(model.conditionals, model.shape);
    ASSERT_EQ(
        explore_step_distribution<Rows<Rational>>(drafter, *decider, model.conditionals, model.shape).mean_accepted(),
        closed.upper);
    const TreeCertificate solved = tree_optimum(distribution, Sight::one_shot);
    ASSERT_LE(solved.lower, closed.upper);
    ASSERT_GE(solved.upper, closed.upper);
    ASSERT_LT(solved.upper - solved.lower, Rational(1, 1'000'000'000));
  }
}

TEST(TreeOptimum, OfOnePathInWholeBlocksIsTheOverlapOfPrefixes) {
  SmallTreeModels models(32);
  for (int i = 0; i < 100; ++i) {
    const TreeSampling distribution = models.next().distribution("iid_paths", 1);
    const auto q = reach(distribution);
    std::vector<Rational> p(q.size(), 1);
    Rational overlap = 0;
    for (std::size_t x = 1; x < q.size(); ++x) {
      p[x] = p[static_cast<std::size_t>(distribution.prefixes[x].parent)] * distribution.step(x);
      overlap += std::min(p[x], q[x]);
    }
    const TreeCertificate solved = tree_optimum(distribution, Sight::whole_block);
    ASSERT_LE(solved.lower, overlap);
    ASSERT_GE(solved.upper, overlap);
    ASSERT_LT(solved.upper - solved.lower, Rational(1, 1'000'000'000));
  }
}

TEST(TreeOptimum, StandsBetweenEverySchemeAndTheWholeBlock) {
  SmallTreeModels models(33);
  int below = 0, reached = 0, apart = 0;
  for (int i = 0; i < 40; ++i) {
    const SmallTreeModel model = models.next();
    for (const auto& drafter : path_registry().drafters()) {
      if (drafter->info().shared_noise()) continue;  // another drafter with the same draft sampling is enumerated
      const auto distribution = enumerate_tree_sampling(*drafter, model.conditionals, model.shape);
      ASSERT_TRUE(distribution);
      const TreeCertificate one_shot = tree_optimum(*distribution, Sight::one_shot);
      const TreeCertificate whole_block = tree_optimum(*distribution, Sight::whole_block);
      ASSERT_EQ(reject(*distribution, Sight::one_shot, one_shot), "") << drafter->info().name;
      ASSERT_EQ(reject(*distribution, Sight::whole_block, whole_block), "") << drafter->info().name;
      ASSERT_LE(one_shot.lower, whole_block.upper);
      apart += one_shot.upper < whole_block.lower;
      for (const auto& verifier : path_registry().verifiers()) {
        if (verifier->kind() != Kind::verifier || verifier->info().promise != Promise::lossless ||
            verifier->stateful() || !verifier->takes(model.shape.drafts) ||
            !takes_trees(verifier->info(), drafter->info()))
          continue;
        const auto decider = verifier->prove_on(model.conditionals, model.shape);
        if (!decider) continue;
        const auto outputs =
            explore_step_distribution<Rows<Rational>>(*drafter, *decider, model.conditionals, model.shape);
        ASSERT_TRUE(outputs.complete);
        ASSERT_LE(outputs.mean_accepted(), one_shot.upper) << verifier->info().name << " " << drafter->info().name;
        ++(outputs.mean_accepted() < one_shot.lower ? below : reached);
      }
    }
  }
  std::cout << below << " below the optimum, " << reached << " at it, " << apart << " optima below the whole block\n";
  EXPECT_GT(below, 50);
  EXPECT_GT(reached, 50);
  EXPECT_GT(apart, 10);
}

TEST(TreeOptimum, InDoublesIsThatOfTheFractions) {
  const auto& models = golden::path_models();
  const TreeShape shape{.drafts = 2, .length = 2};
  const auto bounds =
      path_optimum_bounds(*path_registry().drafter("iid_paths"), models.at("small_model_k2").conditionals(), shape);
  ASSERT_TRUE(bounds);
  // The entries of the rows differ from thirds by at most 2^-53. A change in one of the four rows changes the optimum
  // by at most 4 times as much.
  EXPECT_LE(bounds->lower, 131.0 / 81 + 1e-14);
  EXPECT_GE(bounds->upper, 131.0 / 81 - 1e-14);
  EXPECT_LE(bounds->whole_block_lower, 134.0 / 81 + 1e-14);
  EXPECT_GE(bounds->whole_block_upper, 134.0 / 81 - 1e-14);
  EXPECT_LT(bounds->upper - bounds->lower, 1e-9);
  EXPECT_LT(bounds->whole_block_upper - bounds->whole_block_lower, 1e-9);
}

TEST(TreeOptimum, IsRoundedOutwards) {
  // The certificates of the small model have the exact values 131/81 and 134/81, neither of which is a double.
  const ExactContexts small_model({Rows<Rational>({{1, 3}, {2, 3}}, std::vector<Rational>{{2, 3}, {1, 3}})});
  const auto bounds =
      path_optimum_bounds(*path_registry().drafter("iid_paths"), small_model, {.drafts = 2, .length = 2});
  for (const auto& [lower, value, upper] :
       {std::tuple(bounds->lower, Rational(131, 81), bounds->upper),
        std::tuple(bounds->whole_block_lower, Rational(134, 81), bounds->whole_block_upper)}) {
    EXPECT_LT(Rational(lower), value);
    EXPECT_GT(Rational(upper), value);
    EXPECT_LE(upper, std::nextafter(std::nextafter(std::nextafter(lower, 2), 2), 2));
  }
}

TEST(TreeOptimum, IsNothingBeyondTheLimits) {
  const auto conditionals = golden::path_models().at("small_model_k2").conditionals();
  const AnyTreeDrafter& drafter = *path_registry().drafter("iid_paths");
  const TreeShape shape{.drafts = 2, .length = 2};  // the enumeration has 16 branches, 10 trees, 36 nodes
  EXPECT_TRUE(path_optimum_bounds(drafter, conditionals, shape, 0, {.branches = 16, .nodes = 1000}));
  EXPECT_FALSE(path_optimum_bounds(drafter, conditionals, shape, 0, {.branches = 15, .nodes = 1000}));
  const std::size_t nodes = enumerate_tree_sampling(drafter, conditionals, shape)->nodes();
  EXPECT_TRUE(path_optimum_bounds(drafter, conditionals, shape, 0, {.branches = 16, .nodes = nodes}));
  EXPECT_FALSE(path_optimum_bounds(drafter, conditionals, shape, 0, {.branches = 16, .nodes = nodes - 1}));
}

}  // namespace
}  // namespace draftproof
