// The proof of a range of instances as text and back, for blocks of a ledger, and the sum of such ranges.
//
// Correctness: ranges that are added in their order give what one proof of all their instances gives: counts add up, and
// the first violation of a property and the first largest distance are kept.
#pragma once

#include <stdexcept>
#include <string>

#include <nlohmann/json.hpp>

#include <draftproof/captures/json_input.hpp>
#include <draftproof/exact/rational.hpp>
#include <draftproof/properties/proof/proof.hpp>

namespace draftproof {

/// Findings, instances, leaves and distance of `proof` as JSON.
template <class Level>
std::string proof_record(const ProofOf<Level>& proof) {
  nlohmann::json findings = nlohmann::json::array();
  for (const auto& f : proof.findings)
    findings.push_back({f.property, static_cast<int>(f.status), f.held, f.undecided, f.evidence,
                        f.instance ? f.instance->text() : "", f.replay});
  nlohmann::json distance;
  if (const auto& d = proof.distance)
    distance = {d->off, d->largest.str(), d->largest > 0 ? d->instance.text() : ""};
  return nlohmann::json::array({proof.instances, proof.leaves, findings, distance}).dump();
}

/// Adds the finding of the next range of instances.
template <class Finding>
void add_finding(const nlohmann::json& stored, Finding& to) {
  if (to.status == Status::violated) return;
  const auto status = static_cast<Status>(stored.at(1).template get<int>());
  to.held += stored.at(2).template get<int>();
  to.undecided += stored.at(3).template get<int>();
  if (status == Status::violated || stored.at(3) > 0) to.evidence = stored.at(4);
  if (status == Status::violated) {
    to.status = status;
    to.instance = decltype(to.instance)::value_type::parse(stored.at(5).template get_ref<const std::string&>());
    to.replay = stored.at(6);
  } else {
    to.status = to.undecided > 0 ? Status::undecided : to.held > 0 ? Status::held : Status::skipped;
  }
}

/// Adds what proof_record() wrote about the next range of instances. `proof.findings` has the properties in the same
/// order. Throws: std::out_of_range or std::logic_error if it has others.
template <class Level>
void add_proof_record(const std::string& record, ProofOf<Level>& proof) {
  const nlohmann::json stored = parse_own_json(record);
  proof.instances += stored.at(0).get<int>();
  proof.leaves += stored.at(1).get<std::uint64_t>();
  for (std::size_t i = 0; i < stored.at(2).size(); ++i) {
    auto& to = proof.findings.at(i);
    if (stored[2][i].at(0) != to.property) throw std::logic_error("a record of other properties");
    add_finding(stored[2][i], to);
  }
  const nlohmann::json& distance = stored.at(3);
  if (distance.is_null()) return;
  if (!proof.distance) proof.distance.emplace();
  proof.distance->off += distance.at(0).get<int>();
  Rational largest(distance.at(1).get<std::string>());
  if (largest <= proof.distance->largest) return;
  proof.distance->largest = std::move(largest);
  proof.distance->instance = Level::Instance::parse(distance.at(2).get_ref<const std::string&>());
}

}  // namespace draftproof
