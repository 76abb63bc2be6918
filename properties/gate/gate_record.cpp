#include <draftproof/properties/gate/gate_record.hpp>
#include <draftproof/captures/json_input.hpp>

#include <bit>

#include <nlohmann/json.hpp>

namespace draftproof {

nlohmann::json finding_record(const GateFinding& f) {
  nlohmann::json numbers = nlohmann::json::array();
  for (const auto& [name, value] : f.numbers) numbers.push_back({name, std::bit_cast<std::uint64_t>(value)});
  return {f.check,
          static_cast<int>(f.tier),
          static_cast<int>(f.status),
          f.evidence,
          f.instance,
          f.replay,
          f.work,
          f.device,
          numbers};
}

GateFinding finding_of_record(const nlohmann::json& f) {
  GateFinding finding{.check = f.at(0),
                      .tier = static_cast<Tier>(f.at(1).get<int>()),
                      .status = static_cast<Status>(f.at(2).get<int>()),
                      .evidence = f.at(3),
                      .instance = f.at(4),
                      .replay = f.at(5),
                      .work = f.at(6),
                      .device = f.at(7)};
  for (const nlohmann::json& n : f.at(8))
    finding.numbers.emplace_back(n.at(0), std::bit_cast<double>(n.at(1).get<std::uint64_t>()));
  return finding;
}

std::string gate_record(const GateResult& result) {
  nlohmann::json findings = nlohmann::json::array();
  for (const GateFinding& finding : result.findings) findings.push_back(finding_record(finding));
  return nlohmann::json::array({findings, result.laws, result.note, result.work, result.counts}).dump();
}

void add_gate_record(const std::string& record, GateResult& result) {
  const nlohmann::json stored = parse_own_json(record);
  for (const nlohmann::json& finding : stored.at(0)) result.findings.push_back(finding_of_record(finding));
  for (const nlohmann::json& law : stored.at(1)) result.laws.push_back(law);
  if (result.note.empty()) result.note = stored.at(2);
  result.work += stored.at(3).get<std::uint64_t>();
  for (const nlohmann::json& count : stored.at(4)) result.counts.emplace_back(count.at(0), count.at(1));
}

}  // namespace draftproof
