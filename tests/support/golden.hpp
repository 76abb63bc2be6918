// The reference cases of tests/golden/token.json.
#pragma once

#include <fstream>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include <draftproof/properties/prover/registry.hpp>

namespace draftproof::golden {

struct Case {
  std::string id, scheme, draft_sampling;
  int drafts;
  std::vector<double> p;
  std::vector<std::vector<double>> q;  ///< one row, or one row per draft if drafts have different proposals
  double draft_accepted, draft_emitted, optimum;  ///< optimum is NaN if the file has no optimum
  std::vector<double> output;
  double distance;               ///< total variation of output and p
  std::vector<std::size_t> cut;  ///< tokens of a minimum cut, which may be empty; see has_cut
  bool has_cut;
  double lower_bound = std::numeric_limits<double>::quiet_NaN();  ///< list matching bound, for `gls` only
};

inline const std::vector<Case>& cases() {
  static const std::vector<Case> read = [] {
    std::ifstream file(DRAFTPROOF_SOURCE_DIR "/tests/golden/token.json");
    const auto json = nlohmann::json::parse(file);
    std::vector<Case> list;
    for (const auto& entry : json.at("cases")) {
      Case c{entry.at("id"),
             entry.at("scheme"),
             entry.at("draft_sampling"),
             entry.at("K"),
             entry.at("p"),
             entry.at("q"),
             entry.at("acceptance"),
             entry.at("acceptance_membership"),
             entry.at("optimum").is_null() ? std::numeric_limits<double>::quiet_NaN()
                                           : entry.at("optimum").get<double>(),
             entry.at("output"),
             entry.at("tv_to_target"),
             entry.value("cut_set", std::vector<std::size_t>{}),
             entry.contains("cut_set"),
             std::numeric_limits<double>::quiet_NaN()};
      if (entry.contains("lower_bound")) c.lower_bound = entry.at("lower_bound");
      if (c.draft_sampling != "indep") c.q.resize(1);
      list.push_back(std::move(c));
    }
    return list;
  }();
  return read;
}

/// Returns the drafter of a draft sampling of the file, or null if it is not registered here.
inline const AnyDrafter* drafter(std::string_view draft_sampling) {
  static const std::map<std::string_view, std::string_view> names{
      {"iid", "iid"},       {"indep", "independent"},      {"wor_stop", "without_replacement"},
      {"greedy", "greedy"}, {"topk_fixed", "fixed_top_k"}, {"wor_uniform", "without_replacement_uniform"},
      {"spechub", "hub"},   {"rheo_m1", "tail_draw"}};
  const auto name = names.find(draft_sampling);
  return name == names.end() ? nullptr : registry().drafter(name->second);
}

}  // namespace draftproof::golden
