#include <draftproof/doors/gate/batch_checks.hpp>

#include <functional>
#include <set>

#include <draftproof/tests/support/doors_slips.hpp>

namespace draftproof::doors {
namespace {

using OneRun = Run;  // testing::Test has a Run of its own

const std::vector<std::string> every_batch_check{"row_alone", "slots_permuted", "neighbours", "repetition",
                                                 "number_grid"};

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

/// The checks that fail, each with its evidence.
std::map<std::string, std::string> failing(Batched::Body body, Declaration declaration = {.name = "batched"}) {
  Batched program(std::move(body));
  std::map<std::string, std::string> failed;
  std::vector<std::string> checks;
  for (const GateFinding& finding : check_batches(program, declaration, {.seed = 5, .door = "exec:mine"})) {
    checks.push_back(finding.check);
    EXPECT_EQ(finding.tier, Tier::edge);
    EXPECT_GT(finding.work, 0u);
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
  EXPECT_EQ(sizes, (std::set<std::size_t>{1, 64}));
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

TEST(BatchChecks, DrawsAreComparedToo) {
  // Equal tokens, and one coin more where the row is alone.
  const auto failed = failing([](const SeenBatch& batch, std::size_t row, OneRun& run) {
    run_chain(batch.input(row), batch.calls[row].tape, run);
    if (batch.calls.size() == 1) run.draws.push_back({});
  });
  ASSERT_EQ(failed.size(), 1u);
  EXPECT_TRUE(failed.at("row_alone").ends_with("in a batch of its own other draws")) << failed.at("row_alone");
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
