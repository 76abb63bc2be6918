// Ctrl-C during a long run: the partial results are reported, and the exit code says that they are incomplete.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <draftproof/tests/cli/child.hpp>

namespace draftproof {
namespace {

// Years of work. The test sends the signal once progress has appeared on the terminal, so it does not depend on the
// speed of the machine.
const std::string endless = "1000000000000000";

class Interrupt : public testing::Test {
 protected:
  void SetUp() override {
    if (!Child::has_terminals()) GTEST_SKIP() << "no pseudo-terminals here";
  }
  /// Starts, waits for progress, signals; returns the exit code.
  static int interrupted(Child& child, const std::string& label, int number = SIGINT) {
    EXPECT_TRUE(child.wait_for_error(label + ": ")) << child.err();
    child.signal(number);
    return child.finish();
  }
};

TEST_F(Interrupt, SimulateReportsTheTrialsItHas) {
  Child child({"simulate", "single_draft", "zipf", "--tuples", endless, "--json"}, Stream::pipe, Stream::terminal);
  EXPECT_EQ(interrupted(child, "simulating"), 3) << child.err();
  const auto report = nlohmann::json::parse(child.out());
  EXPECT_EQ(report["schema"], "draftproof.simulate/2");
  EXPECT_GT(report["tuples"], 0);
  EXPECT_LT(report["tuples"], std::stoull(endless));
  EXPECT_NEAR(report["flagged"].get<double>() / report["tuples"].get<double>(), report["single_draft"], 0.1);
}

TEST_F(Interrupt, TerminationIsTheSame) {
  Child child({"simulate", "single_draft", "zipf", "--tuples", endless, "--json"}, Stream::pipe, Stream::terminal);
  EXPECT_EQ(interrupted(child, "simulating", SIGTERM), 3) << child.err();
  EXPECT_GT(nlohmann::json::parse(child.out())["tuples"], 0);
}

TEST_F(Interrupt, SurveySaysThatItStoppedEarly) {
  // One position with too many tuples to finish: the tuples drawn so far are reported.
  Child child({"survey", "zipf:vocabulary=50", "--verifier", "single_draft", "--tuples", "100000000000",
               "--instances", "0", "--json"},
              Stream::pipe, Stream::terminal);
  EXPECT_EQ(interrupted(child, "surveying"), 3) << child.err();
  const auto report = nlohmann::json::parse(child.out());
  ASSERT_EQ(report["sources"].size(), 1u);
  EXPECT_EQ(report["sources"][0]["complete"], false);
  EXPECT_GT(report["sources"][0]["rows"][0]["tuples"], 0);
  EXPECT_GT(report["tuples"], 0);
}

TEST_F(Interrupt, ReproduceSaysThatItIsNotComplete) {
  Child child({"reproduce", "draft_laws", "zipf:vocabulary=50", "--effort", endless, "--json"}, Stream::pipe,
              Stream::terminal);
  EXPECT_EQ(interrupted(child, "draft_laws"), 3) << child.err();
  const auto report = nlohmann::json::parse(child.out());
  EXPECT_EQ(report["schema"], "draftproof.study.draft_laws/1");
  EXPECT_FALSE(report.contains("sources")) << "a position cut short is no result";
}

#ifdef DRAFTPROOF_WITH_BENCH
TEST_F(Interrupt, BenchReportsTheRepetitionsItHas) {
  Child child({"bench", "^optimum/small/", "--repetitions", "10000", "--min-time", "0.01", "--json"}, Stream::pipe,
              Stream::terminal);
  EXPECT_EQ(interrupted(child, "benchmarking"), 3) << child.err();
  const auto report = nlohmann::json::parse(child.out());
  EXPECT_EQ(report["schema"], "draftproof.bench/1");
  EXPECT_EQ(report["complete"], false);
  EXPECT_GT(report["benchmarks"].size(), 0u);
  for (const auto& run : report["benchmarks"]) EXPECT_FALSE(run.contains("error_occurred")) << run;
}
#endif

TEST_F(Interrupt, ALostTerminalIsTheSame) {
  Child child({"simulate", "single_draft", "zipf", "--tuples", endless, "--json"}, Stream::pipe, Stream::terminal);
  EXPECT_EQ(interrupted(child, "simulating", SIGHUP), 3) << child.err();
  EXPECT_EQ(nlohmann::json::parse(child.out())["complete"], false);
}

TEST_F(Interrupt, TablesAndRowsSayThatTheyAreNotComplete) {
  for (const std::string format : {"table", "markdown", "csv", "jsonl", "html", "annotations"}) {
    Child child({"survey", "zipf:vocabulary=50", "--verifier", "single_draft", "--tuples", "100000000000",
                 "--instances", "0", "--format", format},
                Stream::pipe, Stream::terminal);
    EXPECT_EQ(interrupted(child, "surveying"), 3) << child.err();
    const std::string word = format == "csv" || format == "jsonl" ? "complete" : "stopped early";
    EXPECT_NE(child.out().find(word), std::string::npos) << format << ":\n" << child.out().substr(0, 2000);
  }
}

TEST_F(Interrupt, ASecondSignalLeavesAWord) {
  // The second signal may arrive before or after the first is handled: either the result or a word in its place.
  Child child({"simulate", "single_draft", "zipf", "--tuples", endless, "--json"}, Stream::pipe, Stream::terminal);
  ASSERT_TRUE(child.wait_for_error("simulating: "));
  child.signal(SIGINT);
  child.signal(SIGTERM);
  EXPECT_EQ(child.finish(), 3);
  EXPECT_EQ(nlohmann::json::parse(child.out())["complete"], false) << child.out();
}

TEST_F(Interrupt, AProofThatWasStoppedProvesNothing) {
  for (const int number : {SIGINT, SIGHUP}) {
    Child child({"prove", "single_draft", "--instances", "1000000", "--threads", "1", "--json"}, Stream::pipe,
                Stream::terminal);
    EXPECT_EQ(interrupted(child, "proving", number), 3) << child.err();
    const auto report = nlohmann::json::parse(child.out());
    ASSERT_EQ(report["proofs"].size(), 1u);
    EXPECT_EQ(report["proofs"][0]["complete"], false);
    EXPECT_EQ(report["proofs"][0]["verdict"], "stopped");
  }
}

}  // namespace
}  // namespace draftproof
