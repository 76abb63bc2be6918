// Replay lines are tried in a program just started before they are printed: where the finding is not there, the line
// repeats all calls, and the evidence says so.
#include <cstdlib>
#include <string>

#include <draftproof/adapters/gate/foreign_gate.hpp>
#include <draftproof/adapters/open_door.hpp>
#include <draftproof/tests/support/doors_messages.hpp>

namespace draftproof::adapters {
namespace {

/// The first violation of a tier, of a program that is right for so many rows.
Finding found(const std::string& text, Tier tier) {
  const OpenDoor door = open_door(text);
  const ForeignGate gate(door.text, door.program, door.served, door.fresh);
  GateOptions options;
  options.profile.door_models = 12;
  for (const Finding& finding : run_gate({.foreign = &gate, .tier = tier}, options).findings)
    if (finding.status == Status::violated) return finding;
  return {};
}

constexpr long always = 0, later = 12'000, never = 1'000'000'000;

void expect_replays(const std::string& name, const std::function<std::string(long right)>& door) {
  const Finding wrong = found(door(always), Tier::proof);
  EXPECT_EQ(wrong.status, Status::violated) << name;
  EXPECT_NE(wrong.replay.find("draftproof replay --door '"), std::string::npos) << wrong.replay;
  EXPECT_EQ(wrong.evidence.find(needs_earlier_calls), std::string::npos) << wrong.evidence;
  const Finding late = found(door(later), Tier::proof);
  EXPECT_EQ(late.status, Status::violated) << name;
  EXPECT_NE(late.replay.find("draftproof check --door '"), std::string::npos) << late.replay;
  expect_words(late.replay, "--tier proof --profile pr --models 12");
  expect_words(late.evidence, needs_earlier_calls);
  EXPECT_EQ(found(door(never), Tier::proof).evidence, "") << name;
}

TEST(ReplayLines, OfAChildThatIsWrongLater) {
  expect_replays("a child", [](long right) {
    return "exec:python3 '" DRAFTPROOF_SOURCE_DIR "/tests/adapters/children/later.py' " + std::to_string(right);
  });
}

TEST(ReplayLines, OfALibraryThatIsWrongLater) {
  expect_replays("a library", [](long right) {
    return "exec:DRAFTPROOF_RIGHT_ROWS=" + std::to_string(right) + " exec '" DRAFTPROOF_PROGRAM
           "' serve 'lib:" DRAFTPROOF_DOOR_LATER "'";
  });
}

}  // namespace
}  // namespace draftproof::adapters
