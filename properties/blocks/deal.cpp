#include <draftproof/properties/blocks/deal.hpp>

#include <algorithm>
#include <functional>
#include <queue>
#include <utility>

#include <boost/crc.hpp>
#include <fmt/format.h>

namespace draftproof {

BlockDeal::BlockDeal(const nlohmann::json& plan, std::uint64_t parts) {
  struct Group {
    std::string name;
    std::uint64_t blocks;
    double seconds;
  };
  std::vector<Group> groups;
  for (const nlohmann::json& group : plan.at("groups"))
    groups.push_back({group.at("group"), group.at("blocks"), group.at("seconds")});
  std::stable_sort(groups.begin(), groups.end(), [](const Group& a, const Group& b) { return a.seconds > b.seconds; });
  using Load = std::pair<double, std::uint32_t>;
  std::priority_queue<Load, std::vector<Load>, std::greater<>> least;
  for (std::uint32_t part = 0; part < parts; ++part) least.emplace(0.0, part);
  boost::crc_32_type sum;
  for (const Group& group : groups) {
    std::vector<std::uint32_t>& owners = owners_[group.name];
    owners.clear();  // a group that occurs twice is computed once
    for (std::uint64_t block = 0; block < group.blocks; ++block) {
      const auto [load, part] = least.top();
      least.pop();
      least.emplace(load + group.seconds, part);
      owners.push_back(part);
    }
    sum.process_bytes(owners.data(), owners.size() * sizeof owners[0]);
  }
  identity_ = fmt::format("{:08x} over {} parts", sum.checksum(), parts);
}

std::optional<std::uint64_t> BlockDeal::owner(const std::string& group, std::uint64_t block) const {
  const auto found = owners_.find(group);
  if (found == owners_.end() || block >= found->second.size()) return std::nullopt;
  return found->second[block];
}

}  // namespace draftproof
