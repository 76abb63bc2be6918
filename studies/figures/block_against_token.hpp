// Block verification against token verification of one path by its length: in fractions on models that allow it, by
// means on drafts of the given sources, live models or captured trees.
//
//   L            drafted tokens        1 .. 16; captured trees as far as they go
//   gain         block / token - 1     of E[tau], the extra token not counted
//   c_i          clipped product       Pr[block accepts i tokens | path] without its last L - i tokens; token: the
//                                      product of min(1, p/q)
//
// On drafts both are means over paths: drafting is sampled, verification is not. Effort: contexts of each live model;
// each captured path is used once.
// Cost: seconds for the fractions, 20 ms a context.
// Source: Sun et al., arXiv:2403.10444, who report that the gain grows with L.
// Holds if the recursions equal an enumeration of every branch (L = 1, 2, 3, with ==), if block is at no length and
// on no path below token, and if the gain on the models in fractions grows with L.
#pragma once

#include <cmath>

#include <fmt/format.h>

#include <draftproof/captures/path_source.hpp>
#include <draftproof/properties/paths/step_law.hpp>
#include <draftproof/properties/prover/path_registry.hpp>
#include <draftproof/report/text.hpp>
#include <draftproof/sim/random/philox.hpp>
#include <draftproof/studies/chain_recursions.hpp>
#include <draftproof/studies/checks.hpp>
#include <draftproof/studies/path_models.hpp>
#include <draftproof/studies/positions.hpp>

namespace draftproof::studies {

struct BlockAgainstToken {
  static constexpr std::string_view name = "block_against_token";
  static constexpr std::string_view about =
      "one path: what block verification gains over token verification, by length";
  static constexpr std::string_view source = "Sun et al., arXiv:2403.10444";

  static constexpr int longest = 16, walked = 3;
  static constexpr int shown[] = {1, 2, 3, 4, 6, 8, 12, 16};

  struct Exact {
    std::string_view title;
    std::vector<WeightPair> states;  ///< one row: no context; V rows: after each token
  };

  static StudyResult run(const StudyOptions& options) {
    const std::uint64_t conditionals = options.effort > 0 ? options.effort : 200;
    StudyResult result;
    result.document.data = {
        {"schema", "draftproof.study.block_against_token/1"}, {"seed", options.seed}, {"conditionals", conditionals}};
    std::vector<std::unique_ptr<PathSource>> sources;
    for (const std::string& spec : options.sources) sources.push_back(PathSource::open(spec, {.seed = options.seed}));
    Checks checks;
    Section gains{.title = "gain of block over token verification: E[tau] of block / E[tau] of token - 1",
                  .table = {{{"model"}}, {}}};
    for (const int length : shown) gains.table.columns.push_back({fmt::format("L = {}", length), true});
    Section means{.title = "E[tau]", .table = {gains.table.columns, {}}};
    means.table.columns.insert(means.table.columns.begin() + 1, {"scheme"});
    for (const Exact& model : models()) {
      if (options.stopped()) {
        result.complete = false;
        break;
      }
      add_exact(model, gains, means, checks, result.document);
    }
    std::uint64_t total = 0;
    for (const auto& from : sources) total += paths_of(*from, conditionals);
    Meter meter(options, total);
    for (const auto& from : sources)
      result.complete =
          add_drafted(*from, conditionals, options, meter, gains, means, checks, result.document) && result.complete;
    gains.after = {"  ± standard error; without it exact"};
    result.document.sections.push_back(std::move(gains));
    result.document.sections.push_back(std::move(means));
    checks.report(result,
                  "recursions are what all branches give; block >= token everywhere; exact gains grow with L");
    return result;
  }

 private:
  /// The published example, a pair of three tokens without context, and two chains: the proposal of one is flatter
  /// than its target; the other reverses the order of successors by the last token.
  static std::vector<Exact> models() {
    return {{"(1/3 2/3), (2/3 1/3)", {{{1, 2}, {2, 1}}}},
            {"(4 2 1)/7, (2 2 1)/5", {{{4, 2, 1}, {2, 2, 1}}}},
            {"chain of 2 tokens", {{{7, 1}, {3, 1}}, {{1, 4}, {1, 2}}}},
            {"chain of 3 tokens", {{{4, 1, 1}, {2, 1, 1}}, {{1, 2, 1}, {1, 4, 1}}, {{1, 1, 2}, {2, 1, 1}}}}};
  }

  static ChainModel chain_of(const Exact& model) {
    ChainModel chain;
    for (const WeightPair& state : model.states) {
      chain.target.push_back(normalised(state.target));
      chain.proposal.push_back(normalised(state.proposal));
    }
    return chain;
  }

  /// E[tau] by enumerating every path and every branch.
  static Rational walk(std::string_view scheme, const Exact& model, int length) {
    std::vector<WeightPair> pairs;  // breadth first, the root in state 0
    std::vector<std::size_t> level{0};
    for (int depth = 0; depth <= length; ++depth) {
      std::vector<std::size_t> below;
      for (const std::size_t state : level) {
        pairs.push_back(model.states[state]);
        for (std::size_t y = 0; y < model.states[state].target.size(); ++y)
          below.push_back(model.states.size() == 1 ? 0 : y);
      }
      level = std::move(below);
    }
    const auto conditionals = path_model<Rational>(pairs);
    const TreeShape shape{.drafts = 1, .length = length};
    const auto decider = path_registry().verifier(scheme)->prove_on(conditionals, shape);
    return explore_step_law<Rows<Rational>>(*path_registry().drafter("iid_paths"), *decider, conditionals, shape)
        .mean_accepted();
  }

  static void add_exact(const Exact& model, Section& gains, Section& means, Checks& checks, Document& document) {
    const AcceptedByLength accepted = accepted_by_length(chain_of(model), longest);
    nlohmann::ordered_json data{{"model", model.title}, {"lengths", nlohmann::ordered_json::array()}};
    Rational before{0};
    for (int length = 1; length <= longest; ++length) {
      const auto i = static_cast<std::size_t>(length - 1);
      const Rational &token = accepted.token[i], &block = accepted.block[i], gain = block / token - 1;
      // Comparisons of fractions, counted as 0 or 1.
      const auto claim = [&](bool holds, std::string_view text) {
        checks.at_most(holds ? 0 : 1, 0, 0, [&] { return fmt::format("{}, L = {}: {}", model.title, length, text); });
      };
      claim(gain >= 0, "block below token");
      claim(length == 1 ? gain == 0 : gain >= before, "the gain falls");
      if (length <= walked) {
        claim(token == walk("token_path", model, length), "token is not what all branches give");
        claim(block == walk("block", model, length), "block is not what all branches give");
      }
      before = gain;
      data["lengths"].push_back({{"length", length},
                                 {"token", static_cast<double>(token)},
                                 {"block", static_cast<double>(block)},
                                 {"gain", static_cast<double>(gain)}});
    }
    std::vector<Cell> gain{{std::string(model.title)}}, token = gain, block = gain;
    token.push_back({"token_path"});
    block.push_back({"block"});
    for (const int length : shown) {
      const auto i = static_cast<std::size_t>(length - 1);
      const double t = static_cast<double>(accepted.token[i]), b = static_cast<double>(accepted.block[i]);
      gain.push_back({fmt::format("{:.4f}", static_cast<double>(accepted.block[i] / accepted.token[i] - 1))});
      token.push_back({fmt::format("{:.4f}", t)});
      block.push_back({fmt::format("{:.4f}", b)});
    }
    gains.table.rows.push_back(std::move(gain));
    means.table.rows.push_back(std::move(token));
    means.table.rows.push_back(std::move(block));
    document.data["models"].push_back(std::move(data));
  }

  /// The number of paths. Stored paths are used once each: trials take the first path of every context, then the
  /// next.
  static std::uint64_t paths_of(const PathSource& from, std::uint64_t conditionals) {
    if (!from.stored_trees()) return conditionals;
    return from.describe().at("conditionals").get<std::uint64_t>() * static_cast<std::uint64_t>(from.most_paths());
  }

  /// For one path, by length: sums of the probabilities that at least so many tokens are accepted.
  struct Path {
    double token[longest] = {}, block[longest] = {};
  };

  static Path follow(StepContexts& conditionals, std::uint64_t trial, int length, std::uint64_t seed) {
    int context = conditionals.start(trial);
    const DraftTree* stored = conditionals.tree(trial, {.drafts = 1, .length = length});
    Philox draft(seed, trial, Philox::Role::draft);
    Path path;
    double kept = 1, clipped = 1, token = 0, block = 0;
    int u = DraftTree::root;
    for (int i = 0; i < length; ++i) {
      const RatioTable& laws = conditionals.laws(context);
      Token x;
      if (stored) {
        u = *stored->children(u).begin();
        x = stored->token(u);
      } else {
        x = draft.pick(laws.row(0));
      }
      const double ratio = laws.target(x) / laws.proposal(x);
      kept *= std::min(1.0, ratio);
      clipped = std::min(1.0, clipped * ratio);
      path.token[i] = token += kept;
      path.block[i] = block += clipped;
      context = conditionals.next(context, x);
    }
    return path;
  }

  /// Returns false after a stop.
  static bool add_drafted(const PathSource& from, std::uint64_t conditionals, const StudyOptions& options,
                          Meter& meter, Section& gains, Section& means, Checks& checks, Document& document) {
    const int length = std::min(longest, from.longest());
    std::vector<Path> paths(paths_of(from, conditionals));
    constexpr std::size_t shard = 8;
    const std::size_t shards = (paths.size() + shard - 1) / shard;
    const auto done = for_each_position(options, shards, [&](std::size_t i) {
      const auto view = from.open();
      const std::size_t end = std::min(paths.size(), (i + 1) * shard);
      for (std::size_t n = i * shard; n < end; ++n) paths[n] = follow(*view, n, length, options.seed);
      meter.add(end - i * shard);
    });
    if (std::find(done.begin(), done.end(), 0) != done.end()) return false;
    std::uint64_t below = 0;
    for (const Path& path : paths)
      for (int i = 0; i < length; ++i) below += path.block[i] < path.token[i];
    checks.at_most(static_cast<double>(below), 0, 0,
                   [&] { return from.name() + ": paths on which block is below token"; });
    std::vector<Cell> gain{{fmt::format("{}, {}", from.name(), counted(paths.size(), "path"))}};
    std::vector<Cell> token{{from.name()}, {"token_path"}}, block{{from.name()}, {"block"}};
    nlohmann::ordered_json data{{"source", from.name()}, {"about", from.describe()}, {"paths", paths.size()}};
    for (int l = 1; l <= length; ++l) {
      const Ratio ratio = ratio_of(paths, l - 1);
      data["lengths"].push_back({{"length", l},
                                 {"token", ratio.token},
                                 {"block", ratio.block},
                                 {"gain", ratio.gain()},
                                 {"standard_error", ratio.error}});
    }
    for (const int l : shown) {
      const bool known = l <= length;
      const Ratio ratio = known ? ratio_of(paths, l - 1) : Ratio{};
      gain.push_back({known ? fmt::format("{:.4f} ±{:.4f}", ratio.gain(), ratio.error) : "-"});
      token.push_back({known ? fmt::format("{:.4f}", ratio.token) : "-"});
      block.push_back({known ? fmt::format("{:.4f}", ratio.block) : "-"});
    }
    gains.table.rows.push_back(std::move(gain));
    means.table.rows.push_back(std::move(token));
    means.table.rows.push_back(std::move(block));
    document.data["sources"].push_back(std::move(data));
    return true;
  }

  struct Ratio {
    double token = 0, block = 0, error = 0;
    double gain() const { return token > 0 ? block / token - 1 : 0; }
  };

  /// A ratio of means over paths. Its error is of first order: the spread of block - (1 + gain) token.
  static Ratio ratio_of(const std::vector<Path>& paths, int i) {
    Ratio ratio;
    const double n = static_cast<double>(paths.size());
    for (const Path& path : paths) {
      ratio.token += path.token[i] / n;
      ratio.block += path.block[i] / n;
    }
    double squares = 0;
    for (const Path& path : paths) {
      const double rest = path.block[i] - (1 + ratio.gain()) * path.token[i];
      squares += rest * rest;
    }
    if (n > 1 && ratio.token > 0) ratio.error = std::sqrt(squares / (n * (n - 1))) / ratio.token;
    return ratio;
  }
};

}  // namespace draftproof::studies
