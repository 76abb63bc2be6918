#include <draftproof/doors/gate/law_text.hpp>

#include <cstddef>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <draftproof/doors/gate/judgement.hpp>

namespace draftproof::doors {

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
  if (outcome.status != RowStatus::ok) return fmt::format("status {}", to_text(outcome.status));
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

std::vector<std::string> deciding_lines(const ProgramLaw& law) {
  constexpr std::size_t most = 24;
  std::vector<std::string> lines;
  std::size_t more = 0;
  for (const Stretch& stretch : law.stretches) {
    if (stretch.first == 0 && stretch.last == (std::uint64_t{1} << stretch.bits) - 1) continue;
    if (lines.size() + 1 < most)
      lines.push_back(fmt::format("{}, probability {}: {}", stretch_text(stretch),
                                  probability_text(stretch.probability), outcomes_text(stretch.outcomes)));
    else
      ++more;
  }
  if (more > 0) lines.push_back(fmt::format("and {} more", more));
  return lines;
}

}  // namespace draftproof::doors
