// What a declaration gets wrong is one line, whenever it is registered.
#include <stdexcept>

#include <gtest/gtest.h>

#include <draftproof/properties/prover/registration.hpp>

namespace draftproof {
namespace {

TEST(Registration, MistakesAreKeptUntilSomebodyCanSayThem) {
  const auto before = registration_mistakes();
  keep_mistakes([] { throw std::logic_error("registered twice: single_draft"); });
  keep_mistakes([] {});
  ASSERT_EQ(registration_mistakes().size(), before.size() + 1);
  EXPECT_EQ(registration_mistakes().back(), "registered twice: single_draft");
  registration_mistakes() = before;
}

}  // namespace
}  // namespace draftproof
