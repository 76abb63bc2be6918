// Terms formed and summed in float: every bit at every width, rows of 16-bit entries, and the bound of their error.
#include <cmath>

#include <gtest/gtest.h>

#include <draftproof/tests/support/wide_entries.hpp>

namespace draftproof::simd {
namespace {

using namespace wide_entries;

// Every sixteenth term is as large as possible, so that one lane holds all of them, and others fill every level's
// unit completely: no level may leave its binade.
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

// Draws that end in the last strip, complete or not, of a row that is followed by large entries.
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

// 16-bit entries are widened first: the sums of the same floats.
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

// float_residual.hpp: an error of 2^-23 of the residual and 2^-47 of p, for any b; the last term is for denormals.
TEST(WideFloats, AreOffRelativeToWhatIsLeft) {
  int close = 0;
  for (std::uint64_t i = 0; i < 20000; ++i) {
    const auto p = static_cast<float>(examples::uniform(9, 3 * i)),
               q = static_cast<float>(examples::uniform(9, 3 * i + 1));
    const double near = i % 2 == 0 ? std::ldexp(examples::uniform(9, 3 * i + 2), -static_cast<int>(i % 40)) : 1;
    const double b = (1 - near) * double{p} / double{q};  // p - b q is `near` of p
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
