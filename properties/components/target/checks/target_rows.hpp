// Checks of target rows.
#pragma once

#include <map>

#include <draftproof/properties/components/target/target_group.hpp>

namespace draftproof::checks::target {

// Token verification on the rows of a source, completed to L + 1 tokens by the specified rows, has the
// distribution of the specified rows. A failure shows the effect of a wrong row on the emitted text.
//
//   q        distribution of the draft at every position; tokens with q = 0 are never drafted, which is no defect
//
// Cost: V^L chains and every branch of the verifier on each, in fractions.
//
// Correctness: token verification is lossless for the rows it gets (Leviathan et al. 2023, arXiv:2211.17192), so any
// deviation comes from the rows.

struct CompletedDistribution {
  static constexpr std::string_view name = "completed_distribution";
  static constexpr std::string_view about =
      "token verification on the rows gives text with the specified distribution";
  static constexpr Tier tier = Tier::proof;

  static Answer check(const TargetSource& source, const TargetCase& one, std::uint64_t& work) {
    // For each prefix, the probability that the prefix is emitted and x follows, for each token x.
    std::map<std::vector<Token>, std::vector<Rational>> next;
    const std::vector<Rational> q = normalised(one.proposal);
    const auto all = chains(one.request.vocabulary(), one.request.drafts());
    for (const auto& prefix : all)
      if (!wanted_row(source, one.request, prefix)) return Answer::not_applicable();
    for (const auto& drafts : all)
      if (static_cast<int>(drafts.size()) == one.request.drafts()) verify(source, one.request, q, drafts, next, work);
    for (const auto& prefix : all) {
      const auto found = next.find(prefix);
      if (found == next.end()) continue;
      std::vector<Rational> distribution = found->second;
      Rational beyond = 0;
      for (const Rational& mass : distribution) beyond += mass;
      if (beyond == 0) continue;
      for (Rational& mass : distribution) mass /= beyond;
      const auto wanted = *wanted_row(source, one.request, prefix);
      if (distribution != wanted)
        return Answer::failed(fmt::format("after [{}] got {}, expected {}, TV {}; reached with probability {}",
                                          fmt::join(prefix, " "), to_text(distribution), to_text(wanted),
                                          to_text(total_variation(distribution, wanted)), to_text(beyond)));
    }
    return Answer::passed();
  }

 private:
  /// Adds to `next` the probabilities from one drafted chain.
  static void verify(const TargetSource& source, const TargetRequest& request, const std::vector<Rational>& q,
                     const std::vector<Token>& drafts, std::map<std::vector<Token>, std::vector<Rational>>& next,
                     std::uint64_t& work) {
    Rational reached = 1;
    for (const Token x : drafts) reached *= q[static_cast<std::size_t>(x)];
    std::vector<Token> prefix;
    for (std::size_t i = 0; i <= drafts.size() && reached > 0; ++i, ++work) {
      const std::vector<Rational> p = source.row(request, drafts.data(), static_cast<int>(i));
      std::vector<Rational>& row = next[prefix];
      row.resize(p.size());
      if (i == drafts.size()) {
        for (std::size_t y = 0; y < p.size(); ++y) row[y] += reached * p[y];
        return;
      }
      const auto x = static_cast<std::size_t>(drafts[i]);
      const Rational taken = std::min<Rational>(p[x] / q[x], Rational(1));
      Rational left = 0;
      for (std::size_t y = 0; y < p.size(); ++y) left += std::max<Rational>(p[y] - q[y], Rational(0));
      for (std::size_t y = 0; y < p.size() && left > 0; ++y)
        row[y] += reached * (1 - taken) * std::max<Rational>(p[y] - q[y], Rational(0)) / left;
      row[x] += reached * taken;
      reached *= taken;
      prefix.push_back(drafts[i]);
    }
  }
};

// A token that the settings remove after a prefix has no mass there, and no mass of a row is negative.
//
// Cost: V^L chains, in fractions.
//
// Correctness: one removed token in an output proves a defect, whatever the rest of the row.
struct RemovedTokens {
  static constexpr std::string_view name = "removed_tokens";
  static constexpr std::string_view about = "tokens removed by filters and masks have no mass";
  static constexpr Tier tier = Tier::proof;

  static Answer check(const TargetSource& source, const TargetCase& one, std::uint64_t& work) {
    for (const std::vector<Token>& prefix : chains(one.request.vocabulary(), one.request.drafts())) {
      const auto wanted = wanted_row(source, one.request, prefix);
      if (!wanted) return Answer::not_applicable();
      const auto row = source.row(one.request, prefix.data(), static_cast<int>(prefix.size()));
      ++work;
      for (std::size_t x = 0; x < row.size(); ++x)
        if (row[x] < 0 || ((*wanted)[x] == 0 && row[x] > 0))
          return Answer::failed(
              fmt::format("after [{}] token {} has {}, expected 0", fmt::join(prefix, " "), x, to_text(row[x])));
    }
    return Answer::passed();
  }
};

// Every row of a source, after every chain of drafts, equals the row that the settings specify; the evidence names
// the first wrong prefix.
//
// Cost: V^L chains, in fractions.
//
// Correctness: penalties make rows depend on the prefix, so one chain does not suffice.
struct RowsByPrefix {
  static constexpr std::string_view name = "rows_by_prefix";
  static constexpr std::string_view about = "after every prefix the row is the specified one";
  static constexpr Tier tier = Tier::proof;

  static Answer check(const TargetSource& source, const TargetCase& one, std::uint64_t& work) {
    for (const std::vector<Token>& prefix : chains(one.request.vocabulary(), one.request.drafts())) {
      const auto wanted = wanted_row(source, one.request, prefix);
      if (!wanted) return Answer::not_applicable();
      const auto row = source.row(one.request, prefix.data(), static_cast<int>(prefix.size()));
      ++work;
      if (row != *wanted)
        return Answer::failed(fmt::format("after [{}] got {}, expected {}, TV {}", fmt::join(prefix, " "),
                                          to_text(row), to_text(*wanted), to_text(total_variation(row, *wanted))));
    }
    return Answer::passed();
  }
};

}  // namespace draftproof::checks::target
