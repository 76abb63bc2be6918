// The rows of stored surveys, for plots, tables and comparisons. Rows of positions have an acceptance with its interval,
// rows of paths a number of accepted tokens with its standard error.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <draftproof/report/page/read.hpp>
#include <draftproof/report/plots/line_plot.hpp>

namespace draftproof::page {

struct SurveyedRate {
  std::string verifier, law, verdict;
  int drafts = 0, length = 0;     ///< length: of paths, 0 for one position
  double rate = 0;                ///< accepted: probability of one position, tokens of a path
  double low = 0, high = 0;       ///< interval of `rate`
  std::optional<double> optimum;  ///< of the law, in the unit of `rate`
  std::optional<double> closed;   ///< share of the gap from one draft to the optimum
  /// Optimum and acceptance of each position, where the data has them.
  std::vector<std::pair<double, double>> at_positions{};
  std::vector<double> reached;  ///< of paths: probability that at least 1, 2, .. tokens are accepted

  bool lossy() const { return begins(verdict, "lossy"); }
  bool refuted() const { return begins(verdict, "refuted"); }
};

struct SurveyOfSource {
  std::string source;  ///< with the length where the source was surveyed at several
  std::string name;    ///< of the source
  bool paths = false;
  std::vector<SurveyedRate> rates;  ///< rows that ran, in the order of the data
};

/// The surveys in `data`, one a source; none in other documents. The interval of a path's row is its mean and 1.96
/// standard errors on both sides.
std::vector<SurveyOfSource> surveys_in(const Json& data);

/// The draft laws, those with the most rows first.
std::vector<std::string> laws_in(const SurveyOfSource& survey);

/// Of each (verifier, law) the row with the most drafts for which `shown` is true.
std::vector<const SurveyedRate*> rows_at_most_drafts(const SurveyOfSource& survey,
                                                     const std::function<bool(const SurveyedRate&)>& shown);

/// Whether a verifier has rows with different numbers of drafts.
bool several_drafts(const std::vector<const SurveyedRate*>& rows);

/// Lines against the number of drafts, a series a verifier, in plots of at most seven series, each with the roof of the
/// law where `roof` gives it. Rows by `y` at the most drafts, the largest first.
struct DraftLines {
  std::string title, y_label;
  std::function<double(const SurveyedRate&)> y, low, high;
  std::function<std::optional<double>(const SurveyedRate&)> roof;
};
std::vector<plots::Picture> lines_against_drafts(const DraftLines& lines, std::vector<const SurveyedRate*> rows);

}  // namespace draftproof::page
