#include <draftproof/optimum/paths/lp_oracle.hpp>

namespace draftproof {

OraclePlan::OraclePlan(const TreeLaw& law, const TreeCertificate& certificate) : extras(law.prefixes.size()) {
  std::vector<Rational> accepted(law.prefixes.size());
  for (std::size_t t = 0; t < law.trees.size(); ++t) {
    const auto& [nodes, probability] = law.trees[t];
    trees.emplace(nodes, t);
    stops.push_back(certificate.stops[t]);
    for (std::size_t j = 0; j < nodes.size(); ++j) {
      accepted[static_cast<std::size_t>(nodes[j])] += stops[t][j];
      stops[t][j] /= probability;
    }
  }
  // The mass that stops at each prefix, before the mass of its children is added to make a(x).
  const std::vector<Rational> own = accepted;
  for (std::size_t i = law.prefixes.size() - 1; i > 0; --i)
    accepted[static_cast<std::size_t>(law.prefixes[i].parent)] += accepted[i];
  for (std::size_t i = 0; i < law.prefixes.size(); ++i) {
    const TreeLaw::Prefix& prefix = law.prefixes[i];
    prefixes.add(prefix.parent, prefix.token, static_cast<int>(i));
    if (own[i] == 0) continue;
    for (const Rational& p : prefix.target) extras[i].push_back(p * accepted[i] / own[i]);
  }
  for (std::size_t i = 1; i < law.prefixes.size(); ++i) {
    const std::size_t parent = static_cast<std::size_t>(law.prefixes[i].parent);
    if (own[parent] > 0) extras[parent][static_cast<std::size_t>(law.prefixes[i].token)] -= accepted[i] / own[parent];
  }
}

}  // namespace draftproof
