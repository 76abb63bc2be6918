// Studies of the acceptance of schemes on small pairs of distributions, against values that were published or
// enumerated independently of this program.
#pragma once

#include <cmath>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <draftproof/bench/studies/records.hpp>
#include <draftproof/bench/studies/worst_pairs.hpp>
#include <draftproof/optimum/iid_acceptance.hpp>
#include <draftproof/optimum/transport.hpp>
#include <draftproof/properties/instances/instance.hpp>
#include <draftproof/properties/proof/instance_analysis.hpp>
#include <draftproof/properties/prover/registry.hpp>
#include <draftproof/verifiers/k_seq.hpp>

namespace draftproof::studies {

// Four instances for which exact values of the optimum and of the acceptance of recursive rejection are published. The
// study computes these values again in fractions: recursive rejection by an enumeration of every branch of its program,
// the optimum by all cuts and by a maximal flow whose certificate is checked without the solver.
//
//   p, q       target, proposal   fractions
//   accepted   recursive          distribution.draft_accepted, equal to distribution.draft_emitted
//   alpha*     optimum            cut_optimum == optimal_transport, certificate not rejected
//
// Cost: milliseconds; there is nothing to scale, so `effort` is not used.
// Source: the published values are from a public exact-rational study, repository NinjaTurtles.
// Passes if the output distribution is the target, both optima are equal fractions, the certificate is valid and every
// published value is met (fractions with ==, decimals to their digits).
struct CertifiedInstances {
  static constexpr std::string_view name = "certified_instances";
  static constexpr std::string_view about = "recursive rejection and the optimum in fractions, with certificates";
  static constexpr std::string_view source = "a public exact-rational study, repository NinjaTurtles";

  struct Case {
    std::string_view instance, distribution, scheme;
    Reference accepted, optimum;
  };
  static constexpr Case cases[] = {
      {"p=(309 177 14)/500 q=(373 580 47)/1000 K=2",
       "iid",
       "recursive_rejection",
       {"169277/200000"},
       {"988871/1000000"}},
      {"p=(469 124 407)/1000 q=(201 275 524)/1000 K=3", "iid", "recursive_rejection", {"207227133/250000000"}, {"1"}},
      {"p=(777 223)/1000 q=(937 63)/1000 K=2", "without_replacement", "recursive_rejection_wor", {"1"}, {"1"}},
      {"p=(148 42 745 50 15)/1000 q=(496 136 151 8 209)/1000 K=3",
       "without_replacement",
       "recursive_rejection_wor",
       {"0.7509325573"},
       {"0.8772810136"}}};

  static StudyResult run(const StudyOptions& options) {
    StudyResult result;
    result.document.data = {{"schema", "draftproof.study.certified_instances/1"}};
    for (std::size_t i = 0; i < std::size(cases) && !result.stopped(options); ++i) {
      add(cases[i], i + 1, result);
      options.tell(i + 1, std::size(cases));
    }
    result.document.data["passed"] = result.passed;
    return result;
  }

 private:
  static void add(const Case& at, std::size_t number_of_case, StudyResult& result) {
    const Instance instance = Instance::parse(at.instance);
    const int drafts = instance.drafts;
    const Rows<Rational> rows = instance.rows();
    const std::vector<Rational> p = normalised(instance.target), q = normalised(instance.proposals.front());
    const AnyDrafter& drafter = *registry().drafter(at.distribution);
    const auto distribution =
        explore_distribution(drafter, *registry().verifier(at.scheme)->prove_on(rows, drafts), rows, drafts);
    const auto sets = set_distribution<Rational>(
        [&](Explorer<Rational>& random, Token* out) { return drafter.draw(rows, drafts, random, out); });
    const Rational cut = cut_optimum<Rational>(p, sets);
    const Certificate<Rational> flow = optimal_transport(p, sets);
    const std::string rejected = reject(p, sets, flow);

    Records values{{.title = fmt::format("instance {}: {} drafts, {}", number_of_case, drafts, at.distribution),
                    .before = {"p = " + to_text(p), "q = " + to_text(q)}}};
    bool passed = true;
    const auto value = [&](std::string_view what, const Rational& found, const Reference& published) {
      const bool same = published.matches(found, 0x1p-53);
      passed = passed && same;
      values.add({word("what", "what", what), word("fraction", "fraction", to_text(found)),
                  number("decimal", "decimal", static_cast<double>(found), "{:.10f}"),
                  cell("published", published.text), datum("published", published.text), verdict("", same),
                  datum("agrees", same)});
    };
    value(at.scheme, distribution.draft_accepted, at.accepted);
    value("optimum, all cuts", cut, at.optimum);
    value("optimum, maximal flow", flow.acceptance, at.optimum);
    const bool exact = distribution.complete && distribution.output == p &&
                       distribution.draft_emitted == distribution.draft_accepted;
    const bool certified = rejected.empty() && flow.acceptance == cut;
    passed = passed && exact && certified;
    values.section.after = {
        exact ? fmt::format("output distribution equal to p over {} branches; verifier's count of accepted drafts "
                            "equal to emitted drafts",
                            distribution.leaves)
              : "output distribution NOT p, or verifier's count of accepted drafts NOT that of emitted drafts",
        certified ? fmt::format("certificate checked: {} shipments and one cut prove the optimum", flow.plan.size())
                  : "certificate REJECTED: " + rejected};
    result.document.data["instances"].push_back({{"p", to_text(p)},
                                                 {"q", to_text(q)},
                                                 {"draft_sampling", at.distribution},
                                                 {"drafts", drafts},
                                                 {"values", values.rows},
                                                 {"output_is_target", exact},
                                                 {"certified", certified},
                                                 {"passed", result.expect(passed)}});
    result.document.sections.push_back(std::move(values.section));
  }
};

// Computes the acceptance by the number of i.i.d. drafts, for four pairs of target and proposal: the optimum, K-SEQ at
// its root, recursive rejection, the naive tree, and sample and match.
//
//   K       drafts     1, 2, 4, .. up to `effort`, 8 by default
//   zipf    -          weight of token i, counted from 1, proportional to i^-s
//
// Cost: microseconds per cell.
// Source: the reference values at K = 1, 2, 4, 8 were enumerated independently, to six digits.
// Passes if all values agree and the schemes keep their order (docs/findings/order-of-schemes.md).
struct CurvesInDrafts {
  static constexpr std::string_view name = "curves_in_drafts";
  static constexpr std::string_view about = "K = 1, 2, 4, 8 i.i.d. drafts: acceptance of each scheme and the optimum";
  static constexpr std::string_view source = "enumerated independently of this program";

  static constexpr std::size_t schemes = 5;
  static constexpr std::string_view names[schemes] = {"optimum", "k_seq", "recursive_rejection", "naive_tree",
                                                      "sample_and_match"};
  struct Pair {
    std::string_view title;
    std::vector<double> p, q;
    std::string_view reference[schemes][4];  ///< by scheme, at K = 1, 2, 4, 8; the naive tree has no values
  };

  static StudyResult run(const StudyOptions& options) {
    limit_effort(options, 1024, "at most 1024 drafts");
    const int most = options.effort > 0 ? static_cast<int>(options.effort) : 8;
    StudyResult result;
    auto& data = result.document.data = {{"schema", "draftproof.study.curves_in_drafts/1"}, {"most_drafts", most}};
    for (const Pair& pair : pairs()) {
      Records curve{{.title = std::string(pair.title)}};
      std::size_t i = 0;
      for (int drafts = 1; drafts <= most && !result.stopped(options); drafts *= 2, ++i) {
        const double found[schemes] = {
            iid_optimum(RatioTable(pair.p, pair.q), drafts).acceptance, acceptance::k_seq(pair.p, pair.q, drafts),
            acceptance::recursive_rejection(pair.p, pair.q, drafts), acceptance::naive_tree(pair.p, pair.q, drafts),
            acceptance::sample_and_match(pair.p, pair.q, drafts)};
        // Each of the two values compared is computed by K multiplications and V additions of numbers of at most 1,
        // each of which rounds.
        const double rounding = 2 * (drafts + static_cast<double>(pair.p.size())) * 0x1p-53;
        const bool compared = i < std::size(pair.reference[0]);
        bool ordered = true, agrees = true;
        std::vector<Field> row{datum("pair", pair.title), number("K", "drafts", drafts)};
        for (std::size_t s = 0; s < schemes; ++s) {
          ordered = ordered && (s == 0 || found[s] <= found[s - 1] + rounding);
          const bool same = !compared || Reference{pair.reference[s][i]}.agrees(found[s], rounding);
          agrees = agrees && same;
          row.push_back(number(names[s], names[s], found[s], "{:.6f}").marked(same));
        }
        const bool passed = result.expect(ordered && agrees);
        row.push_back(verdict("reference", passed, compared ? "agrees" : "", ordered ? "differs" : "order broken"));
        row.push_back(datum("reference", compared));
        row.push_back(datum("passed", passed));
        curve.add(row);
      }
      curve.write(result.document, data, "points");
    }
    data["passed"] = result.passed;
    return result;
  }

 private:
  static std::vector<double> zipf(int vocabulary, double exponent) {
    std::vector<double> row;
    double sum = 0;
    for (int i = 1; i <= vocabulary; ++i) sum += row.emplace_back(std::pow(i, -exponent));
    for (double& weight : row) weight /= sum;
    return row;
  }

  static std::vector<Pair> pairs() {
    return {{"target (1/4, 3/4), proposal (3/4, 1/4)",
             {.25, .75},
             {.75, .25},
             {{"0.500000", "0.687500", "0.933594", "1.000000"},
              {"0.500000", "0.648268", "0.829887", "0.962963"},
              {"0.500000", "0.625000", "0.789062", "0.933258"},
              {},
              {"0.375000", "0.562500", "0.761719", "0.924911"}}},
            {"target uniform(16), proposal zipf(16, s = 1)",
             zipf(16, 0),
             zipf(16, 1),
             {{"0.633762", "0.849285", "1.000000", "1.000000"},
              {"0.633762", "0.779562", "0.898896", "0.971754"},
              {"0.633762", "0.751131", "0.853170", "0.926064"},
              {},
              {"0.062500", "0.116336", "0.205265", "0.337006"}}},
            {"target zipf(16, s = 1), proposal uniform(16)",
             zipf(16, 1),
             zipf(16, 0),
             {{"0.633762", "0.790684", "0.931730", "1.000000"},
              {"0.633762", "0.740690", "0.841392", "0.917945"},
              {"0.633762", "0.713880", "0.792497", "0.865512"},
              {},
              {"0.062500", "0.121094", "0.227524", "0.403281"}}},
            {"target zipf(100, s = 1.2), proposal zipf(100, s = 0.8)",
             zipf(100, 1.2),
             zipf(100, .8),
             {{"0.749676", "0.951272", "1.000000", "1.000000"},
              {"0.749676", "0.862626", "0.946571", "0.991929"},
              {"0.749676", "0.831318", "0.900582", "0.949547"},
              {},
              {"0.055785", "0.106340", "0.193995", "0.327788"}}}};
  }
};

// Two i.i.d. uniform drafts of three tokens against targets (1/3, x, 2/3 - x) and (1/6, x, 5/6 - x): the gap between
// schemes and optimum as the target moves.
//
//   x     point.x     probability of the second token, at steps of 1 / effort and at the reference points
//
// Cost: microseconds per point.
// Source: the setting of figure 2 of Khisti et al., arXiv:2410.18234. The reference values are not read off that
// figure but enumerated independently, to six digits.
// Passes if every reference value agrees to its six digits and the schemes keep their order.
struct TwoUniformDrafts {
  static constexpr std::string_view name = "two_uniform_drafts";
  static constexpr std::string_view about = "K = 2, V = 3, uniform proposal: optimum, K-SEQ and recursive rejection";
  static constexpr std::string_view source = "Khisti et al., arXiv:2410.18234, setting of figure 2";

  struct Point {
    double x;
    std::string_view optimum, recursive_rejection, k_seq;
  };
  struct Curve {
    std::string_view title;
    double first;
    Point points[5];
  };
  static constexpr Curve curves[] = {{"target (1/3, x, 2/3 - x), proposal (1/3, 1/3, 1/3), K = 2",
                                      1 / 3.0,
                                      {{.05, "0.938889", "0.811111", "0.847036"},
                                       {.10, "0.988889", "0.844444", "0.881441"},
                                       {.30, "1.000000", "0.977778", "0.993513"},
                                       {.50, "1.000000", "0.888889", "0.924764"},
                                       {.60, "0.955556", "0.822222", "0.858654"}}},
                                     {"target (1/6, x, 5/6 - x), proposal (1/3, 1/3, 1/3), K = 2",
                                      1 / 6.0,
                                      {{.05, "0.772222", "0.700000", "0.724849"},
                                       {.25, "0.972222", "0.833333", "0.870127"},
                                       {.40, "1.000000", "0.944444", "0.962475"},
                                       {.60, "0.955556", "0.822222", "0.858654"},
                                       {.80, "0.755556", "0.688889", "0.712167"}}}};

  static StudyResult run(const StudyOptions& options) {
    limit_effort(options, 100'000, "at most 100000 steps");
    const std::uint64_t steps = options.effort > 0 ? options.effort : 20;
    StudyResult result;
    auto& data = result.document.data = {{"schema", "draftproof.study.two_uniform_drafts/2"}, {"steps", steps}};
    // A value has three terms with a few roundings each; K-SEQ's root is found up to two neighbouring doubles.
    constexpr double rounding = 1e-14;
    std::uint64_t done = 0, total = 0;
    for (const Curve& curve : curves) total += abscissae(curve, steps).size();
    for (const Curve& curve : curves) {
      Records records{{.title = std::string(curve.title)}};
      for (const double x : abscissae(curve, steps)) {
        if (result.stopped(options)) break;
        const std::vector<double> p{curve.first, x, 1 - curve.first - x}, q(3, 1 / 3.0);
        const double optimum = iid_optimum(RatioTable(p, q), 2).acceptance;
        const double k_seq = acceptance::k_seq(p, q, 2), rejection = acceptance::recursive_rejection(p, q, 2);
        bool passed = rejection <= k_seq + rounding && k_seq <= optimum + rounding;
        std::string reference;
        for (const Point& point : curve.points) {
          if (point.x != x) continue;
          const bool same = Reference{point.optimum}.agrees(optimum, rounding) &&
                            Reference{point.k_seq}.agrees(k_seq, rounding) &&
                            Reference{point.recursive_rejection}.agrees(rejection, rounding);
          reference = same ? "agrees"
                           : fmt::format("differs: {} {} {}", point.optimum, point.k_seq, point.recursive_rejection);
          passed = passed && same;
        }
        result.expect(passed);
        records.add({datum("first", curve.first), number("x", "", x, "{:.4g}"), datum("x", x),
                     number("optimum", "optimum", optimum, "{:.6f}"), number("k_seq", "k_seq", k_seq, "{:.6f}"),
                     number("recursive_rejection", "recursive_rejection", rejection, "{:.6f}"),
                     note("reference", reference).marked(passed), datum("reference", !reference.empty()),
                     datum("passed", passed)});
        options.tell(++done, total);
      }
      records.write(result.document, data, "points");
      if (!result.complete) break;
    }
    data["passed"] = result.passed;
    return result;
  }

 private:
  /// Returns the multiples of 1 / steps up to the last value that the target allows, that value itself, and the
  /// reference points. i / steps and the literals of reference points are the doubles nearest to their values, so equal
  /// numbers coincide.
  static std::set<double> abscissae(const Curve& curve, std::uint64_t steps) {
    std::set<double> all{1 - curve.first};
    for (std::uint64_t i = 0; static_cast<double>(i) / static_cast<double>(steps) < 1 - curve.first; ++i)
      all.insert(static_cast<double>(i) / static_cast<double>(steps));
    for (const Point& point : curve.points) all.insert(point.x);
    return all;
  }
};

// The worst cases of K-SEQ and recursive rejection against the optimum of i.i.d. drafts: one pair in exact fractions,
// two families of pairs whose minima have closed forms, and a search over all pairs of two and three tokens for
// worse pairs.
//
//   pair     p = (5/9, 4/9), q = (1/3, 2/3), K = 2; K-SEQ's root, irrational on most pairs, is 4/3 here, and each
//            value is computed twice: by its closed form and by an enumeration, or for the optimum by all cuts
//   ratio    accepted / optimum
//   q, s     bench/studies/worst_pairs.hpp, with the derivation
//   n        resolution of the search: `effort`, 24 by default
//
// Cost: seconds, nearly all in the search.
// Source: reference values were enumerated independently of this program.
// Passes if the fractions agree; if closed forms, Brent's method and reference values agree; and if the search finds
// the families' minima and nothing below them. It is not proved that they are minima over all pairs.
struct WorstCases {
  static constexpr std::string_view name = "worst_cases";
  static constexpr std::string_view about =
      "K-SEQ and recursive rejection at their worst: fractions, families, search";
  static constexpr std::string_view source =
      "enumerated independently; the minimiser of K-SEQ's family is derived here";

  static StudyResult run(const StudyOptions& options) {
    limit_effort(options, 200, "a resolution of at most 1/200");
    StudyResult result;
    result.document.data = {{"schema", "draftproof.study.worst_cases/1"}};
    add_pair(result);
    families(result);
    // At resolutions below 4 the starting points are too far from every minimum for the search to find it.
    search(options, options.effort > 0 ? std::max(4, static_cast<int>(options.effort)) : 24, result);
    result.document.data["passed"] = result.passed;
    return result;
  }

 private:
  using Row = std::vector<double>;

  struct Scheme {
    std::string_view name;
    worst::Minimum (*minimum)(int);
    double (*accepts)(const Row&, const Row&, int);
    double limit;  ///< limit of the minimum as K grows
    std::vector<std::pair<int, Reference>> reference;
  };
  static std::vector<Scheme> schemes() {
    return {{"k_seq",
             &worst::k_seq,
             &acceptance::k_seq,
             worst::k_seq_limit(),
             {{2, {"0.888889"}},
              {3, {"0.86503"}},
              {4, {"0.85438"}},
              {8, {"0.83971"}},
              {64, {"0.82797"}},
              {1024, {"0.82646"}}}},
            {"recursive_rejection",
             &worst::recursive_rejection,
             &acceptance::recursive_rejection<double>,
             0.75,
             {{2, {"0.851852"}}, {3, {"0.81410"}}, {4, {}}, {8, {}}, {64, {}}, {1024, {}}}}};
  }

  /// K-SEQ on an instance whose factor, the root of an equation, is rational.
  class KSeqAtRoot final : public Decider<Rows<Rational>, Explorer<Rational>> {
   public:
    KSeqAtRoot(const Rows<Rational>& distributions, const Rational& root)
        : distributions_{distributions}, plan_{root, root} {}
    Verdict decide(std::span<const Token> drafts, Explorer<Rational>& random) const override {
      const DraftedPosition<Rows<Rational>> at(distributions_, drafts.data(), static_cast<int>(drafts.size()));
      return verifiers::KSeq{}.verify(at, plan_, random);
    }

   private:
    const Rows<Rational>& distributions_;
    verifiers::KSeq::Plan<Rational> plan_;
  };

  static void add_pair(StudyResult& result) {
    constexpr int drafts = 2;
    const std::vector<Rational> p{{5, 9}, {4, 9}}, q{{1, 3}, {2, 3}};
    const Rational root{4, 3};
    const Rows<Rational> rows(p, q);
    const AnyDrafter& iid = *registry().drafter("iid");
    Records pair{{.title = "p = (5/9 4/9), q = (1/3 2/3), K = 2, in fractions"}};
    const auto add = [&](std::string_view scheme, const Rational& closed, const Rational& enumerated,
                         const Rational& wanted) {
      const bool passed = result.expect(closed == wanted && enumerated == wanted);
      pair.add({word("scheme", "scheme", scheme), cell("closed form", to_text(closed)),
                cell("program enumerated", to_text(enumerated)), cell("reference", to_text(wanted)),
                verdict("", passed), datum("closed_form", to_text(closed)), datum("enumerated", to_text(enumerated)),
                datum("reference", to_text(wanted)), datum("passed", passed)});
    };
    // If the program's output is not the target, the value is -1.
    const auto enumerated = [&](const Decider<Rows<Rational>, Explorer<Rational>>& decider) -> Rational {
      const auto distribution = explore_distribution(iid, decider, rows, drafts);
      return distribution.complete && distribution.output == p ? distribution.draft_accepted : Rational(-1);
    };
    const auto found = [&](std::string_view scheme) {
      return enumerated(*registry().verifier(scheme)->prove_on(rows, drafts));
    };
    const auto sets = set_distribution<Rational>(
        [&](Explorer<Rational>& random, Token* out) { return iid.draw(rows, drafts, random, out); });
    add("optimum", acceptance::optimum(p, q, drafts), cut_optimum<Rational>(p, sets), 1);
    add("k_seq", 1 - acceptance::residual_mass(p, q, root), enumerated(KSeqAtRoot(rows, root)), {8, 9});
    add("recursive_rejection", acceptance::recursive_rejection(p, q, drafts), found("recursive_rejection"), {23, 27});
    add("naive_tree", acceptance::naive_tree(p, q, drafts), found("naive_tree"), {23, 27});
    add("sample_and_match", acceptance::sample_and_match(p, q, drafts), found("sample_and_match"), {19, 27});

    const bool is_root = result.expect(acceptance::excess(p, q, drafts, root) == 0 &&
                                       acceptance::compare_with_k_seq(Rational(8, 9), p, q, drafts) == 0);
    pair.section.after = {is_root ? "K-SEQ's equation has a root at the factor 4/3, in fractions"
                                  : "K-SEQ's equation has NO root at the factor 4/3"};
    pair.write(result.document, result.document.data, "pair");
    result.document.data["root"] = {{"factor", to_text(root)}, {"passed", is_root}};
  }

  static void families(StudyResult& result) {
    for (const Scheme& scheme : schemes()) {
      Records family{
          {.title = fmt::format("{} on p = (1 - q^K, q^K), proposal (1 - q, q), least over q", scheme.name)}};
      for (const auto& [drafts, reference] : scheme.reference) {
        const worst::Minimum closed = scheme.minimum(drafts);
        const worst::Minimum found = worst::numerically(scheme.accepts, drafts);
        // Computing the scheme's acceptance takes a few times K roundings of numbers of at most 1. Near its minimum the
        // acceptance is flat as a function of q, so a q with half its digits right gives all digits of the acceptance.
        const double rounding = (drafts + 16) * 0x1p-50;
        const bool passed = result.expect(std::abs(closed.acceptance - found.acceptance) <= rounding &&
                                          reference.agrees(closed.acceptance, rounding));
        family.add({datum("scheme", scheme.name), number("K", "drafts", drafts), number("q", "q", closed.q, "{:.7f}"),
                    number("ratio", "ratio", closed.acceptance, "{:.9f}"),
                    number("by Brent's method", "ratio_by_brent", found.acceptance, "{:.9f}"),
                    cell("reference", reference.text), datum("reference", reference.text), verdict("", passed),
                    datum("passed", passed)});
      }
      family.section.after = {fmt::format("limit for many drafts {:.9f}", scheme.limit)};
      family.write(result.document, result.document.data, "families");
      result.document.data["limits"][std::string(scheme.name)] = scheme.limit;
    }
  }

  static void search(const StudyOptions& options, int resolution, StudyResult& result) {
    Records least{{.title = "search over all pairs for a smaller ratio"}};
    std::uint64_t done = 0;
    for (const Scheme& scheme : schemes())
      for (const int vocabulary : {2, 3})
        for (const int drafts : {2, 3}) {
          const auto ratio = [&](const Row& p, const Row& q) {
            const double optimum = acceptance::optimum(p, q, drafts);
            // The ratio counts as 1 if the optimum is at most 1e-3: rounding changes the ratio visibly there, and at an
            // optimum of 0 the ratio is undefined.
            return optimum > 1e-3 ? scheme.accepts(p, q, drafts) / optimum : 1;
          };
          const LeastPair found = least_pair(ratio, vocabulary, resolution, options);
          if (!found.complete) {
            result.complete = false;
            return;
          }
          const double family = scheme.minimum(drafts).acceptance;
          // Acceptance and optimum err by less than 2^-48 after some 40 roundings; the error of their ratio is at most
          // 1000 times as large.
          const bool lower = found.value < family - 1000 * 0x1p-48;
          // If the search does not reach the known minimum, it shows nothing about smaller values.
          const bool reached = found.value < family + 1e-6;
          const bool passed = result.expect(!lower && reached);
          least.add({word("scheme", "scheme", scheme.name), number("V", "vocabulary", vocabulary),
                     number("K", "drafts", drafts), number("least found", "least", found.value, "{:.6f}"),
                     number("family", "family", family, "{:.6f}"),
                     note("p", fmt::format("{:.4f}", fmt::join(found.p, " "))), datum("p", found.p),
                     note("q", fmt::format("{:.4f}", fmt::join(found.q, " "))), datum("q", found.q),
                     verdict("", passed, "nothing below", lower ? "WORSE than the family" : "family not reached"),
                     datum("evaluations", found.evaluations), datum("passed", passed)});
          options.tell(++done, 8);
        }
    least.write(result.document, result.document.data, "search");
  }
};

}  // namespace draftproof::studies
