#include <draftproof/adapters/gate/text_settings.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <draftproof/adapters/gate/text_checks.hpp>
#include <draftproof/sim/random/philox.hpp>

namespace draftproof::adapters {

namespace {

constexpr std::uint32_t purpose_of_settings = 0x204;

/// Whether the filter keeps the same tokens of `row` when the entries of the row or the limits of the filter change by
/// up to 1e-3. The change of an entry once rises and once falls with the index of the entry, so that equal entries are
/// put in both orders.
bool clear_cut(std::span<const double> row, const Filter& filter) {
  std::array<std::vector<double>, 5> rows;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (std::size_t x = 0; x < row.size(); ++x) {
      const double share = static_cast<double>(x + 1) / static_cast<double>(row.size());
      rows[i].push_back(row[x] * (1 + std::array{0.0, 1e-3, -1e-3, 0.0, 0.0}[i] * share));
    }
    Filter shifted = filter;
    const double limit = std::array{1.0, 1.0, 1.0, 1 + 1e-3, 1 - 1e-3}[i];
    if (filter.top_p < 1) shifted.top_p *= limit;
    shifted.min_p *= limit;
    rows[i] = filtered_distribution(rows[i], shifted);
  }
  for (std::size_t x = 0; x < row.size(); ++x)
    for (const std::vector<double>& changed : rows)
      if ((rows[0][x] > 0) != (changed[x] > 0)) return false;
  return true;
}

/// Whether every state has a possible token besides the end tokens. Under a grammar a state may allow end tokens only.
bool can_go_on(const TextTable& table) {
  for (std::uint64_t state = 0; state < table.states(); ++state) {
    const auto other = [&](std::int32_t x) {
      return table.row(state)[static_cast<std::size_t>(x)] > 0 && !table.is_end(x);
    };
    std::int32_t x = 0;
    while (x < table.vocabulary && !other(x)) ++x;
    if (x == table.vocabulary) return false;
  }
  return true;
}

/// Tries some limits of `setting` and returns the first for which clear_cut holds in all rows of the table, and which
/// truncates at least one of them; if there is none, returns the default of the setting.
Filter truncation(Setting setting, const TextTable& table, double temperature) {
  const auto limits = setting == Setting::top_k   ? std::vector{2.0, 3.0, 1.0, 4.0}
                      : setting == Setting::top_p ? std::vector{0.75, 0.7, 0.8, 0.65, 0.85, 0.6, 0.9, 0.55}
                                                  : std::vector{0.3, 0.4, 0.25, 0.45, 0.2, 0.55, 0.15, 0.6, 0.1};
  const bool without = can_go_on(table);  // otherwise no request has min_tokens
  for (const double limit : limits) {
    Filter filter{.temperature = temperature};
    if (setting == Setting::top_k) filter.top_k = static_cast<std::size_t>(limit);
    if (setting == Setting::top_p) filter.top_p = limit;
    if (setting == Setting::min_p) filter.min_p = limit;
    bool clear = true, changes = false;
    for (std::uint64_t state = 0; state < table.states() && clear; ++state) {
      const std::vector<double> row(table.row(state).begin(), table.row(state).end());
      std::vector<double> without_ends = row;  // `row` without end tokens, as min_tokens requires
      for (const std::int32_t end : table.ends) without_ends[static_cast<std::size_t>(end)] = 0;
      clear = clear_cut(row, filter) && (!without || clear_cut(without_ends, filter));
      const std::vector<double> cut = filtered_distribution(row, filter);
      for (std::size_t x = 0; x < row.size(); ++x) changes = changes || (row[x] > 0 && !(cut[x] > 0));
    }
    if (clear && changes) return filter;
  }
  return {.temperature = temperature};
}

/// Returns `number` tokens that can follow each other in the model and are no end tokens. The bits of `from` choose the
/// first state and each token. Returns no tokens if a state that is reached allows end tokens only.
std::vector<std::int32_t> possible_tokens(const TextTable& table, std::uint64_t from, std::size_t number) {
  std::vector<std::int32_t> found;
  for (std::uint64_t state = from % table.states(); found.size() < number; state = table.after(state, found.back())) {
    std::vector<std::int32_t> possible;
    for (std::int32_t x = 0; x < table.vocabulary; ++x)
      if (table.row(state)[static_cast<std::size_t>(x)] > 0 && !table.is_end(x)) possible.push_back(x);
    if (possible.empty()) return {};
    found.push_back(possible[(from >> (6 + 4 * found.size())) % possible.size()]);
  }
  return found;
}

}  // namespace

nlohmann::json to_json(const TextSettings& settings, const Declaration& declaration) {
  nlohmann::json fields = nlohmann::json::object(), bias = nlohmann::json::object();
  for (const auto& [token, value] : settings.logit_bias) bias[std::to_string(token)] = value;
  const auto add = [&](Setting setting, auto value) {
    if (declaration.takes(setting)) fields[std::string(to_text(setting))] = std::move(value);
  };
  add(Setting::temperature, settings.filter.temperature);
  add(Setting::top_k, settings.filter.top_k);
  add(Setting::top_p, settings.filter.top_p);
  add(Setting::min_p, settings.filter.min_p);
  add(Setting::repetition_penalty, settings.repetition_penalty);
  add(Setting::presence_penalty, settings.presence_penalty);
  add(Setting::frequency_penalty, settings.frequency_penalty);
  add(Setting::logit_bias, std::move(bias));
  add(Setting::min_tokens, settings.min_tokens);
  add(Setting::stop, settings.stop);
  return fields;
}

std::string to_text(const TextSettings& settings) {
  std::vector<std::string> texts;
  if (!settings.filter.changes_nothing()) texts.push_back(to_text(settings.filter));
  const auto add = [&texts](Setting setting, double value, double usual) {
    if (value != usual) texts.push_back(fmt::format("{} {}", to_text(setting), value));
  };
  add(Setting::repetition_penalty, settings.repetition_penalty, 1);
  add(Setting::presence_penalty, settings.presence_penalty, 0);
  add(Setting::frequency_penalty, settings.frequency_penalty, 0);
  add(Setting::min_tokens, settings.min_tokens, 0);
  for (const auto& [token, value] : settings.logit_bias)
    texts.push_back(fmt::format("logit_bias {} on token {}", value, token));
  if (!settings.stop.empty()) texts.push_back(fmt::format("stop ({})", fmt::join(settings.stop, " ")));
  return texts.empty() ? "" : fmt::format(" with {}", fmt::join(texts, ", "));
}

std::vector<TextSettings> draw_settings(const Declaration& declaration, const TextTable& table, std::size_t requests,
                                        std::uint64_t seed) {
  const auto declared = [&declaration](std::initializer_list<Setting> settings) {
    std::vector<Setting> taken;
    for (const Setting setting : settings)
      if (declaration.takes(setting)) taken.push_back(setting);
    return taken;
  };
  const std::vector<Setting> rows =
      declared({Setting::top_k, Setting::frequency_penalty, Setting::top_p, Setting::presence_penalty, Setting::min_p,
                Setting::repetition_penalty, Setting::logit_bias});
  const std::vector<Setting> ends = declared({Setting::min_tokens, Setting::stop});
  std::vector<TextSettings> drawn(requests);
  std::size_t stops = 0;  // requests with a stop sequence so far
  for (std::size_t r = 0; r < requests; ++r) {
    TextSettings& settings = drawn[r];
    const auto random = philox_pair(seed, r, 0, purpose_of_settings);
    const std::size_t turn = r + seed % requests;
    // A setting that is declared alone is given to every other request, so that their rows differ. Each temperature is
    // combined with each setting: a round gives each setting once, and the next round starts with the next temperature.
    const std::size_t round = std::max<std::size_t>(rows.size(), 2), which = turn % round;
    const auto temperatures =
        declaration.greedy_at_zero() ? std::vector{0.0, 0.5, 1.0, 2.0} : std::vector{0.5, 1.0, 2.0};
    if (declaration.takes(Setting::temperature))
      settings.filter.temperature = temperatures[(turn / round + which) % temperatures.size()];
    if (which < rows.size()) {
      const Setting setting = rows[which];
      if (setting == Setting::repetition_penalty) settings.repetition_penalty = 1.7;
      if (setting == Setting::presence_penalty) settings.presence_penalty = 1;
      if (setting == Setting::frequency_penalty) settings.frequency_penalty = 1;
      if (setting == Setting::logit_bias)
        for (const std::int32_t token : possible_tokens(table, random.first, 2))
          settings.logit_bias.try_emplace(token, (settings.logit_bias.size() + random.second) % 2 == 0 ? 1.0 : -1.0);
      const bool truncates = setting == Setting::top_k || setting == Setting::top_p || setting == Setting::min_p;
      if (truncates && !settings.at_zero()) settings.filter = truncation(setting, table, settings.filter.temperature);
    }
    if (const std::size_t end = turn / 2 % (ends.size() + 1); end < ends.size()) {
      if (ends[end] == Setting::min_tokens && !table.ends.empty() && can_go_on(table))
        settings.min_tokens = 12 + static_cast<int>(random.first % 8);
      // A stop sequence of several tokens may begin in one step of an engine and end in another.
      constexpr std::array<std::size_t, 4> lengths{3, 1, 2, 4};
      if (ends[end] == Setting::stop)
        settings.stop = possible_tokens(table, random.second, lengths[(stops++ + seed) % lengths.size()]);
    }
  }
  return drawn;
}

RowsUnderSettings::RowsUnderSettings(const TextSettings& settings, std::span<const std::int32_t> prompt,
                                     const TextTable& table)
    : settings_{&settings},
      table_{&table},
      in_prompt_(static_cast<std::size_t>(table.vocabulary)),
      counts_(static_cast<std::size_t>(table.vocabulary)),
      last_at_(static_cast<std::size_t>(table.vocabulary)) {
  for (const std::int32_t token : prompt) in_prompt_[static_cast<std::size_t>(token)] = true;
}

std::vector<double> RowsUnderSettings::row(std::span<const double> p) const {
  std::vector<double> weights(p.begin(), p.end());
  for (std::size_t x = 0; x < weights.size(); ++x) {
    if ((in_prompt_[x] || counts_[x] > 0) && settings_->repetition_penalty != 1)
      weights[x] = std::pow(weights[x], settings_->repetition_penalty);
    if (counts_[x] > 0)
      weights[x] *= std::exp(-settings_->presence_penalty - settings_->frequency_penalty * counts_[x]);
  }
  for (const auto& [token, bias] : settings_->logit_bias) weights[static_cast<std::size_t>(token)] *= std::exp(bias);
  if (tokens_ < settings_->min_tokens)
    for (const std::int32_t end : table_->ends) weights[static_cast<std::size_t>(end)] = 0;
  const double mass = std::accumulate(weights.begin(), weights.end(), 0.0);
  for (double& weight : weights) weight /= mass;
  return settings_->at_zero() ? weights : filtered_distribution(std::move(weights), settings_->filter);
}

void RowsUnderSettings::read(std::int32_t token) {
  ++counts_[static_cast<std::size_t>(token)];
  last_at_[static_cast<std::size_t>(token)] = tokens_++;
  last_.push_back(token);
  if (last_.size() > settings_->stop.size()) last_.erase(last_.begin());
}

bool RowsUnderSettings::stopped() const { return !settings_->stop.empty() && last_ == settings_->stop; }

}  // namespace draftproof::adapters
