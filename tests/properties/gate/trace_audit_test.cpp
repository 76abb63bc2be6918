#include <draftproof/properties/gate/trace_audit.hpp>

#include <algorithm>
#include <cmath>
#include <string_view>

#include <gtest/gtest.h>

#include <draftproof/captures/input_error.hpp>
#include <draftproof/tests/support/nightly.hpp>
#include <draftproof/tests/support/recordings.hpp>

namespace draftproof::trace_audit_test {
namespace {

using namespace recordings;
using recordings::Form;  // because the precision audit also defines a type Form

AuditResult audited(const Form& form, const Bugs& bugs, std::uint64_t seed, AuditOptions options = {}) {
  Recording recording(form, seed);
  recording.run(bugs);
  options.threads = 1;
  return audit_trace(recording.trace(), options);
}

const AuditFamily& family(const AuditResult& result, std::string_view name) {
  return *std::find_if(result.families.begin(), result.families.end(), [&](const auto& f) { return f.name == name; });
}

Form of_records(std::size_t records) { return {.records = records}; }

Distribution shifted_by(const Distribution& p, double distance, const std::function<bool(double)>& gains) {
  double mass = 0;
  for (const double x : p) mass += gains(x) ? x : 0;
  if (!(mass > 0 && mass < 1)) return p;
  Distribution out = p;
  for (double& x : out) x *= gains(x) ? 1 + distance / mass : 1 - distance / (1 - mass);
  return out;
}

// The e-value e of a run ever reaches 100 with probability at most 1 % (Ville's inequality). By Chernoff's bound exp(18
// - 28 ln 2.8), it does so in more than 28 of 1,000 runs with probability below 2e-5.
TEST(TraceAudit, IsQuietOnRightEngines) {
  int suspicious = 0;
  double mean = 0;
  const std::uint64_t runs = swept(250u, 1000u);
  for (std::uint64_t seed = 1; seed <= runs; ++seed) {
    Form form{.vocabulary = 24, .records = 250, .half = seed % 2 == 0, .top = seed % 4 == 1 ? 6u : 0u};
    const AuditResult result = audited(
        form, {}, seed, {.rule = form.top == 0 && seed % 3 == 0 ? AuditRule::rejection : AuditRule::any_lossless});
    ASSERT_TRUE(result.proofs.empty());
    suspicious += result.largest_log_e >= std::log(100.0);
    mean += std::exp(result.log_e) / static_cast<double>(runs);
    ASSERT_NE(result.status, Status::failed) << seed;
  }
  // If each run reaches 100 with probability 1/100, more runs do so with probability below 1e-6 (binomial tail).
  EXPECT_LE(suspicious, swept(13, 28));
  EXPECT_LT(mean, 2);  // e has mean at most 1, and few of its values exceed 100
}

TEST(TraceAudit, FindsBugsOfVerifiers) {
  const auto alarms = [](const Bugs& bugs, const std::string& where, AuditOptions options = {},
                         std::uint64_t seed = 1) {
    const AuditResult result = audited(of_records(20000), bugs, seed, options);
    EXPECT_EQ(result.status, Status::failed) << where;
    EXPECT_TRUE(result.alarm_record) << where;
    const auto largest = std::max_element(result.families.begin(), result.families.end(),
                                          [](const auto& a, const auto& b) { return a.log_e < b.log_e; });
    EXPECT_EQ(largest->name, where);
  };
  alarms({.residual = [](const Distribution& p, const Distribution&) { return p; }}, "tokens along p/q");
  alarms({.residual = [](const Distribution& p, const Distribution&) { return p; }}, "verdicts along p/q",
         {.rule = AuditRule::rejection});
  alarms({.shifted_row = true}, "tokens along p");
  alarms({.target = [](const Distribution& p, const Distribution&) { return tempered(p, 0.9); }}, "tokens along p");
  alarms({.accept = [](double ratio) { return 1.2 * ratio; }}, "verdicts on the most likely token",
         {.rule = AuditRule::rejection});
  alarms({.accept = [](double ratio) { return 1.2 * ratio; }}, "tokens along p/q");
  alarms({.proposal = [](const Distribution& q) { return tempered(q, 1.1); }}, "drafts along q");
}

// A share of 1 % of the mass moves to tokens with p < 2^-13.
TEST(TraceAudit, FindsOnePercentTowardsRareTokens) {
  Form form = of_records(20000);
  form.vocabulary = 512;
  const auto rare = [](double p) { return p < 0x1p-13; };
  const AuditResult result = audited(
      form, {.target = [&](const Distribution& p, const Distribution&) { return shifted_by(p, 0.01, rare); }}, 5);
  EXPECT_EQ(result.status, Status::failed);
  EXPECT_NE(family(result, "tokens along p").worst.where.find("p < 2^-"), std::string::npos);
  EXPECT_EQ(audited(form, {}, 5).status, Status::passed);
}

/// Returns p with a share of 1 % of its mass moved to its most likely token.
Distribution towards_the_top(const Distribution& p, const Distribution&) {
  const auto top = static_cast<std::size_t>(std::max_element(p.begin(), p.end()) - p.begin());
  Distribution out = p;
  for (double& x : out) x *= 1 - 0.01 / (1 - p[top]);
  out[top] = p[top] + 0.01;
  return out;
}

// The most likely token has p = 0.10 on average. Bets on tokens alone reach log e = 12 after 20,000 records, less than
// the 21.4 that an alarm needs; bets on drafts and verdicts reach several times as much.
TEST(TraceAudit, FindsOnePercentTowardsTheMostLikelyToken) {
  Form form{.vocabulary = 512, .records = 20000, .length = 1};
  const AuditResult result = audited(form, {.target = towards_the_top}, 1, {.rule = AuditRule::rejection});
  EXPECT_EQ(result.status, Status::failed);
  EXPECT_TRUE(result.alarm_record);
  const AuditFamily& moved = family(result, "verdicts, mass of the most likely token");
  for (const AuditFamily& other : result.families) EXPECT_LE(other.log_e, moved.log_e) << other.name;
  EXPECT_EQ(audited(form, {}, 1, {.rule = AuditRule::rejection}).status, Status::passed);
}

// Without the rule `rejection` there are no bets on verdicts, so more records are needed: 60,000 give log e = 35.
TEST(TraceAudit, FindsOnePercentTowardsTheMostLikelyTokenWithoutARule) {
  Form form{.vocabulary = 512, .records = 60000, .length = 1};
  const AuditResult result = audited(form, {.target = towards_the_top}, 3);
  EXPECT_EQ(result.status, Status::failed);
  EXPECT_EQ(family(result, "mass of the most likely token").worst.where, "most likely token");
}

// The audit of a recording without bugs reports the smallest deviation that it would have found. This deviation must be
// found in at least 18 of 20 recordings that have it. If it is found in each with probability 0.99, 3 or more misses
// have probability 1.0e-3. The reported deviation is an approximation; the seeds are fixed.
TEST(TraceAudit, FindsTheSmallestDeviationItNames) {
  const Form form = of_records(4000);
  const AuditResult quiet = audited(form, {}, 1);
  double tilt = 0;
  for (const SmallestFound& found : family(quiet, "tokens along p").smallest)
    if (found.direction.starts_with("temperature")) tilt = found.tilt;
  ASSERT_NE(tilt, 0);
  int found = 0;
  for (std::uint64_t seed = 100; seed < 120; ++seed) {
    // A tilt t multiplies p by exp(t depth). With depth = -log p this gives p^(1 - t), a change of temperature.
    const Bugs bugs{
        .target = [tilt](const Distribution& p, const Distribution&) { return tempered(p, 1 / (1 - tilt)); }};
    found += audited(form, bugs, seed).status == Status::failed;
  }
  EXPECT_GE(found, 18);
}

TEST(TraceAudit, NamesARecordThatCannotBe) {
  Form form{.vocabulary = 32, .records = 3000, .zeros = 0.3};
  const AuditResult result = audited(form, {.accept = [](double ratio) { return ratio + 0.02; }}, 2);
  EXPECT_EQ(result.status, Status::failed);
  ASSERT_EQ(result.proofs.size(), 1u);
  EXPECT_EQ(result.proofs[0].check, "emitted_possible");
  EXPECT_NE(result.proofs[0].evidence.find("p = 0"), std::string::npos);
}

TEST(TraceAudit, ChecksAcceptedDrafts) {
  Recording recording(of_records(100), 4);
  recording.run({});
  const Trace good = recording.trace();
  std::vector<std::int32_t> accepted;
  for (std::size_t b = 0; b < good.blocks(); ++b) accepted.push_back(good.accepted(b));
  accepted[6] = 9;
  TraceFile file = recording.file();
  file.put("accepted", DType::I32, {accepted.size()}, accepted);
  const AuditResult result = audit_trace(Trace::of_bytes(file.bytes(), "x"), {.threads = 1});
  ASSERT_EQ(result.proofs.size(), 1u);
  EXPECT_EQ(result.proofs[0].check, "accepted_drafts");
  EXPECT_EQ(result.proofs[0].block, 6u);
}

TEST(TraceAudit, OfAPrefixIsThatOfTheShortRecording) {
  Form form = of_records(1500);
  Recording longer(form, 9);
  longer.run({});
  const AuditResult first = audit_trace(longer.trace(200), {.threads = 1});
  form.records = 1;
  Recording shorter(form, 9);
  while (shorter.blocks() < 200) shorter.step({});
  const AuditResult alone = audit_trace(shorter.trace(), {.threads = 2});
  EXPECT_EQ(first.records, alone.records);
  EXPECT_DOUBLE_EQ(first.log_e, alone.log_e);
}

TEST(TraceAudit, SaysWhatItCannotJudge) {
  Form form = of_records(300);
  form.draft_sampling = "unknown";
  const AuditResult unknown = audited(form, {}, 1);
  EXPECT_EQ(std::count_if(unknown.families.begin(), unknown.families.end(),
                          [](const auto& f) { return f.name.starts_with("draft") || f.name == "accepted drafts"; }),
            0);
  const AuditResult declared = audited(form, {}, 1, {.draft_sampling = "iid"});
  EXPECT_GT(family(declared, "drafts along q").draws, 300u);
  double total = 0;
  for (const AuditFamily& one : declared.families) total += one.weight;
  EXPECT_NEAR(total, 1, 1e-12);
}

TEST(TraceAudit, JudgesGreedyDraftsByTheirRank) {
  Form form = of_records(300);
  form.draft_sampling = "greedy";
  const auto greedy = [](const Distribution& q) {
    Distribution distribution(q.size());
    distribution[static_cast<std::size_t>(std::max_element(q.begin(), q.end()) - q.begin())] = 1;
    return distribution;
  };
  EXPECT_TRUE(audited(form, {.proposal = greedy}, 1).proofs.empty());
  const AuditResult drawn = audited(form, {}, 1);
  ASSERT_FALSE(drawn.proofs.empty());
  EXPECT_EQ(drawn.proofs[0].check, "greedy_drafts");
}

TEST(TraceAudit, RefusesVerdictsOfTruncatedRows) {
  Form form = of_records(50);
  form.top = 5;
  EXPECT_EQ(audited(form, {}, 1).status, Status::passed);
  EXPECT_THROW(audited(form, {}, 1, {.rule = AuditRule::rejection}), InputError);
}

// With only one possible token per row, or with few records, no bet on tokens can reach the threshold.
TEST(TraceAudit, IsUndecidedWhereARecordingShowsNoDeviation) {
  Form certain = of_records(2000);
  certain.zeros = 1;
  for (const Form& form : {certain, of_records(5)}) {
    const AuditResult result = audited(form, {}, 1);
    EXPECT_FALSE(result.shows) << form.records;
    EXPECT_EQ(result.status, Status::undecided) << form.records;
  }
  const AuditResult drawn = audited(of_records(2000), {}, 1);
  ASSERT_TRUE(drawn.shows);
  EXPECT_EQ(drawn.status, Status::passed);
  double smallest = 1, of_drafts = 1;
  for (const AuditFamily& one : drawn.families)
    for (const SmallestFound& found : one.smallest)
      (one.of_tokens ? smallest : of_drafts) = std::min(one.of_tokens ? smallest : of_drafts, found.total_variation);
  EXPECT_EQ(drawn.shows->second.total_variation, smallest);
  EXPECT_LT(of_drafts, smallest) << "the recording does not tell bets on drafts from bets on tokens";
}

TEST(TraceAudit, OfAGreedyEngineComparesTokensWithTheLargestEntry) {
  const auto greedy = [](const Distribution& p, const Distribution&) {
    Distribution distribution(p.size());
    distribution[static_cast<std::size_t>(std::max_element(p.begin(), p.end()) - p.begin())] = 1;
    return distribution;
  };
  Form certain = of_records(300);
  certain.zeros = 1;
  EXPECT_EQ(audited(certain, {}, 1, {.rule = AuditRule::greedy}).status, Status::passed);
  EXPECT_EQ(audited(of_records(300), {.target = greedy}, 1, {.rule = AuditRule::greedy}).status, Status::passed);
  EXPECT_EQ(audited(of_records(2000), {.target = greedy}, 1).status, Status::failed);
  const AuditResult drawn = audited(of_records(300), {}, 1, {.rule = AuditRule::greedy});
  EXPECT_EQ(drawn.status, Status::failed);
  ASSERT_FALSE(drawn.proofs.empty());
  EXPECT_EQ(drawn.proofs[0].check, "greedy_tokens");
  Form truncated = of_records(50);
  truncated.top = 5;
  EXPECT_THROW(audited(truncated, {}, 1, {.rule = AuditRule::greedy}), InputError);
}

TEST(TraceAudit, RefusesAnEmptyRecording) {
  Recording recording(of_records(10), 1);
  EXPECT_THROW(audit_trace(recording.trace(), {}), InputError);
}

}  // namespace
}  // namespace draftproof::trace_audit_test
