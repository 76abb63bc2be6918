// Studies of verifiers of paths on small models, by enumerations of every draft and every branch.
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include <draftproof/bench/studies/positions.hpp>
#include <draftproof/bench/studies/small_models.hpp>
#include <draftproof/captures/path_source.hpp>
#include <draftproof/properties/paths/step_distribution.hpp>
#include <draftproof/properties/paths/tree_optimum.hpp>
#include <draftproof/sim/random/philox.hpp>

namespace draftproof::studies {

// Compares block verification with token verification of one path, by its length: in fractions on models that allow it,
// and by means over drafts of the given sources, live models or captured trees.
//
//   L            drafted tokens        1 .. 16; for captured trees at most their depth
//   gain         block / token - 1     of E[tau], accepted tokens
//   c_i          clipped product       probability that block accepts a path's first i tokens if the path has i tokens;
//                                      for token verification the product of min(1, p/q)
//
// On drafts E[tau] is a mean over sampled paths; the expected number of accepted tokens of each path is computed
// exactly. Effort: contexts of each live model; each captured path is used once.
// Cost: seconds for the fractions, 20 ms a context.
// Source: Sun et al., arXiv:2403.10444, who report that the gain grows with L.
// Passes if the recursions equal an enumeration of every branch (L = 1, 2, 3, with ==), if block accepts no
// fewer tokens than token at any length and on any path, and if the gain on the models in fractions grows with L.
struct BlockAgainstToken {
  static constexpr std::string_view name = "block_against_token";
  static constexpr std::string_view about = "one path: gain of block verification over token verification, by length";
  static constexpr std::string_view source = "Sun et al., arXiv:2403.10444";

  static constexpr int longest = 16, enumerated = 3;
  static constexpr int shown[] = {1, 2, 3, 4, 6, 8, 12, 16};

  static StudyResult run(const StudyOptions& options) {
    const std::uint64_t conditionals = options.effort > 0 ? options.effort : 200;
    StudyResult result;
    result.document.data = {
        {"schema", "draftproof.study.block_against_token/1"}, {"seed", options.seed}, {"conditionals", conditionals}};
    std::vector<std::unique_ptr<PathSource>> sources;
    for (const std::string& spec : options.sources) sources.push_back(PathSource::open(spec, {.seed = options.seed}));
    Checks checks;
    Tables tables;
    for (const Exact& model : models()) {
      if (result.stopped(options)) break;
      add_exact(model, tables, checks, result.document);
    }
    std::uint64_t total = 0;
    for (const auto& from : sources) total += paths_of(*from, conditionals);
    Meter meter(options, total);
    for (const auto& from : sources)
      result.complete =
          add_drafted(*from, conditionals, options, meter, tables, checks, result.document) && result.complete;
    tables.gains.section.after = {"  ± standard error; without it exact"};
    result.document.sections = {std::move(tables.gains.section), std::move(tables.means.section)};
    checks.report(result,
                  "recursions are what all branches give; block >= token everywhere; exact gains grow with L");
    return result;
  }

 private:
  struct Exact {
    std::string_view title;
    std::vector<WeightPair> states;  ///< one state: no context; V states: the state is the last token

    ChainModel chain() const {
      ChainModel chain;
      for (const WeightPair& state : states) {
        chain.target.push_back(normalised(state.target));
        chain.proposal.push_back(normalised(state.proposal));
      }
      return chain;
    }
  };
  /// The published example, a pair of three tokens without context, and two chains whose target prefers to repeat the
  /// last token. The proposal of the first chain is flatter than its target.
  static std::vector<Exact> models() {
    return {{"(1/3 2/3), (2/3 1/3)", {{{1, 2}, {2, 1}}}},
            {"(4 2 1)/7, (2 2 1)/5", {{{4, 2, 1}, {2, 2, 1}}}},
            {"chain of 2 tokens", {{{7, 1}, {3, 1}}, {{1, 4}, {1, 2}}}},
            {"chain of 3 tokens", {{{4, 1, 1}, {2, 1, 1}}, {{1, 2, 1}, {1, 4, 1}}, {{1, 1, 2}, {2, 1, 1}}}}};
  }

  /// E[tau] of both schemes at one length, and the error of the gain; the error is 0 if the values are exact.
  struct Ratio {
    double token = 0, block = 0, gain = 0, error = 0;
  };
  struct Tables {
    Records gains{{.title = "gain of block over token verification: E[tau] of block / E[tau] of token - 1"}};
    Records means{{.title = "E[tau]"}};

    /// Adds a row of gains and two rows of means; at[i] has the values for L = i + 1.
    void add(std::string_view title, std::string_view model, const std::vector<Ratio>& at, bool exact) {
      std::vector<Field> gain{note("model", title)};
      std::vector<Field> token{note("model", model), note("scheme", "token_path")};
      std::vector<Field> block{note("model", model), note("scheme", "block")};
      for (const int length : shown) {
        const bool known = length <= static_cast<int>(at.size());
        const Ratio ratio = known ? at[static_cast<std::size_t>(length - 1)] : Ratio{};
        const auto put = [&](std::vector<Field>& row, const std::string& text) {
          row.push_back(cell(fmt::format("L = {}", length), known ? text : "-"));
        };
        put(gain, exact ? fmt::format("{:.4f}", ratio.gain) : fmt::format("{:.4f} ±{:.4f}", ratio.gain, ratio.error));
        put(token, fmt::format("{:.4f}", ratio.token));
        put(block, fmt::format("{:.4f}", ratio.block));
      }
      gains.add(gain);
      means.add(token);
      means.add(block);
    }
  };

  static void add_exact(const Exact& model, Tables& tables, Checks& checks, Document& document) {
    const ChainModel chain = model.chain();
    const AcceptedByLength accepted = accepted_by_length(chain, longest);
    nlohmann::ordered_json data{{"model", model.title}};
    std::vector<Ratio> at;
    Rational before{0};
    for (int length = 1; length <= longest; ++length) {
      const auto i = static_cast<std::size_t>(length - 1);
      const Rational &token = accepted.token[i], &block = accepted.block[i], gain = block / token - 1;
      const auto claim = [&](bool holds, std::string_view text) {
        checks.holds(holds, [&] { return fmt::format("{}, L = {}: {}", model.title, length, text); });
      };
      claim(gain >= 0, "block below token");
      claim(length == 1 ? gain == 0 : gain >= before, "the gain falls");
      if (length <= enumerated) {
        const auto mean = [&](std::string_view scheme) {
          return enumerated_mean(*path_registry().verifier(scheme), chain.unrolled(length),
                                 {.drafts = 1, .length = length});
        };
        claim(token == mean("token_path"), "token is not what all branches give");
        claim(block == mean("block"), "block is not what all branches give");
      }
      before = gain;
      at.push_back({static_cast<double>(token), static_cast<double>(block), static_cast<double>(gain)});
      data["lengths"].push_back(
          {{"length", length}, {"token", at[i].token}, {"block", at[i].block}, {"gain", at[i].gain}});
    }
    tables.add(model.title, model.title, at, true);
    document.data["models"].push_back(std::move(data));
  }

  /// Returns the number of paths. Stored paths are used once each: trials take the first path of every context, then
  /// the second of every context, and so on.
  static std::uint64_t paths_of(const PathSource& from, std::uint64_t conditionals) {
    return from.stored_trees() ? from.stored_paths() : conditionals;
  }

  /// For one path, at [L - 1]: the sum over i = 1 .. L of the probability that at least i tokens are accepted.
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
      const RatioTable& distributions = conditionals.distributions(context);
      if (stored) u = *stored->children(u).begin();
      const Token x = stored ? stored->token(u) : draft.pick(distributions.row(0));
      const double ratio = distributions.target(x) / distributions.proposal(x);
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
                          Meter& meter, Tables& tables, Checks& checks, Document& document) {
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
    nlohmann::ordered_json data{{"source", from.name()}, {"about", from.describe()}, {"paths", paths.size()}};
    std::vector<Ratio> at;
    for (int l = 1; l <= length; ++l) {
      const Ratio ratio = at.emplace_back(ratio_of(paths, l - 1));
      data["lengths"].push_back({{"length", l},
                                 {"token", ratio.token},
                                 {"block", ratio.block},
                                 {"gain", ratio.gain},
                                 {"standard_error", ratio.error}});
    }
    tables.add(fmt::format("{}, {}", from.name(), counted(paths.size(), "path")), from.name(), at, false);
    document.data["sources"].push_back(std::move(data));
    return true;
  }

  /// Returns the means of both schemes over paths and the gain, block / token - 1. The error of the gain is computed to
  /// first order, from the spread of block - (1 + gain) token over paths.
  static Ratio ratio_of(const std::vector<Path>& paths, int i) {
    Ratio ratio;
    const double n = static_cast<double>(paths.size());
    for (const Path& path : paths) {
      ratio.token += path.token[i] / n;
      ratio.block += path.block[i] / n;
    }
    ratio.gain = ratio.token > 0 ? ratio.block / ratio.token - 1 : 0;
    double squares = 0;
    for (const Path& path : paths) {
      const double rest = path.block[i] - (1 + ratio.gain) * path.token[i];
      squares += rest * rest;
    }
    if (n > 1 && ratio.token > 0) ratio.error = std::sqrt(squares / (n * (n - 1))) / ratio.token;
    return ratio;
  }
};

// Computes the accepted tokens by the number of i.i.d. paths. A small instance shows that greedy multi-path block
// verification can accept less with more paths. On random models the study counts how often each scheme accepts less
// with one more path, and how often less than with one path, and computes the scheme's share of the optimum of all
// lossless verifiers.
//
//   K            paths           1 .. 4 on the instance, 1 .. 3 on random models; block at K = 1
//   one shot     LP              certified bounds of the optimum, properties/paths/tree_optimum.hpp
//   share        E[tau] / optimum, mean over models whose optimum is not 0
//
// Effort: random models of each of three sizes.
// Cost: 0.5 s a model.
// Source: Thomas and Pal, arXiv:2602.16961, for greedy multi-path block verification; reference values enumerated
// independently of this program.
// Passes if the reference values agree, if the schemes that claim to accept equal distributions accept all three
// tokens of the instance, where p = q, and if no scheme exceeds the optimum.
struct MultipathInK {
  static constexpr std::string_view name = "multipath_in_k";
  static constexpr std::string_view about = "more paths: which schemes gain, lose or fall below a single path";
  static constexpr std::string_view source = "Thomas and Pal, arXiv:2602.16961; enumerated independently";

  /// Schemes that are not registered are left out.
  static constexpr std::string_view schemes[] = {
      "sample_and_match_tree",  "recursive_rejection_tree", "k_seq_tree",  "ladder_tree", "traversal",
      "greedy_multipath_block", "branch_reentry",           "ladder_block"};
  static constexpr int most = 3;  ///< largest number of paths on random models
  struct Size {
    int vocabulary, length;
  };
  static constexpr Size sizes[] = {{2, 2}, {3, 2}, {2, 3}};

  /// K-SEQ is a sum of at most 2^20 branches of at most 2^5 rounded factors in double, so its relative error is below
  /// 2^-32. Smaller differences count as equality.
  static constexpr double rounding = 0x1p-30;

  static StudyResult run(const StudyOptions& options) {
    const std::uint64_t models = options.effort > 0 ? options.effort : 30;
    StudyResult result;
    result.document.data = {
        {"schema", "draftproof.study.multipath_in_k/1"}, {"seed", options.seed}, {"models_of_a_size", models}};
    Checks checks;
    add_instance(checks, result.document);
    Meter meter(options, models * std::size(sizes));
    for (const Size& size : sizes) {
      const auto curves = finished_positions(options, models, meter, [&](std::size_t i) {
        return curves_of(random_path_weights(options.seed, i, size.vocabulary, size.length), size.length);
      });
      result.complete = curves.size() == models;
      if (!result.complete) break;
      check(curves, size, checks);
      write(curves, size, result.document);
    }
    checks.report(
        result,
        "reference values; equal distributions are accepted whole by all but greedy choice and target paths; "
        "no scheme above the optimum");
    return result;
  }

 private:
  static const AnyPathVerifier* found(std::string_view scheme) { return path_registry().verifier(scheme); }

  /// E[tau] of schemes by K, and the optimum.
  struct Curves {
    double accepted[std::size(schemes)][most] = {};
    double block = 0, optimum[most] = {};
  };

  /// K-SEQ's factor is a root, which exact arithmetic rounds up to a short fraction, so it is explored in double; all
  /// other schemes are explored in fractions.
  static double accepted(std::string_view scheme, const std::vector<WeightPair>& weights, int drafts, int length) {
    const TreeShape shape{.drafts = drafts, .length = length};
    if (scheme == "k_seq_tree") return *enumerated_mean(*found(scheme), path_model<double>(weights), shape);
    return static_cast<double>(*enumerated_mean(*found(scheme), path_model<Rational>(weights), shape));
  }

  static void add_instance(Checks& checks, Document& document) {
    constexpr int length = 3, paths = 4;
    // All ratios p / q are 1, so the result depends on how the scheme orders equal ratios. Here the rarer token has the
    // lower id.
    const std::vector<WeightPair> model{{{3, 7}, {3, 7}}};
    constexpr Reference references[paths] = {{"3.0"}, {"2.114"}, {"1.642"}, {"1.373"}};
    Records equal{
        {.title = "p = q = (3 7)/10, L = 3: nothing to refuse",
         .after = {
             "  greedy choice prefers a token though none is better, and pays with the distribution it then has"}}};
    for (const std::string_view scheme : schemes) {
      if (!found(scheme)) continue;
      const bool greedy = scheme == "greedy_multipath_block";
      const bool whole = found(scheme)->info().claims.accepts_equal_distributions;
      std::vector<Field> row{word("scheme", "scheme", scheme)};
      std::vector<double> values;
      for (int k = 1; k <= paths; ++k) {
        const double value = values.emplace_back(accepted(scheme, model, k, length));
        const auto what = [&] { return fmt::format("p = q, {} at K = {}", scheme, k); };
        if (greedy) checks.holds(references[k - 1].agrees(value, rounding), what);
        if (whole) checks.at_most(length, value, rounding, what);
        row.push_back(number(fmt::format("K = {}", k), "", value, "{:.4f}"));
      }
      row.push_back(datum("accepted", values));
      row.push_back(note("reference", greedy ? "3.0, 2.114, 1.642, 1.373" : whole ? "3 at any K" : ""));
      equal.add(row);
    }
    equal.write(document, document.data, "equal_distributions");
  }

  static Curves curves_of(const std::vector<WeightPair>& weights, int length) {
    Curves curves;
    curves.block = accepted("block", weights, 1, length);
    for (int k = 1; k <= most; ++k) {
      const auto i = static_cast<std::size_t>(k - 1);
      for (std::size_t s = 0; s < std::size(schemes); ++s)
        if (found(schemes[s])) curves.accepted[s][i] = accepted(schemes[s], weights, k, length);
      const auto bounds = path_optimum_bounds(*path_registry().drafter("iid_paths"), path_model<Rational>(weights),
                                              {.drafts = k, .length = length});
      curves.optimum[i] = bounds->upper;
    }
    return curves;
  }

  static void check(const std::vector<Curves>& curves, const Size& size, Checks& checks) {
    for (std::size_t m = 0; m < curves.size(); ++m)
      for (std::size_t s = 0; s < std::size(schemes); ++s)
        for (std::size_t i = 0; i < most; ++i)
          checks.at_most(curves[m].accepted[s][i], curves[m].optimum[i], rounding, [&] {
            return fmt::format("V = {}, L = {}, model {}: {} at K = {} above the optimum", size.vocabulary,
                               size.length, m, schemes[s], i + 1);
          });
  }

  static void write(const std::vector<Curves>& curves, const Size& size, Document& document) {
    Records records{
        {.title = fmt::format("random models, V = {}, L = {}", size.vocabulary, size.length),
         .before = {"  " + counted(curves.size(), "model")},
         .after = {
             "  optimal: models in which the scheme accepts as much as the optimum at K = 2",
             "  loses by a path, below block: models in which a scheme accepts less with one more path, or less",
             "  than block does, at some K up to 3"}}};
    const auto add = [&](std::string_view scheme, auto&& value) {
      const Summary summary = summarise(curves, value);
      std::vector<Field> row{word("scheme", "scheme", scheme),
                             datum("share", std::vector<double>(summary.share, summary.share + most))};
      for (int k = 2; k <= most; ++k)
        row.push_back(
            number(fmt::format("share, K = {}", k), "", summary.share[static_cast<std::size_t>(k - 1)], "{:.4f}"));
      row.push_back(number("worst share", "worst_share", summary.worst, "{:.4f}"));
      row.push_back(number("optimal", "optimal", summary.optimal));
      row.push_back(number("loses by a path", "loses_by_a_path", summary.loses));
      row.push_back(number("below block", "below_block", summary.below));
      records.add(row);
    };
    add("block, one of the paths", [](const Curves& at, std::size_t) { return at.block; });
    for (std::size_t s = 0; s < std::size(schemes); ++s)
      if (found(schemes[s])) add(schemes[s], [s](const Curves& at, std::size_t i) { return at.accepted[s][i]; });
    document.data["sizes"].push_back(
        {{"vocabulary", size.vocabulary}, {"length", size.length}, {"schemes", std::move(records.rows)}});
    document.sections.push_back(std::move(records.section));
  }

  struct Summary {
    double share[most] = {}, worst = 1;
    std::uint64_t optimal = 0, loses = 0, below = 0;
  };

  template <class Value>
  static Summary summarise(const std::vector<Curves>& curves, Value&& value) {
    Summary summary;
    for (std::size_t i = 0; i < most; ++i) {
      std::uint64_t counted_models = 0;
      for (const Curves& at : curves) {
        if (at.optimum[i] <= rounding) continue;
        const double share = std::min(1.0, value(at, i) / at.optimum[i]);
        summary.share[i] += share;
        if (i > 0) summary.worst = std::min(summary.worst, share);
        ++counted_models;
      }
      if (counted_models > 0) summary.share[i] /= static_cast<double>(counted_models);
    }
    for (const Curves& at : curves) {
      bool loses = false, below = false;
      for (std::size_t i = 1; i < most; ++i) {
        loses = loses || value(at, i) < value(at, i - 1) - rounding;
        below = below || value(at, i) < at.block - rounding;
      }
      summary.optimal += value(at, 1) >= at.optimum[1] - rounding;
      summary.loses += loses;
      summary.below += below;
    }
    return summary;
  }
};

// The published two-token example of block verification, with one path and with several. E[tau] of every scheme is
// computed by an enumeration of all drafts and all branches in fractions, and the optimum by a linear program with a
// certificate. A scheme that carries state runs over several iterations.
//
//   p, q       (1/3 2/3), (2/3 1/3)   after every prefix; V = 2, L = 2
//   E[tau]     accepted tokens of one iteration, the extra token not counted
//   one shot   optimum of all lossless verifiers; whole block: that optimum if target tokens are known in advance
//
// Cost: a second.
// Source: Sun et al., arXiv:2403.10444, for one path; the reference values of several paths and of iterations were
// enumerated independently of this program.
// Passes if all values agree and both certificates are valid and tight: fractions with ==, decimals to their digits.
// K-SEQ is compared as a decimal and explored in double: its factor is a root, which exact arithmetic rounds up to a
// short fraction.
struct PublishedPathExample {
  static constexpr std::string_view name = "published_path_example";
  static constexpr std::string_view about =
      "the two-token example: tokens per iteration of every scheme, and the optimum";
  static constexpr std::string_view source = "Sun et al., arXiv:2403.10444; several paths enumerated independently";

  static inline const std::vector<WeightPair> weights{{{1, 2}, {2, 1}}};
  struct Value {
    std::string_view what;
    int drafts;
    Reference reference;
  };
  static constexpr Value accepted[] = {{"token_path", 1, {"10/9"}},
                                       {"block", 1, {"11/9"}},
                                       {"one shot", 1, {"11/9"}},
                                       {"greedy_block", 1, {"12/9"}},
                                       {"whole block", 1, {"12/9"}},
                                       {"sample_and_match_tree", 2, {"82/81"}},
                                       {"recursive_rejection_tree", 2, {"4/3"}},
                                       {"k_seq_tree", 2, {"1.4054865457"}},
                                       {"traversal", 2, {"115/81"}},
                                       {"greedy_multipath_block", 2, {"131/81"}},
                                       {"branch_reentry", 2, {}},
                                       {"ladder_block", 2, {}},
                                       {"one shot", 2, {"131/81"}},
                                       {"whole block", 2, {"134/81"}},
                                       {"sample_and_match_tree", 3, {"8200/6561"}},
                                       {"recursive_rejection_tree", 3, {"1087/729"}},
                                       {"k_seq_tree", 3, {"1.5933063621"}},
                                       {"traversal", 3, {"1136/729"}},
                                       {"greedy_multipath_block", 3, {"1289/729"}},
                                       {"branch_reentry", 3, {}},
                                       {"ladder_block", 3, {}},
                                       {"one shot", 3, {"1351/729"}},
                                       {"whole block", 3, {"1351/729"}}};

  static constexpr int iterations = 4;
  struct Process {
    std::string_view scheme;
    Reference references[iterations];
  };
  static constexpr Process processes[] = {{"token_path", {{"2.1111"}, {"4.2222"}, {"6.3333"}, {"8.4444"}}},
                                          {"block", {{"2.2222"}, {"4.4444"}, {"6.6667"}, {"8.8889"}}},
                                          {"greedy_block", {{"2.3333"}, {"4.4444"}, {"6.5556"}, {"8.6667"}}}};

  /// At most 2^12 branches in double, each the product of at most 16 rounded factors: a relative error of
  /// (2^12 + 16) 2^-53, less than 2^-36 of a number below 16.
  static constexpr double rounding = 0x1p-36;

  static StudyResult run(const StudyOptions& options) {
    StudyResult result;
    result.document.data = {{"schema", "draftproof.study.published_path_example/1"}};
    Records one{{.title = "one iteration: E[tau] on p = (1/3 2/3), q = (2/3 1/3), L = 2"}};
    const std::uint64_t total = std::size(accepted) + std::size(processes);
    std::uint64_t done = 0;
    for (const Value& value : accepted) {
      if (result.stopped(options)) break;
      const std::optional<Rational> found = computed(value);
      options.tell(++done, total);
      if (!found) continue;
      const std::string_view reference = value.reference.text;
      const bool same = result.expect(value.reference.matches(*found, rounding));
      one.add({number("K", "", value.drafts), word("scheme", "scheme", value.what), datum("drafts", value.drafts),
               word("fraction", "value", brief(*found)),
               number("decimal", "decimal", static_cast<double>(*found), "{:.10f}"), cell("reference", reference),
               datum("reference", reference), verdict("", same, reference.empty() ? "" : "agrees"),
               datum("agrees", same)});
    }
    Records many{
        {.title = "several iterations, one path: tokens so far, the extra ones counted",
         .after = {"  greedy_block carries state: it accepts more in the first iteration and less in later ones"}}};
    for (const Process& process : processes) {
      if (result.stopped(options)) break;
      add_process(process, many, result);
      options.tell(++done, total);
    }
    one.write(result.document, result.document.data, "values");
    many.write(result.document, result.document.data, "iterations");
    result.document.data["passed"] = result.passed;
    return result;
  }

 private:
  /// Returns the value of a scheme; nullopt if the scheme does not exist, and -1 if a proof of the value fails.
  static std::optional<Rational> computed(const Value& value) {
    const TreeShape shape{.drafts = value.drafts, .length = 2};
    const auto model = path_model<Rational>(weights);
    if (value.what == "one shot" || value.what == "whole block") {
      const Sight sight = value.what == "one shot" ? Sight::one_shot : Sight::whole_block;
      const TreeSampling distribution =
          enumerate_tree_sampling(*path_registry().drafter("iid_paths"), model, shape).value();
      const TreeCertificate certificate = tree_optimum(distribution, sight);
      // For a certificate that is rejected, or whose bounds differ, returns -1, which equals no reference.
      const bool proved = reject(distribution, sight, certificate).empty() && certificate.lower == certificate.upper;
      return proved ? certificate.lower : Rational(-1);
    }
    const AnyPathVerifier* scheme = path_registry().verifier(value.what);
    if (!scheme) return std::nullopt;
    if (!value.reference.decimal()) return enumerated_mean(*scheme, model, shape);
    return Rational(*enumerated_mean(*scheme, path_model<double>(weights), shape));
  }

  static void add_process(const Process& process, Records& many, StudyResult& result) {
    const TreeShape shape{.drafts = 1, .length = 2};
    const auto model = path_model<Rational>(weights);
    const AnyPathVerifier& scheme = *path_registry().verifier(process.scheme);
    const auto decider = scheme.prove_on(model, shape);
    const auto carried = scheme.process_on(model);
    const IteratedScheme<Rows<Rational>> iterated{*path_registry().drafter("iid_paths"), *decider, carried.get(),
                                                  model, shape};
    const std::vector<Rational> tokens = expected_tokens(iterated, iterations);
    std::vector<Field> row{word("scheme", "scheme", process.scheme)};
    nlohmann::ordered_json values, references;
    bool passed = true;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      const bool same = process.references[i].matches(tokens[i], rounding);
      passed = passed && same;
      const auto text = fmt::format("{} = {:.4f}", brief(tokens[i]), static_cast<double>(tokens[i]));
      row.push_back(cell(fmt::format("after {}", i + 1), text).marked(same));
      values.push_back(brief(tokens[i]));
      references.push_back(process.references[i].text);
    }
    for (const Field& field : {datum("tokens", values), datum("references", references),
                               datum("agrees", result.expect(passed)), verdict("reference", passed)})
      row.push_back(field);
    many.add(row);
  }
};

}  // namespace draftproof::studies
