// Four instances with published exact values of the acceptance of recursive rejection and of the optimum. The study
// computes them again in fractions: recursive rejection by an enumeration of every branch of its program, the optimum
// by all cuts and by a maximal flow whose certificate is checked without the solver.
//
//   p, q       target, proposal   fractions
//   accepted   recursive          law.flag, equal to law.membership
//   alpha*     optimum            cut_optimum == optimal_transport, certificate not rejected
//
// Cost: milliseconds; there is nothing to scale, so `effort` is not used.
// Source: of the published values, a public exact-rational study, repository NinjaTurtles.
// Holds if the output law is the target, both optima are equal fractions, the certificate is valid and every
// published value is met (fractions with ==, decimals to their digits).
#pragma once

#include <fmt/format.h>

#include <draftproof/optimum/transport.hpp>
#include <draftproof/properties/proof/output_law.hpp>
#include <draftproof/properties/prover/registry.hpp>
#include <draftproof/studies/reference.hpp>
#include <draftproof/studies/study.hpp>

namespace draftproof::studies {

struct CertifiedInstances {
  static constexpr std::string_view name = "certified_instances";
  static constexpr std::string_view about =
      "certified fractions: recursive rejection and the optimum, with certificate";
  static constexpr std::string_view source = "a public exact-rational study, repository NinjaTurtles";

  using Row = std::vector<Rational>;
  /// A value as published: a fraction or a decimal.
  struct Published {
    std::string_view text;
    bool agrees(const Rational& value) const {
      if (text.find('.') == std::string_view::npos) return value == Rational(std::string(text));
      return Reference{text}.agrees(static_cast<double>(value), 0x1p-53);
    }
  };
  struct Case {
    Row p, q;
    std::string_view law, scheme;
    int drafts;
    Published accepted, optimum;
  };
  static std::vector<Case> cases() {
    return {{{{309, 500}, {177, 500}, {7, 250}},
             {{373, 1000}, {29, 50}, {47, 1000}},
             "iid",
             "recursive_rejection",
             2,
             {"169277/200000"},
             {"988871/1000000"}},
            {{{469, 1000}, {31, 250}, {407, 1000}},
             {{201, 1000}, {11, 40}, {131, 250}},
             "iid",
             "recursive_rejection",
             3,
             {"207227133/250000000"},
             {"1"}},
            {{{777, 1000}, {223, 1000}},
             {{937, 1000}, {63, 1000}},
             "without_replacement",
             "recursive_rejection_wor",
             2,
             {"1"},
             {"1"}},
            {{{37, 250}, {21, 500}, {149, 200}, {1, 20}, {3, 200}},
             {{62, 125}, {17, 125}, {151, 1000}, {1, 125}, {209, 1000}},
             "without_replacement",
             "recursive_rejection_wor",
             3,
             {"0.7509325573"},
             {"0.8772810136"}}};
  }

  static StudyResult run(const StudyOptions& options) {
    StudyResult result;
    auto& data = result.document.data = {{"schema", "draftproof.study.certified_instances/1"}};
    const auto all = cases();
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (options.stopped()) {
        result.complete = false;
        break;
      }
      add(all[i], i + 1, result);
      options.tell(i + 1, all.size());
    }
    data["held"] = result.held;
    return result;
  }

 private:
  static void add(const Case& at, std::size_t number, StudyResult& result) {
    const Rows<Rational> rows(at.p, at.q);
    const AnyDrafter& drafter = *registry().drafter(at.law);
    const auto decider = registry().verifier(at.scheme)->prove_on(rows, at.drafts);
    const auto law = explore_law(drafter, *decider, rows, at.drafts);
    const auto sets = set_law<Rational>(
        [&](Explorer<Rational>& random, Token* out) { return drafter.draw(rows, at.drafts, random, out); });
    const Rational cut = cut_optimum<Rational>(at.p, sets);
    const Certificate<Rational> flow = optimal_transport(at.p, sets);
    const std::string rejected = reject(at.p, sets, flow);

    Section section{.title = fmt::format("instance {}: {} drafts, {}", number, at.drafts, at.law),
                    .before = {"p = " + to_text(at.p), "q = " + to_text(at.q)},
                    .table = {{{"what"}, {"fraction"}, {"decimal", true}, {"published", true}, {""}}, {}}};
    nlohmann::ordered_json rows_of_data = nlohmann::ordered_json::array();
    bool held = true;
    const auto value = [&](std::string_view what, const Rational& found, const Published& published) {
      const bool same = published.agrees(found);
      held = held && same;
      section.table.rows.push_back({{std::string(what)},
                                    {to_text(found)},
                                    {fmt::format("{:.10f}", static_cast<double>(found))},
                                    {std::string(published.text)},
                                    {same ? "agrees" : "differs", same ? Tone::plain : Tone::bad}});
      rows_of_data.push_back({{"what", what},
                              {"fraction", to_text(found)},
                              {"decimal", static_cast<double>(found)},
                              {"published", published.text},
                              {"agrees", same}});
    };
    value(at.scheme, law.flag, at.accepted);
    value("optimum, all cuts", cut, at.optimum);
    value("optimum, maximal flow", flow.acceptance, at.optimum);
    const bool exact = law.complete && law.output == at.p && law.membership == law.flag;
    const bool certified = rejected.empty() && flow.acceptance == cut;
    held = held && exact && certified;
    section.after = {
        exact ? fmt::format("output law equal to p over {} branches; flag equal to membership", law.leaves)
              : "output law NOT p, or flag not membership",
        certified ? fmt::format("certificate checked: {} shipments and one cut prove the optimum", flow.plan.size())
                  : "certificate REJECTED: " + rejected};
    result.held = result.held && held;
    result.document.data["instances"].push_back({{"p", to_text(at.p)},
                                                 {"q", to_text(at.q)},
                                                 {"law", at.law},
                                                 {"drafts", at.drafts},
                                                 {"values", rows_of_data},
                                                 {"output_is_target", exact},
                                                 {"certified", certified},
                                                 {"held", held}});
    result.document.sections.push_back(std::move(section));
  }
};

}  // namespace draftproof::studies
