// The comparisons of a study: counts them and stores the first failures with their numbers. A study holds if none
// failed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <draftproof/studies/study.hpp>

namespace draftproof {

class Checks {
 public:
  /// Checks value <= limit, up to `tolerance` of rounding; a NaN fails. `what()` names the comparison if it fails.
  template <class What>
  void at_most(double value, double limit, double tolerance, What&& what) {
    ++checked_;
    if (value <= limit + tolerance) return;
    if (++violated_ <= kept) violations_.push_back(fmt::format("{}: {:.12g} > {:.12g}", what(), value, limit));
  }

  bool held() const { return violated_ == 0; }

  /// Adds the outcome to a result: `held`, the key "checks", and a section at the end.
  void report(StudyResult& result, const std::string& about) const {
    result.held = result.held && held();
    result.document.data["checks"] = {{"about", about},
                                      {"checked", checked_},
                                      {"violated", violated_},
                                      {"violations", nlohmann::ordered_json(violations_)}};
    Section section{.title = "checks",
                    .before = {"  " + about, fmt::format("  {} comparisons, {} failed", checked_, violated_)}};
    for (const std::string& text : violations_) section.before.push_back("    " + text);
    result.document.sections.push_back(std::move(section));
  }

 private:
  static constexpr std::uint64_t kept = 10;
  std::uint64_t checked_ = 0, violated_ = 0;
  std::vector<std::string> violations_;
};

}  // namespace draftproof
