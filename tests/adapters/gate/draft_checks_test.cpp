// Drafters of programs: correct drafters pass, and each wrong drafter fails the check for its bug.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <functional>

#include <draftproof/adapters/gate/draft_checks.hpp>
#include <draftproof/adapters/wire/batch_packer.hpp>
#include <draftproof/sim/numeric/short_float.hpp>
#include <draftproof/sim/random/philox.hpp>
#include <draftproof/tests/support/adapters_messages.hpp>

namespace draftproof::adapters {
namespace {

/// Draws one tuple from a row, given the number of drafts and a source of random numbers.
using DraftBody = std::function<std::vector<Token>(std::span<const float> q, int drafts, Philox& random)>;

/// A program that drafts from rows of one type (Dtype) and kind (RowKind). After `sound` rows, every row fails.
class DraftingProgram final : public Served {
 public:
  DraftingProgram(const std::string& distribution, DraftBody body, Dtype dtype = Dtype::float32,
                  RowKind kind = RowKind::probabilities, int sound = 1 << 30)
      : body_{std::move(body)}, sound_{sound} {
    declaration_ = {.name = "drafting",
                    .level = distribution == "iid_paths" ? Level::tree : Level::position,
                    .draft_sampling = distribution,
                    .randomness = {Randomness::seeded},
                    .dtypes = {dtype},
                    .rows = {kind},
                    .functions = {"draft"}};
  }
  const Declaration& declaration() const override { return declaration_; }
  void verify(const ServedBatch&, ServedResult&) override {}
  void draft(const ServedBatch& batch, ServedResult& result) override {
    ASSERT_EQ(batch.dtype, declaration_.dtypes.front());
    ASSERT_EQ(batch.kind, declaration_.rows.front());
    for (int row = 0; row < batch.rows; ++row) {
      const auto at = static_cast<std::size_t>(row);
      Philox random(static_cast<std::uint64_t>(batch.seeds[at]), 0, Philox::Role::draft);
      const auto tokens = body_(probabilities(batch, row), batch.drafts_a_row, random);
      std::copy(tokens.begin(), tokens.end(), result.tokens_of(row).begin());
      result.counts[at] = static_cast<std::int32_t>(tokens.size());
      if (--sound_ < 0) result.set(row, RowStatus::failed, "IndexError: no row");
    }
  }

 private:
  std::span<const float> probabilities(const ServedBatch& batch, int row) {
    if (batch.kind == RowKind::probabilities) return batch.proposal<float>(row, 0);
    q_.clear();
    for (const Bfloat16 logit : batch.proposal<Bfloat16>(row, 0)) q_.push_back(std::exp(static_cast<float>(logit)));
    return q_;
  }

  Declaration declaration_;
  DraftBody body_;
  std::vector<float> q_;
  int sound_;
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

float as_bfloat16(float value) {
  return std::bit_cast<float>((std::bit_cast<std::uint32_t>(value) + 0x8000u) & 0xFFFF0000u);
}

/// Draws argmax q / clock, with exponential clocks; `half` rounds the uniforms and the clocks to bfloat16.
DraftBody race(bool half) {
  const auto rounded = [half](float value) { return half ? as_bfloat16(value) : value; };
  return [=](std::span<const float> q, int drafts, Philox& random) {
    std::vector<Token> tokens;
    for (int k = 0; k < drafts; ++k) {
      Token winner = 0;
      float best = -1;
      for (std::size_t x = 0; x < q.size(); ++x) {
        const float u = rounded(static_cast<float>((random.next(Purpose::draft) >> 40) + 1) * 0x1p-24f);
        const float clock = rounded(-std::log(std::min(u, 1 - 0x1p-24f)));
        if (!(q[x] / clock > best)) continue;
        best = q[x] / clock;
        winner = static_cast<Token>(x);
      }
      tokens.push_back(winner);
    }
    return tokens;
  };
}

std::vector<Token> ids_of_sixteen_bits(std::span<const float> q, int drafts, Philox& random) {
  auto tokens = iid_drafts(q, drafts, random);
  for (Token& token : tokens) token &= 0xFFFF;
  return tokens;
}

std::vector<Token> one_draft_repeated(std::span<const float> q, int drafts, Philox& random) {
  return std::vector<Token>(static_cast<std::size_t>(drafts), by_inversion(q, uniform(random)));
}

std::vector<Token> fourth_is_third(std::span<const float> q, int drafts, Philox& random) {
  auto tokens = iid_drafts(q, drafts, random);
  if (drafts > 3) tokens[3] = tokens[2];
  return tokens;
}

/// Imitates drafts argmax q / clock whose clocks are 0 with probability 2^-25. A token with clock 0 wins, because q / 0
/// is infinite or, if q is 0, NaN.
std::vector<Token> clocks_that_can_be_zero(std::span<const float> q, int drafts, Philox& random) {
  std::vector<Token> tokens = iid_drafts(q, drafts, random);
  const double none = std::exp(-static_cast<double>(q.size()) * 0x1p-25);
  for (Token& token : tokens)
    if (!(uniform(random) < none)) token = static_cast<Token>(uniform(random) * static_cast<double>(q.size()));
  return tokens;
}

TEST(DraftChecks, RightDraftersPass) {
  DraftingProgram plain("iid", iid_drafts), logits("iid", iid_drafts, Dtype::bfloat16, RowKind::logits);
  for (const auto& findings : {check_drafts(plain, {.vocabularies = {4096}}),
                               check_drafts(logits, {.log2_small = 12, .log2_large = 6, .vocabularies = {64}})})
    for (const Finding& finding : findings)
      EXPECT_EQ(finding.status, Status::passed) << finding.property << ": " << finding.evidence;
}

TEST(DraftChecks, ThePassedLineStatesTheDistanceThatIsFound) {
  const auto checked = [](double share, std::uint64_t seed) {
    // Moves `share` of the first drafts to token 0, which has less than half of the probability in each row.
    DraftingProgram program("iid", [share](std::span<const float> q, int drafts, Philox& random) {
      auto tokens = iid_drafts(q, drafts, random);
      if (uniform(random) < share) tokens.front() = 0;
      return tokens;
    });
    return check_drafts(program, {.log2_small = 14, .log2_large = 8, .vocabularies = {64}, .seed = seed}).front();
  };
  const Finding right = checked(0, 1);
  double distance = 0;
  ASSERT_EQ(std::sscanf(right.sensitivity.c_str(), "a total variation of %lf", &distance), 1) << right.sensitivity;
  EXPECT_LT(distance, 0.2);
  int found = 0;
  constexpr std::uint64_t seeds = 20;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) found += checked(2 * distance, seed).status == Status::failed;
  EXPECT_GE(found, 19);
}

TEST(DraftChecks, WrongDraftersAreFoundByTheCheckThatNamesThem) {
  struct Wrong {
    const char* distribution;
    DraftBody body;
    DraftCheckOptions options;
    Status draft_sampling, draft_noise;
    const char* words;
  };
  const DraftCheckOptions one_size{.vocabularies = {64}}, large{.log2_small = 12, .log2_large = 11, .log2_kept = 8},
      few_possible{.log2_small = 13, .log2_large = 11, .log2_kept = 11},
      few_at_quick{.log2_small = 13, .log2_large = 11, .log2_kept = 10};
  const DraftCheckOptions few{.log2_small = 12, .log2_large = 10};
  const Status passed = Status::passed, failed = Status::failed, any = Status::skipped;
  for (const Wrong& wrong : std::vector<Wrong>{
           {"without_replacement", iid_drafts, one_size, failed, any, "which without_replacement never does"},
           {"iid", one_draft_repeated, one_size, failed, any, ""},
           {"iid_paths", iid_drafts, few, passed, any, ""},
           {"iid_paths", one_draft_repeated, few, failed, any, ""},
           {"iid", fourth_is_third, few, passed, any, ""},
           {"iid", fourth_is_third, {.log2_small = 12, .log2_large = 10, .drafts = 5}, failed, any, ""},
           {"without_replacement_uniform", iid_drafts, {.log2_small = 12, .drafts = 6}, failed, any, "never does"},
           {"iid", race(false), large, any, passed, ""},
           {"iid", race(true), large, any, failed, ""},
           {"iid", ids_of_sixteen_bits, large, passed, failed, "at V = 32000, e = 10^"},
           {"iid", clocks_that_can_be_zero, few_possible, passed, failed, "which has q = 0"},
           {"iid", clocks_that_can_be_zero, few_at_quick, passed, failed, "which has q = 0"}}) {
    DraftingProgram program(wrong.distribution, wrong.body);
    const auto findings = check_drafts(program, wrong.options);
    for (const auto& [check, status] :
         {std::pair{"draft_sampling", wrong.draft_sampling}, {"draft_noise", wrong.draft_noise}}) {
      if (status == any) continue;
      const Finding& finding = finding_of(findings, check);
      EXPECT_EQ(finding.status, status) << check << ": " << finding.evidence;
      if (status == failed) expect_words(finding.evidence, wrong.words);
      EXPECT_EQ(finding.replay.find("--drafts") != std::string::npos, wrong.options.drafts != 4) << finding.replay;
    }
  }
}

TEST(DraftChecks, ADistributionIsThatOfTheRowAsRead) {
  // log(1/26) = -3.2581 and log(25/26) = -.039221 are rounded to bfloat16, whose numbers near them are multiples of
  // 2^-6 and of 2^-12.
  const std::vector<double> row{1 / 26.0, 25 / 26.0};
  const double rare = std::exp(-209.0 / 64), likely = std::exp(-161.0 / 4096);
  const auto distribution = stored_distribution(row, {.dtype = Dtype::bfloat16, .kind = RowKind::logits});
  EXPECT_DOUBLE_EQ(distribution[0], rare / (rare + likely));
  EXPECT_EQ(stored_distribution(std::vector{.25, .75}, {.dtype = Dtype::float16}), (std::vector{.25, .75}));
}

TEST(DraftChecks, ADistributionThatIsNotEnumeratedWholeIsUndecided) {
  for (const char* distribution : {"iid", "without_replacement"}) {
    DraftingProgram program(distribution, iid_drafts);
    const auto findings = check_drafts(program, {.vocabularies = {64}, .limits = {.leaves = 2}});
    EXPECT_EQ(finding_of(findings, "draft_sampling").status, Status::undecided);
    EXPECT_EQ(finding_of(findings, "draft_sampling").evidence, "more than 2 tuples on q = (12 7 4 2 1)/26");
  }
  DraftingProgram unknown("no_such_distribution", iid_drafts);
  EXPECT_THROW(check_drafts(unknown, {}), AdapterError);
}

TEST(DraftChecks, ADrafterThatFailsIsNamedWithItsMessage) {
  for (const int sound : {0, 1, 3}) {
    DraftingProgram program("iid", iid_drafts, Dtype::float32, RowKind::probabilities, sound);
    const auto act = [&] { check_drafts(program, {.log2_small = 12}); };
    if (sound == 0)
      expect_error<ProgramFails>(act, "^drafting fails on every input: IndexError: no row$");
    else
      expect_error(act, "^drafting: draft: row " + std::to_string(sound) +
                            ": got 3 drafts, status failed: IndexError: no row, expected a tuple of drafts$");
  }
}

}  // namespace
}  // namespace draftproof::adapters
