// Colour: on a terminal only, and not if the user or the terminal disables it.
#include <gtest/gtest.h>

#include <draftproof/tests/cli/child.hpp>

namespace draftproof {
namespace {

std::string shown(Stream out, const std::vector<std::string>& environment,
                  const std::vector<std::string>& more = {}) {
  std::vector<std::string> arguments{"prove", "single_draft", "--instance", "p=(1 1)/2 q=(0 1)/1 K=1"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  Child child(arguments, out, Stream::pipe, environment);
  EXPECT_EQ(child.finish(), 0) << child.err();
  EXPECT_NE(child.out().find("proved"), std::string::npos) << child.out();
  return child.out();
}

bool coloured(const std::string& text) { return text.find('\033') != std::string::npos; }

class Colour : public testing::Test {
 protected:
  void SetUp() override {
    if (!Child::has_terminals()) GTEST_SKIP() << "no pseudo-terminals here";
  }
};

TEST_F(Colour, OnATerminal) { EXPECT_TRUE(coloured(shown(Stream::terminal, {"TERM=xterm"}))); }
TEST_F(Colour, NotInAPipe) { EXPECT_FALSE(coloured(shown(Stream::pipe, {"TERM=xterm"}))); }
TEST_F(Colour, NotWithNoColor) { EXPECT_FALSE(coloured(shown(Stream::terminal, {"TERM=xterm", "NO_COLOR=1"}))); }
TEST_F(Colour, AnEmptyNoColorSaysNothing) {
  EXPECT_TRUE(coloured(shown(Stream::terminal, {"TERM=xterm", "NO_COLOR="})));
}
TEST_F(Colour, NotOnADumbTerminal) { EXPECT_FALSE(coloured(shown(Stream::terminal, {"TERM=dumb"}))); }
TEST_F(Colour, NeverInJson) { EXPECT_FALSE(coloured(shown(Stream::terminal, {"TERM=xterm"}, {"--json"}))); }

}  // namespace
}  // namespace draftproof
