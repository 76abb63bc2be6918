// What changed between two results: verdicts first, then acceptance beyond both intervals, then cost beyond noise.
//
// A verdict that only the old result has is gone: the new one does not say whether it would hold.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <draftproof/report/document.hpp>
#include <draftproof/report/page/page.hpp>

namespace draftproof::page {

/// A benchmark whose times of two runs differ by more than their repetitions explain.
struct CostChange {
  std::string name, before, after;
  bool slower = false;
};

using CostComparison = std::function<std::vector<CostChange>(const Json& before, const Json& after)>;

/// What compares costs; the library of benchmarks adds its own.
std::vector<CostComparison>& found_cost_comparisons();

struct Comparison {
  Document document;  ///< schema draftproof.report.compare/1
  int worse = 0;      ///< verdicts that got worse
  int gone = 0;       ///< verdicts that the new result does not have
};

/// Compares all results in `before` with all in `after`.
Comparison compare(const Result& before, const Result& after);

/// The tables of data of schema draftproof.report.compare/1.
std::vector<Section> sections_of_comparison(const Json& data);

}  // namespace draftproof::page
