// The registry: verifiers, mutants, drafters, instance generators and properties, by name.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include <draftproof/properties/instances/generator.hpp>
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

/// Whether a source that registers a verifier was compiled without optimisation. Its times are several times too long, in the
/// project of a consumer too, so tables of times say so.
inline bool unoptimised_sources = false;

}  // namespace draftproof
