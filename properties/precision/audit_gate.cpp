#include <draftproof/properties/precision/audit_gate.hpp>

#include <algorithm>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>

#include <fmt/format.h>

#include <draftproof/captures/stored_format.hpp>
#include <draftproof/properties/precision/audit.hpp>
#include <draftproof/properties/precision/audit_rows.hpp>
#include <draftproof/properties/simulation/simulation.hpp>

namespace draftproof {

namespace {

enum class Kinds { dense, scattered, whole, stored };

struct Size {
  Kinds kind;
  int vocabulary, drafts, support;
  bool thorough_only;
};

constexpr Size audit_sizes[] = {{Kinds::dense, 16, 4, 16, false},         {Kinds::dense, 64, 3, 64, false},
                                {Kinds::dense, 256, 2, 256, true},        {Kinds::scattered, 32'000, 4, 5, true},
                                {Kinds::scattered, 262'144, 3, 4, false}, {Kinds::whole, 32'000, 3, 4, true},
                                {Kinds::whole, 128'256, 2, 4, true},      {Kinds::whole, 262'144, 2, 3, false},
                                {Kinds::whole, 262'144, 1, 64, true},     {Kinds::stored, 32'000, 2, 3, false},
                                {Kinds::stored, 262'144, 2, 3, true}};

/// For schemes whose plan enumerates tuples of drafts and therefore needs few tokens.
constexpr Size planned_sizes[] = {{Kinds::dense, 8, 3, 8, false}, {Kinds::dense, 24, 2, 24, false}};

/// Limits of one walk: tokens read over all leaves, and leaves. About a second.
constexpr std::uint64_t affordable_tokens = 400'000'000, affordable_leaves = 700'000;

class Auditor {
 public:
  Auditor(const AnyVerifier& verifier, const AnyDrafter& drafter, const PrecisionOptions& options)
      : verifier_{verifier}, drafter_{drafter}, options_{options} {}

  std::uint64_t leaves_at(std::size_t vocabulary) const {
    return (options_.thorough ? 5 : 1) * std::min<std::uint64_t>(affordable_leaves, affordable_tokens / vocabulary);
  }
  bool stopped() const { return options_.stop && options_.stop->load(std::memory_order_relaxed); }

  /// The number of drafts, within the limits of the scheme and the law.
  int drafts(int wanted) const {
    for (const int most : {verifier_.info().most_drafts, drafter_.info().most_drafts})
      if (most > 0) wanted = std::min(wanted, most);
    return std::max({wanted, verifier_.info().fewest_drafts, drafter_.info().fewest_drafts});
  }
  int proposals(int drafts) const { return drafter_.info().several_proposals ? drafts : 1; }

  void at(const Size& size) {
    const int count = drafts(size.drafts), rows = proposals(count);
    const int support = size.kind == Kinds::dense ? size.vocabulary : std::max(size.support, count + 1);
    if (!drafter_.defined(size.vocabulary, count, rows)) return;
    if (size.kind == Kinds::whole && count > size.drafts) return;  // a wide support is affordable for few drafts only
    switch (size.kind) {
      case Kinds::dense:
        return dense(size.vocabulary, rows, count);
      case Kinds::scattered:
        return forms(fmt::format("at {} of V = {}", support, size.vocabulary),
                     scattered_rows(size.vocabulary, support, rows, options_.seed), count, large_limit);
      case Kinds::whole:
        return forms(fmt::format("over all V = {}", size.vocabulary),
                     whole_rows(size.vocabulary, support, rows, options_.seed), count, large_limit);
      case Kinds::stored:
        return form(fmt::format("float32 rows over all V = {}", size.vocabulary), Form::fresh,
                    {float32.round(whole_rows(size.vocabulary, support, rows, options_.seed))}, count, float32_limit);
    }
  }

  void on_edge_rows() {
    const int count = drafts(3);
    std::vector<RowPair> all;
    for (auto& edge : edge_rows(proposals(count)))
      if (backend_for(verifier_, drafter_, Supports(edge.rows.proposals), count) != SimulationBackend::none)
        all.push_back(std::move(edge.rows));
    if (all.empty() || !drafter_.defined(static_cast<int>(all.front().target.size()), count, proposals(count)))
      return;
    for (const Form each : all_forms)
      form(fmt::format("{} on edge rows", to_text(each)), each, all, count, small_limit);
  }

  PrecisionAudit outcome() && { return std::move(audit_); }

 private:
  /// Schemes that draw often have more outcomes than there are tuples; they run at half the vocabulary then.
  void dense(int vocabulary, int proposals, int drafts) {
    for (;; vocabulary /= 2) {
      const RowPair rows = dense_rows(vocabulary, proposals, options_.seed);
      const std::size_t before = audit_.findings.size();
      forms(fmt::format("at V = {}", vocabulary), rows, drafts, small_limit);
      const bool too_large = audit_.findings.size() > before && audit_.findings.back().status == Status::skipped;
      if (!too_large || vocabulary / 2 <= drafts) return;
      audit_.findings.resize(before);
    }
  }

  /// Ends at the first form with too many outcomes; all forms have the same number.
  void forms(const std::string& where, const RowPair& rows, int drafts, double limit) {
    for (const Form each : all_forms) {
      form(fmt::format("{} {}", to_text(each), where), each, {rows}, drafts, limit);
      if (!audit_.findings.empty() && audit_.findings.back().status == Status::skipped) return;
    }
  }

  /// One finding for all pairs of `several`, with the largest distance.
  void form(std::string check, Form form, const std::vector<RowPair>& several, int drafts, double limit) {
    const bool in_double = limit <= large_limit;
    limit += verifier_.info().promise == Promise::lossless_up_to ? verifier_.info().tau : 0;
    GateFinding finding{.check = std::move(check), .tier = Tier::proof};
    double largest = 0;
    bool complete = true;
    for (const RowPair& rows : several) {
      if (stopped()) return;
      try {
        const auto law = audit(verifier_, drafter_, form, rows, drafts, leaves_at(rows.target.size()));
        if (!law) return;
        finding.work += law->leaves;
        complete = complete && law->complete;
        largest = std::max(largest, law->distance(exact_target(rows.target)));
      } catch (const EnumerationCut&) {
        complete = false;
      } catch (const std::logic_error& error) {
        finding.status = Status::violated;
        finding.evidence = error.what();
        break;
      }
    }
    if (finding.status != Status::violated) {
      finding.status = !complete ? Status::skipped : largest <= limit ? Status::held : Status::violated;
      finding.evidence =
          complete ? fmt::format("TV {:.2g} in double, limit {:.2g}, {} of {}", largest, limit,
                                 drafts == 1 ? "one draft" : fmt::format("{} drafts", drafts), drafter_.info().name)
                   : fmt::format("more than {} outcomes", finding.work);
    }
    if (in_double && complete) audit_.largest = std::max(audit_.largest, largest);
    if (finding.status == Status::violated)
      finding.replay = fmt::format("{} check {} --law {} --tier proof --profile {} --seed {}", program_name(),
                                   verifier_.info().name, drafter_.info().name, options_.thorough ? "nightly" : "pr",
                                   options_.seed);
    audit_.findings.push_back(std::move(finding));
  }

  const AnyVerifier& verifier_;
  const AnyDrafter& drafter_;
  PrecisionOptions options_;
  PrecisionAudit audit_;
};

}  // namespace

bool has_precision(const AnyVerifier& verifier) {
  return verifier.info().promise != Promise::lossy && verifier.info().unsupported.explore.empty();
}

PrecisionAudit audit_precision(const AnyVerifier& verifier, const AnyDrafter& drafter,
                               const PrecisionOptions& options) {
  if (!has_precision(verifier)) return {};
  Auditor auditor(verifier, drafter, options);
  const bool planned = !verifier.info().unsupported.simulate.empty();
  for (const Size& size : planned ? std::span<const Size>(planned_sizes) : std::span<const Size>(audit_sizes))
    if (options.thorough || !size.thorough_only) auditor.at(size);
  auditor.on_edge_rows();
  return std::move(auditor).outcome();
}

}  // namespace draftproof
