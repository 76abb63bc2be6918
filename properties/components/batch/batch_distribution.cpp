#include <draftproof/properties/components/batch/batch_distribution.hpp>

#include <fmt/ranges.h>

namespace draftproof {

namespace {

/// Returns the target distribution of a request at a position, masked; 0 beyond the vocabulary.
std::vector<Rational> wanted_distribution(const BatchCaseRequest& request, std::size_t i, std::size_t size) {
  std::vector<int> row = request.target[i];
  for (std::size_t x = 0; x < row.size() && !request.masks.empty(); ++x) row[x] *= request.masks[i][x];
  std::vector<Rational> distribution = normalised(row);
  distribution.resize(size);
  return distribution;
}

}  // namespace

std::optional<std::string> BatchDistribution::wrong_prefix(const BatchCaseRequest& request) const {
  std::size_t size = request.target.front().size();
  for (const auto& [tokens, mass] : emitted)
    for (const Token x : tokens) {
      if (x < 0) return fmt::format("emits id {} with probability {}", x, to_text(mass));
      size = std::max(size, static_cast<std::size_t>(x) + 1);
    }
  for (std::size_t i = 0; i < request.target.size() && unseen == 0; ++i) {
    std::map<std::vector<Token>, std::vector<Rational>> next;
    for (const auto& [tokens, mass] : emitted) {
      if (tokens.size() <= i) continue;
      auto& row = next[{tokens.begin(), tokens.begin() + static_cast<std::ptrdiff_t>(i)}];
      row.resize(size);
      row[static_cast<std::size_t>(tokens[i])] += mass;
    }
    const std::vector<Rational> wanted = wanted_distribution(request, i, size);
    for (auto& [prefix, row] : next) {
      Rational beyond = 0;
      for (const Rational& mass : row) beyond += mass;
      for (Rational& mass : row) mass /= beyond;
      if (row != wanted)
        return fmt::format("after [{}] got {}, expected {}, TV {}; reached with probability {}",
                           fmt::join(prefix, " "), to_text(row), to_text(wanted),
                           to_text(total_variation(row, wanted)), to_text(beyond));
    }
  }
  for (const auto& [tokens, mass] : emitted)
    if (tokens.empty() || tokens.size() > request.target.size())
      return fmt::format("emits {} tokens with probability {}", tokens.size(), to_text(mass));
  return std::nullopt;
}

std::optional<std::string> BatchDistribution::forbidden(const BatchCaseRequest& request) const {
  for (const auto& [tokens, mass] : emitted)
    for (std::size_t i = 0; i < tokens.size() && i < request.target.size(); ++i) {
      const auto x = static_cast<std::size_t>(tokens[i]);
      if (tokens[i] < 0 || x >= request.target[i].size() || wanted_distribution(request, i, x + 1)[x] == 0)
        return fmt::format("emits [{}] with probability {}, but {} is not allowed at position {}",
                           fmt::join(tokens, " "), to_text(mass), tokens[i], i);
    }
  return std::nullopt;
}

BatchDistribution explore_batch_row(const BatchRunner& runner, const BatchCase& one, std::uint32_t turn, int request,
                                    std::uint64_t& work, ExplorerLimits limits) {
  BuiltBatch batch(one.uncut(), turn);
  const auto r = static_cast<std::size_t>(request);
  const StreamAddress explored = batch.address(request);
  BatchDistribution distribution;
  std::vector<Token> emitted;
  Explorer<Rational> explorer(limits);
  Rational seen = 0;
  const bool whole = explorer.explore(
      [&](Explorer<Rational>& random) {
        std::vector<Token> drafts;
        for (const std::vector<int>& row : one.requests[r].proposal) {
          const auto weight = [&row](Token x) { return static_cast<double>(row[static_cast<std::size_t>(x)]); };
          drafts.push_back(random.pick(ScaledWeights(static_cast<int>(row.size()), weight)));
        }
        batch.draft(request, drafts);
        BatchStreams streams(random, explored);
        emitted = batch.run(runner, streams)[r].emitted;
        return Verdict{0, none_accepted};
      },
      [&](const Leaf<Rational>& leaf) {
        distribution.emitted[emitted] += leaf.probability;
        seen += leaf.probability;
      });
  if (!whole) distribution.unseen = 1 - seen;
  work += explorer.leaves();
  return distribution;
}

Answer judge_rows(const BatchRunner& runner, const BatchCase& one, std::uint64_t& work, ExplorerLimits limits,
                  std::optional<std::string> (BatchDistribution::*complaint)(const BatchCaseRequest&) const) {
  Answer answer = Answer::passed();
  for (std::uint32_t turn = 0; turn < 3; ++turn)
    for (int r = 0; r < static_cast<int>(one.requests.size()); ++r) {
      const BatchDistribution distribution = explore_batch_row(runner, one, turn, r, work, limits);
      if (const auto wrong = (distribution.*complaint)(one.requests[static_cast<std::size_t>(r)]))
        return Answer::failed(fmt::format("trial {}: request {} {}", turn, r, *wrong));
      if (distribution.unseen > 0 && answer.status == Status::passed)
        answer = Answer::undecided(
            fmt::format("trial {}: request {}: more than {} branches, probability {:.6g} was not enumerated", turn, r,
                        limits.leaves, static_cast<double>(distribution.unseen)));
    }
  return answer;
}

}  // namespace draftproof
