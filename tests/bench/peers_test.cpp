// Tests that peers (the other programs with which benchmarks compare) compute the same acceptance as this library on
// the same rows, and the same optimum to nine digits. Tests of child processes: arguments arrive unchanged, both
// streams are read, and failures are distinguished.
#include <cmath>

#include <gtest/gtest.h>

#include <draftproof/bench/peers/child_process.hpp>
#include <draftproof/bench/peers/python.hpp>
#include <draftproof/optimum/fresh_scan.hpp>
#include <draftproof/sim/distributions/ratio_table.hpp>

namespace draftproof::benchmarks {
namespace {

const std::vector<double> p{0.30, 0.05, 0.20, 0.15, 0.25, 0.05}, q{0.10, 0.25, 0.15, 0.05, 0.20, 0.25};

PeerAnswer ask(const char* script, const char* module, const std::vector<std::string>& words) {
  return ask_peer(script, module, p, q, words);
}

TEST(ChildProcess, WordsAreNoShells) {
  const Finished finished = run_child({"printf", "%s|%s", "a b; exit 3", "$HOME `id` 'x'"});
  EXPECT_EQ(finished.code, 0);
  EXPECT_EQ(finished.out, "a b; exit 3|$HOME `id` 'x'");
}

TEST(ChildProcess, BothStreamsAndTheExitCode) {
  // Writes more than a pipe holds to both streams.
  const Finished finished = run_child({"sh", "-c", "head -c 300000 /dev/zero; head -c 300000 /dev/zero >&2; exit 7"});
  EXPECT_EQ(finished.code, 7);
  EXPECT_EQ(finished.out.size(), 300'000u);
  EXPECT_EQ(finished.err.size(), 300'000u);
  EXPECT_EQ(run_child({"sh", "-c", "kill -9 $$"}).code, -9);
  EXPECT_EQ(run_child({"/no/such/program"}).code, 127);
  EXPECT_NE(run_child({"/no/such/program"}).err, "");
}

TEST(ChildProcess, EnvironmentIsAddedToOurs) {
  const Finished finished = run_child({"sh", "-c", "echo $FIRST,$PATH"}, {"FIRST=1", "PATH=/usr/bin:/bin"});
  EXPECT_EQ(finished.out, "1,/usr/bin:/bin\n");
  EXPECT_NE(run_child({"sh", "-c", "echo $PATH"}).out, "\n");
}

TEST(Peers, NumpyAcceptsWhatTheClosedFormSays) {
  std::string why;
  if (python_with("numpy", why).empty()) GTEST_SKIP() << why;
  const RatioTable table(p, {q});
  for (const int drafts : {1, 3}) {
    double b = 0;
    for (int k = 0; k < drafts; ++k) b += table.residual_mass(b);
    const double wanted = 1 - table.residual_mass(b);
    for (const char* program : {"expert", "choice", "batched", "loop", "loop_wor"}) {
      const PeerAnswer answer =
          ask("numpy_peer", "numpy", {"--program", program, "--drafts", std::to_string(drafts), "--trials", "20000"});
      ASSERT_EQ(answer.error, "") << program;
      EXPECT_GT(answer.data.at("seconds"), 0);
      EXPECT_EQ(answer.data.at("trials"), 20000);
      EXPECT_NEAR(answer.data.at("expected_with_replacement"), wanted, 1e-14);
      // The tolerance `band` is seven standard errors; a standard error is at most 1/2 divided by the root of the
      // number of trials. loop_wor draws without replacement, so it may accept more often.
      const double acceptance = answer.data.at("acceptance"), band = 7 * 0.5 / std::sqrt(20000.0);
      EXPECT_GT(acceptance, wanted - band) << program;
      if (std::string(program) != "loop_wor" || drafts == 1) {
        EXPECT_LT(acceptance, wanted + band) << program;
      }
    }
  }
}

TEST(Peers, ScipyFindsTheOptimum) {
  std::string why;
  if (python_with("scipy", why).empty()) GTEST_SKIP() << why;
  for (const int drafts : {1, 2, 3}) {
    const PeerAnswer answer = ask("scipy_peer", "scipy", {"--drafts", std::to_string(drafts)});
    ASSERT_EQ(answer.error, "");
    // By default the solver, HiGHS, satisfies each constraint to 1e-7; the vertices of such a small linear program are
    // far more exact.
    EXPECT_NEAR(answer.data.at("optimum"), fresh_iid_optimum(p, q, drafts).acceptance, 1e-9);
  }
}

TEST(Peers, SayWhatIsWrong) {
  std::string why;
  if (python_with("numpy", why).empty()) GTEST_SKIP() << why;
  EXPECT_NE(ask("numpy_peer", "numpy", {"--program", "none", "--drafts", "1"}).error.find("unknown program none"),
            std::string::npos);
  EXPECT_EQ(python_with("no_such_module", why), "");
  EXPECT_NE(why.find("No module named 'no_such_module'"), std::string::npos) << why;
}

}  // namespace
}  // namespace draftproof::benchmarks
