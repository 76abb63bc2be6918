// The worst cases of K-SEQ and recursive rejection against the optimum of i.i.d. drafts: one pair in exact fractions,
// two families of pairs whose minima have closed forms, and a search over all pairs of two and three tokens for
// worse.
//
//   ratio    accepted / optimum
//   q, s     studies/worst_families.hpp, with the derivation
//   n        resolution of the search: `effort`, 24 by default
//
// Cost: seconds, nearly all in the search.
// Source: reference values were enumerated independently of this program.
// Holds if the fractions agree; if closed forms, Brent's method and reference values agree; and if the search finds
// the families' minima and nothing below them. It is not proved that they are minima over all pairs.
#pragma once

#include <fmt/format.h>

#include <draftproof/captures/input_error.hpp>
#include <draftproof/studies/pair_search.hpp>
#include <draftproof/studies/reference.hpp>
#include <draftproof/studies/worst_families.hpp>
#include <draftproof/studies/worst_pair.hpp>

namespace draftproof::studies {

struct WorstCases {
  static constexpr std::string_view name = "worst_cases";
  static constexpr std::string_view about =
      "K-SEQ and recursive rejection at their worst: fractions, families, search";
  static constexpr std::string_view source =
      "enumerated independently; the minimiser of K-SEQ's family is derived here";

  static StudyResult run(const StudyOptions& options) {
    constexpr std::uint64_t most = 200;
    if (options.effort > most)
      throw InputError({.file = "--effort",
                        .found = std::to_string(options.effort),
                        .wanted = fmt::format("a resolution of at most 1/{}", most)});
    StudyResult result;
    result.document.data = {{"schema", "draftproof.study.worst_cases/1"}};
    worst::add_pair(result);
    families(result);
    // At resolutions below 4 the starts are too far from every minimum.
    search(options, options.effort > 0 ? std::max(4, static_cast<int>(options.effort)) : 24, result);
    result.document.data["held"] = result.held;
    return result;
  }

 private:
  using Row = std::vector<double>;

  struct Scheme {
    std::string_view name;
    worst::Minimum (*minimum)(int);
    double (*accepts)(const Row&, const Row&, int);
    std::vector<std::pair<int, Reference>> reference;
  };
  static std::vector<Scheme> schemes() {
    return {{"k_seq",
             &worst::k_seq,
             &acceptance::k_seq,
             {{2, {"0.888889"}},
              {3, {"0.86503"}},
              {4, {"0.85438"}},
              {8, {"0.83971"}},
              {64, {"0.82797"}},
              {1024, {"0.82646"}}}},
            {"recursive_rejection",
             &worst::recursive_rejection,
             &acceptance::recursive_rejection<double>,
             {{2, {"0.851852"}}, {3, {"0.81410"}}, {4, {""}}, {8, {""}}, {64, {""}}, {1024, {""}}}}};
  }

  static void families(StudyResult& result) {
    for (const Scheme& scheme : schemes()) {
      Section section{
          .title = fmt::format("{} on p = (1 - q^K, q^K), proposal (1 - q, q), least over q", scheme.name),
          .table = {
              {{"K", true}, {"q", true}, {"ratio", true}, {"by Brent's method", true}, {"reference", true}, {""}},
              {}}};
      for (const auto& [drafts, reference] : scheme.reference) {
        const worst::Minimum closed = scheme.minimum(drafts);
        const worst::Minimum found = worst::numerically(scheme.accepts, drafts);
        // A few times K roundings of numbers at most 1 in the scheme's loop. Near its minimum the function is flat,
        // so half the digits of q give all digits of the value.
        const double rounding = (drafts + 16) * 0x1p-50;
        const bool held = std::abs(closed.acceptance - found.acceptance) <= rounding &&
                          (reference.text.empty() || reference.agrees(closed.acceptance, rounding));
        result.held = result.held && held;
        section.table.rows.push_back({{std::to_string(drafts)},
                                      {fmt::format("{:.7f}", closed.q)},
                                      {fmt::format("{:.9f}", closed.acceptance)},
                                      {fmt::format("{:.9f}", found.acceptance)},
                                      {std::string(reference.text)},
                                      {held ? "agrees" : "differs", held ? Tone::plain : Tone::bad}});
        result.document.data["families"].push_back({{"scheme", scheme.name},
                                                    {"drafts", drafts},
                                                    {"q", closed.q},
                                                    {"ratio", closed.acceptance},
                                                    {"ratio_by_brent", found.acceptance},
                                                    {"reference", reference.text},
                                                    {"held", held}});
      }
      const double limit = scheme.name == "k_seq" ? worst::k_seq_limit() : 0.75;
      section.after = {fmt::format("limit for many drafts {:.9f}", limit)};
      result.document.data["limits"][std::string(scheme.name)] = limit;
      result.document.sections.push_back(std::move(section));
    }
  }

  static void search(const StudyOptions& options, int resolution, StudyResult& result) {
    Section section{
        .title = "search over all pairs for a smaller ratio",
        .table = {{{"scheme"}, {"V", true}, {"K", true}, {"least found", true}, {"family", true}, {"p"}, {"q"}, {""}},
                  {}}};
    std::uint64_t done = 0;
    for (const Scheme& scheme : schemes())
      for (const int vocabulary : {2, 3})
        for (const int drafts : {2, 3}) {
          const auto ratio = [&](const Row& p, const Row& q) {
            const double optimum = acceptance::optimum(p, q, drafts);
            // An optimum of 0 has no ratio. Below 1e-3 the rounding of either side would be visible.
            return optimum > 1e-3 ? scheme.accepts(p, q, drafts) / optimum : 1;
          };
          const LeastPair found = least_pair(ratio, vocabulary, resolution, options);
          if (!found.complete) {
            result.complete = false;
            return;
          }
          const double family = scheme.minimum(drafts).acceptance;
          // Both sides of a ratio above 1e-3 have some 40 roundings: a thousand times 2^-48 at most.
          const bool lower = found.value < family - 1000 * 0x1p-48;
          // A search that misses the known minimum is no evidence.
          const bool reached = found.value < family + 1e-6;
          const bool held = !lower && reached;
          result.held = result.held && held;
          section.table.rows.push_back(
              {{std::string(scheme.name)},
               {std::to_string(vocabulary)},
               {std::to_string(drafts)},
               {fmt::format("{:.6f}", found.value)},
               {fmt::format("{:.6f}", family)},
               {fmt::format("{:.4f}", fmt::join(found.p, " "))},
               {fmt::format("{:.4f}", fmt::join(found.q, " "))},
               {lower ? "WORSE than the family" : (reached ? "nothing below" : "family not reached"),
                held ? Tone::plain : Tone::bad}});
          result.document.data["search"].push_back({{"scheme", scheme.name},
                                                    {"vocabulary", vocabulary},
                                                    {"drafts", drafts},
                                                    {"least", found.value},
                                                    {"family", family},
                                                    {"p", found.p},
                                                    {"q", found.q},
                                                    {"evaluations", found.evaluations},
                                                    {"held", held}});
          options.tell(++done, 8);
        }
    result.document.sections.push_back(std::move(section));
  }
};

}  // namespace draftproof::studies
