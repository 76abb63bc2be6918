// Replay lines are tried in a fresh program before they are printed. If the fresh program does not show the finding,
// the printed line repeats all calls, and the evidence says so.
#include <cstdlib>
#include <string>

#include <draftproof/adapters/gate/external_gate.hpp>
#include <draftproof/adapters/open_adapter.hpp>
#include <draftproof/tests/support/adapters_messages.hpp>

namespace draftproof::adapters {
namespace {

/// Returns the first failed finding of a tier of the program `text`, or an empty finding.
Finding found(const std::string& text, Tier tier) {
  const OpenAdapter adapter = open_adapter(text);
  const ExternalGate gate(adapter.text, adapter.program, adapter.served, adapter.fresh);
  GateOptions options;
  options.profile.adapter_models = 12;
  for (const Finding& finding : run_gate({.external = &gate, .tier = tier}, options).findings)
    if (finding.status == Status::failed) return finding;
  return {};
}

constexpr long always = 0, later = 12'000, never = 1'000'000'000;

void expect_replays(const std::string& name, const std::function<std::string(long right)>& adapter) {
  const Finding wrong = found(adapter(always), Tier::proof);
  EXPECT_EQ(wrong.status, Status::failed) << name;
  EXPECT_NE(wrong.replay.find("draftproof replay --adapter '"), std::string::npos) << wrong.replay;
  EXPECT_EQ(wrong.evidence.find(needs_earlier_calls), std::string::npos) << wrong.evidence;
  const Finding late = found(adapter(later), Tier::proof);
  EXPECT_EQ(late.status, Status::failed) << name;
  EXPECT_NE(late.replay.find("draftproof check --adapter '"), std::string::npos) << late.replay;
  expect_words(late.replay, "--tier proof --profile pr --models 12");
  expect_words(late.evidence, needs_earlier_calls);
  EXPECT_EQ(found(adapter(never), Tier::proof).evidence, "") << name;
}

TEST(ReplayLines, OfAChildThatIsWrongLater) {
  expect_replays("a child", [](long right) {
    return "exec:python3 '" DRAFTPROOF_SOURCE_DIR "/tests/adapters/children/later.py' " + std::to_string(right);
  });
}

TEST(ReplayLines, OfAChildThatEnds) {
  const std::string child = "exec:python3 '" DRAFTPROOF_SOURCE_DIR "/tests/adapters/children/later.py' ";
  const Finding late = found(child + "4000 ends", Tier::proof);
  EXPECT_EQ(late.property, "protocol");
  expect_words(late.evidence, "died in 3 batches, but on no row alone");
  expect_words(late.evidence, needs_earlier_calls);
  expect_words(late.replay, "^draftproof check --adapter '");
  expect_words(late.replay, "--tier proof --profile pr --models 12");
  const Finding always = found(child + "0 ends", Tier::proof);
  EXPECT_EQ(always.property, "protocol");
  EXPECT_EQ(always.evidence.find(needs_earlier_calls), std::string::npos) << always.evidence;
  expect_words(always.replay, "^draftproof replay --adapter '");
}

TEST(ReplayLines, OfALibraryThatIsWrongLater) {
  expect_replays("a library", [](long right) {
    return "exec:DRAFTPROOF_RIGHT_ROWS=" + std::to_string(right) +
           " exec '" DRAFTPROOF_PROGRAM "' serve 'lib:" DRAFTPROOF_ADAPTER_LATER "'";
  });
}

}  // namespace
}  // namespace draftproof::adapters
