// The default selection of `bench`: of benchmarks that differ in sizes alone the middle one, and both sides of every goal.
#include <gtest/gtest.h>

#include <draftproof/bench/run.hpp>

namespace draftproof::benchmarks {
namespace {

TEST(UsualSizes, TheMiddleOfEachKind) {
  const std::vector<std::string> names{"cost/a/iid/4096/1",  "cost/a/iid/4096/4",   "cost/a/iid/32000/1",
                                       "cost/a/iid/32000/4", "cost/a/iid/128256/1", "cost/b/iid/4096/1",
                                       "prove/all"};
  EXPECT_EQ(usual_sizes(names, {}),
            (std::vector<std::string>{"cost/a/iid/32000/1", "cost/b/iid/4096/1", "prove/all"}));
}

TEST(UsualSizes, BothSidesOfEveryGoal) {
  const std::vector<std::string> names{"floor/4096", "floor/32000", "floor/128256",
                                       "peer/4096/iterations:1/manual_time", "peer/32000/iterations:1/manual_time"};
  const std::vector<Goal> goals{{"x", "peer/4096", "floor/128256", Goal::Sense::at_least, 1}};
  EXPECT_EQ(usual_sizes(names, goals),
            (std::vector<std::string>{"floor/32000", "floor/128256", "peer/4096/iterations:1/manual_time",
                                      "peer/32000/iterations:1/manual_time"}));
}

}  // namespace
}  // namespace draftproof::benchmarks
