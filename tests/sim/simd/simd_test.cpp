// Passes in every width of the processor: the bits of the scalar one, and of plain sums.
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include <draftproof/sim/random/philox4x32.hpp>
#include <draftproof/sim/simd/strips.hpp>
#include <draftproof/tests/support/wide_entries.hpp>

namespace draftproof::simd {
namespace {

using namespace wide_entries;

template <class Entry>
struct WidePasses : testing::Test {};
using Entries = testing::Types<float, double>;
TYPED_TEST_SUITE(WidePasses, Entries);

TYPED_TEST(WidePasses, GiveTheSameBitsInEveryWidth) {
  using Row = Reader<TypeParam>;
  for (const std::size_t size : sizes)
    for (std::uint64_t seed = 1; seed <= 6; ++seed) {
      const auto p = entries<TypeParam>(seed, size);
      auto q = entries<TypeParam>(seed + 100, size);
      for (std::size_t i = 0; i < size; i += 5) q[i] = p[i];  // ratio 1, on the edge at b = 1
      const auto row = plain_sums(size, [&](std::size_t i) { return double{q[i]}; });
      for (const Width width : widths_here())
        EXPECT_EQ(sums_of(RowTerm<Row>{{q.data()}}, size, width), row) << name_of(width) << " V " << size;
      for (const double b : places) {
        const auto above = [&](std::size_t i) { return residual_term(p[i], q[i], b); };
        const auto wanted = plain_sums(size, above);
        const auto slope = plain_sums(size, [&](std::size_t i) { return above(i) > 0 ? double{q[i]} : 0.0; });
        const double clip_ratio = b * 1.25;
        const auto clipped = plain_sums(size, [&](std::size_t i) {
          return std::max(double{p[i]} - b * std::min(double{q[i]}, double{p[i]} / clip_ratio), 0.0);
        });
        const auto term = residual(p, q, b);
        for (const Width width : widths_here()) {
          EXPECT_EQ(sums_of(term, size, width), wanted) << name_of(width) << " V " << size << " b " << b;
          std::vector<Fixed> partial(wanted.partial.size());
          const FixedCurve curve = mass_and_slope(term, size, partial.data(), width);
          EXPECT_EQ(curve.mass, wanted.total) << name_of(width) << " V " << size << " b " << b;
          EXPECT_EQ(curve.slope, slope.total) << name_of(width) << " V " << size << " b " << b;
          EXPECT_EQ(partial, wanted.partial) << name_of(width) << " V " << size << " b " << b;
          if (!(b > 0 && std::isfinite(clip_ratio))) continue;
          EXPECT_EQ(sums_of(ClippedTerm<Row, Row>{{p.data()}, {q.data()}, b, clip_ratio}, size, width), clipped)
              << name_of(width) << " V " << size << " b " << b;
        }
      }
    }
}

// Quotients p / clip_ratio that are closest to the midpoint of two doubles for that clip_ratio: with p = P 2^-53 and
// clip_ratio = N 2^-52, odd N, and M the inverse of N or -N modulo 2^54, P = (N M -+ 1) / 2^54 lies 1 / N of half a
// unit beside the 54-bit number M.
TEST(WideClipping, RoundsQuotientsAsDivisionDoes) {
  __extension__ using Wide = unsigned __int128;
  int hard = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    const std::uint64_t n = philox_pair(seed, 0, 0, 0).first >> 12 | std::uint64_t{1} << 52 | 1;
    std::uint64_t inverse = n;
    for (int step = 0; step < 6; ++step) inverse *= 2 - n * inverse;
    for (const std::uint64_t signed_inverse : {inverse, -inverse}) {
      const std::uint64_t m = signed_inverse & ((std::uint64_t{1} << 54) - 1);
      if (m >> 53 == 0) continue;  // not 54 bits
      const auto p = static_cast<std::uint64_t>((static_cast<Wide>(n) * m + (std::uint64_t{1} << 53)) >> 54);
      const double clip_ratio = std::ldexp(static_cast<double>(n), -52), b = clip_ratio * (1 - 0x1p-40);
      const std::vector<double> target(17, std::ldexp(static_cast<double>(p), -53)), proposal(17, 1.0);
      const double left = target[0] - b * std::min(1.0, target[0] / clip_ratio);
      const ClippedTerm<Reader<double>, Reader<double>> term{{target.data()}, {proposal.data()}, b, clip_ratio};
      for (const Width width : widths_here()) EXPECT_EQ(sums_of(term, 17, width).total, 17 * to_fixed(left));
      ++hard;
    }
  }
  EXPECT_GT(hard, 200);
}

TYPED_TEST(WidePasses, FindTheTokenOfTheRunningSum) {
  const auto p = entries<TypeParam>(3, 3000), q = entries<TypeParam>(4, 3000);
  const auto term = residual(p, q, 0.7);
  for (const std::size_t start : {std::size_t{0}, std::size_t{1024}, std::size_t{2048}}) {
    const std::size_t end = std::min<std::size_t>(start + block, p.size());
    const Fixed total = scalar_sum(term, start, end);
    for (const std::uint64_t word : examples::some_words(start, 300)) {
      const auto at = static_cast<Fixed>(scale(word, static_cast<std::uint64_t>(total)));
      std::size_t expected = start;
      for (Fixed below = 0; (below += to_fixed(term.one(expected))) <= at;) ++expected;
      for (const Width width : widths_here())
        ASSERT_EQ(find(term, start, end, at, width), expected) << name_of(width) << " word " << word;
    }
  }
}

// Products that a fused multiply-add would round differently, cancelling sums, branches, other scalars than double.
TEST(WideFunctions, GiveTheSameBitsInEveryWidth) {
  const std::size_t most = 2100;
  const auto p = entries<double>(5, most), q = entries<double>(6, most);
  const auto narrow = entries<float>(7, most);
  const auto check = [&](const char* what, const auto& f) {
    for (const std::size_t start : {std::size_t{0}, std::size_t{3}})
      for (const std::size_t end : {std::size_t{3}, std::size_t{66}, std::size_t{67}, std::size_t{1027}, most}) {
        Fixed expected = 0;
        for (std::size_t i = start; i < end; ++i) expected += to_fixed(f(static_cast<Token>(i)));
        for (const Width width : widths_here())
          EXPECT_EQ(function_sum(f, start, end, width), expected) << what << " " << name_of(width) << " to " << end;
        for (const std::uint64_t word : examples::some_words(end, expected > 0 ? 40 : 0)) {
          if (expected <= 0) break;
          const auto at = static_cast<Fixed>(scale(word, static_cast<std::uint64_t>(expected)));
          std::size_t token = start;
          for (Fixed below = 0; (below += to_fixed(f(static_cast<Token>(token)))) <= at;) ++token;
          for (const Width width : widths_here())
            ASSERT_EQ(find_function(f, start, end, at, width), token) << what << " " << name_of(width);
        }
      }
  };
  const auto i = [](Token x) { return static_cast<std::size_t>(x); };
  check("row", [&](Token x) { return q[i(x)]; });
  check("float", [&](Token x) { return narrow[i(x)]; });
  check("product", [&](Token x) { return q[i(x)] * (p[i(x)] + 0.1); });
  check("residual", [&](Token x) { return std::max(p[i(x)] - 0.3 * q[i(x)], 0.0); });
  check("square less product", [&](Token x) {
    const double s = 1 + p[i(x)] + q[i(x)],
                 left = s * s - 0.999 * s;  // rounds at 2^-53, far above the integers' unit
    return left > 0 ? left : 0.0;
  });
  check("quotient", [&](Token x) { return q[i(x)] > 0 ? q[i(x)] / (1 + p[i(x)] / 3) : 0.0; });
  check("index", [&](Token x) { return x % 7 == 3 ? 0x1p-12 : 0; });
}

TEST(WideFunctions, PartsOfTheVocabularyAreFewAndCoverIt) {
  for (const std::size_t size :
       {std::size_t{1}, block, block * most_parts, block * most_parts + 1, std::size_t{1} << 24})
    EXPECT_TRUE(part_length(size) % block == 0 && (size + part_length(size) - 1) / part_length(size) <= most_parts)
        << size;
}

TEST(Width, IsChosenOnceAndCanBeSaidToBeLess) {
  const Width before = in_use();
  for (const Width width : widths) {
    if (width > widest()) {
      EXPECT_THROW(use(width), std::invalid_argument) << name_of(width);
      continue;
    }
    const Using now(width);
    EXPECT_EQ(in_use(), width);
  }
  EXPECT_EQ(in_use(), before);
  EXPECT_EQ(name_of(Width::avx2), "avx2");
}

}  // namespace
}  // namespace draftproof::simd
