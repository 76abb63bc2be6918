// The reference cases of tests/golden/path.json.
#pragma once

#include <algorithm>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <draftproof/properties/paths/step_distribution.hpp>
#include <draftproof/sim/trees/conditional_model.hpp>

namespace draftproof::golden {

/// A model with target and proposal rows at every prefix, in breadth-first order of the prefixes.
struct PathModel {
  int vocabulary, length;
  std::vector<std::vector<double>> target, proposal;

  PrefixTable<Rows<double>> conditionals() const {
    std::vector<Rows<double>> rows;
    for (std::size_t c = 0; c < target.size(); ++c) rows.emplace_back(target[c], proposal[c]);
    return PrefixTable<Rows<double>>(std::move(rows));
  }

  /// Returns this model with token x renamed V - 1 - x. In breadth-first order, this reverses every level and every
  /// row.
  PathModel reversed() const {
    PathModel model = *this;
    for (auto* rows : {&model.target, &model.proposal}) {
      for (auto& row : *rows) std::reverse(row.begin(), row.end());
      std::ptrdiff_t level = 1;
      for (auto first = rows->begin(); first != rows->end(); level *= vocabulary) {
        std::reverse(first, first + level);
        first += level;
      }
    }
    return model;
  }
};

struct PathCase {
  std::string id, scheme;
  const PathModel* model;
  TreeShape shape;
  double mean_accepted;              ///< expected number of accepted tokens; for a process, in its first iteration
  std::vector<double> accepted;      ///< distribution of the number of accepted tokens; empty for a process
  std::map<Tokens, double> emitted;  ///< distribution, without entries below 1e-15; empty for a process
  nlohmann::json entry;              ///< the case's JSON
};

inline Tokens tokens_of(const std::string& text) {
  Tokens tokens;
  for (std::size_t from = 0; from < text.size();) {
    std::size_t digits = 0;
    tokens.push_back(static_cast<Token>(std::stoi(text.substr(from), &digits)));
    from += digits + 1;
  }
  return tokens;
}

inline const nlohmann::json& path_file() {
  static const nlohmann::json json = [] {
    std::ifstream file(DRAFTPROOF_SOURCE_DIR "/tests/golden/path.json");
    return nlohmann::json::parse(file);
  }();
  return json;
}

inline const std::map<std::string, PathModel>& path_models() {
  static const std::map<std::string, PathModel> models = [] {
    std::map<std::string, PathModel> read;
    for (const auto& [name, entry] : path_file().at("models").items()) {
      PathModel model{.vocabulary = entry.at("V"), .length = entry.at("L"), .target = {}, .proposal = {}};
      // The iteration order of the map is breadth-first: prefixes are sorted by length, then by tokens from the left.
      std::map<std::pair<std::size_t, Tokens>, std::string> prefixes;
      for (const auto& [prefix, row] : entry.at("target").items()) {
        const Tokens tokens = tokens_of(prefix);
        prefixes[{tokens.size(), tokens}] = prefix;
      }
      for (const auto& [order, prefix] : prefixes) {
        model.target.push_back(entry.at("target").at(prefix));
        model.proposal.push_back(entry.at("draft").at(prefix));
      }
      read.emplace(name, std::move(model));
    }
    return read;
  }();
  return models;
}

inline const std::vector<PathCase>& path_cases() {
  static const std::vector<PathCase> cases = [] {
    std::vector<PathCase> read;
    for (const auto& entry : path_file().at("cases")) {
      const PathModel& model = path_models().at(entry.at("model"));
      PathCase c{.id = entry.at("id"),
                 .scheme = entry.at("scheme"),
                 .model = &model,
                 .shape = {.drafts = entry.at("K"), .length = model.length, .branching = {}, .stem = 0},
                 .mean_accepted = entry.at(entry.contains("E_tau") ? "E_tau" : "E_tau_first_iteration"),
                 .accepted = entry.value("tau_pmf", std::vector<double>{}),
                 .emitted = {},
                 .entry = entry};
      if (entry.contains("branching")) c.shape.branching = entry.at("branching").get<std::vector<int>>();
      if (entry.contains("emitted_distribution"))
        for (const auto& [text, probability] : entry.at("emitted_distribution").items())
          c.emitted[tokens_of(text)] = probability;
      read.push_back(std::move(c));
    }
    return read;
  }();
  return cases;
}

}  // namespace draftproof::golden
