// Rows next to p = q among the models of a program: their shapes, and that a verifier which draws from (p - q)+ alone is
// refuted on them, in every type and at every level.
#include <draftproof/doors/gate/edge_rows.hpp>

#include <fmt/format.h>

#include <draftproof/captures/stored_format.hpp>
#include <draftproof/properties/instances/instance.hpp>
#include <draftproof/tests/support/doors_slips.hpp>

namespace draftproof::doors {
namespace {

using namespace slips;

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
  // 1 - 2^-k is 1 from k = bits + 1 on: half a unit below 1 goes to the even neighbour.
  EXPECT_EQ(first(Dtype::float32), "p=(0 1)/1 q=(1 33554431)/33554432 K=1");
  EXPECT_EQ(first(Dtype::float16), "p=(0 1)/1 q=(1 4095)/4096 K=1");
  EXPECT_EQ(first(Dtype::bfloat16), "p=(0 1)/1 q=(1 511)/512 K=1");
}

enum class Fallback { never, at_root, always };

/// The position, chain or tree of a program that computes in doubles on rows as its type has them: drafts of a node in
/// turn, each against what its siblings left. Where that is nothing the target takes its place, if the program has this
/// end there.
std::vector<Token> rejection(const Input& input, TapeDraws& draws, Dtype dtype, Fallback fallback) {
  const StoredFormat format = stored_as(dtype);
  std::vector<Token> tokens;
  int node = -1;
  const bool position = input.p.size() == 1;
  for (;;) {
    const Weights target = format.round(input.p[static_cast<std::size_t>(position ? 0 : node + 1)]);
    Weights left = target;
    bool moved = false;
    for (std::size_t i = 0; i < input.drafts.size() && !moved; ++i) {
      const int parent = position ? -1 : input.parents.empty() ? static_cast<int>(i) - 1 : input.parents[i];
      if (parent != node) continue;
      const Weights q = format.round(input.q[input.q.size() == 1 ? 0 : i]);
      const auto x = static_cast<std::size_t>(input.drafts[i]);
      if (draws.coin() * q[x] < left[x]) {
        tokens.push_back(input.drafts[i]);
        if (position) return tokens;
        // Of equal siblings the first one has the children.
        for (std::size_t j = 0; j <= i && !moved; ++j)
          if ((input.parents.empty() ? static_cast<int>(j) - 1 : input.parents[j]) == node &&
              input.drafts[j] == input.drafts[i])
            node = static_cast<int>(j), moved = true;
        continue;
      }
      left = residual_of(left, q);
      const double total = std::accumulate(left.begin(), left.end(), 0.0);
      if ((fallback == Fallback::always || (fallback == Fallback::at_root && node < 0)) && !(total > 0))
        left = target;
      else
        for (double& weight : left) weight /= total;
    }
    if (moved) continue;
    tokens.push_back(draws.pick(left));
    return tokens;
  }
}

TEST(NearRows, RefuteAProgramThatDrawsFromNothing) {
  for (const auto& [models, most, predictions] : {std::array{20, 2, 64}, {60, 4, 256}})
    for (const Dtype dtype : {Dtype::float32, Dtype::float16, Dtype::bfloat16, Dtype::float64})
      for (const auto& [level, law] :
           {std::pair{Level::position, "iid"}, {Level::chain, "iid"}, {Level::tree, "iid_paths"}})
        for (const std::uint64_t seed : {1, 2, 3}) {
          if (models > 20 && seed > 1) continue;
          SCOPED_TRACE(fmt::format("{} models, {}, {}, seed {}", models, to_text(dtype), to_text(level), seed));
          for (const Fallback fallback : {Fallback::never, Fallback::at_root, Fallback::always}) {
            const int bits = dtype == Dtype::float64 ? 53 : 24;  // a coarser coin is never above p / q
            InProcess program(
                [&, dtype = dtype](const Input& input, TapeDraws& draws) {
                  return rejection(input, draws, dtype, fallback);
                },
                bits);
            const Declaration declaration{
                .name = "rejection", .level = level, .law = law, .dtypes = {dtype}, .coin_bits = bits};
            const LawChecks checks = check_laws(program, declaration,
                                                {.instances = models,
                                                 .most_drafts = most,
                                                 .seed = seed,
                                                 .door = "exec:mine",
                                                 .explore = {.predictions = predictions}});
            const GateFinding& answers = law_finding(checks, "answers");
            if (fallback == Fallback::always || (fallback == Fallback::at_root && level == Level::position)) {
              expect_others_held(checks, {});
              continue;
            }
            EXPECT_EQ(answers.status, Status::violated);
            EXPECT_NE(answers.evidence.find("draws from weights without mass"), std::string::npos)
                << answers.evidence;
          }
        }
}

}  // namespace
}  // namespace draftproof::doors
