// Small results as the program stores them: proofs and a survey.
#pragma once

#include <draftproof/cli/report/page/data.hpp>

namespace draftproof::page {

inline Json proof(const char* verifier, const char* verdict) {
  Json data{{"verifier", verifier}, {"draft_sampling", "iid"}, {"verdict", verdict}, {"instances", 3}};
  if (std::string(verdict) == "refuted")
    data["findings"] = {{{"property", "exact_distribution"},
                         {"status", "failed"},
                         {"counterexample", "p=(1 1)/2 q=(0 1)/1 K=1"},
                         {"evidence", "got (1/4 3/4), expected (1/2 1/2), TV 1/4"},
                         {"replay", "draftproof replay a, b: 100 %"}}};
  return data;
}

inline Json proofs(std::initializer_list<Json> list) {
  return {{"schema", "draftproof.prove/3"}, {"seed", 1}, {"proofs", Json(std::vector<Json>(list))}};
}

inline Json survey(double rate, double low, double high) {
  return {{"schema", "draftproof.survey/3"},
          {"sources",
           {{{"source", "s, \"t\""},
             {"rows",
              {{{"verifier", "a"},
                {"draft_sampling", "iid"},
                {"drafts", 2},
                {"draft_emitted", {{"rate", rate}, {"low", low}, {"high", high}}},
                {"accepted_by_draft", {3, 4}},
                {"optimum", nullptr}}}}}}}};
}

}  // namespace draftproof::page
