// Tests that passes at every SIMD width give the same bits as the scalar pass and plain sums, on entries of every kind;
// and tests the error bound of terms computed in float.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include <draftproof/sim/random/philox4x32.hpp>
#include <draftproof/sim/random/uniform_source.hpp>
#include <draftproof/sim/simd/mass_and_slope.hpp>
#include <draftproof/sim/simd/strips.hpp>
#include <draftproof/tests/support/example_rows.hpp>

namespace draftproof::simd {
namespace {

/// Returns entries of every kind in random order: zeros, denormals, numbers around the unit of 2^-60, uniform
/// numbers, and one so large that the top bits of the integers are used. Their sum is below 1.
template <class Entry>
std::vector<Entry> entries(std::uint64_t seed, std::size_t size) {
  std::vector<Entry> row(size);
  for (std::size_t i = 0; i < size; ++i) {
    const double u = examples::uniform(seed, 3 * i), v = examples::uniform(seed, 3 * i + 1);
    switch (static_cast<int>(6 * examples::uniform(seed, 3 * i + 2))) {
      case 0:
        break;
      case 1:
        row[i] = std::numeric_limits<Entry>::denorm_min() * static_cast<Entry>(std::floor(100 * u));
        break;
      case 2:
        row[i] = static_cast<Entry>(std::ldexp(u, -static_cast<int>(40 + 30 * v)) / 2);
        break;
      case 3:
        row[i] = static_cast<Entry>(std::ldexp(u, -static_cast<int>(2000 * v)));
        break;
      default:
        row[i] = static_cast<Entry>(u / static_cast<double>(size) / 2);
    }
  }
  double sum = 0;
  for (const Entry entry : row) sum += entry;
  if (sum > 0.5)
    for (Entry& entry : row) entry = static_cast<Entry>(entry / (2 * sum));
  if (seed % 3 == 0) row[seed % size] += Entry{0.5} - std::numeric_limits<Entry>::epsilon();
  return row;
}

const std::vector<std::size_t> sizes{1, 7, 8, 31, 64, 65, 1000, 1023, 1024, 1025, 4097, 9999};
// The factors b include values around 2^100, where rows of floats change to terms in double, and values where doubles
// overflow.
const double past_floats = std::nextafter(0x1p100, 1e300);
const std::vector<double> places{0,
                                 1e-310,
                                 1e-280,
                                 1e-42,
                                 0.3,
                                 1,
                                 1.7,
                                 4,
                                 1e10,
                                 0x1.fffffffp99,
                                 0x1p100,
                                 past_floats,
                                 0x1p128,
                                 0x1p900,
                                 0x1.8p930,
                                 1e300,
                                 std::numeric_limits<double>::max()};

struct Sums {
  std::vector<Fixed> partial;
  Fixed total = 0;
  bool operator==(const Sums&) const = default;
};

template <class Term>
Sums sums_of(const Term& term, std::size_t size, Width width) {
  Sums result{std::vector<Fixed>((size + block - 1) / block, -1)};
  result.total = sums(term, size, result.partial.data(), width);
  return result;
}

/// Returns the sums of `value`, added token by token.
Sums plain_sums(std::size_t size, const std::function<double(std::size_t)>& value) {
  Sums result{std::vector<Fixed>((size + block - 1) / block)};
  for (std::size_t i = 0; i < size; ++i) {
    const Fixed term = to_fixed(value(i));
    result.partial[i / block] += term;
    result.total += term;
  }
  return result;
}

/// Returns (p - b q)+, rounded as the passes over rows do: in float if entries are floats and b is at most 2^100.
template <class Entry>
double residual_term(Entry p, Entry q, double b) {
  if constexpr (std::is_same_v<Entry, float>)
    if (b <= 0x1p100) {
      const auto high = static_cast<float>(b), low = static_cast<float>(b - double{high});
      return double{std::max(std::fmaf(-low, q, std::fmaf(-high, q, p)), 0.0f)};
    }
  return std::max(double{p} - b * double{q}, 0.0);
}
template <class Entry>
auto residual(const std::vector<Entry>& p, const std::vector<Entry>& q, double b) {
  if constexpr (std::is_same_v<Entry, float>)
    return FloatResidualTerm<float>(p.data(), q.data(), b);
  else
    return ResidualTerm<Reader<Entry>, Reader<Entry>>{{p.data()}, {q.data()}, b};
}

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
      for (std::size_t i = 0; i < size; i += 5) q[i] = p[i];  // p / q = 1: the residual at b = 1 is 0
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

// Tests quotients p / clip_ratio that are as close to the midpoint of two doubles as clip_ratio allows. Let clip_ratio
// = N 2^-52 with odd N, M the inverse of N or -N modulo 2^54, P = (N M -+ 1) / 2^54, and p = P 2^-53. In units of 2^-55
// the quotient is P 2^54 / N = M -+ 1 / N, and the odd 54-bit number M is a midpoint.
TEST(WideClipping, RoundsQuotientsAsDivisionDoes) {
  __extension__ using Wide = unsigned __int128;
  int hard = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    const std::uint64_t n = philox_pair(seed, 0, 0, 0).first >> 12 | std::uint64_t{1} << 52 | 1;
    std::uint64_t inverse = n;
    for (int step = 0; step < 6; ++step) inverse *= 2 - n * inverse;
    for (const std::uint64_t signed_inverse : {inverse, -inverse}) {
      const std::uint64_t m = signed_inverse & ((std::uint64_t{1} << 54) - 1);
      if (m >> 53 == 0) continue;  // M has fewer than 54 bits
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

// Tests functions with products that a fused multiply-add would round differently, sums that cancel, branches, and
// scalars other than double.
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
                 left = s * s - 0.999 * s;  // a fused multiply-add may change `left` by 2^-53, far more than 2^-60
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

// Every `lanes`-th term is as large as possible; if `lanes` is 16, one SIMD lane has all large terms. The other terms
// use the bits of every level down to its unit. No level may leave its binade, because its unit would change
// (exact_sums.hpp).
TEST(WideFloats, KeepEveryBitOfAFullBlock) {
  for (const float large : {0x1.fffffep-4f, 0x1.fffffep-5f, 0x1.fffffep-23f, 0x1.fffffep-42f, 0x1.8p-60f})
    for (const std::size_t lanes : {std::size_t{1}, std::size_t{16}, std::size_t{64}}) {
      std::vector<float> p(1024, 0x1.fffffep-11f);
      for (std::size_t i = 0; i < p.size(); i += lanes) p[i] = lanes == 64 ? large : large / 64;
      const std::vector<float> q(p.size(), 0x1p-45f);
      for (const double b : {0.0, 1.0, 1 + 0x1p-30}) {
        const auto wanted = plain_sums(p.size(), [&](std::size_t i) { return residual_term(p[i], q[i], b); });
        for (const Width width : widths_here())
          EXPECT_EQ(sums_of(residual(p, q, b), p.size(), width), wanted) << name_of(width) << " " << large;
        std::vector<Fixed> partial(1);
        const Fixed slope = plain_sums(p.size(), [&](std::size_t i) {
                              return residual_term(p[i], q[i], b) > 0 ? double{q[i]} : 0.0;
                            }).total;
        for (const Width width : widths_here())
          EXPECT_EQ(mass_and_slope(residual(p, q, b), p.size(), partial.data(), width).slope, slope)
              << name_of(width);
      }
    }
}

// The draws end in the last strips, complete or not, of a row that is followed by large entries.
TEST(WideFloats, FindEveryTokenOfTheLastStrips) {
  const auto p = entries<float>(3, 3000), q = entries<float>(4, 3000);
  int found = 0;
  for (const double b : {0.0, 0.7, 0x1p101})
    for (const std::size_t end :
         {std::size_t{1}, strip - 1, strip, strip + 1, 3 * strip, 5 * strip + 7, block - 1, block}) {
      std::vector<float> of_end(p.begin(), p.begin() + static_cast<std::ptrdiff_t>(end));
      of_end.resize(end + strip, 0.5f);
      const auto term = residual(of_end, q, b);
      Fixed below = 0;
      for (std::size_t x = 0; x < end; ++x) {
        const Fixed own = to_fixed(term.one(x));
        if (own > 0 && x + 2 * strip >= end)
          for (const Width width : widths_here()) {
            ASSERT_EQ(find(term, 0, end, below, width), x) << name_of(width) << " end " << end;
            ASSERT_EQ(find(term, 0, end, below + own - 1, width), x) << name_of(width) << " end " << end;
            ++found;
          }
        below += own;
      }
    }
  EXPECT_GT(found, 200);
}

// Entries of 16 bits are first widened to floats, so their sums equal the sums of the same numbers stored as floats.
template <class Entry>
void expect_sums_of_floats() {
  for (const std::size_t size : sizes) {
    const auto p = entries<float>(7, size), q = entries<float>(8, size);
    std::vector<Entry> short_p, short_q;
    std::vector<float> wide_p, wide_q;
    for (std::size_t i = 0; i < size; ++i) {
      wide_p.push_back(static_cast<float>(short_p.emplace_back(double{p[i]})));
      wide_q.push_back(static_cast<float>(short_q.emplace_back(double{q[i]})));
    }
    for (const double b : places)
      for (const Width width : widths_here())
        EXPECT_EQ(sums_of(FloatResidualTerm<Entry>(short_p.data(), short_q.data(), b), size, width),
                  sums_of(residual(wide_p, wide_q, b), size, Width::scalar))
            << name_of(width) << " V " << size << " b " << b;
  }
}
TEST(WideFloats, AreThoseOfShortEntriesToo) {
  expect_sums_of_floats<Bfloat16>();
  expect_sums_of_floats<Half>();
}

// The error is at most 2^-23 of the residual plus 2^-47 of p for any b (short_float.hpp); 2^-148 is for denormals.
TEST(WideFloats, AreOffRelativeToWhatIsLeft) {
  int close = 0;
  for (std::uint64_t i = 0; i < 20000; ++i) {
    const auto p = static_cast<float>(examples::uniform(9, 3 * i)),
               q = static_cast<float>(examples::uniform(9, 3 * i + 1));
    const double near = i % 2 == 0 ? std::ldexp(examples::uniform(9, 3 * i + 2), -static_cast<int>(i % 40)) : 1;
    const double b = (1 - near) * double{p} / double{q};  // p - b q is `near` times p
    const long double exact = std::max(static_cast<long double>(p) - static_cast<long double>(b) * q, 0.0L);
    const auto off = static_cast<double>(std::abs(static_cast<long double>(residual_term(p, q, b)) - exact));
    ASSERT_LE(off, (0x1p-23 + 0x1p-46) * static_cast<double>(exact) + 0x1p-47 * (1 + 0x1p-20) * double{p} + 0x1p-148)
        << p << " " << q << " " << b;
    close += exact < 0x1p-12L * static_cast<long double>(p);
  }
  EXPECT_GT(close, 2000);
}

}  // namespace
}  // namespace draftproof::simd
