#include <draftproof/properties/prover.hpp>

#include <algorithm>
#include <chrono>
#include <exception>

#include <fmt/format.h>

namespace draftproof {

namespace {

/// A walk that reaches a branch of probability zero is a violation of whatever was asked.
Answer ask(const Property& property, Examination& at) {
  try {
    return property.check(at);
  } catch (const std::logic_error& error) {
    return Answer::violated(error.what());
  }
}

/// Greedy descent: the first simpler instance that still violates, until none does.
Instance shrink(const Property& property, const AnyVerifier& verifier, const AnyDrafter& drafter, Instance instance,
                ExplorerLimits limits, std::string& evidence) {
  for (bool shrunk = true; shrunk;) {
    shrunk = false;
    for (const Instance& candidate : simpler(instance)) {
      if (!Examination::possible(verifier, drafter, candidate)) continue;
      Examination at(verifier, drafter, candidate, limits);
      if (const Answer answer = ask(property, at); answer.status == Answer::Status::violated) {
        instance = candidate;
        evidence = answer.evidence;
        shrunk = true;
        break;
      }
    }
  }
  return instance;
}

/// What one instance gave for each property asked.
struct Sheet {
  std::vector<Answer> answers;
  std::optional<Rational> distance{};
  std::uint64_t leaves = 0;
};

/// Of the output law to p; none where the tree was not walked whole.
std::optional<Rational> distance_at(Examination& at) {
  if (!at.verifier().info().cannot.explore.empty()) return std::nullopt;
  try {
    if (at.law().complete) return total_variation(at.law().output, normalised(at.instance().target));
  } catch (const std::logic_error&) {  // a branch of probability zero: a finding says so
  }
  return std::nullopt;
}

Sheet examine(const AnyVerifier& verifier, const AnyDrafter& drafter, const Instance& instance,
              const std::vector<const Property*>& properties, std::size_t turn, ExplorerLimits limits) {
  Sheet sheet;
  Examination at(verifier, drafter, instance, limits);
  for (const Property* property : properties)
    sheet.answers.push_back(turn % static_cast<std::size_t>(property->every) == 0 ? ask(*property, at)
                                                                                  : Answer::not_applicable());
  sheet.distance = distance_at(at);
  sheet.leaves = at.leaves();
  return sheet;
}

Finding summarise(const Property& property, std::size_t column, const AnyVerifier& verifier,
                  const AnyDrafter& drafter, const std::vector<Instance>& instances, const std::vector<Sheet>& sheets,
                  ExplorerLimits limits) {
  Finding finding{.property = property.name};
  for (std::size_t n = 0; n < sheets.size(); ++n) {
    if (sheets[n].answers.empty()) continue;
    const Answer& answer = sheets[n].answers[column];
    if (answer.status == Answer::Status::held) ++finding.held;
    if (answer.status == Answer::Status::undecided) {
      ++finding.undecided;
      finding.evidence = answer.evidence;
    }
    if (answer.status == Answer::Status::violated) {
      finding.status = Status::violated;
      finding.evidence = answer.evidence;
      finding.instance = shrink(property, verifier, drafter, instances[n], limits, finding.evidence);
      finding.replay = fmt::format("draftproof prove {} --law {} --instance '{}'", verifier.info().name,
                                   drafter.info().name, finding.instance->text());
      return finding;
    }
  }
  if (finding.held > 0)
    finding.status = finding.undecided > 0 ? Status::undecided : Status::held;
  else
    finding.status = finding.undecided > 0 ? Status::undecided : Status::skipped;
  return finding;
}

std::optional<Distance> largest_distance(const std::vector<Instance>& instances, const std::vector<Sheet>& sheets) {
  std::optional<Distance> distance;
  for (std::size_t n = 0; n < sheets.size(); ++n) {
    const auto& here = sheets[n].distance;
    if (!here) continue;
    if (!distance) distance.emplace();
    distance->off += *here > 0;
    if (*here <= distance->largest) continue;
    distance->largest = *here;
    distance->instance = instances[n];
  }
  return distance;
}

Proof prove_instances(const AnyVerifier& verifier, const AnyDrafter& drafter, std::vector<Instance> instances,
                      const ProofOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  std::vector<const Property*> properties;
  for (const Property& property : registry().properties())
    if (property.applies(verifier, drafter) && (!property.explores || verifier.info().cannot.explore.empty()))
      properties.push_back(&property);

  // Families take turns too: each must meet the rationed properties.
  const std::size_t families = registry().generators().size();
  const auto turn = [families](std::size_t n) { return n / families; };
  std::vector<Sheet> sheets(instances.size());
  const int threads = options.threads > 0 ? options.threads : default_threads();
  std::exception_ptr failure;
#pragma omp parallel for schedule(dynamic) num_threads(threads)
  for (std::size_t n = 0; n < instances.size(); ++n) {
    if (options.stop && options.stop->load(std::memory_order_relaxed)) continue;
    if (!Examination::possible(verifier, drafter, instances[n])) continue;
    try {
      sheets[n] = examine(verifier, drafter, instances[n], properties, turn(n), options.limits);
    } catch (...) {
#pragma omp critical
      failure = std::current_exception();
    }
  }
  if (failure) std::rethrow_exception(failure);

  Proof proof{.verifier = &verifier, .drafter = &drafter};
  for (const Sheet& sheet : sheets) {
    proof.instances += !sheet.answers.empty();
    proof.leaves += sheet.leaves;
  }
  for (std::size_t column = 0; column < properties.size(); ++column)
    proof.findings.push_back(
        summarise(*properties[column], column, verifier, drafter, instances, sheets, options.limits));
  proof.distance = largest_distance(instances, sheets);
  proof.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return proof;
}

}  // namespace

std::string_view to_text(Status status) {
  switch (status) {
    case Status::held:
      return "held";
    case Status::violated:
      return "violated";
    case Status::undecided:
      return "undecided";
    case Status::skipped:
      return "skipped";
  }
  return "";
}

namespace {

bool has(const std::vector<Finding>& findings, std::string_view property, Status status) {
  return std::any_of(findings.begin(), findings.end(), [property, status](const Finding& finding) {
    return finding.property == property && finding.status == status;
  });
}

}  // namespace

bool Proof::exact() const { return has(findings, "exact_law", Status::held); }

bool Proof::provable() const { return verifier->info().cannot.explore.empty(); }

bool Proof::kept() const {
  if (provable()) return exact() || has(findings, "within_tau", Status::held);
  return !findings.empty() && std::all_of(findings.begin(), findings.end(), [](const Finding& finding) {
    return finding.status == Status::held || finding.status == Status::skipped;
  }) && std::any_of(findings.begin(), findings.end(), [](const Finding& finding) { return finding.held > 0; });
}

bool Proof::lossy() const {
  return verifier->info().promise == Promise::lossy && has(findings, "exact_law", Status::violated);
}

const Finding* Proof::violation() const {
  // Losslessness first: it is what the reader came for.
  const Finding* found = nullptr;
  for (const Finding& finding : findings)
    if (finding.status == Status::violated && (!found || finding.property == "exact_law")) found = &finding;
  return found;
}

Proof prove(const AnyVerifier& verifier, const AnyDrafter& drafter, const ProofOptions& options) {
  int fewest = std::max(verifier.info().fewest_drafts, drafter.info().fewest_drafts), most = 4;
  for (const int limit : {verifier.info().most_drafts, drafter.info().most_drafts})
    if (limit > 0) most = std::min(most, limit);
  std::vector<Instance> instances;
  // Some instances are not possible for some draft laws (K > V): go on until enough are.
  for (int n = 0; std::ssize(instances) < options.instances && n < 4 * options.instances; ++n) {
    Instance instance = generate_instance(options.seed, n, most, drafter.info().several_proposals, fewest);
    if (Examination::possible(verifier, drafter, instance)) instances.push_back(std::move(instance));
  }
  return prove_instances(verifier, drafter, std::move(instances), options);
}

Proof prove_on(const AnyVerifier& verifier, const AnyDrafter& drafter, const Instance& instance,
               const ProofOptions& options) {
  return prove_instances(verifier, drafter, {instance}, options);
}

}  // namespace draftproof
