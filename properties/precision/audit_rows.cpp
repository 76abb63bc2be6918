#include <draftproof/properties/precision/audit_rows.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include <draftproof/captures/families/generated.hpp>

namespace draftproof {

namespace {

/// Places of the few tokens with mass: far apart, so that no block of a pass has two of them if V allows it.
std::vector<std::size_t> places(std::size_t vocabulary, std::size_t count) {
  std::vector<std::size_t> tokens;
  for (std::size_t i = 0; i < count; ++i) tokens.push_back((2 * i + 1) * vocabulary / (2 * count));
  return tokens;
}

std::vector<double> spread(const std::vector<double>& few, const std::vector<std::size_t>& tokens,
                           std::size_t vocabulary) {
  std::vector<double> row(vocabulary);
  for (std::size_t i = 0; i < few.size(); ++i) row[tokens[i]] = few[i];
  return row;
}

/// p and q of the same length; every draft has the same proposal.
RowPair pair_of(std::vector<double> target, const std::vector<double>& proposal, int proposals) {
  return {std::move(target), std::vector<std::vector<double>>(static_cast<std::size_t>(proposals), proposal)};
}

double above(double value) { return std::nextafter(value, 2.0); }

}  // namespace

RowPair dense_rows(int vocabulary, int proposals, std::uint64_t seed) {
  return families::Zipf{.vocabulary = static_cast<double>(vocabulary),
                        .exponent = 1.1,
                        .draft_exponent = 1.1,
                        .noise = 0.8,
                        .shuffle = 1,
                        .offset = 1.7,
                        .drafts = static_cast<double>(proposals)}
      .pair(seed, 0);
}

RowPair scattered_rows(int vocabulary, int support, int proposals, std::uint64_t seed) {
  const auto size = static_cast<std::size_t>(vocabulary);
  const auto tokens = places(size, static_cast<std::size_t>(support));
  RowPair rows = dense_rows(support, proposals, seed);
  rows.target = spread(rows.target, tokens, size);
  for (auto& proposal : rows.proposals) proposal = spread(proposal, tokens, size);
  return rows;
}

RowPair whole_rows(int vocabulary, int support, int proposals, std::uint64_t seed) {
  const auto size = static_cast<std::size_t>(vocabulary);
  auto tokens = places(size, static_cast<std::size_t>(support));
  RowPair rows = dense_rows(vocabulary, 1, seed);
  tokens.front() =
      static_cast<std::size_t>(std::max_element(rows.target.begin(), rows.target.end()) - rows.target.begin());
  // A token listed twice would lose the first of its two weights.
  std::sort(tokens.begin(), tokens.end());
  for (std::size_t i = 1; i < tokens.size(); ++i) tokens[i] = std::max(tokens[i], tokens[i - 1] + 1);
  rows.proposals = dense_rows(support, proposals, seed + 1).proposals;
  for (auto& proposal : rows.proposals) proposal = spread(proposal, tokens, size);
  return rows;
}

std::vector<EdgeRows> edge_rows(int proposals) {
  constexpr double denormal = std::numeric_limits<double>::denorm_min();
  const auto pair = [proposals](std::vector<double> target, const std::vector<double>& proposal) {
    return pair_of(std::move(target), proposal, proposals);
  };
  const std::vector<double> plain{0.375, 0.25, 0.1875, 0.125, 0.0625};
  std::vector<double> raised = plain, uneven(16, 0x1p-4);
  raised[2] = above(raised[2]);
  for (std::size_t x = 0; x < uneven.size(); x += 2) {
    uneven[x] = above(uneven[x]);
    uneven[x + 1] = 0x1p-3 - uneven[x];
  }
  return {{"powers of two down to a denormal",
           pair({1 - 0x1p-24, 0x1p-24, 0x1p-126, 0x1p-149, denormal}, {0.5, 0.25, 0.25, 0x1p-126, denormal})},
          {"drafts that all but cannot be",
           pair({0x1p-24, 0x1p-126, denormal, 0.5, 0.5 - 0x1p-24}, {1 - 0x1p-24, 0x1p-24, denormal, 0, 0x1p-149})},
          {"p equal to q", pair(plain, plain)},
          {"p an ulp above q in one token", pair(raised, plain)},
          {"q an ulp above p in one token", pair(plain, raised)},
          {"a residual below V ulp", pair(uneven, std::vector<double>(16, 0x1p-4))},
          {"1 - 1e-8 on one token", pair({1 - 1e-8, 5e-9, 3e-9, 2e-9, 0}, {5e-9, 1 - 1e-8, 2e-9, 2e-9, 1e-9})},
          {"sums an ulp off 1", pair({0.7, 0.1, 0.1, above(0.1), 0}, {0.1, 0.2, 0.3, 0.2, above(0.2)})}};
}

}  // namespace draftproof
