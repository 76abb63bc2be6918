// Two i.i.d. uniform drafts of three tokens against targets (1/3, x, 2/3 - x) and (1/6, x, 5/6 - x): the gap between
// schemes and optimum as the target moves.
//
//   x     point.x     probability of the second token, at steps of 1 / effort and at the reference points
//
// Cost: microseconds per point.
// Source: the setting of figure 2 of Khisti et al., arXiv:2410.18234. The reference values are not read off that
// figure but enumerated independently, to six digits.
// Holds if every reference value agrees to its six digits and the schemes keep their order.
#pragma once

#include <set>

#include <fmt/format.h>

#include <draftproof/optimum/iid_acceptance.hpp>
#include <draftproof/studies/reference.hpp>
#include <draftproof/studies/study.hpp>

namespace draftproof::studies {

struct TwoUniformDrafts {
  static constexpr std::string_view name = "two_uniform_drafts";
  static constexpr std::string_view about = "K = 2, V = 3, uniform proposal: optimum, K-SEQ and recursive rejection";
  static constexpr std::string_view source = "Khisti et al., arXiv:2410.18234, setting of figure 2";

  struct Point {
    double x;
    Reference optimum, recursive_rejection, k_seq;
  };
  struct Curve {
    std::string_view title;
    double first;
    std::vector<Point> points;
  };
  static std::vector<Curve> curves() {
    return {{"target (1/3, x, 2/3 - x), proposal (1/3, 1/3, 1/3), K = 2",
             1 / 3.0,
             {{.05, {"0.938889"}, {"0.811111"}, {"0.847036"}},
              {.10, {"0.988889"}, {"0.844444"}, {"0.881441"}},
              {.30, {"1.000000"}, {"0.977778"}, {"0.993513"}},
              {.50, {"1.000000"}, {"0.888889"}, {"0.924764"}},
              {.60, {"0.955556"}, {"0.822222"}, {"0.858654"}}}},
            {"target (1/6, x, 5/6 - x), proposal (1/3, 1/3, 1/3), K = 2",
             1 / 6.0,
             {{.05, {"0.772222"}, {"0.700000"}, {"0.724849"}},
              {.25, {"0.972222"}, {"0.833333"}, {"0.870127"}},
              {.40, {"1.000000"}, {"0.944444"}, {"0.962475"}},
              {.60, {"0.955556"}, {"0.822222"}, {"0.858654"}},
              {.80, {"0.755556"}, {"0.688889"}, {"0.712167"}}}}};
  }

  static StudyResult run(const StudyOptions& options) {
    const std::uint64_t steps = options.effort > 0 ? options.effort : 20;
    StudyResult result;
    auto& data = result.document.data = {{"schema", "draftproof.study.two_uniform_drafts/2"}, {"steps", steps}};
    const auto all = curves();
    for (std::size_t c = 0; c < all.size() && result.complete; ++c) {
      const Curve& curve = all[c];
      Section section{.title = std::string(curve.title)};
      section.table.columns = {
          {"x", true}, {"optimum", true}, {"k_seq", true}, {"recursive_rejection", true}, {"reference", false}};
      std::uint64_t done = 0;
      for (const double x : abscissae(curve, steps)) {
        if (options.stopped()) {
          result.complete = false;
          break;
        }
        const std::vector<double> p{curve.first, x, 1 - curve.first - x}, q(3, 1 / 3.0);
        const double optimum = iid_optimum(RatioTable(p, q), 2).acceptance;
        const double k_seq = acceptance::k_seq(p, q, 2), rejection = acceptance::recursive_rejection(p, q, 2);
        bool held = rejection <= k_seq + rounding && k_seq <= optimum + rounding;
        std::string reference;
        for (const Point& point : curve.points) {
          if (point.x != x) continue;
          const bool same = point.optimum.agrees(optimum, rounding) && point.k_seq.agrees(k_seq, rounding) &&
                            point.recursive_rejection.agrees(rejection, rounding);
          reference = same ? "agrees"
                           : fmt::format("differs: {} {} {}", point.optimum.text, point.k_seq.text,
                                         point.recursive_rejection.text);
          held = held && same;
        }
        result.held = result.held && held;
        section.table.rows.push_back({{fmt::format("{:.4g}", x)},
                                      {fmt::format("{:.6f}", optimum)},
                                      {fmt::format("{:.6f}", k_seq)},
                                      {fmt::format("{:.6f}", rejection)},
                                      {reference, held ? Tone::plain : Tone::bad}});
        data["points"].push_back({{"first", curve.first},
                                  {"x", x},
                                  {"optimum", optimum},
                                  {"k_seq", k_seq},
                                  {"recursive_rejection", rejection},
                                  {"reference", !reference.empty()},
                                  {"held", held}});
        options.tell(c * steps + ++done, 2 * steps);
      }
      result.document.sections.push_back(std::move(section));
    }
    data["held"] = result.held;
    return result;
  }

 private:
  // Three terms of a few roundings each, and a root found to neighbouring numbers.
  static constexpr double rounding = 1e-14;

  /// Multiples of 1 / steps up to the last value that the target allows, that value, and the reference points.
  /// i / steps is the double nearest to that fraction, as a literal is, so equal numbers coincide.
  static std::set<double> abscissae(const Curve& curve, std::uint64_t steps) {
    std::set<double> all{1 - curve.first};
    for (std::uint64_t i = 0; static_cast<double>(i) / static_cast<double>(steps) < 1 - curve.first; ++i)
      all.insert(static_cast<double>(i) / static_cast<double>(steps));
    for (const Point& point : curve.points) all.insert(point.x);
    return all;
  }
};

}  // namespace draftproof::studies
