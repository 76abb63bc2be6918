// Components around a verifier under examination, with their types erased: batch runners, sources of target rows,
// samplers. Each is asked the checks of its group, and answers with lines of a gate's report.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <draftproof/properties/proof/finding.hpp>
#include <draftproof/properties/subjects/any_verifier.hpp>
#include <draftproof/sim/components/component_info.hpp>

namespace draftproof {

struct ComponentOptions {
  std::uint64_t seed = 1;
  int rounds = 1;  ///< times the planned number of cases of a check
};

class AnyComponent {
 public:
  AnyComponent(const ComponentInfo& info, std::string_view group, Kind kind)
      : info_{info}, group_{group}, kind_{kind} {}
  virtual ~AnyComponent() = default;

  const ComponentInfo& info() const { return info_; }
  std::string_view group() const { return group_; }
  /// "sampler/alias_sampler": a sampler and a verifier may have the same name.
  std::string qualified_name() const { return std::string(group_) + '/' + std::string(info_.name); }
  Kind kind() const { return kind_; }
  /// Comes with draftproof, as opposed to a program that links it.
  bool builtin() const { return builtin_; }

  /// One finding for each check of the group; violations carry the smallest counterexample met by shrinking.
  virtual std::vector<GateFinding> examine(const ComponentOptions& options) const = 0;
  /// One check on one case, given as text. Nothing if the group has no such check; throws std::invalid_argument with
  /// what was found and wanted if the text is no case.
  virtual std::optional<GateFinding> examine_one(std::string_view check, std::string_view instance) const = 0;

 private:
  const ComponentInfo& info_;
  std::string_view group_;
  Kind kind_;
  bool builtin_ = detail::registering_builtin();
};

}  // namespace draftproof
