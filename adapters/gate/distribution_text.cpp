#include <draftproof/adapters/gate/distribution_text.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <draftproof/adapters/gate/judgement.hpp>
#include <draftproof/captures/nearest_names.hpp>

namespace draftproof::adapters {

std::string_view to_text(DrawKind kind) {
  switch (kind) {
    case DrawKind::coin:
      return "coin";
    case DrawKind::pick:
      return "pick";
    case DrawKind::clock:
      return "clock";
    case DrawKind::integer:
      break;
  }
  return "integer";
}

std::string_view to_text(RowStatus status) {
  switch (status) {
    case RowStatus::ok:
      return "ok";
    case RowStatus::bad_input:
      return "bad_input";
    case RowStatus::unsupported:
      return "unsupported";
    case RowStatus::failed:
      return "failed";
    case RowStatus::no_mass:
      return "no_mass";
    case RowStatus::tape_short:
      return "tape_short";
    case RowStatus::crashed:
      break;
  }
  return "crashed";
}

std::string outcome_text(const Outcome& outcome) {
  if (outcome.status != RowStatus::ok)
    return fmt::format("status {}{}{}", to_text(outcome.status), outcome.message.empty() ? "" : ": ",
                       one_line(outcome.message));
  return fmt::format("({})", fmt::join(outcome.tokens, " "));
}

std::string outcomes_text(std::span<const OutcomeMass> outcomes) {
  std::string text;
  for (const auto& [outcome, probability] : outcomes)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", outcome_text(outcome), probability_text(probability));
  return text;
}

std::string stretch_text(const Stretch& stretch) {
  const std::string values = stretch.first == stretch.last ? fmt::format("{}", stretch.first)
                                                           : fmt::format("{} .. {}", stretch.first, stretch.last);
  return fmt::format("place {}, {}{}{}, {} of 2^{}", stretch.place, to_text(stretch.kind),
                     stretch.stream.empty() ? "" : " ", stretch.stream, values, stretch.bits);
}

namespace {

/// Whether the stretch has all values of its draw, so that the draw decides nothing.
bool is_whole(const Stretch& stretch) {
  return stretch.first == 0 && stretch.last == (std::uint64_t{1} << stretch.bits) - 1;
}

double probability_of(const Stretch& stretch, const Outcome& outcome) {
  for (const OutcomeMass& each : stretch.outcomes)
    if (each.outcome == outcome) return each.probability;
  return 0;
}

std::string value_text(const Stretch& stretch) {
  const auto value = [&](std::uint64_t v) { return std::ldexp(static_cast<double>(v), -stretch.bits); };
  const std::string draw = fmt::format("{} {}{}", to_text(stretch.kind), stretch.place,
                                       stretch.stream.empty() ? "" : fmt::format(" ({})", stretch.stream));
  if (stretch.first == stretch.last)
    return fmt::format("{} is {} of 2^{} ({:.8g})", draw, stretch.first, stretch.bits, value(stretch.first));
  return fmt::format("{} is {} .. {} of 2^{} ({:.8g} .. {:.8g})", draw, stretch.first, stretch.last, stretch.bits,
                     value(stretch.first), value(stretch.last));
}

}  // namespace

std::string way_text(const ProgramDistribution& distribution, const Outcome& outcome) {
  constexpr std::size_t most = 4;
  std::vector<std::string> draws;
  const std::vector<Stretch>& all = distribution.stretches;
  for (std::size_t begin = 0, end = all.size(); begin < end;) {
    std::size_t likeliest = end, behind = end;
    for (std::size_t i = begin, next = i; i < end; i = next) {
      // The traversal visits the later draws that follow a stretch right after it.
      for (next = i + 1; next < end && all[next].place > all[i].place;) ++next;
      if (probability_of(all[i], outcome) > (likeliest < end ? probability_of(all[likeliest], outcome) : 0))
        likeliest = i, behind = next;
    }
    if (likeliest == end) break;
    if (!is_whole(all[likeliest]) && draws.size() < most) draws.push_back(value_text(all[likeliest]));
    begin = likeliest + 1;
    end = behind;
  }
  return fmt::format("{}", fmt::join(draws, " and "));
}

std::vector<std::string> deciding_lines(const ProgramDistribution& distribution) {
  constexpr std::size_t most = 24;
  std::vector<std::string> lines;
  std::size_t more = 0;
  for (const Stretch& stretch : distribution.stretches) {
    if (is_whole(stretch)) continue;
    if (lines.size() + 1 < most)
      lines.push_back(fmt::format("{}, probability {}: {}", stretch_text(stretch),
                                  probability_text(stretch.probability), outcomes_text(stretch.outcomes)));
    else
      ++more;
  }
  if (more > 0) lines.push_back(fmt::format("and {} more", more));
  return lines;
}

}  // namespace draftproof::adapters
