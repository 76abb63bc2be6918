// Published numbers are compared to their printed digits.
#include <gtest/gtest.h>

#include <draftproof/studies/reference.hpp>

namespace draftproof {
namespace {

TEST(Reference, AgreesToHalfAUnitOfItsLastDigit) {
  const Reference printed{"0.8650"};
  EXPECT_EQ(printed.value(), 0.865);
  EXPECT_TRUE(printed.agrees(0.86504));
  EXPECT_TRUE(printed.agrees(0.86496));
  EXPECT_FALSE(printed.agrees(0.86506));
  EXPECT_FALSE(printed.agrees(0.86494));
  EXPECT_TRUE(printed.agrees(0.86506, 2e-5)) << "an error of one's own widens it";
  EXPECT_TRUE(Reference{"1"}.agrees(1.4));
  EXPECT_FALSE(Reference{"1.000000"}.agrees(0.99999));
  EXPECT_FALSE(Reference{"nothing"}.agrees(0)) << "what is no number agrees with nothing";
}

}  // namespace
}  // namespace draftproof
