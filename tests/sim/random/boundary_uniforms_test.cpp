// The largest uniforms on rows that small integer weights cannot give, for every registered verifier. Properties test
// what holds on any instance: boundary_uniforms, edge_rows and strict_grid of properties/laws.
#include <gtest/gtest.h>

#include <draftproof/properties/prover/registry.hpp>
#include <draftproof/tests/support/example_rows.hpp>

namespace draftproof {
namespace {

constexpr std::uint64_t largest_word = ~std::uint64_t{0};

/// More words than any scheme draws for three drafts.
Tape all(std::uint64_t word) { return Tape(std::vector<std::uint64_t>(64, word)); }

struct ScriptedLaws {
  std::vector<double> p, q;
};

Verdict run_scripted(const AnyVerifier& verifier, const ScriptedLaws& laws, std::vector<Token> drafts, Tape tape) {
  WordsOf<Tape> words(std::move(tape));
  Scripted random(words);
  const Rows<double> rows(laws.p, laws.q);
  const auto decider = verifier.scripted_on(rows, static_cast<int>(drafts.size()));
  EXPECT_TRUE(decider) << verifier.info().name;
  return decider->decide(drafts, random);
}

/// The first drafts of a tuple, as many as the verifier supports.
std::vector<Token> as_many(const AnyVerifier& verifier, std::vector<Token> drafts) {
  while (!verifier.takes(static_cast<int>(drafts.size()))) drafts.pop_back();
  return drafts;
}

/// Visits every verifier that promises losslessness, accepts arbitrary words with any drafts, and passes `chosen`; at
/// least one must. Couplings are excluded: their drafts depend on the same words (couplings_test.cpp).
void for_each_verifier(auto&& chosen, auto&& visit) {
  int visited = 0;
  for (const auto& verifier : registry().verifiers())
    if (verifier->kind() == Kind::verifier && verifier->info().promise == Promise::lossless &&
        !verifier->info().shared_noise && chosen(verifier->info())) {
      SCOPED_TRACE(std::string(verifier->info().name));
      visit(*verifier);
      ++visited;
    }
  EXPECT_GT(visited, 0);
}

/// Schemes that test drafts one by one. Enumerated plans divide a set's mass on a grid of 2^-52 and may leave that
/// much over; their exactness is tested in fractions instead.
constexpr bool tests_drafts(const Info& info) { return info.unsupported.simulate.empty(); }

TEST(BoundaryUniforms, LargestUniformAcceptsADraftThatTheTargetLikesMore) {
  // p >= q in doubles without a short binary form, with some equalities.
  const double third = 1.0 / 3;
  const std::vector<ScriptedLaws> pairs{{{0.1, 0.9}, {0.1, 0.9}},
                                        {{third, 1 - third}, {third, 1 - third}},
                                        {{0.7, 0.3}, {0.6, 0.4}},
                                        {{1, 0}, {0.3, 0.7}},
                                        {{0.1 + 0.2, 0.7}, {0.3, 0.7}}};
  for_each_verifier([](const Info& info) { return tests_drafts(info) && info.claims.one_draft_is_single_draft; },
                    [&](const AnyVerifier& verifier) {
                      for (const ScriptedLaws& laws : pairs)
                        EXPECT_EQ(run_scripted(verifier, laws, {0}, all(largest_word)).accepted, 0);
                    });
}

TEST(BoundaryUniforms, LargestUniformAcceptsADraftWhenTheLawsAreEqual) {
  for_each_verifier([](const Info& info) { return tests_drafts(info) && info.claims.accepts_equal_laws; },
                    [&](const AnyVerifier& verifier) {
                      for (std::uint64_t seed = 0; seed < 20; ++seed) {
                        const auto row = examples::random_row(seed, 7, 3);
                        const auto drafts =
                            as_many(verifier, {static_cast<Token>(seed % 7), static_cast<Token>((seed + 1) % 7),
                                               static_cast<Token>((seed + 3) % 7)});
                        EXPECT_GE(run_scripted(verifier, {row, row}, drafts, all(largest_word)).accepted, 0);
                      }
                    });
}

TEST(BoundaryUniforms, NoWordLeadsToATokenOfProbabilityZero) {
  // Zeros first, last and in between; sums that miss 1 by an ulp.
  const std::vector<ScriptedLaws> pairs{
      {{0, 0.1, 0.2, 0, 0.7, 0}, {0.3, 0.3, 0.3, 0.1, 0, 0}},
      {examples::normalised({0, 1, 0, 1, 1, 0}), examples::normalised({1, 1, 1, 0, 0, 0})},
      {examples::normalised({0, 3e-17, 1, 1e-9, 1, 0}), examples::normalised({1, 3, 3, 1, 0, 0})}};
  for_each_verifier([](const Info&) { return true; },
                    [&](const AnyVerifier& verifier) {
                      for (const ScriptedLaws& laws : pairs)
                        for (const std::uint64_t word : examples::some_words(13, 50)) {
                          const auto drafts = as_many(verifier, {2, 0, 1});
                          const Token token = run_scripted(verifier, laws, drafts, all(word)).token;
                          ASSERT_GE(token, 0);
                          ASSERT_GT(laws.p[static_cast<std::size_t>(token)], 0)
                              << "token " << token << " word " << word;
                        }
                    });
}

}  // namespace
}  // namespace draftproof
