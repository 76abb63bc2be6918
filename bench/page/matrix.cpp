#include <draftproof/bench/page/matrix.hpp>

#include <algorithm>
#include <charconv>
#include <map>
#include <set>

#include <draftproof/report/text.hpp>

namespace draftproof::benchmarks {

namespace {

std::string column_title(const std::vector<int>& numbers) {
  std::string title;
  for (const int number : numbers)
    title += (title.empty() ? "" : " / ") + grouped(static_cast<std::uint64_t>(number));
  return title;
}

template <class T>
std::size_t place_in(std::vector<T>& list, const T& value) {
  const auto at = std::find(list.begin(), list.end(), value);
  if (at == list.end()) list.push_back(value);
  return static_cast<std::size_t>(std::find(list.begin(), list.end(), value) - list.begin());
}

}  // namespace

SplitName split_name(const std::string& name) {
  SplitName split;
  for (std::size_t at = 0; at <= name.size();) {
    const std::size_t end = std::min(name.find('/', at), name.size());
    int number = 0;
    const auto [stop, error] = std::from_chars(name.data() + at, name.data() + end, number);
    if (error == std::errc{} && stop == name.data() + end && number >= 0)
      split.numbers.push_back(number);
    else
      split.words += (split.words.empty() ? "" : "/") + name.substr(at, end - at);
    at = end + 1;
  }
  return split;
}

std::vector<std::vector<const Measurement*>> parts_of(const std::vector<const Measurement*>& measurements) {
  struct Part {
    std::set<std::string> rows;
    std::set<std::vector<int>> columns;
  };
  std::vector<Part> parts;
  for (const Measurement* measurement : measurements) {
    const SplitName split = split_name(measurement->name);
    Part joined{{split.words}, {split.numbers}};
    std::vector<Part> apart;
    for (Part& part : parts) {
      if (part.rows.contains(split.words) || part.columns.contains(split.numbers)) {
        joined.rows.merge(part.rows);
        joined.columns.merge(part.columns);
      } else {
        apart.push_back(std::move(part));
      }
    }
    apart.push_back(std::move(joined));
    parts = std::move(apart);
  }
  std::vector<std::vector<const Measurement*>> found;
  std::map<const Part*, std::size_t> place;  // parts in the order of their first measurement
  for (const Measurement* measurement : measurements)
    for (const Part& part : parts) {
      if (!part.rows.contains(split_name(measurement->name).words)) continue;
      const auto [at, is_new] = place.try_emplace(&part, found.size());
      if (is_new) found.emplace_back();
      found[at->second].push_back(measurement);
    }
  return found;
}

Table matrix_of(const std::vector<const Measurement*>& measurements, const CellText& text) {
  std::vector<std::string> names;
  std::vector<std::vector<int>> columns;
  for (const Measurement* measurement : measurements) place_in(columns, split_name(measurement->name).numbers);
  std::sort(columns.begin(), columns.end());
  Table table{.columns = {{"benchmark"}}, .rows = {}};
  for (const auto& numbers : columns) table.columns.push_back({column_title(numbers), true});
  for (const Measurement* measurement : measurements) {
    const SplitName split = split_name(measurement->name);
    const std::size_t row = place_in(names, split.words);
    if (row == table.rows.size()) {
      table.rows.emplace_back(columns.size() + 1);
      table.rows.back().front().text = "`" + split.words + "`";
    }
    table.rows[row][place_in(columns, split.numbers) + 1].text = measurement->timed() ? text(*measurement) : "-";
  }
  return table;
}

}  // namespace draftproof::benchmarks
