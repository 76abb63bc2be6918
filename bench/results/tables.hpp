// A run as a document: a table of times for every group of benchmarks, then its goals.
//
//   group   what stands before the first slash of a name
#pragma once

#include <string>
#include <vector>

#include <draftproof/bench/results/judge.hpp>
#include <draftproof/report/document.hpp>

namespace draftproof::benchmarks {

/// One line: processor, cores, caches, compiler, load.
std::string machine_line(const nlohmann::ordered_json& context);

/// Names, times, rates, counters of these measurements; the names without `prefix`.
Table table_of(const std::vector<const Measurement*>& measurements, const std::string& prefix);

/// No columns if there are no goals.
Table table_of(const std::vector<Judged>& goals);

/// "Goals: 3 met, 1 not met, 5 not run".
std::string summary_of(const std::vector<Judged>& goals);

/// The sections only; the data of a document is the file the results came from.
std::vector<Section> sections_of(const Results& results);

}  // namespace draftproof::benchmarks
