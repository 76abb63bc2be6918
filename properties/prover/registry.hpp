// The registry: verifiers, mutants, drafters, instance generators and properties, by name; and the default
// draft law and number of drafts of a verifier.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <draftproof/captures/input_error.hpp>
#include <draftproof/properties/instances/generator.hpp>
#include <draftproof/properties/instances/instance_text.hpp>
#include <draftproof/properties/proof/property.hpp>
#include <draftproof/properties/subjects/any_verifier.hpp>

namespace draftproof {

/// Sorted by name; verifiers before mutants. A generated call, made by registry(), adds this library's entries;
/// static initialisation adds a consumer's.
class Registry {
 public:
  /// The process-wide registry, possibly not filled yet; see registry().
  static Registry& instance();

  /// Throws: std::logic_error if the name is registered already.
  void add(std::unique_ptr<AnyVerifier> verifier);
  void add(std::unique_ptr<AnyDrafter> drafter);
  void add(const Generator& generator);
  void add(const Property& property);

  const std::vector<std::unique_ptr<AnyVerifier>>& verifiers() const { return verifiers_; }
  const std::vector<std::unique_ptr<AnyDrafter>>& drafters() const { return drafters_; }
  /// Drafters that declare one law and draw another. They are not among drafters().
  const std::vector<std::unique_ptr<AnyDrafter>>& wrong_drafters() const { return wrong_drafters_; }
  const std::vector<Generator>& generators() const { return generators_; }
  const std::vector<Property>& properties() const { return properties_; }

  /// Null if there is none of that name. Wrong drafters are found too.
  const AnyVerifier* verifier(std::string_view name) const;
  const AnyDrafter* drafter(std::string_view name) const;

  /// The drafters whose law the verifier is written for, sorted by name.
  std::vector<const AnyDrafter*> drafters_of(const Info& info) const;
  /// The wrong drafters that declare such a law.
  std::vector<const AnyDrafter*> wrong_drafters_of(const Info& info) const;

 private:
  std::vector<std::unique_ptr<AnyVerifier>> verifiers_;
  std::vector<std::unique_ptr<AnyDrafter>> drafters_, wrong_drafters_;
  std::vector<Generator> generators_;
  std::vector<Property> properties_;
};

/// The registry with the whole library in it.
const Registry& registry();

/// Whether a source that registers a verifier was compiled without optimisation. Its times are several times too
/// long, in the project of a consumer too, so tables of times say so.
inline bool unoptimised_sources = false;

// Defaults: the draft law of a verifier, and the number of drafts.

/// Name of the first law that the verifier is written for; "iid" if it takes any law.
inline std::string_view usual_law(const Info& info) {
  return info.drafts.any() ? std::string_view("iid") : info.drafts.names[0];
}

/// The drafter of usual_law(info). Throws: InputError if there is none; a consumer's verifier may name any law.
inline const AnyDrafter& usual_drafter(const Info& info) {
  if (const AnyDrafter* drafter = registry().drafter(usual_law(info))) return *drafter;
  throw InputError({.file = std::string(info.name),
                    .found = in_quotes(std::string(usual_law(info))),
                    .wanted = "a draft law that `draftproof list` shows"});
}

/// `wanted`, or the most drafts that verifier and drafter both take if that is less.
inline int drafts_taken(const AnyVerifier& verifier, const AnyDrafter& drafter, int wanted) {
  for (const int most : {verifier.info().most_drafts, drafter.info().most_drafts})
    if (most > 0) wanted = std::min(wanted, most);
  return wanted;
}

}  // namespace draftproof
