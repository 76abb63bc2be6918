// The order of acceptance of the schemes on one pair of distributions. The study tests these orders on many instances,
// with exact comparisons:
//
//   sample_and_match <= naive_tree <= recursive_rejection <= k_seq at its root <= optimum        K i.i.d. drafts
//   recursive_rejection <= recursive_rejection_wor <= optimum_wor, optimum_iid <= optimum_wor    without replacement
//
// For pairs of schemes without an order it tests two instances, one in which each scheme is better.
//
// Cost: `effort` instances, 100,000 by default, V 2 to 8 and K 1 to 4 (bench/studies/order_search.hpp).
// Passes if no instance contradicts an order and every instance of a crossing shows its claim.
#pragma once

#include <fmt/format.h>

#include <draftproof/bench/studies/order_search.hpp>
#include <draftproof/bench/studies/records.hpp>

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
    if (search.orders.empty()) return result;  // only a part of the search was run
    result.complete = search.complete;
    result.document.data = {
        {"schema", "draftproof.study.order_of_schemes/1"}, {"seed", options.seed}, {"instances", search.instances}};
    orders(search, result);
    crossings(search, result);
    result.document.data["passed"] = result.passed;
    return result;
  }

 private:
  static void orders(const OrderSearch& search, StudyResult& result) {
    Records orders{{.title = fmt::format("orders, tried on {} instances", search.instances)}};
    for (std::size_t c = 0; c < order_claims.size(); ++c) {
      const OrderClaim& claim = order_claims[c];
      const OrderTally& tally = search.orders[c];
      const bool passed = result.expect(tally.greater == 0);
      orders.add({word("never more", "lower", to_text(claim.lower)), word("than", "upper", to_text(claim.upper)),
                  note("", claim.proved ? "proved" : "open"), datum("proved", claim.proved),
                  number("tried", "", tally.tried()), number("less", "less", tally.less),
                  number("equal", "equal", tally.equal), number("more", "more", tally.greater).marked(passed),
                  number("least ratio", "least_ratio", tally.ratio, "{:.4f}"),
                  word("on", "least_ratio_on", tally.least), datum("counterexample", tally.refutation)});
      if (!passed)
        orders.section.after.push_back(fmt::format("COUNTEREXAMPLE: {} accepts more than {} on {}",
                                                   to_text(claim.lower), to_text(claim.upper), tally.refutation));
    }
    orders.write(result.document, result.document.data, "orders");
  }

  static std::string value(Acceptances& at, Scheme scheme) {
    return scheme == Scheme::k_seq ? fmt::format("{:.6f}", at.approximately(scheme)) : to_text(at.of(scheme));
  }

  static void crossings(const OrderSearch& search, StudyResult& result) {
    Records crossings{{.title = "in no order", .after = {"seen: number of instances of the search with this order"}}};
    const auto add = [&](Scheme more, Scheme less, std::string_view on, std::uint64_t seen) {
      Acceptances at(Instance::parse(on));
      const bool passed = result.expect(at.compare(more, less) > 0);
      crossings.add({word("more", "more", to_text(more)), cell("accepts", value(at, more)),
                     datum("more_accepts", value(at, more)), word("less", "less", to_text(less)),
                     cell("accepts", value(at, less)), datum("less_accepts", value(at, less)),
                     word("on", "instance", on), number("seen", "seen", seen), verdict("", passed, "shown", "NOT SO"),
                     datum("passed", passed)});
    };
    for (std::size_t c = 0; c < crossing_claims.size(); ++c) {
      const CrossingClaim& claim = crossing_claims[c];
      add(claim.first, claim.second, claim.first_ahead, search.crossings[c].greater);
      add(claim.second, claim.first, claim.second_ahead, search.crossings[c].less);
    }
    crossings.write(result.document, result.document.data, "crossings");
  }
};

}  // namespace draftproof::studies
