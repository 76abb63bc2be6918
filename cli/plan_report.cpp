#include <draftproof/cli/plan_report.hpp>

#include <sys/resource.h>
#include <algorithm>

#include <fmt/format.h>

namespace draftproof {

Document report_plan(const std::vector<Checkpoint::Planned>& planned) {
  Document document;
  document.data = {{"schema", "draftproof.plan/1"}};
  Section table{.title = "Blocks"};
  table.table.columns = {{"group"}, {"blocks", true}, {"trials each", true}, {"seconds each", true}, {"seconds", true}};
  double seconds = 0, longest = 0;
  std::uint64_t blocks = 0;
  for (const auto& group : planned) {
    const double all = group.seconds() * static_cast<double>(group.blocks);
    seconds += all;
    blocks += group.blocks;
    longest = std::max(longest, group.longest());
    table.table.rows.push_back({{group.group},
                                {std::to_string(group.blocks)},
                                {fmt::format("{:.4g}", group.trials)},
                                {fmt::format("{:.3g}", group.seconds())},
                                {fmt::format("{:.3g}", all)}});
    document.data["groups"].push_back({{"group", group.group},
                                       {"blocks", group.blocks},
                                       {"trials", group.trials},
                                       {"seconds", group.seconds()},
                                       {"measured", group.measured}});
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const double megabytes = static_cast<double>(usage.ru_maxrss) / 1024;
  table.after.push_back(fmt::format("{} blocks, {:.3g} s on one core, the longest {:.3g} s; {:.0f} MiB of memory",
                                    blocks, seconds, longest, megabytes));
  document.data["blocks"] = blocks;
  document.data["seconds"] = seconds;
  document.data["longest_seconds"] = longest;
  document.data["peak_mebibytes"] = megabytes;
  document.sections.push_back(std::move(table));
  return document;
}

}  // namespace draftproof
