// Studies: computations of published figures and claims, one file each in studies/figures/, found by the build and
// run by `draftproof reproduce NAME`.
//
// A study is a struct with `name`, `about` (what is computed), `source` (who published it) and
// `static StudyResult run(const StudyOptions&)`. Its document prints as a table and writes as JSON like any other.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <draftproof/report/document.hpp>

namespace draftproof {

struct StudyOptions {
  std::vector<std::string> sources{};  ///< captures or families to study; empty: the study's own
  std::uint64_t effort = 0;            ///< instances, tuples or another unit of the study; 0: its default
  std::uint64_t seed = 1;
  int threads = 0;                          ///< 0: all processors
  bool timings = false;                     ///< times in the data, which then differs from run to run
  const std::atomic<bool>* stop = nullptr;  ///< set from outside: return the results so far
  std::function<void(std::uint64_t done, std::uint64_t total)> progress{};

  bool stopped() const { return stop && stop->load(std::memory_order_relaxed); }
  void tell(std::uint64_t done, std::uint64_t total) const {
    if (progress) progress(done, total);
  }
};

struct StudyResult {
  Document document;
  bool held = true;      ///< every claim of the study was confirmed
  bool complete = true;  ///< false after a stop
};

struct Study {
  std::string_view name;
  std::string_view about;
  std::string_view source;
  StudyResult (*run)(const StudyOptions&);
};

/// Returns all registered studies.
std::vector<Study>& found_studies();

template <class S>
void register_study() {
  found_studies().push_back({S::name, S::about, S::source, &S::run});
}

}  // namespace draftproof
