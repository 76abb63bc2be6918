// Tests of plots: points are at the positions of their values, texts fit, and series with different colours have
// different shapes.
#include <gtest/gtest.h>

#include <draftproof/cli/report/plots/plots.hpp>

namespace draftproof::plots {
namespace {

TEST(Axis, TicksAreRoundAndHoldTheValues) {
  const Axis axis = linear_axis(0.812, 0.974, 0, 100, 5);
  EXPECT_LE(axis.low, 0.812);
  EXPECT_GE(axis.high, 0.974);
  ASSERT_EQ(axis.ticks.size(), 5u);
  EXPECT_EQ(number_text(axis.ticks[0]), "0.8");
  EXPECT_EQ(number_text(axis.ticks[1]), "0.85");
  EXPECT_NEAR(axis(0.9), 50, 1e-9);
}

TEST(Axis, OfOneValueHasAWidth) {
  for (const double value : {0.0, 0.5, -3.0, 1e16, 1e300}) {
    const Axis axis = linear_axis(value, value, 0, 100, 5);
    EXPECT_LT(axis.low, axis.high) << value;
    EXPECT_GE(axis.ticks.size(), 2u) << value;
    EXPECT_LE(axis.ticks.size(), 12u) << value;
  }
  EXPECT_LE(linear_axis(1e16, 1e16 + 2, 0, 1, 5).ticks.size(), 12u) << "values that differ in the last digit";
}

TEST(Axis, DecadesAndLists) {
  const Axis decades = decade_axis(3, 2000, 0, 90);
  EXPECT_EQ(decades.low, 1);
  EXPECT_EQ(decades.high, 10000);
  EXPECT_NEAR(decades(100), 45, 1e-9);
  const Axis list = listed_axis({1, 4, 16}, 0, 100);
  EXPECT_NEAR(list(4), 50, 1e-9);
  EXPECT_NEAR(listed_axis({1, 2, 3}, 0, 100, false)(2), 50, 1e-9);
}

TEST(Axis, TextsOfTicks) {
  EXPECT_EQ(time_tick(1e-5), "10 us");
  EXPECT_EQ(rate_tick(1e6), "1 M");
  EXPECT_EQ(whole_tick(128256), "128,256");
  EXPECT_EQ(percent_tick(0.5), "50 %");
  EXPECT_EQ(power_tick(-3), "10⁻³");
  EXPECT_EQ(number_text(0.1 + 0.2), "0.3");
}

TEST(Text, IsEscapedAndCut) {
  EXPECT_EQ(escaped("<a b='\"&\x02'>"), "&lt;a b=&#39;&quot;&amp;\xEF\xBF\xBD&#39;&gt;");
  EXPECT_EQ(fitted("short", 100), "short");
  const std::string cut = fitted("a_scheme_with_a_very_long_name", 80, 11, true);
  EXPECT_TRUE(cut.ends_with("…")) << cut;
  EXPECT_LE(text_width(cut, 11, true), 80);
  for (const std::string& line : wrapped("several words that do not fit on one line of this width", 120))
    EXPECT_LE(text_width(line), 120) << line;
  EXPECT_GT(text_width("漢字"), text_width("ab")) << "wide characters take more";
}

LinePlot two_lines() {
  LinePlot plot{.title = "t < u",
                .x_label = "x",
                .y_label = "y",
                .x_ticks = LinePlot::Ticks::at_points_logarithmic,
                .logarithmic = true};
  plot.series = {{"one", {{1, 10}, {100, 1000}}}, {"two", {{10, 100, 50, 200, {}}}, Stroke::dashed}};
  return plot;
}

TEST(LinePlots, PointsLieWhereTheirLogarithmsAre) {
  const Picture picture = drawn(two_lines());
  EXPECT_NE(picture.svg.find("aria-label=\"t &lt; u\""), std::string::npos);
  // The frame is the rectangle between the axes, which are logarithmic: x goes from 1 / 1.25 to 125, with 10 in the
  // middle, and y from 10 to 1000, with 100 in the middle.
  const std::size_t frame = picture.svg.rfind("<rect", picture.svg.find("class=\"axis\""));
  double x = 0, y = 0, width = 0, height = 0;
  ASSERT_EQ(std::sscanf(picture.svg.c_str() + frame, "<rect x=\"%lf\" y=\"%lf\" width=\"%lf\" height=\"%lf\"", &x, &y,
                        &width, &height),
            4);
  const std::size_t mark = picture.svg.find("class=\"mark c1\"");
  double at_x = 0, at_y = 0;
  const std::size_t start = picture.svg.rfind("d=\"M", mark);
  ASSERT_EQ(std::sscanf(picture.svg.c_str() + start, "d=\"M%lf %lfm", &at_x, &at_y), 2);
  EXPECT_NEAR(at_x, x + width / 2, 0.11) << "two roundings to a tenth";
  EXPECT_NEAR(at_y, y + height / 2, 0.11);
}

TEST(LinePlots, SayEverythingWithoutColour) {
  const std::string svg = drawn(two_lines()).svg;
  EXPECT_NE(svg.find("trend c1 dashed"), std::string::npos);
  EXPECT_NE(svg.find("<title>two: 100 at 10, 50 to 200</title>"), std::string::npos) << svg;
  EXPECT_NE(svg.find("class=\"span c1\""), std::string::npos) << "the interval";
  const auto shape = [&](const char* colour) {
    const std::size_t end = svg.find(colour), start = svg.rfind("d=\"M", end);
    return svg.substr(svg.find('m', start), end - svg.find('m', start));
  };
  EXPECT_NE(shape("class=\"mark c0\""), shape("class=\"mark c1\"")) << "a marker of its own";
}

TEST(LinePlots, ARoofShadesWhatIsAbove) {
  LinePlot plot{.title = "t", .x_label = "x", .y_label = "y"};
  plot.series = {{"a", {{1, 0.5}, {2, 0.6}}}, {"best", {{1, 0.7}, {2, 0.8}}, Stroke::roof}};
  const std::string svg = drawn(plot).svg;
  EXPECT_NE(svg.find("class=\"above\""), std::string::npos);
  EXPECT_NE(svg.find("class=\"roof\"><title>best</title>"), std::string::npos);
}

TEST(LinePlots, AFileHasStyleAndGround) {
  const std::string file = drawn(two_lines()).file();
  EXPECT_TRUE(file.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"400\"")) << file.substr(0, 90);
  EXPECT_NE(file.find("prefers-color-scheme:dark"), std::string::npos);
  EXPECT_NE(file.find("class=\"ground\""), std::string::npos);
}

TEST(BarPlots, HaveIntervalsRoofsAndAlarm) {
  BarPlot plot{.title = "t", .x_label = "x", .bars = {}};
  plot.bars = {{.label = "a", .value = 0.5, .low = 0.4, .high = 0.6, .text = "0.5000", .roof = 0.9},
               {.label = "b", .value = -2, .kind = "lossy"}};
  plot.alarm = {9, "alarm"};
  const std::string svg = drawn(plot).svg;
  EXPECT_NE(svg.find("<title>a: 0.5, 0.4 to 0.6; optimum 0.9</title>"), std::string::npos) << svg;
  for (const char* wanted : {"class=\"whisker\"", "class=\"roof\"", "class=\"alarm\"", "bar lossy", ">alarm</text>"})
    EXPECT_NE(svg.find(wanted), std::string::npos) << wanted;
}

TEST(HeatMaps, HaveASignInEveryCell) {
  const HeatMap map{.title = "t",
                    .rows = {"r"},
                    .columns = {"hit", "kept", "skipped", "absent"},
                    .cells = {{Mark::hit, Mark::kept, Mark::skipped, Mark::absent}},
                    .kept = "passed",
                    .hit = "failed",
                    .skipped = ""};
  const std::string svg = drawn(map).svg;
  EXPECT_NE(svg.find("<title>r: hit failed</title>"), std::string::npos);
  EXPECT_NE(svg.find("class=\"sign\""), std::string::npos);
  EXPECT_NE(svg.find("class=\"dot\""), std::string::npos);
  // Each cell is a square and its sign; the first square with class "kept" is that of the second column.
  const auto sign_of = [&svg](const std::string& first) {
    const std::size_t at = svg.find(first);
    return at == std::string::npos ? "" : svg.substr(at, svg.find("<rect", at) - at);
  };
  EXPECT_NE(sign_of("class=\"hit\"").find("class=\"sign\""), std::string::npos);
  EXPECT_NE(sign_of("class=\"kept\"").find("class=\"dot\""), std::string::npos);
}

}  // namespace
}  // namespace draftproof::plots
