// Two i.i.d. uniform drafts of three tokens against targets (1/3, x, 2/3 - x) and (1/6, x, 5/6 - x): how far the
// schemes stay below the optimum as the target moves. The setting of figure 2 of Khisti et al., arXiv:2410.18234.
#pragma once

#include <fmt/format.h>

#include <draftproof/optimum/iid_acceptance.hpp>
#include <draftproof/optimum/ratio_scan.hpp>
#include <draftproof/studies/study.hpp>

namespace draftproof::studies {

struct TwoUniformDrafts {
  static constexpr std::string_view name = "two_uniform_drafts";
  static constexpr std::string_view about = "K = 2, V = 3, uniform proposal: optimum, K-SEQ and recursive rejection";
  static constexpr std::string_view source = "Khisti et al., arXiv:2410.18234, figure 2";

  static StudyResult run(const StudyOptions& options) {
    const std::uint64_t steps = options.effort > 0 ? options.effort : 20;
    StudyResult result;
    result.document.data = {{"schema", "draftproof.study.two_uniform_drafts/1"}};
    for (const int sixths : {2, 1}) {
      const double first = sixths / 6.0;
      Section section{.title = fmt::format("target ({}, x, {} - x), proposal (1/3, 1/3, 1/3), K = 2",
                                           sixths == 2 ? "1/3" : "1/6", sixths == 2 ? "2/3" : "5/6")};
      section.table.columns = {{"x", true}, {"optimum", true}, {"k_seq", true}, {"recursive_rejection", true}};
      for (std::uint64_t i = 0; i <= steps; ++i) {
        const double x = (1 - first) * static_cast<double>(i) / static_cast<double>(steps);
        const std::vector<double> p{first, x, 1 - first - x}, q(3, 1 / 3.0);
        const double optimum = iid_optimum(RatioTable(p, q), 2).acceptance;
        const double k_seq = acceptance::k_seq(p, q, 2), rejection = acceptance::recursive_rejection(p, q, 2);
        // Three terms of a few roundings each.
        result.held = result.held && rejection <= k_seq + 1e-14 && k_seq <= optimum + 1e-14;
        section.table.rows.push_back({{fmt::format("{:.3f}", x)},
                                      {fmt::format("{:.6f}", optimum)},
                                      {fmt::format("{:.6f}", k_seq)},
                                      {fmt::format("{:.6f}", rejection)}});
        result.document.data["points"].push_back(
            {{"first", first}, {"x", x}, {"optimum", optimum}, {"k_seq", k_seq}, {"recursive_rejection", rejection}});
      }
      result.document.sections.push_back(std::move(section));
    }
    return result;
  }
};

}  // namespace draftproof::studies
