// The rows of both surveys in their reports: one section a draft law, the rows of a law in reading order.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <fmt/format.h>

namespace draftproof {

template <class Row>
struct LawRows {
  decltype(Row::drafter) drafter;
  std::vector<const Row*> rows;
};

/// The rows for which `shown(row)` by draft law, laws in the order of their first rows. The rows of a law are sorted
/// by number of drafts, verifiers before mutants, then by `acceptance(row)`, the largest last.
template <class Row, class Shown, class Acceptance>
std::vector<LawRows<Row>> rows_by_law(const std::vector<Row>& rows, Shown shown, Acceptance acceptance) {
  std::vector<LawRows<Row>> laws;
  for (const Row& row : rows) {
    if (!shown(row)) continue;
    auto law =
        std::find_if(laws.begin(), laws.end(), [&](const auto& known) { return known.drafter == row.drafter; });
    if (law == laws.end()) law = laws.insert(laws.end(), {row.drafter, {}});
    law->rows.push_back(&row);
  }
  const auto place = [&](const Row* row) { return std::tuple(row->drafts, row->verifier->kind(), acceptance(*row)); };
  for (auto& law : laws)
    std::stable_sort(law.rows.begin(), law.rows.end(),
                     [&](const Row* a, const Row* b) { return place(a) < place(b); });
  return laws;
}

/// A line below the table: "  NAME at K = 4" and `remark`.
template <class Row>
std::string row_note(const Row& row, std::string_view remark) {
  return fmt::format("  {} at K = {}{}", row.verifier->info().name, row.drafts, remark);
}

}  // namespace draftproof
