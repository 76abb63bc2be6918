#include <limits>

#include <gtest/gtest.h>

#include <draftproof/report/text.hpp>

namespace draftproof {
namespace {

TEST(Text, WidthCountsCodePoints) {
  EXPECT_EQ(display_width(""), 0u);
  EXPECT_EQ(display_width("abc"), 3u);
  EXPECT_EQ(display_width("±0.1"), 4u);
  EXPECT_EQ(display_width("é…"), 2u);
}

TEST(Text, PadsToColumnsNotBytes) {
  EXPECT_EQ(padded("±1", 4, false), "±1  ");
  EXPECT_EQ(padded("±1", 4, true), "  ±1");
  EXPECT_EQ(padded("", 2, true), "  ");
  EXPECT_EQ(padded("longer", 3, false), "longer") << "nothing is cut";
}

TEST(Text, WrapsAtSpacesAndBreaksLongWords) {
  using Lines = std::vector<std::string>;
  EXPECT_EQ(wrapped("", 3), Lines{""});
  EXPECT_EQ(wrapped("exact_law, splitting", 11), (Lines{"exact_law,", "splitting"}));
  EXPECT_EQ(wrapped("a bc d", 4), (Lines{"a bc", "d"}));
  EXPECT_EQ(wrapped("abcdef", 4), (Lines{"abcd", "ef"}));
  EXPECT_EQ(wrapped("±1 ±2", 2), (Lines{"±1", "±2"})) << "columns, not bytes";
}

TEST(Text, GroupsByThousands) {
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(1000), "1,000");
  EXPECT_EQ(grouped(100000), "100,000");
  EXPECT_EQ(grouped(1048576), "1,048,576");
  EXPECT_EQ(grouped(std::numeric_limits<std::uint64_t>::max()), "18,446,744,073,709,551,615");
}

TEST(Text, CountsInTheRightNumber) {
  EXPECT_EQ(counted(0, "tuple"), "0 tuples");
  EXPECT_EQ(counted(1, "tuple"), "1 tuple");
  EXPECT_EQ(counted(1500, "tuple"), "1,500 tuples");
}

}  // namespace
}  // namespace draftproof
