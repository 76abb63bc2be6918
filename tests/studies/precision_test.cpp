// The study of precision: its controls against reference figures, and its verdict with a wrong sampler among the
// verifiers.
#include <array>

#include <gtest/gtest.h>

#include <draftproof/mutants/pick.hpp>
#include <draftproof/properties/subjects/erased.hpp>
#include <draftproof/studies/figures/precision.hpp>

namespace draftproof {
namespace {

using studies::Precision;

/// References were measured on another order of the same tokens, and have two digits.
constexpr double reference_tolerance = 0.10;

TEST(PrecisionStudy, ControlsComeOutAsElsewhere) {
  struct Reference {
    int vocabulary;
    double running_sum, uniforms_24, uniforms_32, bf16;
  };
  for (const auto& [vocabulary, running_sum, uniforms_24, uniforms_32, bf16] :
       std::array{Reference{32'000, 1.6e-4, 3.2e-4, 1.3e-6, 7e-4}, Reference{128'256, 7.0e-4, 1.3e-3, 5e-6, 7e-4},
                  Reference{262'144, 1.4e-3, 2.5e-3, 1e-5, 7e-4}}) {
    const auto p = exact_target(whole_rows(vocabulary, 1, 1, 1).target);
    EXPECT_NEAR(total_variation(running_float_sum(p), p), running_sum, reference_tolerance * running_sum);
    EXPECT_NEAR(total_variation(grid_law(p, 24), p), uniforms_24, reference_tolerance * uniforms_24);
    EXPECT_NEAR(total_variation(grid_law(p, 32), p), uniforms_32, reference_tolerance * uniforms_32);
    EXPECT_NEAR(total_variation(exact_target(bfloat16.round(p)), p), bf16, reference_tolerance * bf16);
  }
}

TEST(PrecisionStudy, GridByHand) {
  // Sums 3/16, 1/2, 1 and multiples of 1/4: 0 lies below the first, 1/4 below the second, 1/2 and 3/4 below the last.
  EXPECT_EQ(grid_law({0.1875, 0.3125, 0.5}, 2), (std::vector{0.25, 0.25, 0.5}));
  EXPECT_EQ(grid_law({0.1875, 0.3125, 0.5}, 4), (std::vector{0.1875, 0.3125, 0.5}));
}

constexpr std::array sizes{3000};

TEST(PrecisionStudy, HoldsOnCorrectVerifiers) {
  const StudyResult result = Precision::audit_all(
      {}, {registry().verifier("recursive_rejection"), registry().verifier("recursive_rejection_wor")}, sizes);
  EXPECT_TRUE(result.held) << result.document.data["checks"];
  EXPECT_EQ(result.document.data["forms"].size(), 6u);
  EXPECT_EQ(result.document.data["stored"].size(), 6u);
}

TEST(PrecisionStudy, FailsOnFloatSums) {
  static const VerifierOf<mutants::FloatRunningSum> wrong(Kind::mutant);
  const StudyResult result = Precision::audit_all({}, {&wrong}, sizes);
  EXPECT_FALSE(result.held);
  EXPECT_EQ(result.document.data["checks"]["violated"], 4) << "three forms, and float32 rows";
}

}  // namespace
}  // namespace draftproof
