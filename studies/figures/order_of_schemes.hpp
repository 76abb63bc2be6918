// The order of acceptance of the schemes on one pair of laws, tried on many instances with exact comparisons:
//
//   sample_and_match <= naive_tree <= recursive_rejection <= k_seq at its root <= optimum        K i.i.d. drafts
//   recursive_rejection <= recursive_rejection_wor <= optimum_wor, optimum_iid <= optimum_wor    without replacement
//
// and pairs of schemes without an order, with an instance for either direction.
//
// Cost: `effort` instances, 100,000 by default, V 2 to 8 and K 1 to 4 (studies/order_search.hpp).
// Holds if no instance contradicts an order and every instance of a crossing shows its claim.
#pragma once

#include <fmt/format.h>

#include <draftproof/studies/order_search.hpp>

namespace draftproof::studies {

struct OrderOfSchemes {
  static constexpr std::string_view name = "order_of_schemes";
  static constexpr std::string_view about =
      "which scheme never accepts more than which: a search for counterexamples";
  static constexpr std::string_view source = "proofs in docs/findings/order-of-schemes.md";

  static constexpr bool divided = true;

  static StudyResult run(const StudyOptions& options) {
    const OrderSearch search =
        search_orders(order_claims, crossing_claims, options.effort > 0 ? options.effort : 100'000, options);
    StudyResult result;
    if (search.orders.empty()) return result;  // a part of the blocks
    result.complete = search.complete;
    result.document.data = {
        {"schema", "draftproof.study.order_of_schemes/1"}, {"seed", options.seed}, {"instances", search.instances}};
    orders(search, result);
    crossings(search, result);
    result.document.data["held"] = result.held;
    return result;
  }

 private:
  static void orders(const OrderSearch& search, StudyResult& result) {
    Section section{.title = fmt::format("orders, tried on {} instances", search.instances),
                    .table = {{{"never more"},
                               {"than"},
                               {""},
                               {"tried", true},
                               {"less", true},
                               {"equal", true},
                               {"more", true},
                               {"least ratio", true},
                               {"on"}},
                              {}}};
    for (std::size_t c = 0; c < order_claims.size(); ++c) {
      const OrderClaim& claim = order_claims[c];
      const OrderTally& tally = search.orders[c];
      const bool held = tally.greater == 0;
      result.held = result.held && held;
      section.table.rows.push_back({{std::string(to_text(claim.lower))},
                                    {std::string(to_text(claim.upper))},
                                    {claim.proved ? "proved" : "open"},
                                    {std::to_string(tally.tried())},
                                    {std::to_string(tally.less)},
                                    {std::to_string(tally.equal)},
                                    {std::to_string(tally.greater), held ? Tone::plain : Tone::bad},
                                    {fmt::format("{:.4f}", tally.ratio)},
                                    {tally.least}});
      if (!held)
        section.after.push_back(fmt::format("COUNTEREXAMPLE: {} accepts more than {} on {}", to_text(claim.lower),
                                            to_text(claim.upper), tally.refutation));
      result.document.data["orders"].push_back({{"lower", to_text(claim.lower)},
                                                {"upper", to_text(claim.upper)},
                                                {"proved", claim.proved},
                                                {"less", tally.less},
                                                {"equal", tally.equal},
                                                {"more", tally.greater},
                                                {"least_ratio", tally.ratio},
                                                {"least_ratio_on", tally.least},
                                                {"counterexample", tally.refutation}});
    }
    result.document.sections.push_back(std::move(section));
  }

  static std::string value(Acceptances& at, Scheme scheme) {
    return scheme == Scheme::k_seq ? fmt::format("{:.6f}", at.approximately(scheme)) : to_text(at.of(scheme));
  }

  static void crossings(const OrderSearch& search, StudyResult& result) {
    Section section{
        .title = "in no order",
        .table = {{{"more"}, {"accepts", true}, {"less"}, {"accepts", true}, {"on"}, {"seen", true}, {""}}, {}}};
    for (std::size_t c = 0; c < crossing_claims.size(); ++c) {
      const CrossingClaim& claim = crossing_claims[c];
      const CrossingTally& tally = search.crossings[c];
      const auto add = [&](Scheme more, Scheme less, std::string_view on, std::uint64_t seen) {
        Acceptances at(Instance::parse(on));
        const bool held = at.compare(more, less) > 0;
        result.held = result.held && held;
        section.table.rows.push_back({{std::string(to_text(more))},
                                      {value(at, more)},
                                      {std::string(to_text(less))},
                                      {value(at, less)},
                                      {std::string(on)},
                                      {std::to_string(seen)},
                                      {held ? "shown" : "NOT SO", held ? Tone::plain : Tone::bad}});
        result.document.data["crossings"].push_back({{"more", to_text(more)},
                                                     {"more_accepts", value(at, more)},
                                                     {"less", to_text(less)},
                                                     {"less_accepts", value(at, less)},
                                                     {"instance", on},
                                                     {"seen", seen},
                                                     {"held", held}});
      };
      add(claim.first, claim.second, claim.first_ahead, tally.first_more);
      add(claim.second, claim.first, claim.second_ahead, tally.second_more);
    }
    section.after = {"seen: how many instances of the search went that way"};
    result.document.sections.push_back(std::move(section));
  }
};

}  // namespace draftproof::studies
