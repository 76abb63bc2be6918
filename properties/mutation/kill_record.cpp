#include <draftproof/properties/mutation/kill_matrix.hpp>

#include <bit>

#include <nlohmann/json.hpp>

#include <draftproof/captures/json_input.hpp>
#include <draftproof/properties/gate/gate_record.hpp>

namespace draftproof {

using Json = nlohmann::json;

std::string kill_record(const KillRow& row) {
  Json findings = Json::array();
  for (const GateFinding& finding : row.findings) findings.push_back(finding_record(finding));
  Json distance;
  if (row.distance) distance = std::bit_cast<std::uint64_t>(*row.distance);
  return Json::array({row.level, row.name, row.mutant_of, row.partner, row.lossy, findings, row.first, row.decided,
                      row.instances, row.work, distance, row.farthest, row.share ? row.share->shown : 0,
                      row.share ? row.share->asked : -1})
      .dump();
}

std::string kill_record(const ControlRow& row) {
  return Json::array({row.level, row.name, row.law, row.instances, row.provable,
                      row.accused ? finding_record(*row.accused) : Json()})
      .dump();
}

void read_kill_record(const std::string& record, KillRow& row) {
  const Json stored = parse_own_json(record);
  row = {.level = stored.at(0),
         .name = stored.at(1),
         .mutant_of = stored.at(2),
         .partner = stored.at(3),
         .lossy = stored.at(4),
         .first = stored.at(6),
         .decided = stored.at(7),
         .instances = stored.at(8),
         .work = stored.at(9),
         .farthest = stored.at(11)};
  for (const Json& finding : stored.at(5)) row.findings.push_back(finding_of_record(finding));
  if (const int asked = stored.at(13); asked >= 0) row.share = ShownShare{.shown = stored.at(12), .asked = asked};
  if (!stored.at(10).is_null()) row.distance = std::bit_cast<double>(stored[10].get<std::uint64_t>());
}

void read_kill_record(const std::string& record, ControlRow& row) {
  const Json stored = parse_own_json(record);
  row = {.level = stored.at(0),
         .name = stored.at(1),
         .law = stored.at(2),
         .instances = stored.at(3),
         .provable = stored.at(4)};
  if (!stored.at(5).is_null()) row.accused = finding_of_record(stored[5]);
}

}  // namespace draftproof
