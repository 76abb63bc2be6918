#include <draftproof/properties/components/batch/batch_law.hpp>

#include <fmt/ranges.h>

namespace draftproof {

namespace {

/// The target of a request at a position; entries beyond the vocabulary are 0.
std::vector<Rational> wanted_law(const BatchCaseRequest& request, std::size_t i, std::size_t size) {
  std::vector<int> row = request.target[i];
  for (std::size_t x = 0; x < row.size() && !request.masks.empty(); ++x) row[x] *= request.masks[i][x];
  std::vector<Rational> law = normalised(row);
  law.resize(size);
  return law;
}

}  // namespace

std::optional<std::string> BatchLaw::wrong_prefix(const BatchCaseRequest& request) const {
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
    const std::vector<Rational> wanted = wanted_law(request, i, size);
    for (auto& [prefix, row] : next) {
      Rational beyond = 0;
      for (const Rational& mass : row) beyond += mass;
      for (Rational& mass : row) mass /= beyond;
      if (row != wanted)
        return fmt::format("after [{}] got {}, wanted {}, TV {}; reached with probability {}", fmt::join(prefix, " "),
                           to_text(row), to_text(wanted), to_text(total_variation(row, wanted)), to_text(beyond));
    }
  }
  for (const auto& [tokens, mass] : emitted)
    if (tokens.empty() || tokens.size() > request.target.size())
      return fmt::format("emits {} tokens with probability {}", tokens.size(), to_text(mass));
  return std::nullopt;
}

std::optional<std::string> BatchLaw::forbidden(const BatchCaseRequest& request) const {
  for (const auto& [tokens, mass] : emitted)
    for (std::size_t i = 0; i < tokens.size() && i < request.target.size(); ++i) {
      const auto x = static_cast<std::size_t>(tokens[i]);
      if (tokens[i] < 0 || x >= request.target[i].size() || wanted_law(request, i, x + 1)[x] == 0)
        return fmt::format("emits [{}] with probability {}, but {} may not stand at position {}",
                           fmt::join(tokens, " "), to_text(mass), tokens[i], i);
    }
  return std::nullopt;
}

BatchLaw explore_batch_row(const BatchRunner& runner, const BatchCase& one, std::uint32_t turn, int request,
                           std::uint64_t& work, ExplorerLimits limits) {
  BatchCase uncut = one;
  for (BatchCaseRequest& row : uncut.requests) {
    row.stop = no_token;
    row.limit = 0;
  }
  BuiltBatch batch(uncut, turn);
  const auto r = static_cast<std::size_t>(request);
  const StreamAddress explored = batch.address(request);
  BatchLaw law;
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
        law.emitted[emitted] += leaf.probability;
        seen += leaf.probability;
      });
  if (!whole) law.unseen = 1 - seen;
  work += explorer.leaves();
  return law;
}

Answer judge_rows(const BatchRunner& runner, const BatchCase& one, std::uint64_t& work, ExplorerLimits limits,
                  std::optional<std::string> (BatchLaw::*complaint)(const BatchCaseRequest&) const) {
  Answer answer = Answer::held();
  for (std::uint32_t turn = 0; turn < 3; ++turn)
    for (int r = 0; r < static_cast<int>(one.requests.size()); ++r) {
      const BatchLaw law = explore_batch_row(runner, one, turn, r, work, limits);
      if (const auto wrong = (law.*complaint)(one.requests[static_cast<std::size_t>(r)]))
        return Answer::violated(fmt::format("turn {}: request {} {}", turn, r, *wrong));
      if (law.unseen > 0 && answer.status == Status::held)
        answer = Answer::undecided(
            fmt::format("turn {}: request {}: more than {} branches, probability {:.6g} was not seen", turn, r,
                        limits.leaves, static_cast<double>(law.unseen)));
    }
  return answer;
}

}  // namespace draftproof
