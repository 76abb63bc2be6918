#include <draftproof/doors/gate/batch_checks.hpp>

#include <functional>
#include <set>

#include <draftproof/tests/support/doors_slips.hpp>

namespace draftproof::doors {
namespace {

using OneRun = Run;  // testing::Test has a Run of its own

const std::vector<std::string> every_batch_check{"row_alone",  "slots_permuted", "neighbours",
                                                 "repetition", "number_grid",    "answers"};

/// One batch as a program sees it.
struct SeenBatch {
  std::span<const Input> inputs;
  std::span<const Call> calls;
  std::size_t number;  ///< of batches before it

  const Input& input(std::size_t row) const { return inputs[calls[row].input]; }
};

/// A right chain, or another program of its rows and batches.
class Batched final : public Program {
 public:
  /// Runs row `row` of a batch into `run`.
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

void run_chain(const Input& input, const std::vector<double>& tape, Run& run, int bits = 24) {
  TapeDraws draws(tape, run, bits);
  run.tokens = slips::Chain{}(input, draws);
}

/// The checks that fail, each with its evidence; and in `notes` what the others say.
std::map<std::string, std::string> failing(Batched::Body body, Declaration declaration = {.name = "batched"},
                                           std::map<std::string, std::string>* notes = nullptr) {
  Batched program(std::move(body));
  std::map<std::string, std::string> failed;
  std::vector<std::string> checks;
  for (const GateFinding& finding : check_batches(program, declaration, {.seed = 5, .door = "exec:mine"})) {
    checks.push_back(finding.check);
    EXPECT_EQ(finding.tier, Tier::edge);
    EXPECT_GT(finding.work, 0u);
    if (finding.status == Status::held && notes && !finding.evidence.empty())
      (*notes)[finding.check] = finding.evidence;
    if (finding.status == Status::held) continue;
    EXPECT_EQ(finding.status, Status::violated);
    EXPECT_EQ(finding.replay, "draftproof check --door 'exec:mine' --tier edge --seed 5");
    failed[finding.check] = finding.evidence;
  }
  EXPECT_EQ(checks, every_batch_check);
  return failed;
}

TEST(BatchChecks, RightProgramsHold) {
  const auto right = [](const SeenBatch& batch, std::size_t row, OneRun& run) {
    run_chain(batch.input(row), batch.calls[row].tape, run);
  };
  EXPECT_TRUE(failing(right).empty());
  EXPECT_TRUE(failing(right, {.name = "batched", .most_drafts = 1}).empty());
  EXPECT_TRUE(failing(right, {.name = "batched", .most_vocabulary = 2}).empty());
}

TEST(BatchChecks, BatchesHaveRowsOfOneVocabularyAndSeveralLengths) {
  std::set<std::size_t> sizes, lengths;
  std::set<int> vocabularies;
  const auto seen = [&](const SeenBatch& batch, std::size_t row, OneRun& run) {
    sizes.insert(batch.calls.size());
    vocabularies.insert(batch.input(row).vocabulary());
    lengths.insert(batch.input(row).drafts.size());
    for (std::size_t other = 0; other < batch.calls.size(); ++other)
      EXPECT_EQ(batch.input(other).vocabulary(), batch.input(row).vocabulary());
    run_chain(batch.input(row), batch.calls[row].tape, run);
  };
  EXPECT_TRUE(failing(seen).empty());
  EXPECT_EQ(sizes, (std::set<std::size_t>{1, 7, 64}));
  EXPECT_EQ(vocabularies, (std::set{2, 3, 4}));
  EXPECT_GE(lengths.size(), 3u);
}

TEST(BatchChecks, ReadsTheCoinOfTheNextRow) {
  const auto failed = failing([](const SeenBatch& batch, std::size_t row, OneRun& run) {
    run_chain(batch.input(row), batch.calls[(row + 1) % batch.calls.size()].tape, run);
  });
  EXPECT_TRUE(failed.contains("row_alone"));
  EXPECT_TRUE(failed.contains("slots_permuted"));
  EXPECT_TRUE(failed.contains("neighbours"));
  EXPECT_FALSE(failed.contains("repetition")) << "the batch as a whole is the same";
  EXPECT_FALSE(failed.contains("number_grid"));
}

TEST(BatchChecks, DependsOnTheSizeOfTheBatch) {
  const auto failed = failing([](const SeenBatch& batch, std::size_t row, OneRun& run) {
    run_chain(batch.input(row), batch.calls[row].tape, run);
    if (batch.calls.size() == 1) run.tokens.resize(1);  // a fast path for one row
  });
  ASSERT_EQ(failed.size(), 1u);
  ASSERT_TRUE(failed.contains("row_alone"));
  const std::string& evidence = failed.at("row_alone");
  EXPECT_TRUE(evidence.find(" of 64, drafts (") != std::string::npos) << evidence;
  EXPECT_TRUE(evidence.find(", in a batch of its own (") != std::string::npos) << evidence;
}

TEST(BatchChecks, DependsOnTheSlot) {
  const auto failed = failing([](const SeenBatch& batch, std::size_t row, OneRun& run) {
    run_chain(batch.input(row), batch.calls[row].tape, run);
    if (row == 63) run.tokens.back() = 0;  // the last row of a block is computed otherwise
  });
  EXPECT_TRUE(failed.contains("row_alone"));
  EXPECT_TRUE(failed.contains("slots_permuted"));
  EXPECT_FALSE(failed.contains("repetition"));
}

TEST(BatchChecks, SumsOverAllRows) {
  // The number of accepted drafts is that of the first row, where that is possible.
  const auto failed = failing([](const SeenBatch& batch, std::size_t row, OneRun& run) {
    run_chain(batch.input(row), batch.calls[row].tape, run);
    OneRun other;
    run_chain(batch.input(0), batch.calls[0].tape, other);
    run.tokens.resize(std::min(run.tokens.size(), other.tokens.size()));
  });
  EXPECT_TRUE(failed.contains("row_alone"));
  EXPECT_TRUE(failed.contains("slots_permuted"));
}

TEST(BatchChecks, SeesOtherInputsOfTheBatch) {
  // Reads the proposal of the row after it, in the batch that mixes rows alone: no other check has that batch.
  const auto failed = failing([](const SeenBatch& batch, std::size_t row, OneRun& run) {
    Input input = batch.input(row);
    if (batch.number == 66 && row % 2 == 0) input.q[0] = batch.input(row + 1).q[0];
    run_chain(input, batch.calls[row].tape, run);
  });
  ASSERT_EQ(failed.size(), 1u);
  ASSERT_TRUE(failed.contains("neighbours"));
  EXPECT_TRUE(failed.at("neighbours").find(", among other rows ") != std::string::npos) << failed.at("neighbours");
}

TEST(BatchChecks, MixesRaggedLengths) {
  // The last row of p that the batch has, in place of that of the row: zeros behind the row's length.
  const auto failed = failing([](const SeenBatch& batch, std::size_t row, OneRun& run) {
    std::size_t longest = 0;
    for (std::size_t other = 0; other < batch.calls.size(); ++other)
      longest = std::max(longest, batch.input(other).drafts.size());
    run_chain(batch.input(row), batch.calls[row].tape, run);
    const std::size_t n = batch.input(row).drafts.size();
    if (run.tokens.size() == n + 1 && n < longest) run.tokens.back() = 0;
  });
  EXPECT_TRUE(failed.contains("row_alone"));
  // Without ragged batches it is right.
  EXPECT_TRUE(failing(
                  [](const SeenBatch& batch, std::size_t row, OneRun& run) {
                    for (std::size_t other = 0; other < batch.calls.size(); ++other)
                      if (batch.inputs.size() == 64) {
                        EXPECT_EQ(batch.input(other).drafts.size(), batch.input(row).drafts.size());
                      }
                    run_chain(batch.input(row), batch.calls[row].tape, run);
                  },
                  {.name = "batched", .ragged = false})
                  .empty());
}

TEST(BatchChecks, KeepsStateBetweenBatches) {
  const auto failed = failing([](const SeenBatch& batch, std::size_t row, OneRun& run) {
    run_chain(batch.input(row), batch.calls[row].tape, run);
    if (batch.number == 67) run.tokens.resize(1);  // the batch that is asked again
  });
  ASSERT_EQ(failed.size(), 1u);
  ASSERT_TRUE(failed.contains("repetition"));
  EXPECT_TRUE(failed.at("repetition").find(", the second time (") != std::string::npos) << failed.at("repetition");
}

TEST(BatchChecks, OtherDrawsAreANote) {
  // Equal tokens, and one coin more where the row is alone.
  std::map<std::string, std::string> notes;
  const auto failed = failing(
      [](const SeenBatch& batch, std::size_t row, OneRun& run) {
        run_chain(batch.input(row), batch.calls[row].tape, run);
        if (batch.calls.size() == 1) run.draws.push_back({});
      },
      {.name = "batched"}, &notes);
  EXPECT_TRUE(failed.empty());
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_TRUE(notes.at("row_alone").starts_with("draws depend on the batch: row ")) << notes.at("row_alone");
  EXPECT_TRUE(notes.at("row_alone").ends_with("in a batch of its own other draws")) << notes.at("row_alone");
}

std::size_t longest_of(const SeenBatch& batch) {
  std::size_t longest = 0;
  for (std::size_t row = 0; row < batch.calls.size(); ++row)
    longest = std::max(longest, batch.input(row).drafts.size());
  return longest;
}

/// A chain whose rows are mixed with the uniform row by `share` for each draft that the longest row has more, and that draws
/// `idle` coins of the padding first, or last, or none.
enum class Idle { none, first, before_the_end };
Batched::Body padded_chain(Idle idle, double share) {
  return [=](const SeenBatch& batch, std::size_t row, OneRun& run) {
    Input input = batch.input(row);
    const std::size_t more = longest_of(batch) - input.drafts.size();
    const double mixed = share * static_cast<double>(more);
    for (auto& target : input.p)
      for (double& p : target) p = (p + mixed / static_cast<double>(target.size())) / (1 + mixed);
    TapeDraws draws(batch.calls[row].tape, run, 24);
    const auto pad = [&] {
      for (std::size_t i = 0; i < more; ++i) draws.coin();
    };
    if (idle == Idle::first) pad();
    slips::Chain chain;
    chain.last = [&](TapeDraws& from, const slips::Weights& weights, double) {
      if (idle == Idle::before_the_end) pad();
      return from.pick(weights);
    };
    run.tokens = chain(input, draws);
  };
}

/// A chain that draws a coin more for each row while any row accepts: a row draws as many as the neighbour that accepts most.
void until_all_are_done(const SeenBatch& batch, std::size_t row, OneRun& run) {
  std::size_t most = 0;
  for (std::size_t other = 0; other < batch.calls.size(); ++other) {
    OneRun own;
    run_chain(batch.input(other), batch.calls[other].tape, own);
    most = std::max(most, own.draws.size());
  }
  TapeDraws draws(batch.calls[row].tape, run, 24);
  std::vector<double> coins;
  for (std::size_t i = 0; i + 1 < most; ++i) coins.push_back(draws.coin());
  const Input& input = batch.input(row);
  for (std::size_t i = 0; i < input.drafts.size(); ++i) {
    const auto x = static_cast<std::size_t>(input.drafts[i]);
    if (!(i < coins.size() ? coins[i] * input.q[i][x] < input.p[i][x]
                           : draws.coin() * input.q[i][x] < input.p[i][x])) {
      run.tokens.push_back(draws.pick(residual_of(input.p[i], input.q[i])));
      return;
    }
    run.tokens.push_back(input.drafts[i]);
  }
  run.tokens.push_back(draws.pick(input.p.back()));
}

TEST(BatchChecks, CoinsForThePaddingAreANote) {
  for (const Idle idle : {Idle::first, Idle::before_the_end}) {
    std::map<std::string, std::string> notes;
    EXPECT_TRUE(failing(padded_chain(idle, 0), {.name = "batched"}, &notes).empty());
    ASSERT_TRUE(notes.contains("row_alone"));
    EXPECT_TRUE(notes.at("row_alone").starts_with("draws depend on the batch: row ")) << notes.at("row_alone");
  }
  EXPECT_TRUE(failing(until_all_are_done).empty());
}

TEST(BatchChecks, RowsThatALongerNeighbourChanges) {
  for (const Idle idle : {Idle::none, Idle::first, Idle::before_the_end}) {
    const auto failed = failing(padded_chain(idle, 0.02));
    ASSERT_TRUE(failed.contains("row_alone"));
    EXPECT_TRUE(failed.at("row_alone").find("; among 7 rows of up to ") != std::string::npos)
        << failed.at("row_alone");
    EXPECT_TRUE(failed.at("row_alone").find(", rounding explains ") != std::string::npos) << failed.at("row_alone");
  }
  // By so little that random numbers do not meet it, and with coins alone, whose log shows no weights.
  const auto failed = failing([](const SeenBatch& batch, std::size_t row, OneRun& run) {
    const double moved = 1e-4 * static_cast<double>(longest_of(batch) - batch.input(row).drafts.size());
    TapeDraws draws(batch.calls[row].tape, run, 24);
    slips::Chain chain;
    chain.last = [&](TapeDraws& from, const slips::Weights& weights, double) {
      return inverted(weights, from.coin() * (1 - moved));
    };
    run.tokens = chain(batch.input(row), draws);
  });
  ASSERT_EQ(failed.size(), 1u);
  EXPECT_TRUE(failed.at("neighbours").starts_with("row with drafts (")) << failed.at("neighbours");
}

TEST(BatchChecks, OneNumberForTwoRows) {
  for (const std::size_t distance : {1, 2, 3}) {
    const auto failed = failing([&](const SeenBatch& batch, std::size_t row, OneRun& run) {
      const std::size_t from = row < distance ? row : row - distance;
      run_chain(batch.input(row), batch.calls[from].tape, run);
    });
    EXPECT_TRUE(failed.contains("row_alone")) << distance;
    EXPECT_FALSE(failed.contains("repetition")) << distance;
  }
}

/// A chain whose weights are off by some last bits in every third slot.
Batched::Body rounded_by_slot(double factor) {
  return [=](const SeenBatch& batch, std::size_t row, OneRun& run) {
    Input input = batch.input(row);
    if (row % 3 == 1)
      for (auto& target : input.p) target.front() *= factor;
    run_chain(input, batch.calls[row].tape, run);
  };
}

TEST(BatchChecks, LastBitsAreANoteUnlessInvarianceIsPromised) {
  for (const double bits : {0x1p-24, 0x1p-23, -0x1p-24}) {
    std::map<std::string, std::string> notes;
    EXPECT_TRUE(failing(rounded_by_slot(1 + bits), {.name = "batched"}, &notes).empty());
    ASSERT_TRUE(notes.contains("row_alone"));
    EXPECT_TRUE(notes.at("row_alone").starts_with("not batch invariant: row ")) << notes.at("row_alone");
    const auto failed = failing(rounded_by_slot(1 + bits), {.name = "batched", .batch_invariant = true});
    ASSERT_TRUE(failed.contains("row_alone"));
    EXPECT_TRUE(failed.at("row_alone").ends_with(" other weights")) << failed.at("row_alone");
  }
  // Of two bytes the same bits are rounding where more of them are not.
  EXPECT_TRUE(failing(rounded_by_slot(1 + 0x1p-8), {.name = "batched", .dtypes = {Dtype::bfloat16}}).empty());
  EXPECT_TRUE(failing(rounded_by_slot(1 + 0x1p-8)).contains("row_alone"));
}

void idle_in_odd_slots(const SeenBatch& batch, std::size_t row, OneRun& run) {
  TapeDraws draws(batch.calls[row].tape, run, 24);
  if (row % 2 == 1) draws.coin();
  run.tokens = slips::Chain{}(batch.input(row), draws);
}

/// What the laws of a batched program say, with the finding `function` first.
std::vector<GateFinding> laws_of_batched(Batched::Body body, int most_rows = 4096) {
  Batched program(std::move(body));
  const Declaration declaration{.name = "batched", .most_rows = most_rows};
  std::vector<GateFinding> findings =
      check_laws(program, declaration, {.instances = 12, .explore = {.predictions = 32}}).findings;
  std::stable_partition(findings.begin(), findings.end(),
                        [](const GateFinding& finding) { return finding.check == "function"; });
  return findings;
}

TEST(BatchChecks, LawsOfRowsThatDrawForTheirNeighboursAreFoundAlone) {
  const auto noted = [](Batched::Body body) {
    const auto findings = laws_of_batched(std::move(body));
    for (const GateFinding& finding : findings) EXPECT_EQ(finding.status, Status::held) << finding.evidence;
    EXPECT_TRUE(findings.front().evidence.starts_with("rows were run one at a time, in batches: on drafts ("))
        << findings.front().evidence;
  };
  noted([](const SeenBatch& batch, std::size_t row, OneRun& run) {  // as many coins first as the next row draws
    OneRun next;
    const std::size_t other = (row + 1) % batch.calls.size();
    if (other != row) run_chain(batch.input(other), batch.calls[other].tape, next);
    TapeDraws draws(batch.calls[row].tape, run, 24);
    for (std::size_t i = 0; i < next.draws.size(); ++i) draws.coin();
    run.tokens = slips::Chain{}(batch.input(row), draws);
  });
  noted(rounded_by_slot(1 + 0x1p-24));
  noted(idle_in_odd_slots);
  EXPECT_TRUE(laws_of_batched(padded_chain(Idle::none, 0)).front().evidence.empty());
}

TEST(BatchChecks, LawsOfRowsThatAreNoFunctionAloneStayViolated) {
  const auto counted = [](std::size_t period) {
    return [period](const SeenBatch& batch, std::size_t row, OneRun& run) {
      run_chain(batch.input(row), batch.calls[row].tape, run);
      if (batch.number % period == 0) run.tokens.back() = 0;
    };
  };
  for (const std::size_t period : {2, 3, 5}) {
    const GateFinding function = laws_of_batched(counted(period)).front();
    EXPECT_EQ(function.status, Status::violated);
    EXPECT_TRUE(function.evidence.find("equal calls have different results") != std::string::npos)
        << function.evidence;
  }
  // With one row in a batch there is nothing to run apart.
  EXPECT_EQ(laws_of_batched(idle_in_odd_slots, 1).front().status, Status::violated);
}

TEST(BatchChecks, WhatCannotBeFoundByCallsIsUndecided) {
  // A coin's values have a hash that depends on the batch: no stretch is found, and no equality.
  Batched program([](const SeenBatch& batch, std::size_t row, OneRun& run) {
    TapeDraws draws(batch.calls[row].tape, run, 24);
    const auto cell = static_cast<std::uint64_t>(draws.coin() * 0x1p24) * 0x9E3779B97F4A7C15u;
    run.tokens = {static_cast<Token>((cell + (batch.calls.size() << 61)) >> 63)};
  });
  std::set<Status> statuses;
  for (const GateFinding& finding : check_batches(program, {.name = "batched"}, {.seed = 5})) {
    statuses.insert(finding.status);
    EXPECT_NE(finding.status, Status::violated) << finding.evidence;
  }
  EXPECT_TRUE(statuses.contains(Status::undecided));
}

TEST(BatchChecks, RowsWithoutAnAnswer) {
  const auto failed = failing([](const SeenBatch& batch, std::size_t row, OneRun& run) {
    run_chain(batch.input(row), batch.calls[row].tape, run);
    run.status = RowStatus::failed;
    run.message = "KeyError: rows";
    run.tokens.clear();
  });
  ASSERT_EQ(failed.size(), 1u);
  EXPECT_TRUE(failed.at("answers").starts_with("row 0 of 64, drafts (")) << failed.at("answers");
  EXPECT_TRUE(failed.at("answers").ends_with("): fails: KeyError: rows")) << failed.at("answers");
  const auto short_tape =
      failing([](const SeenBatch&, std::size_t, OneRun& run) { run.status = RowStatus::tape_short; });
  EXPECT_TRUE(short_tape.empty());
}

TEST(BatchChecks, StatusesAreComparedToo) {
  const auto failed = failing([](const SeenBatch& batch, std::size_t row, OneRun& run) {
    run_chain(batch.input(row), batch.calls[row].tape, run);
    if (batch.calls.size() == 1 || batch.input(0).p[0][0] > 0) return;
    run.status = RowStatus::failed;  // one row of the batch spoils all others
    run.message = "the batch failed";
    run.tokens.clear();
  });
  EXPECT_TRUE(failed.contains("row_alone") || failed.contains("slots_permuted"));
}

TEST(BatchChecks, CoarseUniforms) {
  for (const auto& [bits, held] : {std::pair{8, false}, {22, false}, {23, true}, {24, true}, {53, true}}) {
    const auto failed = failing([&, b = bits](const SeenBatch& batch, std::size_t row, OneRun& run) {
      run_chain(batch.input(row), batch.calls[row].tape, run, b);
      for (Draw& draw : run.draws) draw.stream = "accept";
    });
    EXPECT_EQ(failed.size(), held ? 0u : 1u) << bits;
    if (!held) {
      EXPECT_EQ(failed.at("number_grid"),
                "the uniform accept is a multiple of 2^-" + std::to_string(bits) + ", wanted 2^-23 or finer");
    }
  }
}

}  // namespace
}  // namespace draftproof::doors
