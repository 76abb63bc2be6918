// Rows next to p = q, and rows with one likely token, among the models of a program. Tests the shapes of rows next to
// p = q, that they refute a verifier which draws only from (p - q)+, in every type and at every level, and that rows
// with one likely token refute a rule for such tokens.
#include <draftproof/adapters/gate/edge_rows.hpp>

#include <fmt/format.h>

#include <draftproof/adapters/gate/small_model.hpp>
#include <draftproof/captures/stored_format.hpp>
#include <draftproof/properties/instances/instance.hpp>
#include <draftproof/tests/support/adapters_rejection.hpp>
#include <draftproof/tests/support/nightly.hpp>

namespace draftproof::adapters {
namespace {

StoredFormat stored_as(Dtype dtype) {
  return dtype == Dtype::float32    ? float32
         : dtype == Dtype::float16  ? float16
         : dtype == Dtype::bfloat16 ? bfloat16
                                    : float64;
}
Weights stored_row(const std::vector<int>& weights, Dtype dtype) {
  Weights row(weights.begin(), weights.end());
  const double total = std::accumulate(row.begin(), row.end(), 0.0);
  for (double& weight : row) weight /= total;
  return stored_as(dtype).round(row);
}

TEST(NearRows, DifferByLessThanTheirTypeHolds) {
  for (const Dtype dtype : {Dtype::float32, Dtype::float16, Dtype::bfloat16, Dtype::float64}) {
    std::set<std::size_t> sizes;
    std::set<int> counts_below;
    bool all_differ = false, unit_left = false;
    for (std::uint64_t seed = 1; seed <= 20; ++seed)
      for (int k = 0; k < 12; ++k) {
        const auto edge = edge_rows(seed, near_every * k + near_at, dtype);
        ASSERT_TRUE(edge) << to_text(dtype) << ", seed " << seed << ", k " << k;
        EXPECT_EQ(edge->below_root, k % 2 == 1);
        const Instance instance{.target = edge->rows.target, .proposals = {edge->rows.proposal}};
        EXPECT_EQ(Instance::parse(instance.text()), instance);
        const Weights p = stored_row(instance.target, dtype), q = stored_row(instance.proposals[0], dtype);
        int below = 0, above = 0, tokens = 0;
        for (std::size_t x = 0; x < p.size(); ++x) {
          below += p[x] < q[x];
          above += p[x] > q[x];
          tokens += q[x] > 0;
          if (p[x] > q[x]) {
            EXPECT_EQ(p[x], q[x] + stored_as(dtype).unit(q[x])) << instance.text();
          }
        }
        EXPECT_GT(below, 0) << instance.text();
        EXPECT_LE(above, k < 2 ? 0 : 1) << instance.text();
        if (k == 0) {
          EXPECT_EQ(p.size(), 2u);
        }
        sizes.insert(p.size());
        counts_below.insert(below);
        all_differ = all_differ || below + above == tokens;
        unit_left = unit_left || above == 1;
      }
    EXPECT_EQ(sizes, (std::set<std::size_t>{2, 3, 4}));
    EXPECT_EQ(counts_below, (std::set{1, 2, 3}));
    EXPECT_TRUE(all_differ && unit_left);
  }
}

TEST(NearRows, AreTheSmallestOfTheirKind) {
  const auto first = [](Dtype dtype) {
    const WeightPair rows = edge_rows(1, near_at, dtype)->rows;
    return Instance{.target = rows.target, .proposals = {rows.proposal}}.text();
  };
  // The least k for which 1 - 2^-k rounds to 1 is the number of significant bits plus 1: the number is then half a unit
  // in the last place below 1, and ties round to even.
  EXPECT_EQ(first(Dtype::float32), "p=(0 1)/1 q=(1 33554431)/33554432 K=1");
  EXPECT_EQ(first(Dtype::float16), "p=(0 1)/1 q=(1 4095)/4096 K=1");
  EXPECT_EQ(first(Dtype::bfloat16), "p=(0 1)/1 q=(1 511)/512 K=1");
}

TEST(TiedRows, AreEqualInHalfPrecisionAlone) {
  int rows = 0;
  for (const Greedy greedy : {Greedy::first, Greedy::last, Greedy::any})
    for (const int most_vocabulary : {0, 2})
      for (int n = 0; n < 60; ++n) {
        Declaration declaration{.name = "greedy", .most_vocabulary = most_vocabulary};
        declaration.greedy = greedy;
        const auto edge = edge_rows(declaration, 1, n);
        if (n % 20 != 13 && n % 20 != 16) continue;
        ASSERT_TRUE(edge && edge->rows.target.front() >= 1 << 16);
        ++rows;
        for (const bool logits : {false, true}) {
          std::array<std::set<double>, 3> values;
          for (const Dtype dtype : {Dtype::float32, Dtype::float16, Dtype::bfloat16}) {
            Weights row(edge->rows.target.begin(), edge->rows.target.end());
            const double total = std::accumulate(row.begin(), row.end(), 0.0);
            // round() takes numbers of 0 to 1. The sign and the factor 1/2 do not change which logarithms are equal.
            for (double& weight : row) weight = logits ? -std::log(weight / total) / 2 : weight / total;
            const Weights stored = stored_as(dtype).round(row);
            values[dtype == Dtype::float32   ? 0
                   : dtype == Dtype::float16 ? 1
                                             : 2]
                .insert(stored.begin(), stored.end());
          }
          EXPECT_EQ(values[0].size(), 2u);
          EXPECT_EQ(values[1].size(), 1u);
          EXPECT_EQ(values[2].size(), 1u);
        }
      }
  EXPECT_EQ(rows, 36);
  EXPECT_FALSE(edge_rows({.name = "half", .dtypes = {Dtype::float16}, .greedy = Greedy::first}, 1, 13)->rows.target ==
               (std::vector{1 << 16, (1 << 16) + 1, 1 << 16}));
}

TEST(TiedRows, ShortRowsRemainWhereAProgramAlsoDraws) {
  Declaration declaration{.name = "server", .settings = {Setting::temperature, Setting::top_k}};
  declaration.greedy = Greedy::first;
  int tied = 0, kept = 0;
  for (int n = 0; n < 120; ++n) {
    const auto edge = edge_rows(declaration, 1, n), plain = edge_rows(1, n, Dtype::float32);
    const bool same = plain.has_value() == edge.has_value() && (!plain || plain->rows.target == edge->rows.target);
    if (n % 20 != 13 && n % 20 != 16) {
      EXPECT_TRUE(same) << n;
      continue;
    }
    EXPECT_EQ(same, n / 20 % 2 == 1) << n;
    tied += edge->rows.target.front() >= 1 << 16;
    kept += !same && edge->rows.target.front() < 1 << 16;
  }
  EXPECT_EQ(tied, 3);
  EXPECT_EQ(kept, 3);
}

TEST(TiedRows, RequestsDrawOnSomeRowsNextToEqualOnes) {
  for (const Dtype dtype : {Dtype::float32, Dtype::float64}) {
    Declaration declaration{.name = "server", .dtypes = {dtype}, .settings = {Setting::temperature}};
    declaration.greedy = Greedy::first;
    int near_ties = 0, drawn = 0;
    for (std::uint64_t seed = 1; seed <= 10; ++seed)
      for (int n = 0; n < 120; ++n) {
        const auto edge = edge_rows(declaration, seed, n);
        if (!edge) continue;
        const Instance instance{.target = edge->rows.target, .proposals = {edge->rows.proposal}};
        const bool zero = requests_at_zero(instance, declaration);
        std::vector<int> target = edge->rows.target;
        if (target.front() == 1 << 16) {
          EXPECT_TRUE(zero) << n;
        }
        std::sort(target.rbegin(), target.rend());
        if (!has_near_rows(n) || target[1] == target[0] || target[1] < target[0] * (1 - 0x1p-12)) continue;
        ++near_ties;
        drawn += !zero;
      }
    EXPECT_GT(drawn, near_ties / 3) << near_ties << " in " << to_text(dtype);
  }
}

TEST(SureRows, RefuteARuleForLikelyAndForUnlikelyTokens) {
  for (const auto& [level, distribution] :
       {std::pair{Level::position, "iid"}, {Level::chain, "iid"}, {Level::tree, "iid_paths"}})
    for (const bool likely : {true, false}) {
      SCOPED_TRACE(fmt::format("{}, {}", to_text(level), likely));
      RejectionSampling sampling;
      sampling.accepts = [likely](double u, double p, double q) {
        return (likely ? p > 0.9 && q > 0.9 : q < 0.06) || u * q < p;
      };
      InProcess program(sampling);
      const DistributionChecks checks =
          check_distributions(program, {.name = "rejection", .level = level, .draft_sampling = distribution},
                              {.instances = likely ? 20 : 60, .explore = {.predictions = 64}});
      EXPECT_EQ(finding_of(checks.findings, "exact_distribution").status, Status::failed);
    }
}

TEST(NearRows, RefuteAProgramThatDrawsFromNothing) {
  for (const auto& [models, most, predictions] : {std::array{20, 2, 64}, {60, 4, 256}})
    for (const Dtype dtype : {Dtype::float32, Dtype::float16, Dtype::bfloat16, Dtype::float64})
      for (const auto& [level, distribution] :
           {std::pair{Level::position, "iid"}, {Level::chain, "iid"}, {Level::tree, "iid_paths"}})
        for (std::uint64_t seed = 1; seed <= swept(1u, 3u); ++seed) {
          // With 60 models the rows next to p = q are the same as with 20, so one seed, in nightly runs, is enough.
          if (models > 20 && (seed > 1 || !nightly())) continue;
          SCOPED_TRACE(fmt::format("{} models, {}, {}, seed {}", models, to_text(dtype), to_text(level), seed));
          for (const Fallback fallback : {Fallback::never, Fallback::at_root, Fallback::always}) {
            // The program computes in double on rows rounded to `dtype`.
            const RejectionSampling sampling{
                .read = [format = stored_as(dtype)](const Weights& row) { return format.round(row); },
                .fallback = fallback};
            const int bits = dtype == Dtype::float64 ? 53 : 24;  // A coin with fewer bits is never above p / q.
            InProcess program(sampling, bits);
            const Declaration declaration{.name = "rejection",
                                          .level = level,
                                          .draft_sampling = distribution,
                                          .dtypes = {dtype},
                                          .coin_bits = bits};
            const DistributionChecks checks = check_distributions(program, declaration,
                                                                  {.instances = models,
                                                                   .most_drafts = most,
                                                                   .seed = seed,
                                                                   .adapter = "exec:mine",
                                                                   .explore = {.predictions = predictions}});
            if (fallback == Fallback::always || (fallback == Fallback::at_root && level == Level::position)) {
              expect_others_passed(checks, {});
              continue;
            }
            const Finding& answers = finding_of(checks.findings, "answers");
            EXPECT_EQ(answers.status, Status::failed);
            expect_words(answers.evidence, "draws from weights that are all zero");
          }
        }
}

}  // namespace
}  // namespace draftproof::adapters
