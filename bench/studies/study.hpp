// Studies compute published figures and claims again. The build finds them in bench/studies/figures/, and `draftproof
// reproduce NAME` runs one.
//
// A study is a struct with `name`, `about` (what is computed), `source` (who published it) and
// `static StudyResult run(const StudyOptions&)`. Its document is printed as a table or written as JSON. A study whose
// work is in blocks (properties/blocks) has `static constexpr bool divided = true`.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <draftproof/cli/report/document.hpp>

namespace draftproof {

class Checkpoint;

struct StudyOptions {
  std::vector<std::string> sources{};  ///< captures or families to study; empty: the default of the study
  std::uint64_t effort = 0;            ///< number of instances, tuples or other units; 0: the default of the study
  std::uint64_t seed = 1;
  int threads = 0;                          ///< 0: all processors
  bool timings = false;                     ///< whether the data has times, which differ from run to run
  const std::atomic<bool>* stop = nullptr;  ///< once true, the study returns its results so far
  std::function<void(std::uint64_t done, std::uint64_t total)> progress{};
  Checkpoint* checkpoint = nullptr;  ///< checkpoint of the blocks of a divided study

  bool stopped() const { return stop && stop->load(std::memory_order_relaxed); }
  void tell(std::uint64_t done, std::uint64_t total) const {
    if (progress) progress(done, total);
  }
};

struct StudyResult {
  Document document;
  bool passed = true;    ///< whether every claim that the study checks was confirmed
  bool complete = true;  ///< false after a stop

  bool expect(bool claim) {
    passed = passed && claim;
    return claim;
  }
  /// Whether the study was stopped; the result is then not complete.
  bool stopped(const StudyOptions& options) {
    complete = complete && !options.stopped();
    return options.stopped();
  }
};

struct Study {
  std::string_view name;
  std::string_view about;
  std::string_view source;
  StudyResult (*run)(const StudyOptions&);
  bool divided = false;  ///< whether the study's work is in blocks
};

/// Returns all studies of this program, by name.
inline std::vector<Study>& found_studies() {
  static std::vector<Study> all;
  return all;
}

template <class S>
void register_study() {
  Study study{S::name, S::about, S::source, &S::run};
  if constexpr (requires { S::divided; }) study.divided = S::divided;
  found_studies().push_back(study);
}

}  // namespace draftproof
