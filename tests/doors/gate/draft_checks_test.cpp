// A program's own drafter: right ones pass, and each wrong one is found by the check that names it.
#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>

#include <gtest/gtest.h>

#include <draftproof/doors/gate/draft_checks.hpp>
#include <draftproof/doors/wire/batch_packer.hpp>
#include <draftproof/sim/numeric/short_float.hpp>
#include <draftproof/sim/random/philox.hpp>

namespace draftproof::doors {
namespace {

/// A drafter of one tuple: from the row, the number of drafts and a source of words.
using DraftBody = std::function<std::vector<Token>(std::span<const float> q, int drafts, Philox& random)>;

class DraftingProgram : public Served {
 public:
  DraftingProgram(std::string law, DraftBody body) : body_{std::move(body)} {
    declaration_ = {.name = "drafting",
                    .level = Level::position,
                    .law = std::move(law),
                    .randomness = {Randomness::seeded},
                    .functions = {"draft"}};
  }
  const Declaration& declaration() const override { return declaration_; }
  void verify(const ServedBatch&, ServedResult&) override {}
  void draft(const ServedBatch& batch, ServedResult& result) override {
    for (int row = 0; row < batch.rows; ++row) {
      const auto at = static_cast<std::size_t>(row);
      Philox random(static_cast<std::uint64_t>(batch.seeds[at]), 0, Philox::Role::draft);
      const auto tokens = body_(batch.proposal<float>(row, 0), batch.drafts_a_row, random);
      std::copy(tokens.begin(), tokens.end(), result.tokens_of(row).begin());
      result.counts[at] = static_cast<std::int32_t>(tokens.size());
    }
  }

 protected:
  Declaration declaration_;

 private:
  DraftBody body_;
};

double uniform(Philox& random) { return static_cast<double>(random.next(Purpose::draft) >> 11) * 0x1p-53; }

Token by_inversion(std::span<const float> q, double u) {
  double total = 0, sum = 0;
  for (const float share : q) total += static_cast<double>(share);
  Token last = 0;
  for (std::size_t x = 0; x < q.size(); ++x) {
    if (!(q[x] > 0)) continue;
    last = static_cast<Token>(x);
    if (u * total < (sum += static_cast<double>(q[x]))) break;
  }
  return last;
}

std::vector<Token> iid_drafts(std::span<const float> q, int drafts, Philox& random) {
  std::vector<Token> tokens;
  for (int k = 0; k < drafts; ++k) tokens.push_back(by_inversion(q, uniform(random)));
  return tokens;
}

/// The nearest number of eight significant bits.
float as_bfloat16(float value) {
  return std::bit_cast<float>((std::bit_cast<std::uint32_t>(value) + 0x8000u) & 0xFFFF0000u);
}

/// argmax q / clock, with exponential clocks; `half` rounds the uniforms and the clocks to bfloat16.
Token by_race(std::span<const float> q, Philox& random, bool half) {
  Token winner = 0;
  float best = -1;
  for (std::size_t x = 0; x < q.size(); ++x) {
    const auto word = random.next(Purpose::draft);
    float u = static_cast<float>((word >> 40) + 1) * 0x1p-24f;
    if (half) u = as_bfloat16(u);
    float clock = -std::log(std::min(u, 1 - 0x1p-24f));
    if (half) clock = as_bfloat16(clock);
    if (q[x] / clock > best) {
      best = q[x] / clock;
      winner = static_cast<Token>(x);
    }
  }
  return winner;
}

const GateFinding& finding_named(const std::vector<GateFinding>& findings, const std::string& check) {
  const auto found = std::find_if(findings.begin(), findings.end(),
                                  [&](const GateFinding& finding) { return finding.check == check; });
  if (found == findings.end()) throw std::logic_error("no finding " + check);
  return *found;
}

TEST(DraftChecks, ARightDrafterPasses) {
  DraftingProgram program("iid", iid_drafts);
  for (const GateFinding& finding : check_drafts(program, {.vocabularies = {4096}}))
    EXPECT_EQ(finding.status, Status::held) << finding.check << ": " << finding.evidence;
}

TEST(DraftChecks, DrawsWithReplacementThatDeclareNone) {
  DraftingProgram program("without_replacement", iid_drafts);
  const auto findings = check_drafts(program, {.vocabularies = {64}});
  const GateFinding& law = finding_named(findings, "draft_law");
  EXPECT_EQ(law.status, Status::violated);
  EXPECT_NE(law.evidence.find("which without_replacement never does"), std::string::npos) << law.evidence;
}

TEST(DraftChecks, ASecondDraftThatRepeatsTheFirst) {
  DraftingProgram program("iid", [](std::span<const float> q, int drafts, Philox& random) {
    return std::vector<Token>(static_cast<std::size_t>(drafts), by_inversion(q, uniform(random)));
  });
  EXPECT_EQ(finding_named(check_drafts(program, {.vocabularies = {64}}), "draft_law").status, Status::violated);
}

TEST(DraftChecks, NoiseInHalfPrecisionShowsAtALargeVocabulary) {
  const auto racing = [](bool half) {
    return [half](std::span<const float> q, int drafts, Philox& random) {
      std::vector<Token> tokens;
      for (int k = 0; k < drafts; ++k) tokens.push_back(by_race(q, random, half));
      return tokens;
    };
  };
  DraftingProgram full("iid", racing(false)), half("iid", racing(true));
  const DraftCheckOptions options{.log2_small = 12, .log2_large = 11, .log2_kept = 8};
  EXPECT_EQ(finding_named(check_drafts(full, options), "draft_noise").status, Status::held);
  const GateFinding noise = finding_named(check_drafts(half, options), "draft_noise");
  EXPECT_EQ(noise.status, Status::violated) << noise.evidence;
}

TEST(DraftChecks, IdsOfSixteenBitsShowAtTheLargestVocabulary) {
  DraftingProgram program("iid", [](std::span<const float> q, int drafts, Philox& random) {
    auto tokens = iid_drafts(q, drafts, random);
    for (Token& token : tokens) token &= 0xFFFF;
    return tokens;
  });
  const DraftCheckOptions options{.log2_small = 12, .log2_large = 11, .log2_kept = 8};
  const auto findings = check_drafts(program, options);
  EXPECT_EQ(finding_named(findings, "draft_law").status, Status::held);
  const GateFinding& noise = finding_named(findings, "draft_noise");
  EXPECT_EQ(noise.status, Status::violated) << noise.evidence;
  EXPECT_NE(noise.evidence.find("at V = 32000, e = 10^"), std::string::npos) << noise.evidence;
}

// argmax q / clock where each clock is 0 once in 2^25: q / 0 is infinite or, where q is 0, no number, and both win.
TEST(DraftChecks, ClocksThatCanBeZeroShowOnARowOfFewPossibleTokens) {
  DraftingProgram program("iid", [](std::span<const float> q, int drafts, Philox& random) {
    std::vector<Token> tokens = iid_drafts(q, drafts, random);
    const double none = std::exp(-static_cast<double>(q.size()) * 0x1p-25);
    for (Token& token : tokens)
      if (!(uniform(random) < none)) token = static_cast<Token>(uniform(random) * static_cast<double>(q.size()));
    return tokens;
  });
  for (const int log2_kept : {11, 10}) {  // 10 as at profile quick
    const auto findings = check_drafts(program, {.log2_small = 13, .log2_large = 11, .log2_kept = log2_kept});
    EXPECT_EQ(finding_named(findings, "draft_law").status, Status::held);
    const GateFinding& noise = finding_named(findings, "draft_noise");
    EXPECT_EQ(noise.status, Status::violated);
    EXPECT_NE(noise.evidence.find("which has q = 0"), std::string::npos) << noise.evidence;
  }
}

TEST(DraftChecks, RowsHaveTheTypeAndTheKindThatAreDeclared) {
  struct Declared : DraftingProgram {
    Declared() : DraftingProgram("iid", {}) {
      declaration_.dtypes = {Dtype::bfloat16};
      declaration_.rows = {RowKind::logits};
    }
    void draft(const ServedBatch& batch, ServedResult& result) override {
      ASSERT_EQ(batch.dtype, Dtype::bfloat16);
      ASSERT_EQ(batch.kind, RowKind::logits);
      for (int row = 0; row < batch.rows; ++row) {
        Philox random(static_cast<std::uint64_t>(batch.seeds[static_cast<std::size_t>(row)]), 0, Philox::Role::draft);
        std::vector<float> q;
        for (const Bfloat16 logit : batch.proposal<Bfloat16>(row, 0))
          q.push_back(std::exp(static_cast<float>(logit)));
        const auto tokens = iid_drafts(q, batch.drafts_a_row, random);
        std::copy(tokens.begin(), tokens.end(), result.tokens_of(row).begin());
        result.counts[static_cast<std::size_t>(row)] = static_cast<std::int32_t>(tokens.size());
      }
    }
  } program;
  const DraftCheckOptions options{.log2_small = 12, .log2_large = 6, .vocabularies = {64}};
  for (const GateFinding& finding : check_drafts(program, options))
    EXPECT_EQ(finding.status, Status::held) << finding.check << ": " << finding.evidence;
}

TEST(DraftChecks, ALawIsThatOfTheRowAsRead) {
  // log(1/26) is -3.2581; bfloat16 has steps of 2^-6 there, and 2^-12 at log(25/26) = -.039221.
  const std::vector<double> row{1 / 26.0, 25 / 26.0};
  const double rare = std::exp(-209.0 / 64), likely = std::exp(-161.0 / 4096);
  const auto law = stored_law(row, {.dtype = Dtype::bfloat16, .kind = RowKind::logits});
  EXPECT_DOUBLE_EQ(law[0], rare / (rare + likely));
  EXPECT_EQ(stored_law(std::vector{.25, .75}, {.dtype = Dtype::float16}), (std::vector{.25, .75}));
}

TEST(DraftChecks, ALawThatIsNotWalkedWholeIsUndecided) {
  DraftingProgram right("iid", iid_drafts), wrong("without_replacement", iid_drafts);
  for (DraftingProgram* program : {&right, &wrong}) {
    const auto findings = check_drafts(*program, {.vocabularies = {64}, .limits = {.leaves = 2}});
    EXPECT_EQ(finding_named(findings, "draft_law").status, Status::undecided);
    EXPECT_EQ(finding_named(findings, "draft_law").evidence, "more than 2 tuples on q = (12 7 4 2 1)/26");
  }
}

TEST(DraftChecks, ADrafterThatFailsIsNamedWithItsMessage) {
  struct Failing : DraftingProgram {
    explicit Failing(int sound) : DraftingProgram("iid", iid_drafts), rows{sound} {}
    void draft(const ServedBatch& batch, ServedResult& result) override {
      DraftingProgram::draft(batch, result);
      for (int row = 0; row < batch.rows; ++row)
        if (--rows < 0) result.set(row, RowStatus::failed, "IndexError: no row");
    }
    int rows;
  };
  for (const int sound : {0, 1, 3}) {
    Failing program(sound);
    try {
      check_drafts(program, {.log2_small = 12});
      ADD_FAILURE() << sound;
    } catch (const ProgramFails& error) {
      EXPECT_STREQ(error.what(), "drafting fails on every input: IndexError: no row");
      EXPECT_EQ(sound, 0);
    } catch (const DoorError& error) {
      EXPECT_EQ(error.what(), "drafting: draft: row " + std::to_string(sound) +
                                  ": found 3 drafts, status failed: IndexError: no row, wanted a tuple");
      EXPECT_GT(sound, 0);
    }
  }
}

TEST(DraftChecks, SaysWhereALawIsUnknown) {
  DraftingProgram program("no_such_law", iid_drafts);
  EXPECT_THROW(check_drafts(program, {}), DoorError);
}

}  // namespace
}  // namespace draftproof::doors
