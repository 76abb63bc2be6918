#include <draftproof/adapters/gate/batch_checks.hpp>

#include <functional>
#include <limits>
#include <map>
#include <set>

#include <draftproof/tests/support/adapters_rejection.hpp>

namespace draftproof::adapters {
namespace {

using OneRun = Run;  // needed in test bodies, where the name `Run` means a member of testing::Test

/// One batch as a program sees it.
struct SeenBatch {
  std::span<const Input> inputs;
  std::span<const Call> calls;
  std::size_t number;  ///< number of batches before this batch

  const Input& input(std::size_t row) const { return inputs[calls[row].input]; }
  const std::vector<double>& tape(std::size_t row) const { return calls[row].tape; }
  std::size_t longest() const {
    std::size_t longest = 0;
    for (std::size_t row = 0; row < calls.size(); ++row) longest = std::max(longest, input(row).drafts.size());
    return longest;
  }
};

/// A program whose runs may depend on the batch, on the row's index in the batch and on earlier batches.
class Batched final : public Program {
 public:
  /// Runs row `row` of a batch and writes the result to `run`.
  using Body = std::function<void(const SeenBatch& batch, std::size_t row, OneRun& run)>;
  explicit Batched(Body body) : body_{std::move(body)} {}

  void run(std::span<const Input> inputs, std::span<const Call> calls, std::span<Run> runs) override {
    const SeenBatch batch{inputs, calls, batches_++};
    for (std::size_t row = 0; row < calls.size(); ++row) try {
        body_(batch, row, runs[row]);
      } catch (const StopRun& stop) {
        runs[row].status = stop.status;
      }
  }

 private:
  Body body_;
  std::size_t batches_ = 0;
};

void run_right(const Input& input, const std::vector<double>& tape, OneRun& run, int bits = 24) {
  TapeDraws draws(tape, run, bits);
  run.tokens = RejectionSampling{}(input, draws);
}

/// Returns rejection sampling whose result is then changed by `change`.
Batched::Body changed(Batched::Body change) {
  return [=](const SeenBatch& batch, std::size_t row, OneRun& run) {
    run_right(batch.input(row), batch.tape(row), run);
    change(batch, row, run);
  };
}
const Batched::Body right = changed([](const SeenBatch&, std::size_t, OneRun&) {});

/// Returns rejection sampling on the tape of another row.
Batched::Body on_tape_of(std::function<std::size_t(std::size_t row, std::size_t rows)> other) {
  return [=](const SeenBatch& batch, std::size_t row, OneRun& run) {
    run_right(batch.input(row), batch.tape(other(row, batch.calls.size())), run);
  };
}

using Texts = std::map<std::string, std::string>;

/// Returns the evidence of the failed checks; `notes` gets the evidence of the passed checks.
Texts failing(const Batched::Body& body, Declaration declaration = {.name = "batched"}, Texts* notes = nullptr) {
  Batched program(body);
  Texts failed;
  std::vector<std::string> checks;
  for (const Finding& finding : check_batches(program, declaration, {.seed = 5, .adapter = "exec:mine"})) {
    checks.push_back(finding.property);
    EXPECT_EQ(finding.tier, Tier::edge);
    EXPECT_GT(finding.work, 0u);
    if (finding.status == Status::passed && notes && !finding.evidence.empty())
      (*notes)[finding.property] = finding.evidence;
    if (finding.status == Status::passed) continue;
    EXPECT_EQ(finding.status, Status::failed);
    EXPECT_EQ(finding.replay, "draftproof check --adapter 'exec:mine' --tier edge --seed 5");
    failed[finding.property] = finding.evidence;
  }
  EXPECT_EQ(checks, (std::vector<std::string>{"row_alone", "slots_permuted", "neighbours", "repetition",
                                              "number_grid", "answers"}));
  return failed;
}

TEST(BatchChecks, RightProgramsHold) {
  EXPECT_TRUE(failing(right, {.name = "batched", .most_drafts = 1}).empty());
  EXPECT_TRUE(failing(right, {.name = "batched", .most_vocabulary = 2}).empty());
  std::set<std::size_t> sizes, lengths;
  std::set<int> vocabularies;
  const auto watched = [&](bool ragged) {
    return changed([&, ragged](const SeenBatch& batch, std::size_t row, OneRun&) {
      sizes.insert(batch.calls.size());
      vocabularies.insert(batch.input(row).vocabulary());
      lengths.insert(batch.input(row).drafts.size());
      for (std::size_t other = 0; other < batch.calls.size(); ++other) {
        EXPECT_EQ(batch.input(other).vocabulary(), batch.input(row).vocabulary());
        if (!ragged && batch.inputs.size() == 64) {
          EXPECT_EQ(batch.input(other).drafts.size(), batch.input(row).drafts.size());
        }
      }
    });
  };
  EXPECT_TRUE(failing(watched(true)).empty());
  EXPECT_EQ(sizes, (std::set<std::size_t>{1, 2, 3, 7, 11, 64}));
  EXPECT_EQ(vocabularies, (std::set{2, 3, 4}));
  EXPECT_GE(lengths.size(), 3u);
  EXPECT_TRUE(failing(watched(false), {.name = "batched", .ragged = false}).empty());
}

TEST(BatchChecks, RowsWithoutDraftsAreAmongOthersIfDeclared) {
  std::set<std::size_t> lengths;
  const auto body = [&](bool fails) {
    return changed([&lengths, fails](const SeenBatch& batch, std::size_t row, OneRun& run) {
      lengths.insert(batch.input(row).drafts.size());
      if (fails && batch.input(row).drafts.empty() && batch.calls.size() > 1) run.status = RowStatus::failed;
    });
  };
  for (const Declaration& usual :
       {Declaration{.name = "batched"}, {.name = "batched", .fewest_drafts = 0, .ragged = false}})
    EXPECT_TRUE(failing(body(true), usual).empty());
  EXPECT_FALSE(lengths.contains(0));
  const Declaration zero{.name = "batched", .fewest_drafts = 0};
  EXPECT_TRUE(failing(body(false), zero).empty());
  EXPECT_TRUE(lengths.contains(0) && lengths.contains(1));
  const Texts failed = failing(body(true), zero);
  EXPECT_TRUE(failed.contains("row_alone") && failed.contains("answers"));
  EXPECT_NE(failed.at("row_alone").find("drafts ()"), std::string::npos) << failed.at("row_alone");
}

/// Returns rejection sampling on a mixture of p with the uniform row. With m the number of drafts that the row has less
/// than the longest row of the batch, the weight ratio of the uniform row to p is m `share`, and m unused coins are
/// drawn, first, before the last draw, or not at all.
enum class Idle { none, first, before_the_end };
Batched::Body padded(Idle idle, double share) {
  return [=](const SeenBatch& batch, std::size_t row, OneRun& run) {
    Input input = batch.input(row);
    const std::size_t more = batch.longest() - input.drafts.size();
    const double mixed = share * static_cast<double>(more);
    for (auto& target : input.p)
      for (double& p : target) p = (p + mixed / static_cast<double>(target.size())) / (1 + mixed);
    TapeDraws draws(batch.tape(row), run, 24);
    const auto pad = [&] {
      for (std::size_t i = 0; i < more; ++i) draws.coin();
    };
    if (idle == Idle::first) pad();
    RejectionSampling sampling;
    sampling.last = [&](Draws& from, const Weights& weights, double) {
      if (idle == Idle::before_the_end) pad();
      return from.pick(weights);
    };
    run.tokens = sampling(input, draws);
  };
}

/// Scales the last coin by so little that random tapes do not show the change. Because only coins are drawn, no weights
/// are logged.
void moves_the_last_coin(const SeenBatch& batch, std::size_t row, OneRun& run) {
  const double moved = 1e-4 * static_cast<double>(batch.longest() - batch.input(row).drafts.size());
  TapeDraws draws(batch.tape(row), run, 24);
  RejectionSampling sampling;
  sampling.last = [&](Draws& from, const Weights& weights, double) {
    return inverted(weights, from.coin() * (1 - moved));
  };
  run.tokens = sampling(batch.input(row), draws);
}

/// A wrong program. The checks in `fail` fail, and the evidence of the first of them has `words`. The checks in
/// `hold` pass; with all_others every check that is not in `fail` passes.
struct WrongBatches {
  std::string about;
  Batched::Body body;
  std::vector<std::string> fail, words, hold;
};
const std::vector<std::string> all_others{"all others"};

std::vector<WrongBatches> wrong_batches() {
  const auto fails = [](const SeenBatch&, std::size_t, OneRun& run) {
    run.status = RowStatus::failed;
    run.message = "KeyError: rows";
    run.tokens.clear();
  };
  const auto next_proposal = [](const SeenBatch& batch, std::size_t row, OneRun& run) {
    Input input = batch.input(row);
    if (batch.number == 66 && row % 2 == 0) input.q[0] = batch.input(row + 1).q[0];
    run_right(input, batch.tape(row), run);
  };
  const auto as_many_as_the_first = [](const SeenBatch& batch, std::size_t, OneRun& run) {
    OneRun first;
    run_right(batch.input(0), batch.tape(0), first);
    run.tokens.resize(std::min(run.tokens.size(), first.tokens.size()));
  };
  const auto zeros_of_the_padding = [](const SeenBatch& batch, std::size_t row, OneRun& run) {
    const std::size_t n = batch.input(row).drafts.size();
    if (run.tokens.size() == n + 1 && n < batch.longest()) run.tokens.back() = 0;
  };
  const auto when = [](std::function<bool(const SeenBatch&, std::size_t)> where, bool last_is_0) {
    return changed([=](const SeenBatch& batch, std::size_t row, OneRun& run) {
      if (where(batch, row)) last_is_0 ? void(run.tokens.back() = 0) : run.tokens.resize(1);
    });
  };
  std::vector<WrongBatches> table{
      // This program gives the same result if the whole batch is repeated, so the check "repetition" passes.
      {"coin of the next row",
       on_tape_of([](std::size_t row, std::size_t rows) { return (row + 1) % rows; }),
       {"row_alone", "slots_permuted", "neighbours"},
       {},
       {"repetition", "number_grid"}},
      {"a fast path for one row",
       when([](const SeenBatch& batch, std::size_t) { return batch.calls.size() == 1; }, false),
       {"row_alone"},
       {" of 64, drafts (", ", but in a batch of one row ("},
       all_others},
      {"the last row of a block",
       when([](const SeenBatch&, std::size_t row) { return row == 63; }, true),
       {"row_alone", "slots_permuted"},
       {},
       {"repetition"}},
      {"as many accepted as in the first row",
       changed(as_many_as_the_first),
       {"row_alone", "slots_permuted"},
       {},
       {}},
      // This program is wrong only in a batch of different rows, which only the check "neighbours" runs.
      {"the proposal of the next row", next_proposal, {"neighbours"}, {", but among other rows "}, all_others},
      {"zeros of the padding", changed(zeros_of_the_padding), {"row_alone"}, {}, {}},
      {"state, in the batch that is asked again",
       when([](const SeenBatch& batch, std::size_t) { return batch.number == 67; }, false),
       {"repetition"},
       {", but the second time ("},
       all_others},
      {"a coin moved by the padding", moves_the_last_coin, {"neighbours"}, {"^row with drafts ("}, all_others},
      {"no answer", changed(fails), {"answers"}, {"^row 0 of 64, drafts (", "): fails: KeyError: rows$"}, all_others},
  };
  for (const std::size_t distance : {1u, 2u, 3u})
    table.push_back({"one number for two rows",
                     on_tape_of([=](std::size_t row, std::size_t) { return row < distance ? row : row - distance; }),
                     {"row_alone"},
                     {},
                     {"repetition"}});
  for (const Idle idle : {Idle::none, Idle::first, Idle::before_the_end})
    table.push_back({"rows mixed by the padding",
                     padded(idle, 0.02),
                     {"row_alone"},
                     {"; among 11 rows of up to ", ", rounding explains "},
                     {}});
  return table;
}

TEST(BatchChecks, WrongProgramsFailTheCheckThatNamesThem) {
  for (const WrongBatches& wrong : wrong_batches()) {
    SCOPED_TRACE(wrong.about);
    const Texts failed = failing(wrong.body);
    for (const std::string& check : wrong.fail) EXPECT_TRUE(failed.contains(check)) << check;
    if (failed.contains(wrong.fail[0])) expect_parts(failed.at(wrong.fail[0]), wrong.words);
    if (wrong.hold == all_others) {
      EXPECT_EQ(failed.size(), wrong.fail.size());
    } else {
      for (const std::string& check : wrong.hold) EXPECT_FALSE(failed.contains(check)) << check;
    }
  }
  // In this program, if row 0 of a batch has p = 0 for the first token, all rows of the batch fail.
  const Texts spoilt = failing(changed([](const SeenBatch& batch, std::size_t, OneRun& run) {
    if (batch.calls.size() == 1 || batch.input(0).p[0][0] > 0) return;
    run = {.status = RowStatus::failed, .message = "the batch failed"};
  }));
  EXPECT_TRUE(spoilt.contains("row_alone") || spoilt.contains("slots_permuted"));
}

TEST(BatchChecks, CoarseUniforms) {
  for (const auto& [bits, passed] : {std::pair{8, false}, {22, false}, {23, true}, {24, true}, {53, true}}) {
    const Texts failed = failing([b = bits](const SeenBatch& batch, std::size_t row, OneRun& run) {
      run_right(batch.input(row), batch.tape(row), run, b);
      for (Draw& draw : run.draws) draw.stream = "accept";
    });
    EXPECT_EQ(failed.size(), passed ? 0u : 1u) << bits;
    if (!passed) {
      EXPECT_EQ(failed.at("number_grid"),
                "the uniform accept is a multiple of 2^-" + std::to_string(bits) + ", expected 2^-23 or finer");
    }
  }
}

/// Draws coins in every row while any row accepts, so each row draws as many coins as the row that draws most.
void until_all_are_done(const SeenBatch& batch, std::size_t row, OneRun& run) {
  std::size_t most = 0;
  for (std::size_t other = 0; other < batch.calls.size(); ++other) {
    OneRun own;
    run_right(batch.input(other), batch.tape(other), own);
    most = std::max(most, own.draws.size());
  }
  TapeDraws draws(batch.tape(row), run, 24);
  std::vector<double> coins;
  for (std::size_t i = 0; i + 1 < most; ++i) coins.push_back(draws.coin());
  struct Earlier final : Draws {
    Earlier(std::vector<double> early, TapeDraws& late) : coins{std::move(early)}, tape{late} {}
    double coin() override { return used < coins.size() ? coins[used++] : tape.coin(); }
    Token pick(const Weights& weights) override { return tape.pick(weights); }
    std::vector<double> coins;
    TapeDraws& tape;
    std::size_t used = 0;
  } from(std::move(coins), draws);
  run.tokens = RejectionSampling{}(batch.input(row), from);
}

/// Returns rejection sampling that multiplies the first entry of every row of p by `factor` in every third row of a
/// batch.
Batched::Body rounded_by_slot(double factor) {
  return [=](const SeenBatch& batch, std::size_t row, OneRun& run) {
    Input input = batch.input(row);
    if (row % 3 == 1)
      for (auto& target : input.p) target.front() *= factor;
    run_right(input, batch.tape(row), run);
  };
}

TEST(BatchChecks, OtherDrawsAndLastBitsAreNotes) {
  const auto one_more = changed([](const SeenBatch& batch, std::size_t, OneRun& run) {
    if (batch.calls.size() == 1) run.draws.push_back({});
  });
  const std::string other_draws = "^draws depend on the batch: row ", other_bits = "^not batch invariant: row ";
  for (const auto& [body, note] : {std::pair{one_more, other_draws},
                                   {rounded_by_slot(1 + 0x1p-24), other_bits},
                                   {rounded_by_slot(1 + 0x1p-23), other_bits},
                                   {rounded_by_slot(1 - 0x1p-24), other_bits}}) {
    Texts notes;
    EXPECT_TRUE(failing(body, {.name = "batched"}, &notes).empty());
    ASSERT_TRUE(notes.contains("row_alone"));
    expect_words(notes.at("row_alone"), note);
    if (note == other_draws) continue;
    const Texts failed = failing(body, {.name = "batched", .batch_invariant = true});
    ASSERT_TRUE(failed.contains("row_alone"));
    expect_words(failed.at("row_alone"), " other weights$");
  }
  // A padded row uses later tape values than in a batch of one row. The note then names the draws or, if these agree,
  // the token.
  for (const Idle idle : {Idle::first, Idle::before_the_end}) {
    Texts notes;
    EXPECT_TRUE(failing(padded(idle, 0), {.name = "batched"}, &notes).empty());
    ASSERT_TRUE(notes.contains("row_alone"));
    const std::string& note = notes.at("row_alone");
    EXPECT_TRUE(note.starts_with("draws depend on the batch: row ") || note.starts_with("not batch invariant: row "))
        << note;
  }
  Texts notes;
  failing(one_more, {.name = "batched"}, &notes);
  ASSERT_EQ(notes.size(), 1u);
  expect_words(notes.at("row_alone"), "in a batch of one row other draws$");
  EXPECT_TRUE(failing(until_all_are_done).empty());
  // A deviation of 2^-8 is within rounding for bfloat16 and a fault for float32.
  EXPECT_TRUE(failing(rounded_by_slot(1 + 0x1p-8), {.name = "batched", .dtypes = {Dtype::bfloat16}}).empty());
  EXPECT_TRUE(failing(rounded_by_slot(1 + 0x1p-8)).contains("row_alone"));
}

void idle_in_odd_slots(const SeenBatch& batch, std::size_t row, OneRun& run) {
  TapeDraws draws(batch.tape(row), run, 24);
  if (row % 2 == 1) draws.coin();
  run.tokens = RejectionSampling{}(batch.input(row), draws);
}

/// Before its own draws, each row draws as many unused coins as the next row draws.
void coins_of_the_next_row_first(const SeenBatch& batch, std::size_t row, OneRun& run) {
  OneRun next;
  const std::size_t other = (row + 1) % batch.calls.size();
  if (other != row) run_right(batch.input(other), batch.tape(other), next);
  TapeDraws draws(batch.tape(row), run, 24);
  for (std::size_t i = 0; i < next.draws.size(); ++i) draws.coin();
  run.tokens = RejectionSampling{}(batch.input(row), draws);
}

std::vector<Finding> distributions_of_batched(Batched::Body body, int most_rows = 4096) {
  Batched program(std::move(body));
  const Declaration declaration{.name = "batched", .most_rows = most_rows};
  return check_distributions(program, declaration, {.instances = 12, .explore = {.predictions = 32}}).findings;
}

TEST(BatchChecks, DistributionsOfRowsThatDependOnTheirNeighboursAreFoundAlone) {
  for (const Batched::Body& body :
       {Batched::Body(coins_of_the_next_row_first), rounded_by_slot(1 + 0x1p-24), Batched::Body(idle_in_odd_slots)}) {
    const auto findings = distributions_of_batched(body);
    for (const Finding& finding : findings) EXPECT_EQ(finding.status, Status::passed) << finding.evidence;
    expect_words(finding_of(findings, "function").evidence, "^rows were run one at a time; in batches: on drafts (");
  }
  const auto alike = distributions_of_batched(padded(Idle::none, 0));
  EXPECT_TRUE(finding_of(alike, "function").evidence.empty());
  // If the results of rows depend on the number of earlier batches, the check "function" fails.
  for (const std::size_t period : {2u, 3u, 5u}) {
    const auto findings = distributions_of_batched(changed([=](const SeenBatch& batch, std::size_t, OneRun& run) {
      if (batch.number % period == 0) run.tokens.back() = 0;
    }));
    EXPECT_EQ(finding_of(findings, "function").status, Status::failed);
    expect_words(finding_of(findings, "function").evidence, "equal calls have different results");
  }
  // After a failure the exploration is repeated with one row per call, but not if the program declares batches of one
  // row. So the check stays failed.
  const auto single = distributions_of_batched(idle_in_odd_slots, 1);
  EXPECT_EQ(finding_of(single, "function").status, Status::failed);
}

TEST(BatchChecks, AProgramThatAnswersNoRowIsUndecided) {
  Batched program([](const SeenBatch&, std::size_t, OneRun& run) { run.status = RowStatus::tape_short; });
  bool undecided = false;
  for (const Finding& finding : check_batches(program, {.name = "batched"}, {.seed = 5, .adapter = "exec:mine"}))
    if (finding.property == "answers") {
      undecided = finding.status == Status::undecided;
      EXPECT_EQ(finding.evidence, "no row was answered: every one read all numbers of its tape");
    }
  EXPECT_TRUE(undecided);
}

TEST(BatchChecks, WeightsThatAreNoNumbersAreEqualToThemselves) {
  const Texts failed = failing(changed([](const SeenBatch&, std::size_t, OneRun& run) {
    for (Draw& draw : run.draws)
      if (!draw.weights.empty()) draw.weights[0] = std::numeric_limits<double>::quiet_NaN();
  }));
  for (const char* check : {"row_alone", "slots_permuted", "neighbours", "repetition"})
    EXPECT_FALSE(failed.contains(check)) << check << ": " << failed.at(check);
}

TEST(BatchChecks, WhatCannotBeFoundByCallsIsUndecided) {
  // The token is a hash of the coin and of the batch size. So no intervals of coins with one outcome are found, and
  // there are no distributions to compare.
  Batched program([](const SeenBatch& batch, std::size_t row, OneRun& run) {
    TapeDraws draws(batch.tape(row), run, 24);
    const auto cell = static_cast<std::uint64_t>(draws.coin() * 0x1p24) * 0x9E3779B97F4A7C15u;
    run.tokens = {static_cast<Token>((cell + (batch.calls.size() << 61)) >> 63)};
  });
  std::set<Status> statuses;
  for (const Finding& finding : check_batches(program, {.name = "batched"}, {.seed = 5})) {
    statuses.insert(finding.status);
    EXPECT_NE(finding.status, Status::failed) << finding.evidence;
  }
  EXPECT_TRUE(statuses.contains(Status::undecided));
}

}  // namespace
}  // namespace draftproof::adapters
