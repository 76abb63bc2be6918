// A run as a document: a table of times for every group of benchmarks, then its goals.
//
//   group   the part of a name before its first slash
#pragma once

#include <string>
#include <vector>

#include <draftproof/bench/results/judge.hpp>
#include <draftproof/report/document.hpp>

namespace draftproof::benchmarks {

/// One line: processor, cores, caches, vector path, compiler, date.
std::string machine_line(const nlohmann::ordered_json& context);

/// Returns the names without `prefix`, times, rates and counters of these measurements.
Table table_of(const std::vector<const Measurement*>& measurements, const std::string& prefix);

/// Returns the verdicts on goals; a table without columns if there are no goals.
Table table_of(const std::vector<Judged>& goals);

/// "Goals: 3 met, 1 not met, 5 not run".
std::string summary_of(const std::vector<Judged>& goals);

/// Returns the sections only; the data of a document is the file of the results.
std::vector<Section> sections_of(const Results& results);

}  // namespace draftproof::benchmarks
