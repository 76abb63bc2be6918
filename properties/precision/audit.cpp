#include <draftproof/properties/precision/audit.hpp>

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <exception>
#include <limits>
#include <new>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include <draftproof/captures/families/generated.hpp>
#include <draftproof/captures/stored_format.hpp>
#include <draftproof/properties/simulation/simulation.hpp>
#include <draftproof/sim/components/target_filters.hpp>
#include <draftproof/sim/numeric/sums.hpp>

namespace draftproof {

namespace {

std::vector<double> values(const std::vector<NeumaierSum>& sums) {
  std::vector<double> row;
  row.reserve(sums.size());
  for (const auto& sum : sums) row.push_back(sum.value());
  return row;
}

template <class L>
std::optional<AuditedDistribution> enumerate(const AnyVerifier& verifier, const AnyDrafter& drafter,
                                             const L& distributions, int drafts, std::uint64_t leaves) {
  const auto decider = verifier.explore_on(distributions, drafts);
  if (!decider) return {};
  std::vector<NeumaierSum> output(static_cast<std::size_t>(distributions.vocabulary()));
  Explorer<double> explorer({.leaves = leaves, .vocabulary = distributions.vocabulary()});
  explorer.with_rounding();
  AuditedDistribution distribution;
  distribution.complete = explorer.explore(
      [&](Explorer<double>& random) {
        Token tuple[max_drafts];
        const int count = drafter.draw(distributions, drafts, random, tuple);
        return decider->decide({tuple, static_cast<std::size_t>(count)}, random);
      },
      [&](const Leaf<double>& leaf) { add_leaf(leaf, output); });
  distribution.leaves = explorer.leaves();
  distribution.output = values(output);
  return distribution;
}

}  // namespace

std::string_view to_text(Form form) {
  constexpr std::array<std::string_view, 3> names{"double", "tables", "fresh rows"};
  return names[static_cast<std::size_t>(form)];
}

void add_leaf(const Leaf<double>& leaf, std::span<NeumaierSum> tokens) {
  const auto at = [tokens](Token x) -> NeumaierSum& { return tokens[static_cast<std::size_t>(x)]; };
  if (leaf.verdict.token >= 0) return at(leaf.verdict.token).add(leaf.probability);
  NeumaierSum spread;  // a compensated sum, which leaf.spread_total is not
  for (const auto& [token, weight] : leaf.spread) spread.add(weight);
  const double sum = spread.value();
  for (const auto& [token, weight] : leaf.spread) at(token).add(leaf.probability * (weight / sum));
}

double AuditedDistribution::distance(std::span<const double> distribution) const {
  NeumaierSum sum;
  sum.add(1 - compensated_sum(output));
  for (std::size_t x = 0; x < distribution.size(); ++x) sum.add(std::abs(output[x] - distribution[x]));
  return sum.value() / 2;
}

std::vector<double> exact_target(std::span<const double> row) { return normalised_row(row); }

double total_variation(std::span<const double> a, std::span<const double> b) {
  NeumaierSum sum;
  for (std::size_t x = 0; x < a.size(); ++x) sum.add(std::abs(a[x] - b[x]));
  return sum.value() / 2;
}

std::optional<AuditedDistribution> audit(const AnyVerifier& verifier, const AnyDrafter& drafter, Form form,
                                         const RowPair& rows, int drafts, std::uint64_t leaves) {
  switch (form) {
    case Form::rows:
      return enumerate(verifier, drafter, Rows<double>(rows.target, rows.proposals), drafts, leaves);
    case Form::tables:
      return enumerate(verifier, drafter, RatioTable(rows.target, rows.proposals), drafts, leaves);
    case Form::fresh:
      break;
  }
  const std::vector<std::span<const double>> proposals(rows.proposals.begin(), rows.proposals.end());
  return enumerate(verifier, drafter, FreshRows<double>(rows.target, proposals), drafts, leaves);
}

namespace {

/// Returns `count` tokens, far apart, so that a block of a pass has at most one of them if V allows it.
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

/// Returns p and q of the same length; every draft has the same proposal.
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
  // Makes the tokens distinct, because a token listed twice would lose the first of its two weights.
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
          {"drafts of very low probability",
           pair({0x1p-24, 0x1p-126, denormal, 0.5, 0.5 - 0x1p-24}, {1 - 0x1p-24, 0x1p-24, denormal, 0, 0x1p-149})},
          {"p equal to q", pair(plain, plain)},
          {"p an ulp above q in one token", pair(raised, plain)},
          {"q an ulp above p in one token", pair(plain, raised)},
          {"a residual below V ulp", pair(uneven, std::vector<double>(16, 0x1p-4))},
          {"1 - 1e-8 on one token", pair({1 - 1e-8, 5e-9, 3e-9, 2e-9, 0}, {5e-9, 1 - 1e-8, 2e-9, 2e-9, 1e-9})},
          {"sums an ulp off 1", pair({0.7, 0.1, 0.1, above(0.1), 0}, {0.1, 0.2, 0.3, 0.2, above(0.2)})}};
}

namespace {

enum class Kinds { dense, scattered, whole, stored };

/// The size of one check. `drafts` is the number of drafts at a position, or at every node of trees of `length` tokens.
struct Size {
  Kinds kind;
  int vocabulary, drafts, support;
  bool thorough_only;
  int length = 1;
};

constexpr Size audit_sizes[] = {{Kinds::dense, 16, 4, 16, false},         {Kinds::dense, 64, 3, 64, false},
                                {Kinds::dense, 256, 2, 256, true},        {Kinds::scattered, 32'000, 4, 5, true},
                                {Kinds::scattered, 262'144, 3, 4, false}, {Kinds::whole, 32'000, 3, 4, true},
                                {Kinds::whole, 128'256, 2, 4, true},      {Kinds::whole, 262'144, 2, 3, false},
                                {Kinds::whole, 262'144, 1, 64, true},     {Kinds::stored, 32'000, 2, 3, false},
                                {Kinds::stored, 262'144, 2, 3, true}};

/// Sizes for schemes whose plan enumerates tuples of drafts and is therefore restricted to few tokens.
constexpr Size planned_sizes[] = {{Kinds::dense, 8, 3, 8, false}, {Kinds::dense, 24, 2, 24, false}};

/// Sizes for paths and trees: two levels, with different rows, if there are few enough trees. A program that
/// continues after a draw has an outcome for each drawn token, so rows over all tokens have a smaller V.
constexpr Size tree_sizes[] = {{Kinds::dense, 8, 2, 8, false, 2},
                               {Kinds::dense, 16, 3, 16, false},
                               {Kinds::dense, 64, 2, 64, true},
                               {Kinds::dense, 4, 2, 4, true, 3},
                               {Kinds::scattered, 262'144, 2, 3, false, 2},
                               {Kinds::whole, 2'048, 2, 3, false},
                               {Kinds::stored, 2'048, 2, 3, false}};
constexpr Size planned_tree_sizes[] = {{Kinds::dense, 4, 2, 4, false, 2}, {Kinds::dense, 8, 2, 8, false}};

/// Limits of one enumeration: the number of tokens read in all leaves together, and the number of leaves. At these
/// limits it takes about a second.
constexpr std::uint64_t affordable_tokens = 400'000'000, affordable_leaves = 700'000;

/// Returns the distance of a program of one position on the rows of that position.
std::optional<AuditedPaths> audit(const AnyVerifier& verifier, const AnyDrafter& drafter, Form form,
                                  std::span<const RowPair> rows, const TreeShape& shape, std::uint64_t leaves) {
  const auto distribution = audit(verifier, drafter, form, rows.front(), shape.drafts, leaves);
  if (!distribution) return {};
  return AuditedPaths{
      .distance = distribution->complete ? distribution->distance(exact_target(rows.front().target)) : 0,
      .leaves = distribution->leaves,
      .complete = distribution->complete};
}

template <class Verifier, class Drafter>
class Auditor {
 public:
  Auditor(const Verifier& verifier, const Drafter& drafter, const PrecisionOptions& options)
      : verifier_{verifier}, drafter_{drafter}, options_{options} {}

  void run() {
    const auto at_sizes = [this](std::span<const Size> sizes) {
      for (const Size& size : sizes)
        if (options_.thorough || !size.thorough_only) at(size);
    };
    if (verifier_.info().unsupported.simulate.empty())
      at_sizes(positions ? std::span<const Size>(audit_sizes) : tree_sizes);
    else
      at_sizes(positions ? std::span<const Size>(planned_sizes) : planned_tree_sizes);
    on_edge_rows();
  }

  PrecisionAudit outcome() && { return std::move(audit_); }

 private:
  static constexpr bool positions = std::is_same_v<Verifier, AnyVerifier>;
  /// p and q at each level of paths, the last pair for all deeper levels; a single pair for a position.
  using Levels = std::vector<RowPair>;

  std::uint64_t leaves_at(std::size_t vocabulary) const {
    return (options_.thorough ? 5 : 1) * std::min<std::uint64_t>(affordable_leaves, affordable_tokens / vocabulary);
  }
  bool stopped() const { return options_.stop && options_.stop->load(std::memory_order_relaxed); }

  /// Returns the number of drafts, within the limits of the scheme and the draft sampling.
  int drafts(int wanted) const {
    const auto limit = [&wanted](int fewest, int most) {
      wanted = std::max(most > 0 ? std::min(wanted, most) : wanted, fewest);
    };
    limit(verifier_.info().fewest_drafts, verifier_.info().most_drafts);
    if constexpr (positions) limit(drafter_.info().fewest_drafts, drafter_.info().most_drafts);
    return wanted;
  }
  int proposals(int drafts) const {
    if constexpr (positions) return drafter_.info().several_proposals ? drafts : 1;
    return 1;
  }
  bool defined(int vocabulary, int drafts) const {
    if constexpr (positions) return drafter_.defined(vocabulary, drafts, proposals(drafts));
    return true;
  }

  void at(const Size& size) {
    const int count = drafts(size.drafts), rows = proposals(count);
    const int support = size.kind == Kinds::dense ? size.vocabulary : std::max(size.support, count + 1);
    if (!defined(size.vocabulary, count)) return;
    // The scheme requires more drafts than this size has.
    if (size.kind == Kinds::whole && count > size.drafts) return;
    const TreeShape shape{.drafts = count, .length = size.length};
    const auto levels = [&](auto make) {
      Levels all;
      for (int n = 0; n <= (positions ? 0 : size.length); ++n)
        all.push_back(make(options_.seed + 2 * static_cast<std::uint64_t>(n)));
      return all;
    };
    const auto whole = [&](std::uint64_t seed) { return whole_rows(size.vocabulary, support, rows, seed); };
    switch (size.kind) {
      case Kinds::dense:
        return dense(size.vocabulary, shape, levels);
      case Kinds::scattered:
        return forms(fmt::format("at {} of V = {}", support, size.vocabulary),
                     levels([&](std::uint64_t seed) { return scattered_rows(size.vocabulary, support, rows, seed); }),
                     shape, large_limit);
      case Kinds::whole:
        return forms(fmt::format("over all V = {}", size.vocabulary), levels(whole), shape, large_limit);
      case Kinds::stored:
        return form(fmt::format("float32 rows over all V = {}{}", size.vocabulary, length_text(shape)), Form::fresh,
                    {levels([&](std::uint64_t seed) { return float32.round(whole(seed)); })}, shape, float32_limit);
    }
  }

  void on_edge_rows() {
    const TreeShape shape{.drafts = drafts(positions ? 3 : 2), .length = positions ? 1 : 2};
    std::vector<Levels> all;
    for (auto& edge : edge_rows(proposals(shape.drafts))) {
      if (!positions && edge.rows.target.size() > 8) continue;  // too many trees
      if constexpr (positions)
        if (backend_for(verifier_, drafter_, Supports(edge.rows.proposals), shape.drafts) == SimulationBackend::none)
          continue;
      all.push_back({std::move(edge.rows)});
    }
    if (all.empty() || !defined(static_cast<int>(all.front().front().target.size()), shape.drafts)) return;
    for (const Form each : all_forms)
      form(fmt::format("{} on edge rows", to_text(each)), each, all, shape, small_limit);
  }

  /// Halves the vocabulary until the outcomes are few enough, because schemes that draw often have more
  /// outcomes than there are tuples.
  void dense(int vocabulary, const TreeShape& shape, const auto& levels) {
    for (;; vocabulary /= 2) {
      const Levels rows =
          levels([&](std::uint64_t seed) { return dense_rows(vocabulary, proposals(shape.drafts), seed); });
      const std::size_t before = audit_.findings.size();
      forms(fmt::format("at V = {}", vocabulary), rows, shape, small_limit);
      const bool too_large = audit_.findings.size() > before && audit_.findings.back().status == Status::skipped;
      if (!too_large || vocabulary / 2 <= shape.drafts) return;
      audit_.findings.resize(before);
    }
  }

  /// Ends at the first form with too many outcomes, because all forms have the same number of outcomes.
  void forms(const std::string& where, const Levels& rows, const TreeShape& shape, double limit) {
    for (const Form each : all_forms) {
      form(fmt::format("{} {}{}", to_text(each), where, length_text(shape)), each, {rows}, shape, limit);
      if (!audit_.findings.empty() && audit_.findings.back().status == Status::skipped) return;
    }
  }

  static std::string length_text(const TreeShape& shape) {
    return positions ? "" : fmt::format(", L = {}", shape.length);
  }

  /// Adds one finding for all rows of `several`, with the largest distance.
  void form(std::string check, Form form, const std::vector<Levels>& several, TreeShape shape, double limit) {
    const bool in_double = limit <= large_limit;
    limit += verifier_.info().promise == Promise::lossless_up_to ? verifier_.info().tau : 0;
    if constexpr (!positions)
      if (drafter_.info().fixed) shape.drafts *= shape.length + 1;  // nodes of the one tree
    Finding finding{.property = std::move(check), .tier = Tier::proof};
    double largest = 0;
    bool complete = true;
    for (const Levels& rows : several) {
      if (stopped()) return;
      try {
        const auto audited = audit(verifier_, drafter_, form, std::span<const RowPair>(rows), shape,
                                   leaves_at(rows.front().target.size()));
        if (!audited) return;
        finding.work += audited->leaves;
        complete = complete && audited->complete;
        largest = std::max(largest, audited->distance);
      } catch (const EnumerationCut&) {
        complete = false;
      } catch (const std::bad_alloc&) {
        throw;
      } catch (const std::exception& error) {
        finding.status = Status::failed;
        finding.evidence = error.what();
        break;
      }
    }
    if (finding.status != Status::failed) {
      finding.status = !complete ? Status::skipped : largest <= limit ? Status::passed : Status::failed;
      finding.evidence = complete
                             ? fmt::format("TV {:.2g} in double, limit {:.2g}, {} of {}", largest, limit,
                                           shape.drafts == 1 ? "one draft" : fmt::format("{} drafts", shape.drafts),
                                           drafter_.info().name)
                             : fmt::format("more than {} outcomes", finding.work);
    }
    if (in_double && complete) audit_.largest = std::max(audit_.largest, largest);
    if (finding.status == Status::failed)
      finding.replay = replay_line("check", verifier_.info().name,
                                   {{"draft-sampling", std::string(drafter_.info().name)},
                                    {"tier", "proof"},
                                    {"profile", options_.thorough ? "nightly" : "pr"},
                                    {"seed", std::to_string(options_.seed)}});
    audit_.findings.push_back(std::move(finding));
  }

  const Verifier& verifier_;
  const Drafter& drafter_;
  PrecisionOptions options_;
  PrecisionAudit audit_;
};

template <class Verifier, class Drafter>
PrecisionAudit audited(const Verifier& verifier, const Drafter& drafter, const PrecisionOptions& options) {
  if (!has_precision(verifier)) return {};
  Auditor<Verifier, Drafter> auditor(verifier, drafter, options);
  auditor.run();
  return std::move(auditor).outcome();
}

}  // namespace

bool has_precision(const RegisteredVerifier& verifier) {
  return verifier.info().promise != Promise::lossy && verifier.info().unsupported.explore.empty();
}

PrecisionAudit audit_precision(const AnyVerifier& verifier, const AnyDrafter& drafter,
                               const PrecisionOptions& options) {
  return audited(verifier, drafter, options);
}

PrecisionAudit audit_precision(const AnyPathVerifier& verifier, const AnyTreeDrafter& drafter,
                               const PrecisionOptions& options) {
  return audited(verifier, drafter, options);
}

}  // namespace draftproof
